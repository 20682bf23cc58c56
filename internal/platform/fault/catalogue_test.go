package fault

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

// verb is where a value goes in an English sentence.
var verb = regexp.MustCompile(`%\+?0?[0-9]*[dsqvX]`)

// TestEveryRuleHasBothSentences: what a refusal says exists in both languages, in ASCII for the header of the API, and
// the Portuguese sentence takes no value that the English one does not have.
func TestEveryRuleHasBothSentences(t *testing.T) {
	rules := Rules()
	if len(rules) < 300 {
		t.Fatalf("only %d rules", len(rules))
	}
	for _, r := range rules {
		english, portuguese := strings.ReplaceAll(r.english, "%%", ""), strings.ReplaceAll(r.portuguese, "%%", "")
		if strings.TrimSpace(english) == "" || strings.TrimSpace(portuguese) == "" {
			t.Errorf("%s lacks a sentence", r.code)
		}
		if has, takes := len(verb.FindAllString(english, -1)), strings.Count(portuguese, "%s"); takes > has || strings.Contains(strings.ReplaceAll(portuguese, "%s", ""), "%") {
			t.Errorf("%s: %q has %d values, %q takes %d", r.code, r.english, has, r.portuguese, takes)
		}
		if !regexp.MustCompile(`^[a-z0-9_]+$`).MatchString(r.code) {
			t.Errorf("%q is no code", r.code)
		}
	}
}

// TestSentences: values go into both sentences, large numbers in groups, and a sentence inside another one is in its
// language.
func TestSentences(t *testing.T) {
	err := New(Invalid, "plan.invalid").With("coverage limiteCobertura", ReaisUpTo, 1_000_000_000)
	if got := err.Detail(); got != "coverage limiteCobertura: 0 to 1000000000 reais" {
		t.Error(got)
	}
	if got := err.Broken.Portuguese(); got != "De R$ 0 a R$ 1.000.000.000." {
		t.Error(got)
	}
	inner := New(Invalid, "password.bad_line").With("", OnLine, 2, ShortForAHash.Said()).In("dir/a.txt")
	if got := inner.Error(); got != "password.bad_line: dir/a.txt: line 2: too short for a hash" {
		t.Error(got)
	}
	if got := inner.Broken.Portuguese(); got != "Linha 2: curta demais para um resumo de senha." {
		t.Error(got)
	}
	if got := New(Internal, "segment.damaged").Note("block %d is damaged", 7).Because(errors.New("gone")).Error(); got != "segment.damaged: block 7 is damaged: gone" {
		t.Error(got)
	}
}

// TestRecall: what was kept of an error is said in Portuguese by its rule, also one inside another, and what was cut or
// was no fault is still read.
func TestRecall(t *testing.T) {
	failed := errors.Join(
		New(Invalid, "breach.input").With("inputs", DoubtfulImport, NothingFound.Said()).Because(errors.New("gone")),
		errors.New("more"),
	)
	kept := Keep(failed)
	for text, want := range map[string][3]string{
		kept:                               {"breach.input", "Nada foi encontrado nos arquivos. Por isso não foi publicado.", failed.Error()},
		Keep(New(Conflict, "feed.exists")): {"feed.exists", "o registro do servidor tem o motivo.", "feed.exists"},
		kept[:len(kept)-3]:                 {"", "o registro do servidor tem o motivo.", failed.Error()},
		"panic of type runtime.Error":      {"", "o registro do servidor tem o motivo.", "panic of type runtime.Error"},
	} {
		if got := Recall(text); got.Code != want[0] || got.Portuguese() != want[1] || got.Text != want[2] {
			t.Errorf("%q is recalled as %+v: %q", text, got, got.Portuguese())
		}
	}
}
