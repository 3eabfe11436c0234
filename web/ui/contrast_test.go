package ui

import (
	"math"
	"regexp"
	"strconv"
	"testing"
)

// TestColoursCanBeRead checks every pair of colours that carries text or meaning, in both themes, by
// the formula of WCAG: 4.5 for text, 3 for borders and rings.
func TestColoursCanBeRead(t *testing.T) {
	t.Parallel()
	light, dark := tokens(t)
	for _, pair := range []struct {
		front, back string
		need        float64
	}{
		{"ink", "paper", 7}, {"ink", "surface", 7}, {"ink", "sunk", 7},
		{"ink2", "paper", 4.5}, {"ink2", "surface", 4.5}, {"ink2", "sunk", 4.5},
		{"on-accent", "accent", 4.5}, {"on-accent", "accent-strong", 4.5},
		{"accent", "paper", 4.5}, {"accent", "surface", 4.5}, {"accent", "sunk", 4.5},
		{"line-strong", "paper", 3}, {"line-strong", "surface", 3}, {"line-strong", "sunk", 3},
		{"focus", "paper", 3}, {"focus", "surface", 3}, {"focus", "sunk", 3}, {"focus", "danger-bg", 3},
		{"danger", "danger-bg", 4.5}, {"danger", "paper", 4.5}, {"danger", "surface", 4.5}, {"ink", "danger-bg", 7},
		{"warn", "warn-bg", 4.5}, {"ink", "warn-bg", 7}, {"ok", "ok-bg", 4.5}, {"ink", "ok-bg", 7},
		{"info", "info-bg", 4.5}, {"ink", "info-bg", 7}, {"replay", "replay-bg", 4.5},
	} {
		for theme, colours := range map[string]map[string]string{"light": light, "dark": dark} {
			if got := contrast(t, colours[pair.front], colours[pair.back]); got < pair.need {
				t.Errorf("%s: %s on %s has contrast %.2f, needs %.1f", theme, pair.front, pair.back, got, pair.need)
			}
		}
	}
}

func tokens(t *testing.T) (light, dark map[string]string) {
	t.Helper()
	light, dark = map[string]string{}, map[string]string{}
	line := regexp.MustCompile(`--([a-z0-9-]+): light-dark\((#[0-9A-Fa-f]{6}), (#[0-9A-Fa-f]{6})\);`)
	for _, m := range line.FindAllStringSubmatch(string(assets["tokens.css"].body), -1) {
		light[m[1]], dark[m[1]] = m[2], m[3]
	}
	if len(light) < 20 {
		t.Fatalf("read %d colours", len(light))
	}
	return light, dark
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + .05) / (min(x, y) + .05)
}

func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) != 7 {
		t.Fatalf("no colour: %q", hex)
	}
	part := func(at int) float64 {
		n, err := strconv.ParseUint(hex[at:at+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		v := float64(n) / 255
		if v <= .03928 {
			return v / 12.92
		}
		return math.Pow((v+.055)/1.055, 2.4)
	}
	return .2126*part(1) + .7152*part(3) + .0722*part(5)
}
