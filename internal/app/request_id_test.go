package app_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestRequestIDOnEveryAnswer: whatever the service answers carries an id, or the caller's own, by which the line in the
// log is found.
func TestRequestIDOnEveryAnswer(t *testing.T) {
	t.Parallel()
	srv := serve(t, open(t, common(t, sqldb.SQLite)), nil)
	partners, operators := "http://"+srv.APIAddr.String(), "http://"+srv.ConsoleAddr.String()
	for _, address := range []string{
		partners + "/healthz", partners + "/readyz", partners + "/nada", partners + "/v1/cyber/services", partners + "/v1/nada",
		partners + "/docs/", partners + "/openapi.yaml", partners + "/p/x",
		operators + "/healthz", operators + "/readyz", operators + "/metrics", operators + "/", operators + "/login", operators + "/nada",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodOptions, http.MethodPost} {
			for _, own := range []string{"", "pedido-42"} {
				req, err := http.NewRequestWithContext(context.Background(), method, address, strings.NewReader(""))
				if err != nil {
					t.Fatal(err)
				}
				if own != "" {
					req.Header.Set("X-Request-Id", own)
				}
				res, err := (&http.Transport{}).RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				_ = res.Body.Close()
				if id := res.Header.Get("X-Request-Id"); id == "" || own != "" && id != own {
					t.Errorf("%s %s: %d with the id %q, sent %q", method, address, res.StatusCode, id, own)
				}
			}
		}
	}
}
