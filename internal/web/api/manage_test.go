package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// into reads the body of an answer that must be a success.
func (a answered) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), v); err != nil || a.status != http.StatusOK {
		t.Fatal(a.status, a.body, a.header.Get(detailHeader), err)
	}
}

// holding is the partner with another key.
func (who tenant) holding(key string) tenant {
	secret(key)
	return tenant{who.Partner, partner.Credentials{APIKey: key}}
}

// keyWith is the partner with a key of some scopes, made by the operator.
func (s *service) keyWith(t *testing.T, who tenant, scopes ...partner.Scope) tenant {
	t.Helper()
	_, text, err := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil).CreateKey(context.Background(), who.ID, "", scopes, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return who.holding(text)
}

// TestOwnWebhooks: the whole life of a webhook by the partner's own requests: made, tested, rotated, paused, replayed,
// read with its health and removed, each change in the audit trail.
func TestOwnWebhooks(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		status := http.StatusOK
		receiver := httptest.NewServer(
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }),
		)
		t.Cleanup(receiver.Close)
		var made webhookSecret
		s.as(t, s.Live, "POST", "/v1/webhooks", `{"url":"`+receiver.URL+`/vigia?token=segredo-do-parceiro","types":["webhook.test","case.rated"]}`).into(t, &made)
		secret(made.Secret)
		at := "/v1/webhooks/" + made.ID
		want := made
		want.URL, want.State = receiver.URL+"/vigia", "enabled"
		difftest.Check(t, "the new webhook", made, want)
		if !strings.HasPrefix(made.Secret, "whsec_") || len(made.PublicKeys) != 1 {
			t.Errorf("%+v", made)
		}
		var try webhookTry
		s.as(t, s.Live, "POST", at+"/test", `{"type":"webhook.test"}`).into(t, &try)
		if !try.Delivered || try.Status != 200 || try.EventID == "" {
			t.Errorf("%+v", try)
		}
		status = http.StatusTeapot
		s.as(t, s.Live, "POST", at+"/test", `{"type":"webhook.test"}`).into(t, &try)
		if try.Delivered || try.Status != http.StatusTeapot {
			t.Errorf("%+v", try)
		}
		var detail webhookDetail
		s.as(t, s.Live, "GET", at, "").into(t, &detail)
		h := detail.Health
		if h.SuccessRate == nil || h.LastTry == nil {
			t.Fatalf("%+v", h)
		}
		health := h
		health.Delivered, health.Failed, health.Backlog = 1, 1, 0
		difftest.Check(t, "its health", h, health)
		difftest.Check(t, "the rate of its tries that arrived", *h.SuccessRate, 50)
		difftest.Check(t, "the status of its last try", h.LastTry.Status, http.StatusTeapot)
		var queued replayed
		s.as(t, s.Live, "POST", at+"/replay", `{"failed":true}`).into(t, &queued)
		if s.as(t, s.Live, "GET", at, "").into(t, &detail); queued.Deliveries != 1 || detail.Health.Backlog != 1 {
			t.Errorf("%+v, then %+v", queued, detail.Health)
		}
		var item webhookItem
		if s.as(t, s.Live, "POST", at+"/state", `{"state":"paused"}`).into(t, &item); item.State != "paused" || item.Reason != "asked" {
			t.Errorf("%+v", item)
		}
		detail = webhookDetail{}
		if s.as(t, s.Live, "GET", at, "").into(t, &detail); detail.Health.Backlog != 1 ||
			detail.Health.LastTry == nil || detail.Health.LastTry.Status != http.StatusTeapot {
			t.Errorf("while paused: %+v", detail.Health)
		}
		if s.as(t, s.Live, "POST", at+"/state", `{"state":"enabled"}`).into(t, &item); item.State != "enabled" {
			t.Errorf("%+v", item)
		}
		var rotated webhookSecret
		if s.as(t, s.Live, "POST", at+"/rotate", `{"overlapHours":24}`).into(t, &rotated); rotated.Secret == made.Secret || len(rotated.PublicKeys) != 2 {
			t.Errorf("%+v", rotated)
		}
		secret(rotated.Secret)
		if list := s.as(
			t,
			s.Live,
			"GET",
			"/v1/webhooks",
			"",
		); !strings.Contains(list.body, made.ID) || strings.Contains(list.body, "token") ||
			strings.Contains(list.body, "whsec_") {
			t.Error(list.body)
		}
		if got := s.as(t, s.Live, "DELETE", at, ""); got.status != 200 {
			t.Error(got.status, got.body)
		}
		if got := s.as(
			t,
			s.Live,
			"DELETE",
			at,
			"",
		); got.status != 404 ||
			got.header.Get(detailHeader) != "id: no such webhook" {
			t.Error(got.status, got.header)
		}
		s.audited(
			t,
			"webhook.create",
			"webhook.test",
			"webhook.test",
			"event.replay",
			"webhook.disable",
			"webhook.enable",
			"webhook.rotate",
			"webhook.delete",
		)
	})
}

// audited holds the trail against what keys did, oldest first.
func (s *service) audited(t *testing.T, want ...string) {
	t.Helper()
	lines, err := operator.NewTrail(s.Store.Audit, s.Clock.Now).ListEntries(context.Background(), operator.Filter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.HasPrefix(lines[i].Name, "api:key_") {
			got = append(got, lines[i].Action)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("audited %v", got)
	}
}

// TestOwnWebhooksAreBounded: nobody has pushed what they may not read, no address but a public one, no more than fits.
func TestOwnWebhooksAreBounded(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	only := s.keyWith(t, s.Live, partner.ScopeManage, partner.ScopeSubscriptionsRead)
	for _, c := range []struct {
		who  tenant
		body string
		want string
	}{
		{only, `{"url":"https://127.0.0.1:9/x","types":["subscription.ended"]}`, ""},
		{only, `{"url":"https://127.0.0.1:9/x"}`, "types: only of events that this key may read"},
		{only, `{"url":"https://127.0.0.1:9/x","types":["case.rated"]}`, "types: only of events that this key may read"},
		{s.Live, `{"url":"https://127.0.0.1:9/x","types":["nada"]}`, "types: each must be one of"},
		{s.Live, `{"url":"https://10.0.0.1/x"}`, "url: the host must resolve to allowed addresses only"},
		{s.Live, `{"url":"ftp://127.0.0.1/x"}`, "url: the scheme must be https"},
		{s.Live, `{}`, "url: "},
	} {
		got := s.as(t, c.who, "POST", "/webhooks", c.body)
		if c.want == "" && got.status != 200 ||
			c.want != "" && (got.status != 400 || !strings.HasPrefix(got.header.Get(detailHeader), c.want)) {
			t.Errorf("%s: %d %s", c.body, got.status, got.header.Get(detailHeader))
		}
	}
	at := "/webhooks/" + s.webhookOf(t, s.Live)
	for path, want := range map[string]string{
		at + "/state {\"state\":\"off\"}":     "state: enabled or paused",
		at + "/rotate {}":                     "overlapHours: how many hours",
		at + "/rotate {\"overlapHours\":169}": "overlapHours: 0 to 168 hours",
		at + "/rotate {\"overlapHours\":-1}":  "overlapHours: 0 to 168 hours",
		at + "/test {\"type\":\"case.lost\"}": "type: one of ",
		at + "/replay {}":                     "event, from, failed: give one",
		at + "/replay {\"from\":\"ontem\"}":   "from: a date-time",
		at + "/replay {\"from\":\"2026-01-02T00:00:00Z\",\"to\":\"2026-01-01T00:00:00Z\"}": "window: from must be before to",
		at + "/replay {\"failed\":true,\"event\":\"evt_x\"}":                               "event, from, failed: give one",
	} {
		route, body, _ := strings.Cut(path, " ")
		if got := s.as(
			t,
			s.Live,
			"POST",
			route,
			body,
		); got.status != 400 ||
			!strings.HasPrefix(got.header.Get(detailHeader), want) {
			t.Errorf("%s: %d %s", path, got.status, got.header.Get(detailHeader))
		}
	}
	reader := s.keyWith(t, s.Live, partner.ScopeManageRead)
	if got := s.as(t, reader, "GET", at, ""); got.status != 200 {
		t.Error(got.status)
	}
	if got := s.as(t, reader, "DELETE", at, ""); got.status != 403 {
		t.Error("a key that only reads removed a webhook:", got.status)
	}
}

// TestOwnKeys: a partner makes, lists, rolls and revokes keys by itself, within what the calling key may do.
func TestOwnKeys(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		var made, rolled madeKey
		s.as(t, s.Live, "POST", "/v1/keys", `{"label":"relatórios","scopes":["cyber:read","manage"]}`).into(t, &made)
		narrow := s.Live.holding(made.APIKey)
		want := made.keyItem
		want.Label, want.State, want.Calling = "relatórios", "live", false
		difftest.Check(t, "the new key", made.keyItem, want)
		if !strings.HasPrefix(made.APIKey, made.Starts) {
			t.Errorf("the new key does not start with %s", made.Starts)
		}
		if got := s.as(t, narrow, "GET", "/v1/cyber/services", ""); got.status != 200 {
			t.Error("the new key does not read:", got.status)
		}
		for body, want := range map[string]string{
			`{"scopes":["cyber"]}`: "scopes: no more than the calling key has; it lacks cyber",
			`{"scopes":["tudo"]}`:  "scopes: unknown scope",
			`{"scopes":[]}`:        "scopes: name at least one",
			`{"scopes":["cyber:read"],"expiresAt":"2020-01-01T00:00:00Z"}`:         "expiresAt: must be in the future",
			`{"scopes":["cyber:read"],"expiresAt":"amanhã"}`:                       "expiresAt: a date-time",
			`{"scopes":["cyber:read"],"label":"` + strings.Repeat("x", 201) + `"}`: "label: at most 200",
		} {
			if got := s.as(
				t,
				narrow,
				"POST",
				"/keys",
				body,
			); got.status != 400 ||
				!strings.HasPrefix(got.header.Get(detailHeader), want) {
				t.Errorf("%s: %d %s", body, got.status, got.header.Get(detailHeader))
			}
		}
		s.as(t, s.Live, "POST", "/keys/"+made.ID+"/roll", `{"graceHours":1}`).into(t, &rolled)
		next := s.Live.holding(rolled.APIKey)
		s.Clock.Advance(59 * time.Minute)
		if got := s.as(t, narrow, "GET", "/keys", ""); got.status != 200 {
			t.Error("the old key ended within its grace:", got.status)
		}
		s.Clock.Advance(2 * time.Minute)
		if got := s.as(t, narrow, "GET", "/keys", ""); got.status != 403 {
			t.Error("the old key works after its grace:", got.status)
		}
		if got := s.as(
			t,
			next,
			"DELETE",
			"/keys/"+rolled.ID,
			"",
		); got.status != 400 ||
			!strings.HasPrefix(got.header.Get(detailHeader), "self: ") {
			t.Error("a key revoked itself by accident:", got.status, got.header)
		}
		if got := s.as(t, next, "DELETE", "/keys/"+rolled.ID+"?self=true", ""); got.status != 200 {
			t.Error(got.status, got.body)
		}
		if got := s.as(t, next, "GET", "/keys", ""); got.status != 403 {
			t.Error("a revoked key works:", got.status)
		}
		var keys []keyItem
		s.as(t, s.Live, "GET", "/keys", "").into(t, &keys)
		difftest.Must(t, "how many keys", len(keys), 3)
		listed := slices.Clone(keys)
		listed[0].Calling, listed[1].State, listed[2].State = true, "expired", "revoked"
		difftest.Check(t, "the keys", keys, listed)
		s.audited(t, "key.create", "key.roll", "key.revoke")
	})
}

// TestChangesAreBounded: whoever changes keys without end is told to wait, and the audit trail does not grow.
func TestChangesAreBounded(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	at := "/webhooks/" + s.webhookOf(t, s.Live)
	var last answered
	for i := range changesAtOnce {
		last = s.as(t, s.Live, "POST", at+"/state", []string{`{"state":"paused"}`, `{"state":"enabled"}`}[i%2])
	}
	if last.status != http.StatusTooManyRequests || last.header.Get("Retry-After") == "" {
		t.Error(last.status, last.header)
	}
	if got := s.as(t, s.Other, "POST", "/keys", `{"scopes":["cyber:read"]}`); got.status != 200 {
		t.Error("another partner waits:", got.status)
	} else {
		madeID(t, got)
	}
	s.Clock.Advance(changeEvery)
	if got := s.as(t, s.Live, "DELETE", at, ""); got.status != 200 {
		t.Error("after the wait:", got.status)
	}
}

// TestUsage: a partner reads its rates, budgets and requests by day and operation, and nobody else's.
func TestUsage(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		counter := NewCounter()
		handler := newHandler(t, s.Env)
		handler.Counted = counter
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		s.server = server
		user := hashOf("uso")
		for range 3 {
			s.as(t, s.Live, "GET", "/cyber/score/"+user, "")
		}
		s.as(
			t,
			s.Live,
			"POST",
			"/cyber/monitoring",
			`{"value":"uso@exemplo.com.br","type":"email","userHash":"`+user+`"}`,
		)
		s.as(t, s.Live, "POST", "/cyber/monitoring", `{"value":"uso","type":"email","userHash":"`+user+`"}`)
		s.as(t, s.Other, "GET", "/cyber/services", "")
		meter := partner.NewMeter(s.Store.Partners, s.Clock.Now)
		failing := func(context.Context, partner.ID, []partner.Requests, []partner.LoggedRequest) error { return errPanic }
		if err := counter.FlushCounts(t.Context(), failing); err == nil {
			t.Error("a failure was not told")
		}
		if err := counter.FlushCounts(t.Context(), meter.AddRequests); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			s.as(t, s.Live, "POST", "/cyber/monitoring", `{"value":"uso","type":"email","userHash":"`+user+`"}`)
		}
		if err := counter.FlushCounts(
			t.Context(),
			func(ctx context.Context, id partner.ID, _ []partner.Requests, lines []partner.LoggedRequest) error {
				return meter.AddRequests(ctx, id, nil, lines)
			},
		); err != nil {
			t.Fatal(err)
		}
		refused, err := meter.LatestRequests(t.Context(), s.Live.ID, true)
		if err != nil || len(refused) == 0 || refused[0].Operation != "POST /cyber/monitoring" ||
			refused[0].Status != 400 ||
			!strings.Contains(refused[0].Fault, ": ") ||
			strings.Contains(fmt.Sprint(refused), "uso") {
			t.Errorf("refused requests in the log: %+v %v", refused, err)
		}
		var got usage
		s.as(t, s.Live, "GET", "/v1/usage?days=1", "").into(t, &got)
		today := dayNumbered(partner.DayNumber(s.Clock.Now()))
		want := []usageRequests{{today, "GET /cyber/score/{userhash}", 3, 0}, {today, "POST /cyber/monitoring", 2, 1}}
		if fmt.Sprint(got.Requests) != fmt.Sprint(want) {
			t.Errorf("%+v", got.Requests)
		}
		if fmt.Sprint(got.Budgets) != "[{webhooks 50 0 50} {keys 100 1 99}]" || got.Looks.Left != cyber.LookBurst-1 {
			t.Errorf("%+v, %+v", got.Budgets, got.Looks)
		}
		if got.Rate.PerSecond != partner.DefaultRatePerSecond || got.Rate.Burst != partner.DefaultBurst {
			t.Errorf("%+v", got.Rate)
		}
		var sandbox usage
		if s.as(t, s.Sandbox, "GET", "/usage", "").into(t, &sandbox); sandbox.Looks != nil || len(sandbox.Requests) != 0 {
			t.Errorf("%+v", sandbox)
		}
		if bad := s.as(t, s.Live, "GET", "/usage?days=0", ""); bad.status != 400 {
			t.Error(bad.status)
		}
	})
}

// TestBreachesByAPI: published breaches, without where the operator has them from.
func TestBreachesByAPI(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	var page breachPage
	got := s.as(t, s.Sandbox, "GET", "/v1/cyber/breaches", "")
	got.into(t, &page)
	want := page
	want.TotalItems, want.HasNext = 1, false
	difftest.Must(t, "the page", page, want)
	difftest.Check(t, "its breach", page.Breaches[0].Name, "sandbox")
	if strings.Contains(got.body, "source") {
		t.Error(got.body)
	}
	if s.as(t, s.Live, "GET", "/v1/cyber/breaches", "").into(t, &page); page.TotalItems != 0 {
		t.Errorf("%+v", page)
	}
	for path, status := range map[string]int{"/cyber/breaches/sandbox": 404, "/cyber/breaches/nada": 404, "/cyber/breaches?page=0": 400, "/cyber/breaches?pagina=1": 400} {
		if got := s.as(t, s.Live, "GET", path, ""); got.status != status {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

// TestRepeatThatIsRefused: the repeat of a request whose work is done anew can be refused, and then says nothing of an
// answer that was kept.
func TestRepeatThatIsRefused(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	at := "/webhooks/" + s.webhookOf(t, s.Live) + "/replay"
	replay := func(key string) answered {
		return s.do(
			t,
			call{
				method: "POST",
				path:   at,
				body:   `{"failed":true}`,
				header: http.Header{"x-api-key": {s.Live.APIKey}, "idempotency-key": {key}},
			},
		)
	}
	if got := replay("primeira-vez"); got.status != 200 {
		t.Fatal(got.status)
	}
	for n := 0; replay(fmt.Sprint("outra-vez-", n)).status == 200; n++ { // until there were too many changes
	}
	if got := replay("primeira-vez"); got.status != 429 || got.header.Get("idempotency-replayed") != "" {
		t.Errorf("%d %v", got.status, got.header)
	}
}

// TestAnswersBelongToTheKey: a key does not find what was answered to another key of its partner, and one that replaced
// a key by rolling does.
func TestAnswersBelongToTheKey(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		send := func(who tenant, path, body string) answered {
			return s.do(
				t,
				call{
					method: "POST",
					path:   path,
					body:   body,
					header: http.Header{"x-api-key": {who.APIKey}, "idempotency-key": {"a-mesma"}},
				},
			)
		}
		const value = `{"value":"chave@vazamento.test","type":"email","userHash":"chave"}`
		if got := send(s.Sandbox, "/cyber/monitoring", value); got.status != 200 {
			t.Fatal(got.status, got.body)
		}
		other := s.keyWith(t, s.Sandbox, partner.ScopeCyber, partner.ScopeManage)
		if got := send(
			other,
			"/cyber/monitoring",
			value,
		); got.status != 200 ||
			got.header.Get("idempotency-replayed") != "" {
			t.Error("another key found the answer:", got.status, got.header)
		}
		var made, rolled madeKey
		s.as(t, s.Sandbox, "POST", "/keys", `{"scopes":["cyber","subscriptions","manage"]}`).into(t, &made)
		key := s.Sandbox.holding(made.APIKey)
		if got := send(
			key,
			"/cyber/monitoring",
			value,
		); got.status != 200 ||
			got.header.Get("idempotency-replayed") != "" {
			t.Error(got.status, got.header)
		}
		s.as(t, s.Sandbox, "POST", "/keys/"+made.ID+"/roll", `{"graceHours":0}`).into(t, &rolled)
		if got := send(
			s.Sandbox.holding(rolled.APIKey),
			"/cyber/monitoring",
			value,
		); got.status != 200 ||
			got.header.Get("idempotency-replayed") != "true" {
			t.Error("the rolled key does not find the answer:", got.status, got.header)
		}
		// The attack: a narrow key repeats the request by which a wide one made a wider key.
		wide := `{"scopes":["cyber","subscriptions","manage"]}`
		if got := send(s.Sandbox, "/keys", wide); got.status != 200 {
			t.Fatal(got.status, got.body)
		} else {
			madeID(t, got)
		}
		if got := send(other, "/keys", wide); got.status != 400 || strings.Contains(got.body, "vg_test_") {
			t.Errorf("a narrow key has a wider one: %d %s", got.status, got.body)
		}
	})
}

// TestSecretsAreNotKept: an answer that holds an API key, a webhook's secret or a link is given once. A repeat is
// refused and names what was made.
func TestSecretsAreNotKept(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		hook := s.webhookOf(t, s.Sandbox)
		key, err := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil).ListKeys(t.Context(), s.Sandbox.ID)
		if err != nil {
			t.Fatal(err)
		}
		s.as(
			t,
			s.Sandbox,
			"POST",
			"/cyber/monitoring",
			`{"value":"elo@vazamento.test","type":"email","userHash":"elo"}`,
		)
		for path, c := range map[string]struct{ body, secret string }{
			"/keys":                                {`{"scopes":["cyber:read"]}`, "vg_test_"},
			"/webhooks":                            {`{"url":"https://127.0.0.1:9/x"}`, "whsec_"},
			"/webhooks/" + hook + "/rotate":        {`{"overlapHours":1}`, "whsec_"},
			"/cyber/portal-session":                {`{"userHash":"elo"}`, "/p/enter/"},
			"/keys/" + string(key[0].ID) + "/roll": {`{"graceHours":1}`, "vg_test_"},
		} {
			send := func() answered {
				return s.do(
					t,
					call{
						method: "POST",
						path:   path,
						body:   c.body,
						header: http.Header{"x-api-key": {s.Sandbox.APIKey}, "idempotency-key": {"uma-vez"}},
					},
				)
			}
			first := send()
			if first.status != 200 || !strings.Contains(first.body, c.secret) ||
				first.header.Get("x-created-id") != "" {
				t.Fatalf("%s: %d %s", path, first.status, first.body)
			}
			var made struct{ ID, APIKey, Secret, URL string }
			first.into(t, &made)
			for _, text := range []string{made.APIKey, made.Secret, made.URL} {
				if text != "" {
					secret(text)
				}
			}
			again := send()
			id := again.header.Get("x-created-id")
			if again.status != 409 || id == "" || made.ID != "" && id != made.ID ||
				strings.Contains(again.body, c.secret) ||
				again.header.Get("idempotency-replayed") != "" {
				t.Errorf("%s, again: %d %s %v", path, again.status, again.body, again.header)
			}
		}
	})
}

// TestRevokeEndsChildKeys: keys that a key made end with it, and those that these made; a rolled key stands for the one
// it replaced, and outlives it when it ends that one itself.
func TestRevokeEndsChildKeys(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		add := func(by tenant, path, body string) (tenant, madeKey) {
			var made madeKey
			s.Clock.Advance(time.Second)
			s.as(t, by, "POST", path, body).into(t, &made)
			return s.Live.holding(made.APIKey), made
		}
		const scopes = `{"scopes":["cyber:read","manage"]}`
		works := func(who tenant) bool { return s.as(t, who, "GET", "/keys", "").status == 200 }
		parent, made := add(s.Live, "/keys", scopes)
		child, second := add(parent, "/keys", scopes)
		grandchild, third := add(child, "/keys", scopes)
		if second.MadeBy != made.ID || third.MadeBy != second.ID {
			t.Errorf("made by %q and %q", second.MadeBy, third.MadeBy)
		}
		next, _ := add(parent, "/keys/"+made.ID+"/roll", `{"graceHours":24}`)
		stranger, _ := add(s.Live, "/keys", scopes)
		if got := s.as(t, next, "DELETE", "/keys/"+made.ID, ""); got.status != 200 {
			t.Fatal(got.status, got.body)
		}
		if works(parent) || works(child) || works(grandchild) || !works(next) || !works(stranger) {
			t.Errorf(
				"after the rolled key revoked its predecessor: %v %v %v, %v %v",
				works(parent),
				works(child),
				works(grandchild),
				works(next),
				works(stranger),
			)
		}
		last, _ := add(next, "/keys", scopes)
		if got := s.as(
			t,
			s.Live,
			"DELETE",
			"/keys/"+made.ID,
			"",
		); got.status != 200 { // once more: it reaches what lived on
			t.Fatal(got.status, got.body)
		}
		if works(next) || works(last) || !works(stranger) {
			t.Error("the key that a key rolled itself into outlives it")
		}
	})
}
