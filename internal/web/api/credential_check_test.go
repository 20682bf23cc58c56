package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
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
		if got := s.as(
			t,
			who,
			http.MethodPost,
			"/v1/cyber/monitoring",
			`{"value":"`+value+`","type":"email","userHash":"`+user+`"}`,
		); got.status != http.StatusOK {
			t.Fatal(got.status, got.body)
		}
	}
	watch(s.Live, "ana", "ana@exemplo.com.br")
	watch(s.Sandbox, "ana", "ana@vazamento.test")
	watch(s.Sandbox, "bia", "bia@exemplo.com.br")
	if got := s.as(
		t,
		s.Live,
		http.MethodPost,
		ask,
		about("ana", "7C4A8D09CA"),
	); got.status != http.StatusConflict ||
		!strings.HasPrefix(got.header.Get(detailHeader), "userHash: values can be asked about 24 hours") {
		t.Error("a value of today:", got.status, got.header)
	}
	s.Clock.Advance(24 * time.Hour)
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
		if got.status != c.status ||
			c.exposed != "" && !strings.Contains(got.body, `"exposed":`+c.exposed+`,"recommendations":["`) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		if detail := got.header.Get("x-error-detail"); c.field != "" && !strings.HasPrefix(detail, c.field) ||
			c.field == "" && detail != "" {
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
		if got := s.as(
			t,
			key,
			http.MethodPost,
			"/v1/cyber/credential-check",
			`{"userHash":"ana","passwordHashPrefix":"7C4A8D09CA"}`,
		); got.status != status {
			t.Errorf("%s: %d", scope, got.status)
		}
		if got := s.as(
			t,
			key,
			http.MethodGet,
			"/v1/cyber/services",
			"",
		); scope == partner.ScopeCredentials &&
			got.status != 403 {
			t.Errorf("a key for credentials reads services: %d", got.status)
		}
	}
}

// TestCredentialGuesses is the attack: a hundred made-up people with the address of one victim, at two partners, guess
// the victim's password. Each partner has twenty guesses a day, and notices nothing of the other's.
func TestCredentialGuesses(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.unlimited(t, s.Live)
		s.unlimited(t, s.Other)
		const victim = "vitima@exemplo.com.br"
		ask := func(who tenant, user string, header http.Header) answered {
			t.Helper()
			h := http.Header{"x-api-key": {who.APIKey}}
			for name, values := range header {
				h[name] = values
			}
			return s.do(
				t,
				call{
					method: http.MethodPost,
					path:   "/v1/cyber/credential-check",
					body:   `{"userHash":"` + user + `","passwordHashPrefix":"5BAA61E4C9"}`,
					header: h,
				},
			)
		}
		for i := range 100 {
			for _, who := range []tenant{s.Live, s.Other} {
				if got := s.as(
					t,
					who,
					http.MethodPost,
					"/v1/cyber/monitoring",
					addAsset("email", victim, fmt.Sprint("inventada", i)),
				); got.status != http.StatusOK {
					t.Fatal(got)
				}
			}
		}
		s.Clock.Advance(24 * time.Hour)
		answers := map[int]int{}
		var last answered
		for i := range 100 {
			last = ask(s.Live, fmt.Sprint("inventada", i), nil)
			answers[last.status]++
		}
		if answers[http.StatusOK] != cyber.GuessesPerDay ||
			answers[http.StatusTooManyRequests] != 100-cyber.GuessesPerDay ||
			last.header.Get("retry-after") == "" {
			t.Errorf("guesses: %v, %v", answers, last.header)
		}
		for i := range cyber.GuessesPerDay {
			if got := ask(s.Other, fmt.Sprint("inventada", i), nil); got.status != http.StatusOK {
				t.Fatalf("question %d of another partner: %d", i, got.status)
			}
		}
		if got := ask(s.Other, "inventada50", nil); got.status != http.StatusTooManyRequests {
			t.Error("more than twenty of another partner:", got.status)
		}
		// A refused request may be repeated the next day, and another value is not held up.
		again := http.Header{"idempotency-key": {"de-novo"}}
		if got := ask(s.Live, "inventada1", again); got.status != http.StatusTooManyRequests {
			t.Error(got.status)
		}
		s.as(
			t,
			s.Live,
			http.MethodPost,
			"/v1/cyber/monitoring",
			addAsset("email", "outra@exemplo.com.br", "inventada1"),
		)
		s.Clock.Advance(24 * time.Hour)
		if got := ask(s.Live, "inventada1", again); got.status != http.StatusOK {
			t.Error("the same request, a day later:", got.status, got.body)
		}
		// A person enrolled with the value is asked about at once.
		s.plan(t, s.Live, "ouro")
		b := &belongings{cpf: cpfOf(900), mail: "nova@exemplo.com.br", person: "Ana"}
		if a := s.as(
			t,
			s.Live,
			http.MethodPost,
			"/v1/subscriptions",
			"["+subscriptionOf(b, "ouro", "")+"]",
		); a.status != http.StatusOK ||
			!strings.Contains(a.body, `"success"`) {
			t.Fatal(a)
		}
		s.as(
			t,
			s.Live,
			http.MethodPost,
			"/v1/cyber/monitoring",
			addAsset("email", "outra2@exemplo.com.br", hashMadeOf(cpfOf(900), s.Live)),
		)
		if got := ask(s.Live, hashMadeOf(cpfOf(900), s.Live), nil); got.status != http.StatusConflict {
			t.Error("another address than that of the enrolment:", got.status)
		}
		s.as(
			t,
			s.Live,
			http.MethodPost,
			"/v1/cyber/monitoring",
			addAsset("email", "Nova@exemplo.com.br", hashMadeOf(cpfOf(900), s.Live)),
		)
		if got := ask(s.Live, hashMadeOf(cpfOf(900), s.Live), nil); got.status != http.StatusOK {
			t.Error("the address of the enrolment:", got.status, got.header)
		}
	})
}

// TestFirstKey: what a partner's first key may do is the 14 operations and to read its usage, and nothing more.
func TestFirstKey(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	p, cred, err := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil).CreatePartner(t.Context(), "Banco", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	first := tenant{p, cred}
	for path, status := range map[string]int{
		"GET /v1/cyber/services":          200,
		"GET /v1/subscriptions":           200,
		"GET /v1/keys":                    403,
		"GET /v1/statistics":              403,
		"GET /v1/usage":                   200,
		"POST /v1/cyber/credential-check": 403,
	} {
		method, path, _ := strings.Cut(path, " ")
		body := ""
		if method == http.MethodPost {
			body = `{"userHash":"ana","passwordHashPrefix":"7C4A8D09CA"}`
		}
		if got := s.as(t, first, method, path, body); got.status != status {
			t.Errorf("%s %s: %d", method, path, got.status)
		}
	}
}
