package stored_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestExposesOfWhatWasFound: without classes, or with auto among them, a breach exposes what its records hold; classes
// that are named are held against that. What stands beside fewer than one in a hundred is noise.
func TestExposesOfWhatWasFound(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		var dump strings.Builder
		dump.WriteString("email,senha,nome,salario\n")
		for n := range 500 {
			salary := ""
			if n == 7 {
				salary = "5000"
			}
			_, _ = fmt.Fprintf(&dump, "p%d@exemplo.com.br,segredo%d,Pessoa Souza,%s\n", n, n, salary)
		}
		file := v.File("loja.csv", dump.String())
		for name, c := range map[string]struct {
			named            []cyber.Exposed
			want             string
			nowhere, unnamed string
		}{
			"nada":  {nil, "[email password name]", "[]", "[]"},
			"auto":  {[]cyber.Exposed{"auto", "health"}, "[email password name health]", "[health]", "[]"},
			"certo": {[]cyber.Exposed{"email", "password", "name"}, "[email password name]", "[]", "[]"},
			"outro": {[]cyber.Exposed{"email", "card"}, "[email card]", "[card]", "[password name]"},
		} {
			out := v.Import(dumptest.MakeBreach(name, cyber.SourceBreach, c.named...), file)
			if got := fmt.Sprint(out.Exposes); got != c.want {
				t.Errorf("%s exposes %s, want %s", name, got, c.want)
			}
			nowhere, unnamed := out.Tally.CompareClasses(out.Exposes)
			if fmt.Sprint(nowhere) != c.nowhere || fmt.Sprint(unnamed) != c.unnamed {
				t.Errorf("%s: named and not found %v, found and not named %v", name, nowhere, unnamed)
			}
			if out.Tally.Told != 500 || out.Tally.Classes["password"] != 500 || out.Tally.Classes["financial"] != 1 {
				t.Errorf("%s: %d told, %v", name, out.Tally.Told, out.Tally.Classes)
			}
		}
		v.RunJobs()
	})
}
