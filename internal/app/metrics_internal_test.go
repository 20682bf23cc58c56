package app

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// TestMetricsAreNotForAll: metrics answer who holds the token, and nobody else, also on this machine, where a proxy may
// be that says nothing of whom it asks for.
func TestMetricsAreNotForAll(t *testing.T) {
	const token = "made-up token of some length"
	for _, c := range []struct {
		token, remote string
		header        http.Header
		want          int
	}{
		{"", "127.0.0.1:1", nil, 403},
		{"", "[::1]:1", nil, 403},
		{"", "192.0.2.7:1", http.Header{"Authorization": {"Bearer "}}, 403},
		{token, "192.0.2.7:1", http.Header{"Authorization": {"Bearer " + token}}, 200},
		{token, "127.0.0.1:1", nil, 401},
		{token, "127.0.0.1:1", http.Header{"Authorization": {"Bearer made-up"}}, 401},
	} {
		s := &Server{cfg: config.Serve{MetricsToken: c.token}, metrics: telemetry.NewMetrics()}
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.RemoteAddr = c.remote
		for name, values := range c.header {
			r.Header[name] = values
		}
		w := httptest.NewRecorder()
		if s.metricsHandler().ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%+v: %d", c, w.Code)
		}
	}
}
