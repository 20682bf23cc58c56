package feed_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// shownTo returns every text about breaches that a person, a partner or an assistant of theirs can read.
func (v *env) shownTo(user partner.UserHash) string {
	v.T.Helper()
	ctx := context.Background()
	persons := cyber.NewPersons(v.Store.Advice, cyber.NewCatalogue(v.Store.Advice, v.Clock.Now), v.Clock.Now, nil)
	findings, err := v.Monitoring.ListFindings(ctx, v.Live.Partner, user)
	if err != nil || len(findings) == 0 {
		v.T.Fatal(findings, err)
	}
	score, err := persons.ComputeScore(ctx, v.Live.Partner, user)
	if err != nil {
		v.T.Fatal(err)
	}
	advice, _, err := persons.ListAdvice(ctx, v.Live.Partner, user)
	if err != nil {
		v.T.Fatal(err)
	}
	catalogue, _, err := cyber.NewBreaches(v.Store.Breaches).ListBreaches(ctx, partner.Live, 1, 10)
	if err != nil {
		v.T.Fatal(err)
	}
	title, err := v.Store.Alerts.BreachTitle(ctx, "loja")
	if err != nil {
		v.T.Fatal(err)
	}
	return fmt.Sprintf("%+v %+v %+v %+v %s", findings, score, advice, catalogue, title)
}

// TestVendorWordsWaitForApproval is the attack: a vendor, or one who may write to its folder, writes a number to call and
// tell the password to into the title of a breach, and everybody who is in it reads that in their bank's name.
func TestVendorWordsWaitForApproval(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		v.Watch(v.Live, "ana", "email", "ana@exemplo.com.br")
		fs := v.feeds()
		const hostile = "ligue 0800 000 0000 e confirme a senha"
		folder := t.TempDir()
		for name, text := range map[string]string{
			"loja.jsonl": `{"vigia_records": 1}` + "\n" + `{"email": "ana@exemplo.com.br", "password": "girafa77"}`,
			"loja.json":  `{"title": "` + hostile + `", "description": "` + hostile + `", "date": "2026-03-01"}`,
		} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := fs.AddFeed(t.Context(), feed.Feed{
			Name: "nimbo", Kind: feed.Folder, Target: folder, Settings: feed.Settings{Vendor: true},
		}); err != nil {
			t.Fatal(err)
		}
		v.runFeed(fs, "nimbo")
		v.RunJobs()
		if shown := v.shownTo("ana"); strings.Contains(shown, hostile) ||
			!strings.Contains(shown, "Vazamento informado em 15/11/2026") {
			t.Error("before approval:", shown)
		}
		breaches := leak.NewBreaches(v.Store.Breaches, v.Clock.Now)
		if r, err := breaches.FindBreach(t.Context(), "loja"); err != nil || r.Title != hostile || !r.HasVendorWords {
			t.Error("the operator does not see what waits:", r.Title, err)
		}
		const approved = "Loja Exemplo"
		_, err := breaches.EditBreach(t.Context(), "loja", func(b *cyber.Breach) {
			b.Title, b.Description, b.HasVendorWords = approved, "", false
		})
		if err != nil {
			t.Fatal(err)
		}
		if shown := v.shownTo("ana"); strings.Contains(shown, hostile) || !strings.Contains(shown, approved) {
			t.Error("after approval:", shown)
		}
	})
}
