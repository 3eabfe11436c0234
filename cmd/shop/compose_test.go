package main

import (
	"bytes"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// compose is the part of the Compose format we use. Decoding is strict, so a
// misspelt field fails here and not on somebody's machine.
type compose struct {
	Name     string
	XImage   any `yaml:"x-image"`
	XShop    any `yaml:"x-shop"`
	Services map[string]service
	Volumes  map[string]any
	Configs  map[string]struct{ Content string }
}

type service struct {
	Image           string
	Build           string
	Command         []string
	Environment     map[string]string
	Deploy          struct{ Replicas int }
	Restart         string
	StopGracePeriod string `yaml:"stop_grace_period"`
	Ports           []string
	Volumes         []string
	Configs         []struct{ Source, Target string }
	DependsOn       map[string]struct{ Condition string } `yaml:"depends_on"`
	Healthcheck     struct {
		Test              []string
		Interval, Timeout string
		Retries           int
		Disable           bool
	}
}

func readCompose(t *testing.T) compose {
	t.Helper()
	file, err := os.ReadFile("../../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	var c compose
	if err := yaml.NewDecoder(bytes.NewReader(file), yaml.Strict()).Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestComposeRefersOnlyToWhatItHas(t *testing.T) {
	t.Parallel()
	c := readCompose(t)
	for name, s := range c.Services {
		for other, on := range s.DependsOn {
			target, ok := c.Services[other]
			if !ok {
				t.Errorf("%s depends on %s, which is not there", name, other)
			}
			switch on.Condition {
			case "service_healthy":
				if len(target.Healthcheck.Test) == 0 {
					t.Errorf("%s waits for %s to be healthy, which has no health check", name, other)
				}
			case "service_completed_successfully":
				if target.Restart != "no" {
					t.Errorf("%s waits for %s to end, which restarts", name, other)
				}
			default:
				t.Errorf("%s depends on %s with condition %q", name, other, on.Condition)
			}
		}
		for _, v := range s.Volumes {
			volume, _, _ := strings.Cut(v, ":")
			if _, ok := c.Volumes[volume]; !ok {
				t.Errorf("%s uses volume %s, which is not declared", name, volume)
			}
		}
		for _, used := range s.Configs {
			if c.Configs[used.Source].Content == "" {
				t.Errorf("%s uses config %s, which has no content", name, used.Source)
			}
		}
		if len(s.Healthcheck.Test) == 0 && !s.Healthcheck.Disable {
			t.Errorf("%s has no health check", name)
		}
	}
}

func TestComposeShowsProtectionAcrossReplicas(t *testing.T) {
	t.Parallel()
	if got := readCompose(t).Services["app"].Deploy.Replicas; got < 2 {
		t.Errorf("app has %d replicas, want 2 or more", got)
	}
}

// The demo has secrets everybody knows.
func TestComposeIsADemoForThisMachineOnly(t *testing.T) {
	t.Parallel()
	for name, s := range readCompose(t).Services {
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s publishes %s to the whole network", name, port)
			}
		}
		if s.Build != "" && s.Environment["MODE"] != "demo" {
			t.Errorf("%s runs in mode %q, want demo", name, s.Environment["MODE"])
		}
	}
}

func TestComposeUsesSettingsThatExist(t *testing.T) {
	t.Parallel()
	known := settingNames()
	for name, s := range readCompose(t).Services {
		if s.Build == "" {
			continue
		}
		for _, variable := range slices.Sorted(maps.Keys(s.Environment)) {
			if !slices.Contains(known, variable) {
				t.Errorf("%s sets %s, which is no setting", name, variable)
			}
		}
	}
}

func settingNames() (names []string) {
	for _, s := range fieldsOfConfig() {
		names = append(names, s.Name)
	}
	return names
}

func TestExampleEnvironmentListsEverySetting(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile("../../.env.example")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range regexp.MustCompile(`(?m)^([A-Z_]+)=`).FindAllSubmatch(example, -1) {
		listed = append(listed, string(m[1]))
	}
	known := settingNames()
	slices.Sort(listed)
	slices.Sort(known)
	if !slices.Equal(listed, known) {
		t.Errorf(".env.example lists\n%v\nthe settings are\n%v", listed, known)
	}
}
