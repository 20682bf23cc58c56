package app_test

import (
	"context"
	"crypto/sha1"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestNewCorpusWhileRunning: a live partner is answered 503 from the built-in sample. An import by the command line is
// answered by the running server within seconds, and no request fails on the way; /readyz tells which is which.
func TestNewCorpusWhileRunning(t *testing.T) {
	t.Parallel()
	c := common(t, sqldb.SQLite)
	a := open(t, c)
	srv := serve(t, a, nil)
	_, cred, err := a.Partners.CreatePartner(
		context.Background(),
		"Banco",
		partner.Live,
		partner.Settings{RatePerSecond: 100_000},
	)
	if err != nil {
		t.Fatal(err)
	}
	hash := fmt.Sprintf("%X", sha1.Sum([]byte("uma senha que ninguem usa 8841")))
	ask := func() (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(
			context.Background(),
			http.MethodPost,
			"http://"+srv.APIAddr.String()+"/v1/cyber/password-check",
			strings.NewReader(`{"passwordHashPrefix":"`+hash[:10]+`"}`),
		)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("x-api-key", cred.APIKey)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body)
	}
	ready := func(part string) {
		t.Helper()
		if status, body := get(
			t,
			"http://"+srv.ConsoleAddr.String()+"/readyz",
			nil,
		); status != http.StatusOK ||
			!strings.Contains(body, part) {
			t.Error(status, body, "wanted", part)
		}
	}
	if status, body := ask(); status != http.StatusServiceUnavailable {
		t.Fatal("the sample is no corpus:", status, body)
	}
	ready(`"corpora.ntlm":"sample","corpora.sha1":"sample"`)
	importHashes(t, open(t, c), fmt.Sprintf("%X:3\n", sha1.Sum([]byte("outra"))))
	polltest.Until(t, "the first corpus", func() bool { status, _ := ask(); return status == http.StatusOK })
	ready(`"corpora.ntlm":"sample","corpora.sha1":"corpus"`)
	exposed := func() bool {
		status, body := ask()
		if status != http.StatusOK {
			t.Fatal(status, body)
		}
		return strings.HasPrefix(body, `{"exposed":true`)
	}
	if exposed() {
		t.Fatal("this corpus should not know this one")
	}
	importHashes(t, open(t, c), hash+":3\n")
	polltest.Until(t, "the new corpus", exposed)
}

// importHashes replaces the SHA-1 corpus.
func importHashes(t *testing.T, a *app.App, lines string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hashes.txt")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	inputs, err := password.ListInputs(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Passwords.ImportCorpus(
		context.Background(),
		password.Import{Algorithm: password.SHA1, Inputs: inputs, Source: "test"},
	); err != nil {
		t.Fatal(err)
	}
}
