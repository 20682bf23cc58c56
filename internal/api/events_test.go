package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/webhook"
)

type eventsWire struct {
	Events []struct {
		ID   string          `json:"id"`
		Body json.RawMessage `json:"body"`
	} `json:"events"`
	Next    string `json:"next"`
	HasMore bool   `json:"hasMore"`
}

// TestEventsByCursor walks through a partner's events in pages of every size: each once, in order, with the bodies that are
// pushed, and none of another partner's.
func TestEventsByCursor(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		var want []string
		for i := range 25 {
			user := hashOf(fmt.Sprint("pessoa", i))
			secret(user)
			e, err := alert.New(s.Live.ID, alert.LeakDetected, partner.UserHash(user), s.Clock.Now(), alert.Leak{
				Findings: []alert.LeakFinding{{ID: "f", Asset: "a", Kind: "email", Status: "alerta", Breach: "loja", Severity: "high"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.AddEvents(context.Background(), s.Live.ID, e); err != nil {
				t.Fatal(err)
			}
			body, err := e.Body()
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
		endpoints := alert.NewEndpoints(s.Store, s.Clock.Now, nil)
		e, err := endpoints.Create(ctx, s.Live.ID, "https://127.0.0.1/", nil, guard)
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
		if want := `{"keys":["` + e.PublicKeys(s.Clock.Now())[0] + `"]}`; status != http.StatusOK || body != want || !strings.HasPrefix(cache, "public") {
			t.Errorf("%d %s %s", status, body, cache)
		}
		if strings.Contains(body, "whsec_") || strings.Contains(body, "whsk_") {
			t.Error("a secret is public")
		}
		if e, err = endpoints.Rotate(ctx, s.Live.ID, e.ID, webhook.RotationOverlap); err != nil {
			t.Fatal(err)
		}
		if _, body, _ = get(string(e.ID)); strings.Count(body, "whpk_") != 2 {
			t.Errorf("during a rotation: %s", body)
		}
		if status, body, _ = get("whe_unknown"); status != http.StatusNotFound || body != `{"statusCode":404,"message":"Recurso não encontrado."}` {
			t.Errorf("unknown: %d %s", status, body)
		}
	})
}
