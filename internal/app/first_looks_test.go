package app_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/polltest"
)

// TestServerMakesFirstLooks: a running server looks up what a list added as far as there are tokens, and the rest when
// an operator grants more on the command line.
func TestServerMakesFirstLooks(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, c config.Common) {
		ctx := context.Background()
		operator := open(t, c)
		p, cred, err := operator.Partners.CreatePartner(
			ctx,
			"Banco",
			partner.Live,
			partner.Settings{FirstLooksPerHour: 1},
		)
		if err != nil {
			t.Fatal(err)
		}
		const people = 1200
		var lines, items strings.Builder
		for i := range people {
			_, _ = fmt.Fprintf(&lines, "p%d@exemplo.com.br\n", i)
			_, _ = fmt.Fprintf(&items, `,{"type":"email","value":"p%d@exemplo.com.br","userHash":"u%d"}`, i, i)
			if i%600 == 599 {
				items.WriteString("\n")
			}
		}
		dump := filepath.Join(t.TempDir(), "dump.txt")
		if err := os.WriteFile(dump, []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		inputs, err := intake.ListInputs(ctx, nil, []string{dump})
		if err != nil {
			t.Fatal(err)
		}
		b := cyber.Breach{
			Name:    "loja",
			Title:   "Loja",
			Date:    time.Now().AddDate(-1, 0, 0),
			Exposes: []cyber.Exposed{cyber.ExposedEmail},
		}
		if _, err := operator.Leaks.Foreground.ImportBreach(ctx, intake.Spec{Breach: b, Inputs: inputs}); err != nil {
			t.Fatal(err)
		}
		s := serve(t, open(t, c), nil)
		for list := range strings.Lines(items.String()) {
			body := strings.NewReader(`{"items":[` + strings.TrimSpace(list)[1:] + `]}`)
			req, err := http.NewRequestWithContext(
				ctx,
				http.MethodPost,
				"http://"+s.APIAddr.String()+"/v1/cyber/assets",
				body,
			)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("x-api-key", cred.APIKey)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(res.Body)
			if _ = res.Body.Close(); err != nil || !strings.Contains(string(text), `"totalAdded":600`) {
				t.Fatal(res.StatusCode, string(text), err)
			}
		}
		waiting := func() int64 {
			t.Helper()
			l, err := operator.FirstLooks.LookStatus(ctx, p.ID, p.Settings)
			if err != nil {
				t.Fatal(err)
			}
			return l.Waiting
		}
		polltest.Until(t, "the tokens", func() bool {
			return waiting() == people-cyber.LookBurst && status(t, s, cred.APIKey, "u999") == "alerta"
		})
		if got := status(t, s, cred.APIKey, "u1199"); got != "monitorado" {
			t.Error("looked up without a token:", got)
		}
		if err := operator.FirstLooks.GrantLooks(ctx, p.ID, people); err != nil {
			t.Fatal(err)
		}
		polltest.Until(
			t,
			"the grant",
			func() bool { return waiting() == 0 && status(t, s, cred.APIKey, "u1199") == "alerta" },
		)
	})
}
