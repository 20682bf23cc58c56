package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/plan"
)

// settleDueLooks makes the first looks that are due, as a worker does; they find nothing.
func (s *service) settleDueLooks(t *testing.T) {
	t.Helper()
	due, err := s.Store.Breaches.ListDueLooks(t.Context(), leak.DuePlace{}, 2000)
	if err != nil {
		t.Fatal(err)
	}
	epoch, err := s.Store.Breaches.CorporaEpoch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range due {
		if _, err := s.Store.Breaches.SettleLooks(t.Context(), d.Partner, epoch, []cyber.AssetID{d.Asset}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWaitingIsTold: every answer that lists, counts or rests on values which wait for their first look says how many,
// in a header; the bodies stay as they are. When all were looked for, no answer has the header.
func TestWaitingIsTold(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		live := s.Live
		s.unlimited(t, live)
		s.watchingPlan(t, live, "ouro", plan.WatchedKinds...)
		s.watchingPlan(t, live, "prata", identifier.Email)
		s.plan(t, live, "bronze")
		list := []enrolment{
			{"ouro", 1, "ana@exemplo.com.br", "+5511987650001", ""},
			{"ouro", 1, "ana@exemplo.com.br", "+5511987650001", ""}, // there by then
			{"prata", 2, "bia@exemplo.com.br", "+5511987650002", ""},
			{"bronze", 3, "eva@exemplo.com.br", "+5511987650003", ""},
		}
		if _, got := s.enrol(t, live, "?dry_run=true", list...); got.header.Get(waitingHeader) != "" {
			t.Error("a dry run adds nothing that waits:", got.header.Get(waitingHeader))
		}
		if _, got := s.enrol(t, live, "", list...); got.header.Get(waitingHeader) != "4" {
			t.Errorf("enrolled: %q values wait", got.header.Get(waitingHeader))
		}
		header := http.Header{"x-api-key": {live.APIKey}, "idempotency-key": {"um"}}
		body := "[" + strings.Replace(itemOf(4, ""), `"plan_id":"p"`, `"plan_id":"ouro"`, 1) + "]"
		for range 2 { // a repeat is told the same
			got := s.do(t, call{method: http.MethodPost, path: "/v1/subscriptions", body: body, header: header})
			if got.status != http.StatusOK || got.header.Get(waitingHeader) != "3" {
				t.Errorf("under a key: %d, %q values wait", got.status, got.header.Get(waitingHeader))
			}
		}

		ana, both := hashMadeOf(cpfOf(1), live), hashMadeOf(cpfOf(1), live)+`","`+hashMadeOf(cpfOf(2), live)
		answers := []struct{ method, path, body, waiting string }{
			{http.MethodGet, "/v1/cyber/monitoring/" + ana, "", "3"},
			{http.MethodGet, "/v1/cyber/advise/" + ana, "", "3"},
			{http.MethodGet, "/v1/cyber/score/" + ana, "", "3"},
			{http.MethodGet, "/v1/cyber/score/" + ana + "/history", "", "3"},
			{http.MethodGet, "/v1/cyber/findings/" + ana, "", "3"},
			{http.MethodPost, "/v1/cyber/scores", `{"userHashes":["` + both + `"]}`, "4"},
			{http.MethodGet, "/v1/usage", "", "7"},
		}
		expect := func(when string, isWaiting bool) {
			t.Helper()
			for _, a := range answers {
				got := s.as(t, live, a.method, a.path, a.body)
				waiting, hasUntil := got.header.Get(waitingHeader), got.header.Get(untilHeader) != ""
				if want := map[bool]string{true: a.waiting}[isWaiting]; got.status != http.StatusOK ||
					waiting != want || hasUntil != isWaiting {
					t.Errorf("%s: %s: %d, %q values wait, until when told %t", when, a.path, got.status, waiting, hasUntil)
				}
			}
		}
		expect("none was looked for", true)

		looks := cyber.NewFirstLooks(s.Store.Monitoring, s.Store.Partners, s.Clock.Now)
		if n, err := looks.StartLooks(t.Context()); err != nil || n != 7 {
			t.Fatal(n, err)
		}
		// Due is not looked for either.
		if got := s.as(t, live, http.MethodGet, "/v1/cyber/score/"+ana, ""); got.header.Get(waitingHeader) != "3" {
			t.Errorf("due: %q values wait", got.header.Get(waitingHeader))
		}
		s.settleDueLooks(t)
		expect("all were looked for", false)
	})
}
