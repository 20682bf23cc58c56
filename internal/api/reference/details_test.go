package reference

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// speakers are the files whose refusals partners read in x-error-detail.
var speakers = []string{
	"../*.go", "../../identifier/*.go", "../../partner/userhash.go", "../../partner/key_by.go", "../../alert/feed.go", "../../cyber/advise_person.go",
	"../../cyber/case_person.go", "../../cyber/epp.go", "../../cyber/finding_plan.go", "../../cyber/insurance.go", "../../cyber/monitoring.go",
	"../../cyber/portal_session.go", "../../subscription/edit.go",
}

// handedOn are formats whose rule is the text of another refusal, and a field of the log.
var handedOn = map[string]bool{"method": true, "%s": true, "value: %s": true, "passwordHashPrefix: %s": true}

// TestDetailsAreExplained: everything that x-error-detail can say has its Portuguese on the page of errors, in both languages.
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
	said := regexp.MustCompile(`\b(?:With|rule)\((?:"[a-z_]+", )?"((?:[^"\\]|\\.)*)"|(?m:^\t"[a-z_]+\.[a-z_]+": +"([a-zA-Z_, ]+: [ -~]+)",$)`)
	value := regexp.MustCompile(`%\+?[sdqvX]`)
	count := 0
	for _, pattern := range speakers {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, m := range said.FindAllStringSubmatch(source(t, name), -1) {
				format := m[1] + m[2]
				if handedOn[format] {
					continue
				}
				count++
				detail := strings.ReplaceAll(value.ReplaceAllString(format, "…"), "%%", "%")
				_, rule, _ := strings.Cut(detail, ": ")
				if !known[detail] && !known["…: "+rule] && !known["…: "+detail] {
					t.Errorf("%s: pt.yaml does not explain %q", name, detail)
				}
			}
		}
	}
	if count < 60 {
		t.Errorf("only %d details were found", count)
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
			if typeOf(name) != "text/html; charset=utf-8" || english != (folder != "") || bare == "search" {
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
	marked := strings.Replace(string(document(t)), "      operationId: riskScore\n", "      operationId: riskScore\n      deprecated: true\n", 1)
	all, err := write([]byte(marked))
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
		if page := string(pages(t)[name]); !strings.Contains(page, "Unreleased") || !strings.Contains(page, `<div lang="en">`) {
			t.Errorf("%s has no entries", name)
		}
	}
}
