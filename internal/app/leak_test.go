package app_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestServersNoticeBreaches: what the command line imports on one machine, servers on that one and on another find for
// values old and new, and forget when it is retracted. The machines share a database and a bucket.
func TestServersNoticeBreaches(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, c config.Common) {
		ctx := context.Background()
		c.Corpora = "file://" + t.TempDir()
		operator := open(t, c)
		_, cred, err := operator.Partners.CreatePartner(ctx, "Banco", partner.Live, partner.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		near := serve(t, open(t, c), nil)
		far := near
		if c.Database != "" { // another machine: its own folder, the same keys
			there := c
			there.Data = filepath.Join(t.TempDir(), "data")
			there.KeyFile = filepath.Join(c.Data, "keys.json")
			far = serve(t, open(t, there), nil)
		}
		watch(t, near, cred.APIKey, "ana@exemplo.com.br", "ana")

		dump := filepath.Join(t.TempDir(), "dump.txt")
		if err := os.WriteFile(dump, []byte("ana@exemplo.com.br bia@exemplo.com.br"), 0o600); err != nil {
			t.Fatal(err)
		}
		inputs, err := intake.ListInputs(context.Background(), nil, []string{dump})
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
		if _, err := operator.Leaks.Foreground.MatchBreach(ctx, "loja", func(leak.MatchProgress) {}); err != nil {
			t.Fatal(err)
		}
		if got := status(t, near, cred.APIKey, "ana"); got != "alerta" {
			t.Error("an old value after the match:", got)
		}
		watch(t, far, cred.APIKey, "bia@exemplo.com.br", "bia") // whether or not that server has noticed yet
		polltest.Until(t, "a new value", func() bool { return status(t, far, cred.APIKey, "bia") == "alerta" })

		if _, err := operator.Leaks.Foreground.RetractBreach(ctx, "loja"); err != nil {
			t.Fatal(err)
		}
		polltest.Until(t, "the retraction", func() bool {
			return status(t, near, cred.APIKey, "ana") == "monitorado" &&
				status(t, far, cred.APIKey, "bia") == "monitorado"
		})
		polltest.Until(t, "the local copies", func() bool {
			left, err := filepath.Glob(filepath.Join(filepath.Dir(c.Data), "*", "corpora", "leak", "*.seg"))
			return err == nil && len(left) == 0
		})
	})
}

// TestMatchGoesOnElsewhere: a command that was stopped for longer than its lease follows the server that took its match
// up, and does not fail.
func TestMatchGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, c config.Common) {
		ctx := context.Background()
		var stopped atomic.Int64
		a, err := app.OpenAppAt(ctx, c, sqldb.Options{MaxConns: 4}, func() time.Time {
			return time.Now().Add(time.Duration(stopped.Load()))
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = a.Close() })
		dump := filepath.Join(t.TempDir(), "dump.txt")
		if err := os.WriteFile(dump, []byte("ana@exemplo.com.br"), 0o600); err != nil {
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
		if _, err := a.Leaks.Foreground.ImportBreach(ctx, intake.Spec{Breach: b, Inputs: inputs}); err != nil {
			t.Fatal(err)
		}
		var taken sync.Once
		p, err := a.Leaks.Foreground.MatchBreach(ctx, "loja", func(leak.MatchProgress) {
			taken.Do(func() {
				var jobs []job.Job
				polltest.Until(t, "the server's turn", func() bool {
					stopped.Add(int64(job.Lease + time.Second))
					jobs, err = a.Store.Jobs.ClaimJobs(ctx, "server", []string{leak.KindMatch}, 1)
					return err == nil && len(jobs) == 1
				})
				at := leak.MatchProgress{Phase: leak.PhaseLate, Hits: 7}
				if err := a.Store.Jobs.SaveJob(ctx, "server", jobs[0].ID, at); err != nil {
					t.Error(err)
				}
			})
		})
		if err != nil || p.Hits != 7 {
			t.Errorf("%+v %v", p, err)
		}
	})
}

func watch(t *testing.T, s running, key, value, user string) {
	t.Helper()
	body := strings.NewReader(`{"type":"email","value":"` + value + `","userHash":"` + user + `"}`)
	req, err := http.NewRequestWithContext(
		context.Background(),
		http.MethodPost,
		"http://"+s.APIAddr.String()+"/v1/cyber/monitoring",
		body,
	)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-api-key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if text, err := io.ReadAll(res.Body); res.StatusCode != http.StatusOK || err != nil {
		t.Fatal(res.StatusCode, string(text), err)
	}
}

// status is the status of a person's one value.
func status(t *testing.T, s running, key, user string) string {
	t.Helper()
	_, body := get(t, "http://"+s.APIAddr.String()+"/v1/cyber/monitoring/"+user, http.Header{"X-Api-Key": {key}})
	_, rest, _ := strings.Cut(body, `"status":"`)
	word, _, _ := strings.Cut(rest, `"`)
	return word
}
