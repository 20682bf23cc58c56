package app_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/vigiahq/vigia"
)

// TestVersionsAgree: program, clients, the API's document, the chart and the list of changes have one version.
func TestVersionsAgree(t *testing.T) {
	for path, pattern := range map[string]string{
		"CHANGELOG.md":                    `(?m)^## \[(\d[^\]]*)\]`,
		"clients/typescript/package.json": `(?m)^  "version": "(.*)"`,
		"clients/python/pyproject.toml":   `(?m)^version = "(.*)"$`,
		"internal/web/api/openapi.yaml":   `(?m)^  version: (.*)$`,
		"go.mod":                          `(?m)^\tgithub.com/vigiahq/vigia/client v(.*)$`,
		"go.work":                         `(?m)^replace github.com/vigiahq/vigia/client v(\S+) `,
		"deploy/chart/Chart.yaml":         `(?m)^appVersion: (.*)$`,
	} {
		found := regexp.MustCompile(pattern).FindStringSubmatch(readTree(t, path))
		if found == nil || found[1] != vigia.Version {
			t.Errorf("%s: %q, version.go has %s", path, found, vigia.Version)
		}
	}
	if strings.Contains(readTree(t, "go.mod"), "replace ") {
		t.Error("go.mod replaces a module: go install of the service refuses that")
	}
}
