package reference

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPagesInBothLanguages: every page is there in both, says which it is, and names the other, so that readers and
// search engines find it.
func TestPagesInBothLanguages(t *testing.T) {
	t.Parallel()
	all := pages(t)
	count := 0
	for name, content := range all {
		if contentTypeOf(name) != "text/html; charset=utf-8" {
			continue
		}
		count++
		page, want, other := string(content), "pt-BR", "en/"+name
		if bare, english := strings.CutPrefix(name, "en/"); english {
			want, other = "en", bare
		}
		if all[other] == nil {
			t.Errorf("%q has no page %q beside it", name, other)
		}
		if !strings.Contains(page, `<html lang="`+want+`">`) {
			t.Errorf("%q does not say that it is in %s", name, want)
		}
		for _, code := range []string{"x-default", "pt-BR", "en"} {
			if strings.Count(page, `<link rel="alternate" hreflang="`+code+`"`) != 1 {
				t.Errorf("%q does not name its page for %s", name, code)
			}
		}
		if switches := regexp.MustCompile(`<a href="[^"]+" lang="(en|pt-BR)" hreflang="`).FindAllString(page, -1); len(switches) != 2 {
			t.Errorf("%q: %d ways to change the language", name, len(switches))
		}
	}
	if count < 80 {
		t.Errorf("only %d pages", count)
	}
}

// TestPortugueseIsWhole: nothing of the contract is missing in the table, and nothing is left over.
func TestPortugueseIsWhole(t *testing.T) {
	t.Parallel()
	all, err := languages()
	if err != nil {
		t.Fatal(err)
	}
	table, c := all[0].texts, contract(t)
	if _, missing := all[0].translate(c); len(missing) > 0 {
		t.Errorf("pt.yaml and pt.fields.yaml do not have %q", missing)
	}
	used := map[string]bool{}
	const quoted = `"([^"\n]+)"`
	for name, word := range map[string]string{
		"page.html": `\bsay "([^"]+)"`, "pages.go": quoted, "navigation.go": quoted, "search.go": quoted, "changelog.go": quoted,
	} {
		for _, m := range regexp.MustCompile(word).FindAllStringSubmatch(source(t, name), -1) {
			used[m[1]] = true
		}
	}
	for _, tag := range c.Tags {
		used[tag.Name], used[tag.Description] = true, true
	}
	fields := map[string]bool{}
	for _, op := range c.Operations {
		members := op.Members
		for _, p := range op.Parameters {
			used[p.In], fields[joinLines(p.Description)] = true, true
		}
		for _, r := range op.Responses {
			used[r.Description] = true
			members = append(slices.Clone(members), r.Members...)
		}
		for _, m := range members {
			fields[joinLines(m.Description)] = true
		}
	}
	for english := range table.fields {
		if !fields[english] {
			t.Errorf("no parameter or member is about %q any more", english)
		}
	}
	for english := range table.Words {
		if !used[english] {
			t.Errorf("no page says %q any more", english)
		}
	}
	for id := range table.Operations {
		if !slices.ContainsFunc(c.Operations, func(op Operation) bool { return op.ID == id }) {
			t.Errorf("there is no operation %s", id)
		}
	}
	// A rule has a name, a status or a figure: each of them is in both languages.
	rules := regexp.MustCompile("`[^`]+`|[0-9][0-9,]*")
	for _, op := range c.Operations {
		for _, rule := range rules.FindAllString(op.Description, -1) {
			if rule[0] != '`' {
				rule = strings.ReplaceAll(rule, ",", ".")
			}
			if !strings.Contains(joinLines(table.Operations[op.ID].About), joinLines(strings.TrimRight(rule, "."))) {
				t.Errorf("%s in Portuguese does not tell of %s", op.ID, rule)
			}
		}
	}
	for name := range table.Events {
		if !slices.ContainsFunc(c.Events, func(e Event) bool { return e.Type == name }) {
			t.Errorf("there is no event %s", name)
		}
	}
}

// TestFieldsInPortuguese: what a reader of the Portuguese pages finds beside parameters and members is Portuguese, and
// none of the marks by which YAML folds a text is on any page.
func TestFieldsInPortuguese(t *testing.T) {
	t.Parallel()
	all := pages(t)
	portuguese, english := string(all["operations/createSubscriptions"]), string(all["en/operations/createSubscriptions"])
	for _, c := range []struct{ pt, en string }{
		{"Nome completo.", "Full name."}, {"<td>um de M, F</td>", "<td>one of M, F</td>"}, {"<td>cabeçalho</td>", "<td>header</td>"},
	} {
		if !strings.Contains(portuguese, c.pt) || strings.Contains(portuguese, c.en) ||
			!strings.Contains(english, c.en) {
			t.Errorf("%q is not what the page says for %q", c.pt, c.en)
		}
	}
	for name, page := range all {
		if strings.Contains(string(page), ": &gt;-") {
			t.Errorf("%q shows a mark of YAML", name)
		}
	}
}

// TestMissingWordsAreNoticed: a word of ours without its Portuguese fails; what the contract has anew is named.
func TestMissingWordsAreNoticed(t *testing.T) {
	t.Parallel()
	all, err := languages()
	if err != nil {
		t.Fatal(err)
	}
	if said, err := all[0].textInLanguage("Nobody translated this"); err == nil {
		t.Errorf("said %q", said)
	}
	c := contract(t)
	anew := []Member{{Name: "m", Description: "Nobody\ntranslated this either"}}
	c.Operations = append(c.Operations, Operation{ID: "newOne", Tag: c.Tags[0].Name, Summary: "New", Members: anew})
	if told, missing := all[0].translate(
		c,
	); !slices.Equal(missing, []string{"newOne", "Nobody translated this either"}) ||
		told.Operations[len(told.Operations)-1].Summary != "New" {
		t.Errorf("an operation without Portuguese: %q", missing)
	}
}

func source(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
