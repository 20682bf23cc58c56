package api

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestLinksIgnoreTheHost: what a link begins with is told by the operator, and never by who sends the request. Without
// it there are links on this machine and for sandbox partners, at the listener's own address.
func TestLinksIgnoreTheHost(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	handler := newHandler(t, s.Env)
	var at net.Addr // what the connection came in at, if it is not this machine
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at != nil {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, at))
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.server = server
	for _, who := range []tenant{s.Live, s.Sandbox} {
		if got := s.as(
			t,
			who,
			"POST",
			"/cyber/monitoring",
			`{"value":"elo@vazamento.test","type":"email","userHash":"elo"}`,
		); got.status != 200 {
			t.Fatal(got.status, got.body)
		}
	}
	ask := func(who tenant) (status int, link, detail string) {
		t.Helper()
		req, err := http.NewRequestWithContext(
			t.Context(),
			"POST",
			server.URL+"/cyber/portal-session",
			strings.NewReader(`{"userHash":"elo"}`),
		)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "golpe.example"
		req.Header = http.Header{
			"X-Api-Key":        {who.APIKey},
			"X-Forwarded-Host": {"golpe.example"},
			"Forwarded":        {"host=golpe.example"},
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		var body struct{ URL string }
		if err := json.NewDecoder(res.Body).Decode(&body); err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, body.URL, res.Header.Get(detailHeader)
	}
	outside := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8080}
	for _, c := range []struct {
		name   string
		who    tenant
		public string
		at     net.Addr
		want   string
	}{
		{"on this machine", s.Live, "", nil, server.URL},
		{"outside, told", s.Live, "https://minha.exemplo.com.br", outside, "https://minha.exemplo.com.br"},
		{"outside, not told", s.Live, "", outside, ""},
		{"outside, for a sandbox partner", s.Sandbox, "", outside, "http://192.0.2.1:8080"},
	} {
		at, handler.PageURL = c.at, c.public
		status, link, detail := ask(c.who)
		if c.want == "" && (status != 503 || !strings.HasPrefix(detail, "public-url: ")) ||
			c.want != "" && (status != 200 || !strings.HasPrefix(link, c.want+"/p/enter/")) {
			t.Errorf("%s: %d %.60s %s", c.name, status, link, detail)
		}
	}
}
