package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/client_golang/prometheus"
)

// contentOf is a config of the compose file as its container sees it.
func contentOf(t *testing.T, name string) string {
	t.Helper()
	content := readCompose(t).Configs[name].Content
	if content == "" {
		t.Fatalf("there is no config %s", name)
	}
	return strings.ReplaceAll(content, "$$", "$")
}

func TestComposeReplacesNoDollarSignOfAConfig(t *testing.T) {
	t.Parallel()
	for name, config := range readCompose(t).Configs {
		if strings.Contains(strings.ReplaceAll(config.Content, "$$", ""), "$") {
			t.Errorf("%s has a single dollar sign, which Compose takes for a variable of its own", name)
		}
	}
}

type dashboard struct {
	UID, Title, Refresh string
	SchemaVersion       int
	Editable            bool
	Time                struct{ From, To string }
	Panels              []struct {
		ID          int
		Type, Title string
		Datasource  struct{ UID string }
		GridPos     struct{ X, Y, W, H int }
		Targets     []struct{ RefID, Expr, LegendFormat string }
		FieldConfig struct {
			Defaults  json.RawMessage
			Overrides []any
		}
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(contentOf(t, "dashboard")))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d
}

type rule struct {
	Alert, Expr, For string
	Annotations      map[string]string
}

func readRules(t *testing.T) []rule {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string
			Rules []rule
		}
	}
	if err := yaml.NewDecoder(bytes.NewReader([]byte(contentOf(t, "alerts"))), yaml.Strict()).Decode(&file); err != nil {
		t.Fatal(err)
	}
	var all []rule
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

func TestTheDashboardAndTheRulesAreWhole(t *testing.T) {
	t.Parallel()
	var grafana struct {
		APIVersion  int `yaml:"apiVersion"`
		Datasources []struct{ Name, UID string }
	}
	if err := yaml.Unmarshal([]byte(contentOf(t, "grafana")), &grafana); err != nil || len(grafana.Datasources) != 1 {
		t.Fatal(grafana, err)
	}
	ids := map[int]bool{}
	for _, p := range readDashboard(t).Panels {
		if ids[p.ID] || p.Title == "" || p.Type == "" || len(p.Targets) == 0 || p.GridPos.W == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d %q is not whole", p.ID, p.Title)
		}
		if p.Datasource.UID != grafana.Datasources[0].UID {
			t.Errorf("panel %q reads from %q", p.Title, p.Datasource.UID)
		}
		ids[p.ID] = true
	}
	for _, r := range readRules(t) {
		if r.Alert == "" || r.Expr == "" || r.Annotations["summary"] == "" {
			t.Errorf("rule %+v is not whole", r)
		}
		if _, err := time.ParseDuration(r.For); r.For != "" && err != nil {
			t.Errorf("%s: %v", r.Alert, err)
		}
		if !regexp.MustCompile(`[<>]|absent`).MatchString(r.Expr) {
			t.Errorf("%s compares with nothing: it would always be on", r.Alert)
		}
	}
	if len(readRules(t)) < 7 || len(ids) < 12 {
		t.Errorf("%d rules and %d panels", len(readRules(t)), len(ids))
	}
	if !strings.Contains(contentOf(t, "prometheus"), "rule_files: [/etc/prometheus/alerts.yml]") {
		t.Error("Prometheus does not read the rules")
	}
}

// TestTheDashboardDrawsTheLineOfAFewPercent: above it, somebody retries too eagerly.
func TestTheDashboardDrawsTheLineOfAFewPercent(t *testing.T) {
	t.Parallel()
	first := string(readDashboard(t).Panels[0].FieldConfig.Defaults)
	if !strings.Contains(first, `"value":0.05`) || !strings.Contains(first, `"mode":"line"`) || !strings.Contains(first, "percentunit") {
		t.Errorf("got %s", first)
	}
}

// series are the names that a running shop exposes, each with its labels and the values they have.
func series(t *testing.T) map[string][]string {
	t.Helper()
	a := newTestApp(t, slog.New(slog.DiscardHandler))
	descriptions := make(chan *prometheus.Desc, 1000)
	a.metrics.Describe(descriptions)
	close(descriptions)
	known := map[string][]string{"up": {"job", "instance"}} // made by Prometheus for every target
	parts := regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)
	for d := range descriptions {
		m := parts.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("cannot read %s", d)
		}
		known[m[1]] = append(strings.Split(m[2], ","), "job", "instance", "le")
	}
	families, err := a.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				known[f.GetName()] = append(known[f.GetName()], l.GetName()+"="+l.GetValue())
			}
		}
	}
	return known
}

var (
	grouping = regexp.MustCompile(`\bby \(([^)]*)\)`)
	selector = regexp.MustCompile(`([a-z_]+)\{([^}]*)\}`)
	window   = regexp.MustCompile(`\[[^\]]*\]`)
	word     = regexp.MustCompile(`[a-z_]+\b *\(?`)
	matcher  = regexp.MustCompile(`([a-z_]+)=~?"([^"]*)"`)
)

// seriesIn finds the series of an expression, and the labels and values that it asks of them.
func seriesIn(expr string) (names, labels []string) {
	for _, m := range grouping.FindAllStringSubmatch(expr, -1) {
		labels = append(labels, strings.Split(m[1], ", ")...)
	}
	for _, m := range matcher.FindAllStringSubmatch(expr, -1) {
		for value := range strings.SplitSeq(m[2], "|") {
			labels = append(labels, m[1]+"="+value)
		}
	}
	rest := window.ReplaceAllString(selector.ReplaceAllString(grouping.ReplaceAllString(expr, ""), "$1"), "")
	for _, w := range word.FindAllString(rest, -1) {
		if !strings.HasSuffix(w, "(") && strings.TrimSpace(w) != "or" {
			names = append(names, strings.TrimSpace(w))
		}
	}
	return names, labels
}

// TestTheDashboardAndTheRulesNameWhatThereIs: a renamed series would be an empty panel and an alert that
// never comes. And the other way: what is measured of keys, events and books is shown.
func TestTheDashboardAndTheRulesNameWhatThereIs(t *testing.T) {
	t.Parallel()
	known, shown := series(t), map[string]bool{}
	check := func(where, expr string) {
		names, labels := seriesIn(expr)
		if len(names) == 0 {
			t.Errorf("%s names no series: %s", where, expr)
		}
		for _, name := range names {
			if base := strings.TrimSuffix(name, "_bucket"); base != name && known[base] != nil {
				name = base
			}
			shown[name] = true
			if known[name] == nil {
				t.Errorf("%s names %s, which the shop does not measure", where, name)
			}
			for _, l := range labels {
				if !slices.Contains(known[name], l) && l != "job=shop" && l != "store=database" { // seen at the first request
					t.Errorf("%s asks %s for %s, which it has not", where, name, l)
				}
			}
		}
	}
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			check(p.Title, target.Expr)
		}
	}
	for _, r := range readRules(t) {
		check(r.Alert, r.Expr)
	}
	for name := range known {
		for _, ours := range []string{"idem_", "webhook_", "limit_", "jobs", "reconcile_", "needs_", "provider_", "redis_", "orders_"} {
			if strings.HasPrefix(name, ours) && !shown[name] {
				t.Errorf("%s is measured and not on the dashboard", name)
			}
		}
	}
}
