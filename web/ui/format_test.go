package ui

import (
	"bytes"
	"compress/gzip"
	"math"
	"testing"
	"time"

	"example.com/eenmaal/domain"
)

func TestMoneyReadsAsPeopleWriteIt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cents  int64
		en, nl string
	}{
		{0, "€0.00", "€\u00a00,00"},
		{5, "€0.05", "€\u00a00,05"},
		{4195, "€41.95", "€\u00a041,95"},
		{99999, "€999.99", "€\u00a0999,99"},
		{100000, "€1,000.00", "€\u00a01.000,00"},
		{123450, "€1,234.50", "€\u00a01.234,50"},
		{123456789012, "€1,234,567,890.12", "€\u00a01.234.567.890,12"},
		{-4195, "-€41.95", "€\u00a0-41,95"},
		{math.MinInt64, "-€92,233,720,368,547,758.08", "€\u00a0-92.233.720.368.547.758,08"},
	} {
		if got := Money(English, domain.EUR(tt.cents)); got != tt.en {
			t.Errorf("Money(en, %d) = %q, want %q", tt.cents, got, tt.en)
		}
		if got := Money(Dutch, domain.EUR(tt.cents)); got != tt.nl {
			t.Errorf("Money(nl, %d) = %q, want %q", tt.cents, got, tt.nl)
		}
	}
}

func TestMomentsAreOnTheClocksOfAmsterdam(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ at, en, nl string }{
		{"2026-11-30T13:05:00Z", "30 November 2026 14:05", "30 november 2026 14:05"},
		{"2026-07-01T22:30:00Z", "2 July 2026 00:30", "2 juli 2026 00:30"},
		{"2026-03-29T00:59:00Z", "29 March 2026 01:59", "29 maart 2026 01:59"},
		{"2026-03-29T01:00:00Z", "29 March 2026 03:00", "29 maart 2026 03:00"},
	} {
		at, err := time.Parse(time.RFC3339, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		plain := func(s string) string { return string(bytes.ReplaceAll([]byte(s), []byte("\u00a0"), []byte(" "))) }
		if en, nl := plain(Moment(English, at)), plain(Moment(Dutch, at)); en != tt.en || nl != tt.nl {
			t.Errorf("%s = %q / %q, want %q / %q", tt.at, en, nl, tt.en, tt.nl)
		}
	}
}

func TestMaskedAddressesKeepWhatTheOwnerRecognises(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"sanne@example.nl": "s...@example.nl", "é@example.nl": "é...@example.nl", "nothing": "...", "@example.nl": "...", "": "...",
	} {
		if got := MaskEmail(in); got != want {
			t.Errorf("MaskEmail(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestVATIsThePartOf21In121(t *testing.T) {
	t.Parallel()
	for total, want := range map[int64]int64{0: 0, 121: 21, 4195: 728, 10000: 1736} {
		if got := VATIncluded(domain.EUR(total)).Amount; got != want {
			t.Errorf("VATIncluded(%d) = %d, want %d", total, got, want)
		}
	}
}

func TestStaticFilesStayWithinTheirBudget(t *testing.T) {
	t.Parallel()
	if css := zipped(t, "tokens.css") + zipped(t, "app.css"); css > 12<<10 {
		t.Errorf("style sheets are %d bytes zipped", css)
	}
	if js := zipped(t, "shop.js") + zipped(t, "theme.js"); js > 8<<10 {
		t.Errorf("scripts are %d bytes zipped", js)
	}
}

func zipped(t *testing.T, name string) int {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(assets[name].body); err != nil || len(assets[name].body) == 0 {
		t.Fatalf("%s: %v", name, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}
