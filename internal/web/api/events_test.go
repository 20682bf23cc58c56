package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

type eventsWire struct {
	Events []struct {
		ID   string          `json:"id"`
		Body json.RawMessage `json:"body"`
	} `json:"events"`
	Next    string `json:"next"`
	HasMore bool   `json:"hasMore"`
}

// TestEventsByCursor walks through a partner's events in pages of every size: each once, in order, with the bodies that
// are pushed, and none of another partner's.
func TestEventsByCursor(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		var want []string
		for i := range 25 {
			user := hashOf(fmt.Sprint("pessoa", i))
			secret(user)
			e := alert.NewEvent(s.Live.ID, alert.LeakDetected, partner.UserHash(user), s.Clock.Now(), alert.Leak{
				Findings: []alert.LeakFinding{{
					ID: "f", Asset: "a", Kind: "email", Status: "alerta", Breach: "loja", Severity: "high",
					Exposed: []cyber.Exposed{cyber.ExposedEmail}, Basis: cyber.BasisRow,
				}},
			})
			if err := s.Alerts.AddEvents(context.Background(), s.Live.ID, e); err != nil {
				t.Fatal(err)
			}
			body, err := e.MarshalBody()
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, string(e.ID)+" "+string(body))
		}
		for _, size := range []int{1, 7, 25, 5000} {
			var got []string
			path := fmt.Sprintf("/v1/events?limit=%d", size)
			for cursor, more := "", true; more; {
				var page eventsWire
				mustDecode(t, s.as(t, s.Live, http.MethodGet, path+cursor, ""), &page)
				if len(page.Events) > size {
					t.Fatalf("%d events in a page of %d", len(page.Events), size)
				}
				for _, e := range page.Events {
					got = append(got, e.ID+" "+string(e.Body))
				}
				cursor, more = "&after="+page.Next, page.HasMore
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("pages of %d: %d of %d events, or others", size, len(got), len(want))
			}
		}
		var page eventsWire
		mustDecode(t, s.as(t, s.Other, http.MethodGet, "/events", ""), &page)
		if len(page.Events) != 0 || page.Next != "" {
			t.Errorf("another partner sees %d events", len(page.Events))
		}
	})
}

// TestEventsByScope: a key reads the events of the areas it may read, tests of an endpoint besides, in pages of every
// size, and what it has read counts as pulled for these areas only.
func TestEventsByScope(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		ctx := context.Background()
		endpoint, err := alert.NewEndpoints(s.Store.Alerts, s.Clock.Now, nil).CreateEndpoint(ctx, s.Live.ID, newMailbox(t).URL, nil, loopback)
		if err != nil {
			t.Fatal(err)
		}
		s.happenings(t, endpoint.ID)
		s.happeningsAgain(t)
		kept, err := alert.NewHistory(s.Store.Alerts, s.Store.Partners).ListEvents(ctx, s.Live.ID, 0, 1000) // as the operator, so that nothing counts as pulled
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, e := range kept {
			all = append(all, string(e.ID)+" "+string(e.Type))
		}
		const cyberTypes, subscriptionTypes = "monitoring. finding. case. epp. erasure.", "subscription."
		for _, c := range []struct {
			scopes []partner.Scope
			types  string
			pulled bool
		}{
			{[]partner.Scope{partner.ScopeSubscriptionsRead}, subscriptionTypes, true},
			{[]partner.Scope{partner.ScopeSubscriptions}, subscriptionTypes, false},
			{[]partner.Scope{partner.ScopeCyberRead}, cyberTypes, true},
			{[]partner.Scope{partner.ScopeCyber, partner.ScopeSubscriptionsRead}, cyberTypes + " " + subscriptionTypes, false},
		} {
			_, text, err := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil).CreateKey(ctx, s.Live.ID, "", c.scopes, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			secret(text)
			key := tenant{s.Live.Partner, partner.Credentials{APIKey: text}}
			var want []string
			for _, e := range all {
				area, _, _ := strings.Cut(strings.Fields(e)[1], ".")
				if area == "webhook" || strings.Contains(c.types, area+".") {
					want = append(want, e)
				}
			}
			before, err := s.Alerts.EventReport(ctx, s.Live.ID, alert.ReportOf{})
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range []int{1, 3, len(want), len(want) + 1, 1000} {
				if got := s.readEvents(t, key, size); !slices.Equal(got, want) {
					t.Errorf(
						"%v in pages of %d reads\n%s\nwant\n%s",
						c.scopes,
						size,
						strings.Join(got, "\n"),
						strings.Join(want, "\n"),
					)
				}
			}
			after, err := s.Alerts.EventReport(ctx, s.Live.ID, alert.ReportOf{})
			if news := after.Pulled - before.Pulled; err != nil || c.pulled && news != int64(len(want)-1) ||
				!c.pulled && news != 0 {
				t.Errorf("%v: %d more of %d events count as pulled: %v", c.scopes, news, len(want), err)
			}
			if got := s.as(t, key, http.MethodPost, "/v1/events", ""); got.status != http.StatusMethodNotAllowed {
				t.Errorf("%v: POST is %d", c.scopes, got.status)
			}
		}
	})
}

// happeningsAgain lets the areas' events lie between each other.
func (s *service) happeningsAgain(t *testing.T) {
	t.Helper()
	if got := s.as(t, s.Live, http.MethodPost, "/v1/subscriptions", itemsOf(3, 6)); got.status != http.StatusOK {
		t.Fatal(got.body)
	}
	for n := 3; n < 6; n++ {
		user, mail := hashOf(fmt.Sprint("de novo", n)), fmt.Sprintf("novo%d@exemplo.com.br", n)
		s.as(
			t,
			s.Live,
			http.MethodPost,
			"/v1/cyber/monitoring",
			fmt.Sprintf(`{"value":%q,"type":"email","userHash":%q}`, mail, user),
		)
		if err := (&transcript{s: s}).leak(
			t,
			[]string{fmt.Sprint("loja", n), "2026-10-01", "email", "email=" + mail},
		); err != nil {
			t.Fatal(err)
		}
		if err := (&transcript{s: s}).moveSubscription(subscription.End)(t, []string{"p", cpfOf(n)}); err != nil {
			t.Fatal(err)
		}
	}
}

// readEvents walks through the events of a key as "id type", and comes back with the last cursor.
func (s *service) readEvents(t *testing.T, key tenant, size int) (events []string) {
	t.Helper()
	cursor := ""
	for {
		var page eventsWire
		answer := s.as(t, key, http.MethodGet, fmt.Sprintf("/v1/events?limit=%d%s", size, cursor), "")
		mustDecode(t, answer, &page)
		if answer.header.Get("x-truncated") != "" || len(page.Events) > size {
			t.Errorf(
				"a page of %d has %d events and x-truncated=%q",
				size,
				len(page.Events),
				answer.header.Get("x-truncated"),
			)
		}
		for _, e := range page.Events {
			var body struct{ Type string }
			if err := json.Unmarshal(e.Body, &body); err != nil {
				t.Fatal(err)
			}
			events = append(events, e.ID+" "+body.Type)
		}
		if cursor == "&after="+page.Next && !page.HasMore {
			return events
		}
		cursor = "&after=" + page.Next
	}
}

func mustDecode(t *testing.T, got answered, v any) {
	t.Helper()
	if got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if err := json.Unmarshal([]byte(got.body), v); err != nil {
		t.Fatal(err)
	}
}

// TestWebhookKeys: the public keys of an endpoint are there for everybody who knows its id, and nothing else is.
func TestWebhookKeys(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		ctx := context.Background()
		guard := webhook.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
		endpoints := alert.NewEndpoints(s.Store.Alerts, s.Clock.Now, nil)
		e, err := endpoints.CreateEndpoint(ctx, s.Live.ID, "https://127.0.0.1/", nil, guard)
		if err != nil {
			t.Fatal(err)
		}
		get := func(id string) (int, string, string) {
			t.Helper()
			res, err := http.Get(s.server.URL + "/.well-known/vigia-webhook-keys/" + id)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			return res.StatusCode, string(body), res.Header.Get("cache-control")
		}
		status, body, cache := get(string(e.ID))
		if want := `{"keys":["` + e.PublicKeys(s.Clock.Now())[0] + `"]}`; status != http.StatusOK || body != want ||
			!strings.HasPrefix(cache, "public") {
			t.Errorf("%d %s %s", status, body, cache)
		}
		if strings.Contains(body, "whsec_") || strings.Contains(body, "whsk_") {
			t.Error("a secret is public")
		}
		if e, err = endpoints.RotateKeys(ctx, s.Live.ID, e.ID, webhook.RotationOverlap); err != nil {
			t.Fatal(err)
		}
		if _, body, _ = get(string(e.ID)); strings.Count(body, "whpk_") != 2 {
			t.Errorf("during a rotation: %s", body)
		}
		if status, body, _ = get("whe_unknown"); status != http.StatusNotFound ||
			body != `{"statusCode":404,"message":"Recurso não encontrado."}` {
			t.Errorf("unknown: %d %s", status, body)
		}
	})
}
