package api

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// TestCredentialCheck: a password is known together with the values of the person they were watched for, and of nobody
// else; a sandbox knows the documented one.
func TestCredentialCheck(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	const ask = "/v1/cyber/credential-check"
	about := func(user, prefix string) string {
		return `{"userHash":"` + user + `","passwordHashPrefix":"` + prefix + `"}`
	}
	watch := func(who tenant, user, value string) {
		t.Helper()
		if got := s.as(t, who, http.MethodPost, "/v1/cyber/monitoring", `{"value":"`+value+`","type":"email","userHash":"`+user+`"}`); got.status != http.StatusOK {
			t.Fatal(got.status, got.body)
		}
	}
	watch(s.Live, "ana", "ana@exemplo.com.br")
	watch(s.Sandbox, "ana", "ana@vazamento.test")
	watch(s.Sandbox, "bia", "bia@exemplo.com.br")
	for name, c := range map[string]struct {
		who            tenant
		user, prefix   string
		status         int
		exposed, field string
	}{
		"known":                        {s.Live, "ana", "7C4A8D09CA", 200, "true", ""},
		"in small letters":             {s.Live, "ana", "7c4a8d09ca", 200, "true", ""},
		"another password":             {s.Live, "ana", "5BAA61E4C9", 200, "false", ""},
		"somebody who watches nothing": {s.Live, "bia", "7C4A8D09CA", 200, "false", ""},
		"of the sandbox":               {s.Sandbox, "ana", "5baa61e4c9", 200, "true", ""},
		"another one of the sandbox":   {s.Sandbox, "ana", "7C4A8D09CA", 200, "false", ""},
		"a value that did not leak":    {s.Sandbox, "bia", "5baa61e4c9", 200, "false", ""},
		"nine characters":              {s.Live, "ana", "7C4A8D09C", 400, "", "passwordHashPrefix: must have 10 hexadecimal characters"},
		"a whole hash":                 {s.Live, "ana", strings.Repeat("b7", 20), 400, "", "passwordHashPrefix: must have 10 hexadecimal characters"},
		"no hexadecimal":               {s.Live, "ana", "7C4A8D09CX", 400, "", "passwordHashPrefix: must have only hexadecimal characters"},
		"nobody":                       {s.Live, "", "7C4A8D09CA", 400, "", "userHash: "},
	} {
		got := s.as(t, c.who, http.MethodPost, ask, about(c.user, c.prefix))
		if got.status != c.status || c.exposed != "" && !strings.Contains(got.body, `"exposed":`+c.exposed+`,"recommendations":["`) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		if detail := got.header.Get("x-error-detail"); c.field != "" && !strings.HasPrefix(detail, c.field) || c.field == "" && detail != "" {
			t.Errorf("%s: detail %q", name, detail)
		}
		if strings.Contains(got.body, c.prefix) && c.prefix != "" {
			t.Errorf("%s: the answer repeats the prefix", name)
		}
	}
}

// TestCredentialScope: no other scope includes the one for asking about a person's passwords.
func TestCredentialScope(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	reg := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil)
	for scope, status := range map[partner.Scope]int{partner.ScopeCyber: 403, partner.ScopeCyberRead: 403, partner.ScopeSubscriptions: 403, partner.ScopeCredentials: 200} {
		_, text, err := reg.CreateKey(context.Background(), s.Live.ID, "", []partner.Scope{scope}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		key := tenant{s.Live.Partner, partner.Credentials{APIKey: text}}
		if got := s.as(t, key, http.MethodPost, "/v1/cyber/credential-check", `{"userHash":"ana","passwordHashPrefix":"7C4A8D09CA"}`); got.status != status {
			t.Errorf("%s: %d", scope, got.status)
		}
		if got := s.as(t, key, http.MethodGet, "/v1/cyber/services", ""); scope == partner.ScopeCredentials && got.status != 403 {
			t.Errorf("a key for credentials reads services: %d", got.status)
		}
	}
}

// TestCredentialGuesses: one person is asked about so often a minute, under whichever spelling; another is not held up,
// nor the same hash of another partner; and who was refused may repeat the same request.
func TestCredentialGuesses(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.unlimited(t, s.Live)
	user := []string{spellings(cpfOf(9600), s.Live.Salt)[0], ""}
	user[1] = strings.ToUpper(user[0])
	ask := func(who tenant, user string, header http.Header) answered {
		t.Helper()
		h := http.Header{"x-api-key": {who.APIKey}}
		for name, values := range header {
			h[name] = values
		}
		return s.do(t, call{method: http.MethodPost, path: "/v1/cyber/credential-check", body: `{"userHash":"` + user + `","passwordHashPrefix":"5BAA61E4C9"}`, header: h})
	}
	for i := range guessesPerMinute {
		if got := ask(s.Live, user[i%2], nil); got.status != http.StatusOK {
			t.Fatalf("question %d: %d", i, got.status)
		}
	}
	again := http.Header{"idempotency-key": {"de-novo"}}
	got := ask(s.Live, user[0], again)
	if got.status != http.StatusTooManyRequests || got.header.Get("retry-after") != "2" {
		t.Errorf("one more: %d, after %q", got.status, got.header.Get("retry-after"))
	}
	if got := ask(s.Live, "outra-pessoa", nil); got.status != http.StatusOK {
		t.Error("another person:", got.status)
	}
	if got := ask(s.Sandbox, user[0], nil); got.status != http.StatusOK {
		t.Error("another partner:", got.status)
	}
	s.Clock.Advance(3 * time.Second)
	if got := ask(s.Live, user[0], again); got.status != http.StatusOK {
		t.Error("the same request, later:", got.status, got.body)
	}
}
