package stored_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// heard writes a person's findings in the order of the breaches, those that alerted nobody in brackets.
func (v *env) heard(user string) string {
	v.T.Helper()
	findings, err := v.Monitoring.ListFindings(context.Background(), v.Live.Partner, partner.UserHash(user))
	if err != nil {
		v.T.Fatal(err)
	}
	var words []string
	for _, f := range findings {
		word := f.Breach.Name + fmt.Sprint(f.Breach.Exposes)
		if f.Quiet {
			word = "(" + word + ")"
		}
		words = append(words, word)
	}
	slices.SortFunc(
		words,
		func(a, b string) int { return strings.Compare(strings.Trim(a, "()"), strings.Trim(b, "()")) },
	)
	return strings.Join(words, " ")
}

// known is the truth of one person: what they were told so far.
type known struct {
	classes   map[string]bool
	passwords map[string]bool
}

// TestNewsByContent imports dumps in which people stand again with the same, with more, or with another password, under
// every kind. Whoever heard of all of it before is not alerted, whoever has not is, and it does not matter whether they
// were watched before the imports or after.
func TestNewsByContent(t *testing.T) {
	const people, dumps = 12, 5
	kinds := []cyber.SourceKind{cyber.SourceBreach, cyber.SourceCombolist, cyber.SourceStealer, cyber.SourcePaste}
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		for seed := range uint64(3) {
			v, random := newEnv(t, e), rand.New(rand.NewPCG(seed, 5))
			v.LoadPublished()
			address := func(p int) string { return fmt.Sprintf("pessoa%d.%d@exemplo.com", seed, p) }
			for p := range people {
				v.Watch(v.Live, fmt.Sprintf("antes %d", p), "email", address(p))
			}
			truth, want := make([]known, people), make([]string, people)
			for d := range dumps {
				text := "email;senha;nome\n"
				for p := range people {
					if random.IntN(3) == 0 {
						continue
					}
					told := known{map[string]bool{"email": true}, map[string]bool{}}
					for range 1 + random.IntN(2) {
						password, name := []string{"", "Praia2020", "Verao#21", "x9!kT"}[random.IntN(4)], []string{"", "Ana Lima"}[random.IntN(2)]
						text += address(p) + ";" + password + ";" + name + "\n"
						if password != "" {
							told.classes["password"], told.passwords[password] = true, true
						}
						if name != "" {
							told.classes["name"] = true
						}
					}
					want[p] = strings.TrimSpace(want[p] + " " + truth[p].hear(fmt.Sprintf("v%d-%d", seed, d), told))
				}
				breach := dumptest.MakeBreach(
					fmt.Sprintf("v%d-%d", seed, d),
					kinds[random.IntN(len(kinds))],
					cyber.ExposedEmail,
					cyber.ExposedPassword,
				)
				v.Import(breach, v.File("d.csv", text))
				v.RunJobs()
				e.Clock.Advance(time.Minute)
			}
			v.LoadPublished()
			for p := range people {
				v.Watch(v.Live, fmt.Sprintf("depois %d", p), "email", address(p))
				v.WantEqual(
					fmt.Sprintf("seed %d, watched before, person %d", seed, p),
					v.heard(fmt.Sprintf("antes %d", p)),
					want[p],
				)
				v.WantEqual(
					fmt.Sprintf("seed %d, watched after, person %d", seed, p),
					v.heard(fmt.Sprintf("depois %d", p)),
					want[p],
				)
			}
		}
	})
}

// hear adds what a dump holds of somebody and writes the finding down.
func (k *known) hear(dump string, told known) string {
	news := k.classes == nil
	if news {
		*k = known{map[string]bool{}, map[string]bool{}}
	}
	var classes []string
	for _, c := range []string{"email", "password", "name"} { // the order of documentation
		if told.classes[c] {
			news, k.classes[c], classes = news || !k.classes[c], true, append(classes, c)
		}
	}
	for p := range told.passwords {
		news, k.passwords[p] = news || !k.passwords[p], true
	}
	word := fmt.Sprintf("%s%v", dump, classes)
	if !news {
		return "(" + word + ")"
	}
	return word
}
