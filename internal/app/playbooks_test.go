package app_test

import (
	"encoding/json"
	"net/http/httptest"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

var (
	alertName  = regexp.MustCompile(`(?m)^ *- alert: (\S+)$`)
	metricName = regexp.MustCompile(`\b(?:vigia|process|go)_[a-z_]+\b`)
	metricText = regexp.MustCompile(`"(vigia_[a-z_]+)"`)
	series     = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// TestEveryAlertHasItsPage: each rule names a page of its own, with something to do on it, and there are no pages
// without a rule.
func TestEveryAlertHasItsPage(t *testing.T) {
	rules := readTree(t, "deploy/alerts.yaml")
	pages := map[string]bool{}
	for _, match := range alertName.FindAllStringSubmatch(rules, -1) {
		name := "docs/playbooks/" + match[1] + ".md"
		pages[name] = true
		if !inTree(name) || !strings.Contains(rules, "runbook: "+name) {
			t.Errorf("the alert %s has no page, or does not name it", match[1])
			continue
		}
		if text := readTree(
			t,
			name,
		); !strings.HasPrefix(text, "# "+match[1]+"\n") ||
			!strings.Contains(text, "\n## What to do\n\n1. ") {
			t.Errorf("%s does not say what to do", name)
		}
	}
	if len(pages) == 0 {
		t.Fatal("no alert was found")
	}
	for _, name := range treeFiles(t) {
		if path.Dir(name) == "docs/playbooks" && !pages[name] {
			t.Errorf("%s belongs to no alert", name)
		}
	}
}

// TestAlertsFire has Prometheus' own tool run the tests of the rules: a healthy installation raises nothing, and each
// rule fires where what it watches is wrong.
func TestAlertsFire(t *testing.T) {
	rules, tests := readTree(t, "deploy/alerts.yaml"), readTree(t, "deploy/alerts_test.yaml")
	for _, match := range alertName.FindAllStringSubmatch(rules, -1) {
		if !strings.Contains(tests, `{alertname="`+match[1]+`"}`) {
			t.Errorf("no test has %s fire", match[1])
		}
	}
	gatetest.Needs(t, gatetest.Programs)
	run := exec.CommandContext(t.Context(), "promtool", "test", "rules", "alerts_test.yaml")
	run.Dir = "../../deploy"
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// TestWatchedMetricsExist: what rules and dashboard ask for is there. Ours are looked up in the code, the runtime's in
// a registry.
func TestWatchedMetricsExist(t *testing.T) {
	known := map[string]bool{}
	for _, name := range treeFiles(t) {
		if strings.HasPrefix(name, "internal/") && strings.HasSuffix(name, ".go") &&
			!strings.HasSuffix(name, "_test.go") {
			for _, match := range metricText.FindAllStringSubmatch(readTree(t, name), -1) {
				known[match[1]] = true
			}
		}
	}
	answer := httptest.NewRecorder()
	telemetry.NewMetrics().NewHandler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range strings.Split(answer.Body.String(), "\n") {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			known[strings.Fields(rest)[0]] = true
		}
	}
	for _, name := range []string{"go_sql_in_use_connections", "go_sql_wait_duration_seconds_total"} { // of prometheus's collector
		known[name] = true
	}
	asked := 0
	for _, name := range []string{"deploy/alerts.yaml", "deploy/dashboard.json"} {
		for _, metric := range metricName.FindAllString(readTree(t, name), -1) {
			asked++
			if !known[metric] && !known[series.ReplaceAllString(metric, "")] {
				t.Errorf("%s asks for %s, which nobody tells", name, metric)
			}
		}
	}
	if asked == 0 {
		t.Error("no metric was found")
	}
	if !json.Valid([]byte(readTree(t, "deploy/dashboard.json"))) {
		t.Error("the dashboard is not JSON")
	}
}
