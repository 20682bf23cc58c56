package reference

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// TestDetailsAreExplained: everything that x-error-detail can say has its Portuguese on the page of errors, in both
// languages.
func TestDetailsAreExplained(t *testing.T) {
	t.Parallel()
	all, err := languages()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, d := range all[0].texts.Details {
		known[d.Key.(string)] = true
		if said, _ := d.Value.(string); said == "" {
			t.Errorf("%v is not explained", d.Key)
		}
	}
	for _, page := range []string{"errors", "en/errors"} {
		if rows := strings.Count(string(pages(t)[page]), `<td lang="pt-BR">`); rows != len(known) {
			t.Errorf("%s explains %d of %d details", page, rows, len(known))
		}
	}
	value := regexp.MustCompile(`%\+?[sdqvX]`)
	for _, rule := range fault.Rules() {
		said := strings.ReplaceAll(value.ReplaceAllString(rule.Pattern(), "…"), "%%", "%")
		if rule.ForPartners() && !slices.ContainsFunc(slices.Collect(maps.Keys(known)), func(key string) bool { return strings.HasSuffix(key, ": "+said) }) {
			t.Errorf("pt.yaml does not explain %q", said)
		}
	}
}

// TestCodesHaveAnchors: every code that x-error-code can hold is explained on the page of errors, at an anchor of that
// name, in both languages; nothing else is.
func TestCodesHaveAnchors(t *testing.T) {
	t.Parallel()
	var d struct {
		Components struct {
			Schemas struct {
				ErrorCode struct{ Enum []string } `yaml:"ErrorCode"`
			}
		}
	}
	if err := yaml.Unmarshal(document(t), &d); err != nil {
		t.Fatal(err)
	}
	listed := d.Components.Schemas.ErrorCode.Enum
	if len(listed) < 50 {
		t.Fatalf("the document lists only %d codes", len(listed))
	}
	heading := regexp.MustCompile(`<h3 id="([^"]*)">([^<]*)</h3>\n<p>Status [1-5][0-9, ]+\.`)
	for _, page := range []string{"errors", "en/errors"} {
		var explained []string
		for _, found := range heading.FindAllStringSubmatch(string(pages(t)[page]), -1) {
			if found[1] != found[2] {
				t.Errorf("%s explains %s at %q", page, found[2], found[1])
			}
			explained = append(explained, found[2])
		}
		if !slices.Equal(explained, listed) {
			t.Errorf("%s explains\n%q, not\n%q", page, explained, listed)
		}
	}
}

// TestSearchFinds: the list has every other page of its language once, with its words.
func TestSearchFinds(t *testing.T) {
	t.Parallel()
	all := pages(t)
	for folder, word := range map[string]string{"": "ocorrência", "en/": "finding"} {
		page := string(all[folder+"search"])
		for name := range all {
			bare, english := strings.CutPrefix(name, "en/")
			if contentTypeOf(name) != "text/html; charset=utf-8" || english != (folder != "") || bare == "search" {
				continue
			}
			if !strings.Contains(page, `"><a href="./`+bare+`">`) {
				t.Errorf("%ssearch does not list %q", folder, bare)
			}
		}
		if !strings.Contains(page, " "+word+" ") {
			t.Errorf("%ssearch does not know %q", folder, word)
		}
	}
}

// TestDeprecationsAreListed: none today; an operation, a parameter or a member that is marked is on the page.
func TestDeprecationsAreListed(t *testing.T) {
	t.Parallel()
	if page := string(pages(t)["deprecations"]); !strings.Contains(page, "Nada foi descontinuado") {
		t.Error("the page does not say that nothing is deprecated")
	}
	marked := strings.Replace(
		string(document(t)),
		"      operationId: riskScore\n",
		"      operationId: riskScore\n      deprecated: true\n",
		1,
	)
	all, err := writeReference([]byte(marked))
	if err != nil {
		t.Fatal(err)
	}
	if page := string(all["en/deprecations"]); !strings.Contains(page, `<a href="./operations/riskScore"><code>GET /cyber/score/{userhash}</code></a></li>`) {
		t.Error("a deprecated operation is not listed")
	}
}

// TestChangelogIsServed: the entries are there, and links to files of the repository are words.
func TestChangelogIsServed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"changelog", "en/changelog"} {
		if page := string(pages(t)[name]); !strings.Contains(page, "1.0.0") ||
			!strings.Contains(page, `<div lang="en">`) {
			t.Errorf("%s has no entries", name)
		}
	}
}
