package app_test

import (
	"regexp"
	"testing"

	"github.com/vigiahq/vigia"
)

// TestVersionsAgree: program, clients, the API's document, the chart and the list of changes have one version.
func TestVersionsAgree(t *testing.T) {
	for path, pattern := range map[string]string{
		"CHANGELOG.md":                    `(?m)^## \[(\d[^\]]*)\]`,
		"clients/typescript/package.json": `(?m)^  "version": "(.*)"`,
		"clients/python/pyproject.toml":   `(?m)^version = "(.*)"$`,
		"internal/api/openapi.yaml":       `(?m)^  version: (.*)$`,
		"deploy/chart/Chart.yaml":         `(?m)^appVersion: (.*)$`,
	} {
		found := regexp.MustCompile(pattern).FindStringSubmatch(readTree(t, path))
		if found == nil || found[1] != vigia.Version {
			t.Errorf("%s: %q, version.go has %s", path, found, vigia.Version)
		}
	}
}
