package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestTruncatedDevices: a partner's list stops at 1,000 and says so; a person's list does not.
func TestTruncatedDevices(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	endpoints := cyber.NewEndpoints(s.Store.Devices, s.Clock.Now, nil)
	add := func(n int) {
		t.Helper()
		d, err := endpoints.IssueKey(context.Background(), s.Live.ID, cyber.DeviceRequest{
			User: partner.UserHash("muitos"), System: cyber.Windows, Name: fmt.Sprintf("Estação %04d", n),
		})
		if err != nil {
			t.Fatal(err)
		}
		secret(d.Key)
	}
	for n := range cyber.MaxListed {
		add(n)
	}
	got := s.as(t, s.Live, http.MethodGet, "/v1/cyber/epp", "")
	if n := strings.Count(got.body, `"eppKey"`); n != cyber.MaxListed || got.header.Get("x-truncated") != "" {
		t.Fatalf("%d devices, x-truncated %q", n, got.header.Get("x-truncated"))
	}
	add(cyber.MaxListed)
	got = s.as(t, s.Live, http.MethodGet, "/v1/cyber/epp", "")
	if n := strings.Count(got.body, `"eppKey"`); n != cyber.MaxListed || got.header.Get("x-truncated") != "true" {
		t.Errorf("%d devices, x-truncated %q", n, got.header.Get("x-truncated"))
	}
	if !strings.Contains(got.body, "Estação 1000") || strings.Contains(got.body, "Estação 0000") {
		t.Error("not the newest ones")
	}
}

// TestBothDigestsNameOnePerson: header and query may hold different digests of somebody who is enrolled, and of nobody
// else.
func TestBothDigestsNameOnePerson(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.plan(t, s.Live, "p")
		s.post(t, s.server.URL, s.Live.APIKey, itemsOf(9801, 9802))
		for n, want := range map[int]int{9801: http.StatusOK, 9802: http.StatusBadRequest} { // nobody told who 9802 is
			spelled := spellings(cpfOf(n), s.Live.Salt)
			got := s.do(
				t,
				call{method: http.MethodGet, path: "/v1/cyber/epp?userHash=" + spelled[0], header: http.Header{
					"x-api-key": {s.Live.APIKey}, "x-user-hash": {spelled[1]},
				}},
			)
			if got.status != want {
				t.Errorf("person %d: %d %s", n, got.status, got.header.Get("x-error-detail"))
			}
		}
	})
}

// TestEveryRecommendationHasItsSentence: whatever the model can recommend is said in full, with nothing left to fill
// in.
func TestEveryRecommendationHasItsSentence(t *testing.T) {
	for _, m := range []cyber.Mends{
		cyber.MendStealer, cyber.MendPassword, cyber.MendCard, cyber.MendSession, cyber.MendIdentity, cyber.MendMoney,
		cyber.MendHash, cyber.MendHealth, cyber.MendPhish, cyber.MendContact, cyber.MendDevice, cyber.MendWatch, cyber.MendAnswer,
	} {
		switch m {
		case cyber.MendAnswer: // the catalogue's own words
		case cyber.MendWatch:
			for _, k := range []identifier.Kind{identifier.Email, identifier.CPF, identifier.Phone, identifier.Card} {
				if recommendation(cyber.Recommendation{Mends: m, Kind: k}) == "" {
					t.Errorf("nothing is said to watch %s", k)
				}
			}
		default:
			text := recommendation(cyber.Recommendation{Mends: m, Breach: "Loja"})
			if text == "" || strings.ContainsAny(text, "{}") ||
				m != cyber.MendDevice && !strings.Contains(text, "Loja") {
				t.Errorf("%s: %q", m, text)
			}
		}
	}
}
