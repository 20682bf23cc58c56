package identifier

import (
	"slices"
	"strings"
	"testing"
)

// TestMailbox: every spelling of a Gmail mailbox is the same, any other address stands for itself, and the mask tells
// how it is spelled without a letter of it.
func TestMailbox(t *testing.T) {
	const one, other = "@gmail" + ".com", "@googlemail" + ".com"
	for written, want := range map[string]struct {
		form string
		mask string
	}{
		"joaosilva" + one:               {"joaosilva" + one, "***" + one},
		"joao.silva" + one:              {"joaosilva" + one, "***.***" + one},
		"j.o.a.o.silva" + one:           {"joaosilva" + one, "***.***" + one},
		"joaosilva+loja" + one:          {"joaosilva" + one, "***+***" + one},
		"joao.silva+loja.x+y" + other:   {"joaosilva" + one, "***.***+***" + other},
		"joaosilva+a.b" + one:           {"joaosilva" + one, "***+***" + one},
		"joaosilva" + other:             {"joaosilva" + one, "***" + other},
		"+loja" + one:                   {"+loja" + one, ""},
		`"joao.silva"` + one:            {`"joao.silva"` + one, ""},
		one:                             {one, ""},
		"joao.silva+loja@exemplo.com":   {"joao.silva+loja@exemplo.com", ""},
		"joao.silva@sub.gmail" + ".com": {"joao.silva@sub.gmail" + ".com", ""},
		"joao.silva@xgmail" + ".com":    {"joao.silva@xgmail" + ".com", ""},
	} {
		form, spelled := AppendMailbox(nil, []byte(written))
		if behind, _ := AppendMailbox([]byte("x"), []byte(written)); spelled != 0 && string(behind) != "x"+want.form {
			t.Errorf("%s behind another: %s", written, behind)
		}
		if string(form) != want.form || strings.Join(spelled.MaskedSpellings(), " ") != want.mask ||
			spelled != SpellingOf(written) {
			t.Errorf("%s: %s %v", written, form, spelled.MaskedSpellings())
		}
		if again, _ := AppendMailbox(nil, form); string(again) != want.form {
			t.Errorf("%s is not left alone: %s", form, again)
		}
		if string(MatchForm(Email, written)) != want.form || string(MatchForm(Domain, written)) != written {
			t.Errorf("%s: matched by %s", written, MatchForm(Email, written))
		}
	}
	all := Spellings(0xff).MaskedSpellings()
	if slices.Sort(all); len(slices.Compact(all)) != 8 {
		t.Error(all)
	}
}
