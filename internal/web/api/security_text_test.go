package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/web/api"
)

// TestSecurityText: who looks for the contact finds the operator's, still valid for months, and nothing where none was
// named.
func TestSecurityText(t *testing.T) {
	now := time.Date(2026, 11, 18, 15, 4, 5, 0, time.UTC)
	ask := func(contact string) *httptest.ResponseRecorder {
		s := api.NewServer(api.Options{
			Contact: contact,
			Now:     func() time.Time { return now },
			Log:     telemetry.NewLogger(t.Output(), telemetry.LogOptions{}),
			Metrics: telemetry.NewMetrics(),
		})
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/.well-known/security.txt", http.NoBody))
		return w
	}
	got := ask("mailto:seguranca@exemplo.com.br")
	const want = "Contact: mailto:seguranca@exemplo.com.br\nExpires: 2027-05-17T00:00:00Z\nPreferred-Languages: pt, en\n"
	if got.Code != http.StatusOK || got.Body.String() != want ||
		!strings.HasPrefix(got.Header().Get("content-type"), "text/plain") {
		t.Errorf("%d %v\n%s", got.Code, got.Header(), got.Body)
	}
	if got := ask(""); got.Code != http.StatusNotFound {
		t.Errorf("without a contact: %d", got.Code)
	}
}
