package api

import (
	"context"
	"crypto/sha1"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

const passwordPath = "/v1/cyber/password-check"

func prefixOf(text string) string {
	return fmt.Sprintf(`{"passwordHashPrefix":"%s"}`, fmt.Sprintf("%X", sha1.Sum([]byte(text)))[:password.PrefixDigits])
}

// withLibrary starts the API on corpora of its own and returns what reloads them.
func withLibrary(t *testing.T, s *service) (*Server, *password.Library, func()) {
	t.Helper()
	lib, err := password.OpenLibrary(t.TempDir(), s.Clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	checker := checkerOf(t, lib)
	server := newHandler(t, s.Env)
	server.Rules.Passwords = checker
	s.server.Config.Handler = server
	return server, lib, func() {
		t.Helper()
		if err := checker.ReloadCorpora(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoCorpus: without a corpus the answer is 503, never a false "not exposed".
func TestNoCorpus(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	withLibrary(t, s)
	for _, who := range []tenant{s.Live, s.Sandbox} {
		got := s.as(t, who, http.MethodPost, passwordPath, prefixOf("password"))
		if got.status != http.StatusServiceUnavailable || got.header.Get("retry-after") == "" ||
			got.header.Get("x-corpus") != "" {
			t.Error(got.status, got.body, got.header)
		}
	}
	if got := s.as(
		t,
		s.Live,
		http.MethodPost,
		passwordPath,
		`{"passwordHashPrefix":"nonsense"}`,
	); got.status != http.StatusBadRequest {
		t.Error("bad input is bad input, corpus or not:", got.status)
	}
}

// TestSampleIsNoCorpus: the built-in list serves the sandbox only. A live partner is answered from what an operator
// imported, algorithm by algorithm, and every answer names what it was looked up in.
func TestSampleIsNoCorpus(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	_, lib, reload := withLibrary(t, s)
	if err := lib.EnsureDefault(context.Background()); err != nil {
		t.Fatal(err)
	}
	reload()
	ask := func(who tenant, text string) answered {
		return s.as(t, who, http.MethodPost, passwordPath, prefixOf(text))
	}
	expect := func(who tenant, text string, exposed bool, corpus string) {
		t.Helper()
		got := ask(who, text)
		if got.status != http.StatusOK || !strings.HasPrefix(got.body, fmt.Sprintf(`{"exposed":%v,`, exposed)) {
			t.Errorf("%q: %d %s", text, got.status, got.body)
		}
		if h := got.header.Get("x-corpus"); !regexp.MustCompile("^" + corpus + "$").MatchString(h) {
			t.Errorf("x-corpus %q, want %q", h, corpus)
		}
	}
	day := s.Clock.Now().UTC().Format("2006-01-02")
	sample := func(name string) string { return name + `; entries=7\d\d\d; date=` + day + `; sample` }
	for _, text := range []string{"password", "nobody has this one 7731"} {
		got := ask(s.Live, text)
		if got.status != http.StatusServiceUnavailable || got.header.Get("retry-after") == "" ||
			got.header.Get("x-corpus") != "" {
			t.Errorf("live, sample only: %d %s %s", got.status, got.body, got.header.Get("x-corpus"))
		}
	}
	expect(s.Sandbox, "password", true, sample("sha1")+", "+sample("ntlm"))
	expect(s.Sandbox, "nobody has this one 7731", false, sample("sha1")+", "+sample("ntlm"))

	importPasswords(t, lib, password.SHA1, fmt.Sprintf("%X:3", sha1.Sum([]byte("seen once 5512"))))
	reload()
	imported := "sha1; entries=1; date=" + day
	expect(s.Live, "seen once 5512", true, imported)
	expect(s.Live, "nobody has this one 7731", false, imported)
	expect(s.Sandbox, "seen once 5512", true, imported+", "+sample("ntlm"))

	importPasswords(t, lib, password.NTLM, "8846F7EAEE8FB117AD06BDD830B7586C:5000")
	reload()
	expect(s.Live, "nobody has this one 7731", false, imported+", ntlm; entries=1; date="+day)
}

// TestCorpusOfAReplay: an answer that is repeated names the corpus in which it was looked up, not today's.
func TestCorpusOfAReplay(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	_, lib, reload := withLibrary(t, s)
	importPasswords(t, lib, password.SHA1, fmt.Sprintf("%X:3", sha1.Sum([]byte("one"))))
	reload()
	ask := func() answered {
		return s.do(
			t,
			call{
				method: http.MethodPost,
				path:   passwordPath,
				body:   prefixOf("two"),
				header: http.Header{"X-Api-Key": {s.Live.APIKey}, "Idempotency-Key": {"k"}},
			},
		)
	}
	first := ask()
	importPasswords(
		t,
		lib,
		password.SHA1,
		fmt.Sprintf("%X:3", sha1.Sum([]byte("one"))),
		fmt.Sprintf("%X:3", sha1.Sum([]byte("two"))),
	)
	reload()
	again := ask()
	if again.header.Get("idempotency-replayed") != "true" || again.body != first.body ||
		again.header.Get("x-corpus") != first.header.Get("x-corpus") ||
		first.header.Get("x-corpus") == "" {
		t.Error(first.header, again.header)
	}
}
