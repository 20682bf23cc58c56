package api

import (
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/password"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// TestNoCorpus: without a corpus the answer is 503, never a false "not exposed".
func TestNoCorpus(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	lib, err := password.OpenLibrary(t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	empty, err := password.NewChecker(lib, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(empty.Close)
	server := newHandler(t, s.Env)
	server.Rules.Passwords = empty
	s.server.Config.Handler = server
	got := s.as(t, s.Live, http.MethodPost, "/v1/cyber/password-check", `{"passwordHashPrefix":"5BAA61E4C9"}`)
	if got.status != http.StatusServiceUnavailable || got.header.Get("retry-after") == "" {
		t.Error(got.status, got.body)
	}
	if got := s.as(t, s.Live, http.MethodPost, "/v1/cyber/password-check", `{"passwordHashPrefix":"nonsense"}`); got.status != http.StatusBadRequest {
		t.Error("bad input is bad input, corpus or not:", got.status)
	}
}
