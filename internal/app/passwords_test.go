package app_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/password"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// TestNewCorpusWhileRunning: an import by the command line is answered by the running server within seconds, and no request
// fails on the way.
func TestNewCorpusWhileRunning(t *testing.T) {
	c := common(t, sqldb.SQLite)
	a := open(t, c)
	srv := serve(t, a, nil)
	_, cred, err := a.Partners.Create(context.Background(), "Banco", partner.Live, partner.Settings{RatePerSecond: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	hash := fmt.Sprintf("%X", sha1.Sum([]byte("uma senha que ninguem usa 8841")))
	exposed := func() bool {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+srv.APIAddr.String()+"/v1/cyber/password-check",
			strings.NewReader(`{"passwordHashPrefix":"`+hash[:10]+`"}`))
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
		if err != nil || res.StatusCode != 200 {
			t.Fatal(res.StatusCode, string(body), err)
		}
		return bytes.Contains(body, []byte(`"exposed":true`))
	}
	if exposed() {
		t.Fatal("the default corpus should not know this one")
	}
	file := filepath.Join(t.TempDir(), "hashes.txt")
	if err := os.WriteFile(file, []byte(hash+":3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	inputs, err := password.Files(file)
	if err != nil {
		t.Fatal(err)
	}
	cli := open(t, c)
	if _, err := cli.Passwords.Import(context.Background(), password.Import{Algorithm: password.SHA1, Inputs: inputs, Source: "test"}); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute) // it takes seconds where nothing else runs
	for !exposed() {
		if time.Now().After(deadline) {
			t.Fatal("the new corpus was not taken up")
		}
		time.Sleep(10 * time.Millisecond)
	}
}
