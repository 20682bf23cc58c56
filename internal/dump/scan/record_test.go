package scan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
)

// vocabulary are the words of the truth for the classes that are claimed.
var vocabulary = map[string]record.Classes{
	"email":         record.Email,
	"password":      record.Password,
	"password_hash": record.PasswordHash,
	"cpf":           record.CPF,
	"phone":         record.Phone,
	"card":          record.Card,
	"address":       record.Address,
	"name":          record.Name,
	"birth_date":    record.BirthDate,
	"document":      record.Document,
	"health":        record.Health,
	"financial":     record.Financial,
	"cookies":       record.Cookies,
	"ip_address":    record.IP,
	"username":      record.Username,
}

// tally counts claims against the truth of a format.
type tally struct {
	expected, right, claims, wrong int
	// people is how many there are, deceived how many are told of a password or CPF that did not stand in their record.
	people, deceived    int
	passwords, mistyped int
	missed, untrue      map[string]int
	sites               map[string]int
	examples            []string
}

// compare reads a file and holds what is claimed against what was written.
func (c *tally) compare(t *testing.T, file File) {
	t.Helper()
	truth := map[Value]*Person{}
	for i := range file.People {
		for _, v := range file.People[i].Values {
			truth[v] = &file.People[i]
		}
	}
	c.people += len(file.People)
	seen, deceived := map[Value]record.Classes{}, map[*Person]bool{}
	r := NewRecorder(func(s *record.Sighting) {
		v := Value{Kind: s.Kind, Normal: string(s.Normal)}
		who := truth[v]
		own := ownClass[s.Kind]
		if who == nil { // inside of something else, or another reading of digits: it must not be given anything
			who = &Person{Classes: map[string]bool{own: true}}
		}
		seen[v] |= s.Classes
		for word, class := range vocabulary {
			if s.Classes&class == 0 {
				continue
			}
			c.claims++
			if !who.Classes[word] {
				c.wrong++
				c.untrue[word]++
				if len(c.examples) < 12 {
					at := bytes.Index(file.Text, []byte(v.Normal))
					c.examples = append(c.examples, word+" claimed of "+v.Normal+": "+around(file.Text, at))
				}
				if class == record.Password || class == record.CPF {
					deceived[who] = true
				}
			}
		}
		if s.Password != nil && who.Password != "" {
			if c.passwords++; string(s.Password) != who.Password {
				if c.mistyped++; len(c.examples) < 12 {
					c.examples = append(c.examples, "password "+string(s.Password)+" is "+who.Password)
				}
			}
		}
		if s.Site != nil && who.Site != "" && string(s.Site) != who.Site {
			c.sites[string(s.Site)+" is "+who.Site]++
		}
	})
	if _, err := r.Scan(context.Background(), bytes.NewReader(file.Text), file.Name); err != nil {
		t.Fatal(err)
	}
	c.deceived += len(deceived)
	for v, who := range truth {
		for word := range who.Classes {
			c.expected++
			if seen[v]&vocabulary[word] != 0 {
				c.right++
			} else if c.missed[word]++; len(c.examples) < 12 {
				c.examples = append(
					c.examples,
					word+" missed of "+v.Normal+": "+around(
						file.Text,
						bytes.Index(bytes.ToLower(file.Text), []byte(v.Normal)),
					),
				)
			}
		}
	}
}

var ownClass = map[identifier.Kind]string{
	identifier.Email: "email",
	identifier.CPF:   "cpf",
	identifier.Phone: "phone",
	identifier.Card:  "card",
}

func around(text []byte, at int) string {
	if at < 0 {
		return "?"
	}
	return strings.ToValidUTF8(string(text[max(0, at-150):min(len(text), at+200)]), "?")
}

// TestClassesOfRecords holds what is claimed of people against a truth that was written down while their records were.
func TestClassesOfRecords(t *testing.T) {
	files, records := 24, 60
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		files, records = 100, 100 // with eleven formats with headers, more than 100,000 people
	}
	var all tally
	headed := 0
	for i, format := range Formats {
		c := tally{missed: map[string]int{}, untrue: map[string]int{}, sites: map[string]int{}}
		for seed := range files {
			c.compare(t, format.Write(uint64(i*1000+seed), records))
		}
		recall, wrong := float64(c.right)/float64(c.expected), float64(c.wrong)/float64(max(1, c.claims))
		t.Logf(
			"%-22s %6d people, recall %.4f, %d of %d claims wrong (%.5f), %d people deceived, %d of %d passwords "+
				"mistyped; missed %v, false %v",
			format.Name,
			c.people,
			recall,
			c.wrong,
			c.claims,
			wrong,
			c.deceived,
			c.mistyped,
			c.passwords,
			c.missed,
			c.untrue,
		)
		for _, e := range c.examples {
			t.Logf("    %q", e)
		}
		if len(c.sites) > 0 {
			t.Errorf("%s: sites %v", format.Name, c.sites)
		}
		if format.Headed {
			headed += c.people
			if c.deceived > 0 {
				t.Errorf(
					"%s: %d people are told of a password or CPF that did not stand in their record",
					format.Name,
					c.deceived,
				)
			}
		}
		all.claims, all.wrong = all.claims+c.claims, all.wrong+c.wrong
		if !format.Bare {
			all.expected, all.right = all.expected+c.expected, all.right+c.right
			if recall < 0.99 {
				t.Errorf("%s: recall %.4f", format.Name, recall)
			}
		}
		if wrong > 0.001 {
			t.Errorf("%s: %d of %d claims are wrong", format.Name, c.wrong, c.claims)
		}
	}
	t.Logf(
		"all: recall %.5f, %d of %d claims wrong; %d people in formats with headers",
		float64(all.right)/float64(all.expected),
		all.wrong,
		all.claims,
		headed,
	)
}

// TestTablesInOneFile: where files were joined, each row counts by the header that it stands under.
func TestTablesInOneFile(t *testing.T) {
	for i, format := range Formats {
		if !format.Headed {
			continue
		}
		c := tally{missed: map[string]int{}, untrue: map[string]int{}, sites: map[string]int{}}
		for round := range uint64(4) {
			var joined File
			for part := range uint64(6) {
				file := format.Write(uint64(i*1000)+100*round+part+50_000, 40)
				joined.Name, joined.People = file.Name, append(joined.People, file.People...)
				joined.Text = append(append(joined.Text, file.Text...), '\n')
			}
			c.compare(t, joined)
		}
		if recall := float64(c.right) / float64(c.expected); c.deceived > 0 || c.wrong*1000 > c.claims ||
			recall < 0.98 {
			t.Errorf(
				"%s: recall %.4f, %d of %d claims wrong, %d of %d people deceived: %q",
				format.Name,
				recall,
				c.wrong,
				c.claims,
				c.deceived,
				c.people,
				c.examples,
			)
		}
	}
}

// told is all that is said of an identifier.
func told(s *record.Sighting) string {
	return fmt.Sprintf("%v %s: %v %016b %q %q %d", s.Kind, s.Normal, s.Told, s.Classes, s.Password, s.Site, s.Day)
}

// TestRecordsOverBorders: wherever a text is cut, and whoever searches the pieces, the same is told of each identifier.
func TestRecordsOverBorders(t *testing.T) {
	for i, format := range Formats {
		if format.Name == "mail" {
			continue // is not cut
		}
		t.Run(format.Name, func(t *testing.T) {
			var text []byte
			for seed := uint64(0); len(text) < 250_000; seed++ { // one table after another
				text = append(append(text, format.Write(uint64(i*1000)+seed, 100).Text...), '\n')
			}
			var whole []string
			one := NewRecorder(func(s *record.Sighting) { whole = append(whole, told(s)) })
			one.tell(
				piece{text: text, limit: len(text)},
				&about{name: "dump", sql: record.IsSQL(text)},
				newChain(0, record.State{}),
			)
			slices.Sort(whole)
			for _, size := range []int64{33_000, 50_021, 70_001} {
				var cut [2][]string
				recorders := make([]*Recorder, len(cut))
				for k := range cut {
					recorders[k] = NewRecorder(func(s *record.Sighting) { cut[k] = append(cut[k], told(s)) })
				}
				pieces := NewPieces(bytes.NewReader(text), size, Place{Name: "dump"})
				// goes on from what was kept, as an import does that was interrupted
				for more, n := true, int64(0); more; n++ {
					kept, err := json.Marshal(pieces.State())
					if err != nil {
						t.Fatal(err)
					}
					var state record.State
					if err := json.Unmarshal(kept, &state); err != nil {
						t.Fatal(err)
					}
					pieces = NewPieces(
						bytes.NewReader(text[n*3*size:]),
						size,
						Place{Name: "dump", First: n * 3, State: state},
					)
					if more, err = pieces.Scan(context.Background(), 3, recorders); err != nil {
						t.Fatal(err)
					}
				}
				got := slices.Concat(cut[:]...)
				slices.Sort(got)
				if !slices.Equal(got, whole) {
					t.Errorf(
						"in pieces of %d: %d said, %d in one; first difference %s",
						size,
						len(got),
						len(whole),
						difference(got, whole),
					)
				}
			}
		})
	}
}

func difference(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] + " and " + b[i]
		}
	}
	return "the length"
}

// TestNoRecordIsSaid: what cannot be told apart is handed on as such, with nothing claimed.
func TestNoRecordIsSaid(t *testing.T) {
	for _, text := range []string{
		"Fale com maria@exemplo.com ou joao@exemplo.com, senha: x123.",
		strings.Repeat("ana@exemplo.com senha123 ", 2000), // one line without end
		"user=ana@exemplo.com&password=abc123",
	} {
		n := 0
		r := NewRecorder(func(s *record.Sighting) {
			if n++; s.Told || s.Classes != record.Email || s.Password != nil {
				t.Errorf("%.40q: %s", text, told(s))
			}
		})
		if _, err := r.Scan(context.Background(), strings.NewReader(text), "dump"); err != nil || n == 0 {
			t.Errorf("%d, %v", n, err)
		}
	}
}

// FuzzRecords: whatever the bytes, no panic, the addresses are those that a Scanner finds, and each identifier is its
// own class. Of digits a column may say more than a Scanner sees.
func FuzzRecords(f *testing.F) {
	for i, format := range Formats {
		f.Add(format.Write(uint64(i), 3).Text)
	}
	for _, c := range extractCases {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want, got []string
		collect := func(to *[]string) Found {
			return func(kind identifier.Kind, normal []byte) {
				if kind == identifier.Email {
					*to = append(*to, kind.String()+" "+string(normal))
				}
			}
		}
		if _, err := NewScanner(collect(&want)).Scan(context.Background(), bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		r := NewRecorder(func(s *record.Sighting) {
			collect(&got)(s.Kind, s.Normal)
			checkNormal(t, s.Kind, string(s.Normal))
			if s.Classes&vocabulary[ownClass[s.Kind]] == 0 || s.Password != nil && s.Classes&record.Password == 0 ||
				!s.Told && s.Password != nil {
				t.Fatal(told(s))
			}
		})
		if _, err := r.Scan(context.Background(), bytes.NewReader(text), "dump"); err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%q, a Scanner finds %q", got, want)
		}
	})
}

// TestCutRowClaimsNoUnknownClass: of a row with fewer fields than columns only what stands up to its last identifier is
// claimed; which columns the fields behind it are of is not known.
func TestCutRowClaimsNoUnknownClass(t *testing.T) {
	const text = "nome;email;cpf;senha;nascimento\n" +
		"Ana Souza;ana@exemplo.com.br;529.982.247-25;segredo1;1980-01-02\n" +
		"Bia Lima;bia@exemplo.com.br;111.444.777-35;segredo2;1981-03-04\n" +
		"Caio Dias;caio@exemplo.com.br;Rua das Flores\n" +
		"Davi Melo;davi@exemplo.com.br;Rua do Sol;1982-05-06\n"
	got := map[string]record.Classes{}
	r := NewRecorder(func(s *record.Sighting) { got[string(s.Normal)] |= s.Classes })
	if _, err := r.Scan(t.Context(), strings.NewReader(text), "dump"); err != nil {
		t.Fatal(err)
	}
	whole := record.Name | record.Email | record.CPF | record.Password | record.BirthDate
	for address, want := range map[string]record.Classes{
		"ana@exemplo.com.br":  whole,
		"bia@exemplo.com.br":  whole,
		"caio@exemplo.com.br": record.Name | record.Email,
		"davi@exemplo.com.br": record.Name | record.Email,
	} {
		if got[address] != want {
			t.Errorf("%s: %016b, want %016b", address, got[address], want)
		}
	}
}
