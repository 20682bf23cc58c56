package app_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/polltest"
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
