package leak

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
)

// The bits of a record's classes are the vocabulary in its order: a label is read by the one and written by the other.
func TestClassesAreTheVocabulary(t *testing.T) {
	for class, word := range map[record.Classes]cyber.Exposed{
		record.Email: cyber.ExposedEmail, record.Password: cyber.ExposedPassword, record.PasswordHash: cyber.ExposedPasswordHash, record.CPF: cyber.ExposedCPF,
		record.Phone: cyber.ExposedPhone, record.Card: cyber.ExposedCard, record.Address: cyber.ExposedAddress, record.Name: cyber.ExposedName,
		record.BirthDate: cyber.ExposedBirthDate, record.Document: cyber.ExposedDocument, record.Health: cyber.ExposedHealth,
		record.Financial: cyber.ExposedFinancial, record.Cookies: cyber.ExposedCookies, record.IP: cyber.ExposedIP, record.Username: cyber.ExposedUsername,
		record.Other: cyber.ExposedOther,
	} {
		if got := (Label{Classes: cyber.Classes(class)}).TraceOfLabel().Classes.List(); !slices.Equal(got, []cyber.Exposed{word}) {
			t.Errorf("%016b is %v, want %s", class, got, word)
		}
	}
	if all := (Label{Classes: cyber.Classes(^record.Classes(0))}).TraceOfLabel().Classes.List(); !slices.Equal(all, cyber.AllExposed()) {
		t.Errorf("all bits are %v", all)
	}
}

func drawLabel(t *rapid.T, name string) []byte {
	l := Label{
		Classes:   cyber.Classes(rapid.Uint16().Draw(t, name)),
		Spellings: identifier.Spellings(rapid.Uint8().Draw(t, name+" spellings")),
	}
	if rapid.Bool().Draw(t, name+" of a log") {
		l.Day = rapid.Int32Range(0, 30_000).Draw(t, name+" day")
		l.Sites = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a.com", "b.com", "c.com", "d.com", "e.com", "f.com"}), 0, mostSites, rapid.ID[string]).Draw(t, name+" sites")
		slices.Sort(l.Sites)
	}
	return l.AppendEncoded(nil)
}

// Labels are united in whatever order keys happen to meet, and what was written is what is read.
func TestLabelsUnite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawLabel(t, "a"), drawLabel(t, "b"), drawLabel(t, "c")
		if !bytes.Equal(uniteLabels(a, b), uniteLabels(b, a)) {
			t.Fatal("the order counts")
		}
		if !bytes.Equal(uniteLabels(uniteLabels(a, b), c), uniteLabels(a, uniteLabels(b, c))) {
			t.Fatal("it counts which two meet first")
		}
		if !bytes.Equal(uniteLabels(a, a), a) {
			t.Fatal("a label twice is another one")
		}
		l, err := ParseLabel(a)
		if err != nil || !bytes.Equal(l.AppendEncoded(nil), a) {
			t.Fatalf("%v, %v", l, err)
		}
		if coarse := coarsenLabel(a); len(coarse) > len(a) {
			t.Fatal("a coarser label says more")
		}
	})
	older, newer := Label{Classes: cyber.Classes(record.Email), Day: 20_000, Sites: []string{"a.com"}}, Label{Classes: cyber.Classes(record.Email), Day: 20_001, Sites: []string{"b.com"}}
	united, err := ParseLabel(uniteLabels(older.AppendEncoded(nil), newer.AppendEncoded(nil)))
	if err != nil || united.Day != newer.Day || !slices.Equal(united.Sites, []string{"a.com", "b.com"}) {
		t.Errorf("logs of two days are %+v, %v", united, err)
	}
	many := Label{Classes: cyber.Classes(record.Email)}
	for i := range mostSites {
		many.Sites = append(many.Sites, string(rune('a'+i))+".com")
	}
	united, err = ParseLabel(
		uniteLabels(
			many.AppendEncoded(nil),
			Label{Classes: cyber.Classes(record.Email), Sites: []string{"z.com"}, Spellings: 1}.AppendEncoded(nil),
		),
	)
	if err != nil || !slices.Equal(united.Sites, many.Sites) || united.Spellings != 1 {
		t.Errorf("more sites than are kept are %+v, %v", united, err)
	}
	for _, text := range []string{"\x01", "\x00\x01\x01\xff", "\x00\x01\x00\x01\x09a.com"} {
		if _, err := ParseLabel([]byte(text)); err == nil {
			t.Errorf("%q is a label", text)
		}
	}
}
