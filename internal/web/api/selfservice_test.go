package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// assetsOf is a list of values of as many people whom nobody enrolled.
func assetsOf(first, n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = addAsset(
			"email",
			fmt.Sprintf("pessoa%d@exemplo.com.br", first+i),
			hashOf(fmt.Sprint("inventada", first+i)),
		)
	}
	return `{"items":[` + strings.Join(items, ",") + `]}`
}

// TestNoFishingInBulk: of CPFs under another's hash none is taken in a list either.
func TestNoFishingInBulk(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		cpfs := make([]string, 50)
		for i := range cpfs {
			cpfs[i] = addAsset("cpf", cpfOf(i), hashOf(fmt.Sprint("inventada", i)))
		}
		var got assetsAdded
		s.as(t, s.Live, http.MethodPost, "/v1/cyber/assets", `{"items":[`+strings.Join(cpfs, ",")+`]}`).into(t, &got)
		want := got
		want.Result, want.Added, want.NotAdded = "failure", 0, 50
		difftest.Must(t, "CPFs under made-up hashes", got, want)
		if why := got.Refused[49].Detail; !strings.HasPrefix(why, "userHash: for type cpf") {
			t.Fatalf("a CPF under a made-up hash: %s", why)
		}
	})
}

// TestBulkAssets: an item that is wrong is told of by its place, and the answer names nobody; a repeat under the same
// key is answered the same and adds nothing.
func TestBulkAssets(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	user := hashOf("lista")
	list := `{"items":[` + addAsset("email", "lista@exemplo.com.br", user) + `,7,{"value":"x"},` + addAsset("email", "sem arroba", user) + `,` +
		addAsset("domain", "exemplo.com.br", user) + `,` + addAsset("phone", "11987654321", user) + `]}`
	send := func() answered {
		return s.do(
			t,
			call{
				method: "POST",
				path:   "/v1/cyber/assets",
				body:   list,
				header: http.Header{"x-api-key": {s.Live.APIKey}, "idempotency-key": {"lista"}},
			},
		)
	}
	first := send()
	var got assetsAdded
	first.into(t, &got)
	details := make([]string, len(got.Refused))
	for i, f := range got.Refused {
		field, _, _ := strings.Cut(f.Detail, ":")
		details[i] = fmt.Sprint(f.Item, " ", field)
	}
	if got.Added != 2 || strings.Join(details, ", ") != "1 body, 2 userHash, 3 value, 4 type" ||
		strings.Contains(first.body, user) {
		t.Errorf("%+v %v", got, details)
	}
	if again := send(); again.body != first.body || again.header.Get("idempotency-replayed") != "true" {
		t.Error(again)
	}
	for body, want := range map[string]string{`{"items":[]}`: "items: 1 to 1000", assetsOf(0, 1001): "items: 1 to 1000", `{"items":"x"}`: "items: wrong JSON type"} {
		if bad := s.as(
			t,
			s.Live,
			"POST",
			"/cyber/assets",
			body,
		); bad.status != 400 ||
			bad.header.Get(detailHeader) != want {
			t.Errorf("%.40s: %d %s", body, bad.status, bad.header.Get(detailHeader))
		}
	}
}

// TestBulkScore: many scores are those that single requests answer.
func TestBulkScore(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	user := hashOf("nota")
	s.as(t, s.Sandbox, "POST", "/cyber/monitoring", addAsset("email", "nota@vazamento.test", user))
	var one riskScore
	s.as(t, s.Sandbox, "GET", "/cyber/score/"+user, "").into(t, &one)
	var many scoreList
	s.as(t, s.Sandbox, "POST", "/v1/cyber/scores", `{"userHashes":["`+user+`","..","`+hashOf("ninguem")+`"]}`).into(t, &many)
	if len(many.Scores) != 3 || *many.Scores[0].BreachScore != one.BreachScore || *many.Scores[0].AssessmentScore != one.AssessmentScore || one.BreachScore == 0 {
		t.Fatalf("%+v", many)
	}
	if bad := many.Scores[1]; bad.BreachScore != nil || !strings.HasPrefix(bad.Detail, "userHash: ") ||
		*many.Scores[2].BreachScore >= one.BreachScore {
		t.Errorf("%+v", many)
	}
	if bad := s.as(
		t,
		s.Sandbox,
		"POST",
		"/cyber/scores",
		`{"userHashes":[]}`,
	); bad.status != 400 ||
		bad.header.Get(detailHeader) != "userHashes: 1 to 1000" {
		t.Error(bad.status, bad.header)
	}
}

// TestSubscriptionsByAPI: suspended, resumed, edited and ended, one by one and many at once, with their events.
func TestSubscriptionsByAPI(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.plan(t, s.Live, "p")
		s.post(t, s.server.URL, s.Live.APIKey, itemsOf(9800, 9804))
		at := func(n int) string { return "/v1/subscriptions/p/" + cpfOf(n) + "/changes" }
		var now subscriptionNow
		for _, c := range []struct{ body, state string }{
			{`{"move":"suspend"}`, "suspended"},
			{`{"move":"suspend"}`, "suspended"},
			{`{"move":"resume"}`, "active"},
			{`{"expiry_date":"2031-01-31","partner_internal_id":"cliente-42","partner_metadata":"{\"a\":1}"}`, "active"},
			{`{"expiry_date":""}`, "active"},
			{`{"expiry_date":"2031-02-28"}`, "active"},
			{`{"move":"end"}`, "ended"},
		} {
			if s.as(t, s.Live, "POST", at(9800), c.body).into(t, &now); now.State != c.state || now.ID != "sub_1" {
				t.Errorf("%s: %+v", c.body, now)
			}
		}
		if now.InternalID != "cliente-42" || now.Metadata != `{"a":1}` {
			t.Errorf("%+v", now)
		}
		if got := s.as(
			t,
			s.Live,
			"POST",
			at(9800),
			`{"move":"resume"}`,
		); got.status != 404 ||
			!strings.HasPrefix(got.header.Get(detailHeader), "plan_id, beneficiary_cpf: ") {
			t.Error("an ended one:", got.status, got.header)
		}
		for body, want := range map[string]string{
			`{}`: "move, expiry_date", `{"move":"pause"}`: "move: one of end, suspend, resume", `{"move":"end","expiry_date":""}`: "move, expiry_date",
			`{"expiry_date":"2020-01-01"}`: "expiry_date: ", `{"expiry_date":"31/12/2030"}`: "expiry_date: ",
			`{"partner_metadata":"{"}`: "partner_metadata: ", `{"partner_internal_id":"` + strings.Repeat("x", 256) + `"}`: "partner_internal_id: ",
		} {
			if got := s.as(
				t,
				s.Live,
				"POST",
				at(9801),
				body,
			); got.status != 400 ||
				!strings.HasPrefix(got.header.Get(detailHeader), want) {
				t.Errorf("%s: %d %s", body, got.status, got.header.Get(detailHeader))
			}
		}
		var moved subscriptionsMoved
		s.as(t, s.Live, "POST", "/v1/subscription-moves", `{"plan_id":"p","move":"suspend","cpfs":["`+cpfOf(9801)+`","`+cpfOf(9800)+`","12","`+cpfOf(9802)+`"]}`).into(t, &moved)
		want := `{partial_success 2 2 [{1 ` + cpfOf(9800) + ` [beneficiary.cpf: nenhuma assinatura em vigor]} {2 12 [beneficiary.cpf: deve ter 11 dígitos]}]}`
		if fmt.Sprint(moved) != want {
			t.Errorf("%v", moved)
		}
		for body, want := range map[string]string{`{"plan_id":"p","move":"suspend","cpfs":[]}`: "cpfs: 1 to 1000", `{"cpfs":["1"]}`: "move: one of", `{"move":"end","cpfs":["1"]}`: "plan_id: 1 to 255"} {
			if got := s.as(
				t,
				s.Live,
				"POST",
				"/subscription-moves",
				body,
			); got.status != 400 ||
				!strings.HasPrefix(got.header.Get(detailHeader), want) {
				t.Errorf("%s: %d %s", body, got.status, got.header.Get(detailHeader))
			}
		}
		events := s.as(t, s.Live, "GET", "/events", "").body
		if n, m, e := strings.Count(events, "subscription.suspended"), strings.Count(events, "subscription.resumed"), strings.Count(events, "subscription.ended"); n != 3 || m != 1 || e != 1 {
			t.Errorf("%d suspended, %d resumed, %d ended", n, m, e)
		}
	})
}

// TestEditedEndsAreCounted: the list's total follows an expiry date that was changed, on the day after it.
func TestEditedEndsAreCounted(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.plan(t, s.Live, "p")
		s.post(t, s.server.URL, s.Live.APIKey, itemsOf(9810, 9813))
		tomorrow := s.Clock.Now().Add(24 * time.Hour).Format(time.DateOnly)
		later := s.Clock.Now().Add(20 * 24 * time.Hour).Format(time.DateOnly)
		s.as(t, s.Live, "POST", "/subscriptions/p/"+cpfOf(9810)+"/changes", `{"expiry_date":"`+later+`"}`)
		s.as(t, s.Live, "POST", "/subscriptions/p/"+cpfOf(9810)+"/changes", `{"expiry_date":"`+tomorrow+`"}`)
		s.as(t, s.Live, "POST", "/subscriptions/p/"+cpfOf(9811)+"/changes", `{"expiry_date":"`+tomorrow+`"}`)
		s.as(t, s.Live, "POST", "/subscriptions/p/"+cpfOf(9811)+"/changes", `{"expiry_date":""}`)
		s.Clock.Advance(3 * 24 * time.Hour)
		var page subscriptionPageWire
		if s.as(t, s.Live, "GET", "/subscriptions", "").into(t, &page); page.Pagination.TotalItems != 2 || len(page.Data) != 2 {
			t.Errorf("%d of %d", len(page.Data), page.Pagination.TotalItems)
		}
	})
}

// TestStatistics: a partner reads its own numbers by day.
func TestStatistics(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.plan(t, s.Sandbox, "p")
		user := hashOf("numeros")
		s.post(t, s.server.URL, s.Sandbox.APIKey, itemsOf(9820, 9823))
		s.as(t, s.Sandbox, "POST", "/cyber/monitoring", addAsset("email", "numeros@vazamento.test", user))
		s.caseOf(t, s.Sandbox, user)
		if err := s.Store.Overview.CountFigures(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		var got statistics
		s.as(t, s.Sandbox, "GET", "/v1/statistics?days=2", "").into(t, &got)
		today := dayNumbered(partner.DayNumber(s.Clock.Now()))
		if len(got.Days) != 2 || got.Days[1] != (statisticsDay{today, 1, 1, 3, 1}) || got.Days[0].Enrolments != 0 {
			t.Errorf("%+v", got)
		}
		if s.as(t, s.Live, "GET", "/statistics?days=1", "").into(t, &got); got.Days[0] != (statisticsDay{Day: today}) {
			t.Errorf("another partner's numbers: %+v", got)
		}
	})
}

// TestKeyOfTheGuide: the key that the guide to self-service has made does what the guide says, also a webhook of all
// types; one with manage alone is told what it lacks.
func TestKeyOfTheGuide(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	const webhook = `{"url":"https://127.0.0.1:9/guia"}`
	registry := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil)
	with := func(scopes ...partner.Scope) tenant {
		_, text, err := registry.CreateKey(t.Context(), s.Live.Partner.ID, "guia", scopes, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		secret(text)
		return tenant{s.Live.Partner, partner.Credentials{APIKey: text}}
	}
	alone := s.as(t, with(partner.ScopeManage), http.MethodPost, "/v1/webhooks", webhook)
	if alone.status != http.StatusBadRequest || !strings.HasPrefix(alone.header.Get(detailHeader), "types: ") {
		t.Error("with manage alone:", alone)
	}
	guide := with(partner.ScopeManage, partner.ScopeCyberRead, partner.ScopeSubscriptionsRead)
	s.webhookOf(t, guide)
	s.keyOf(t, guide)
	for _, path := range []string{"/v1/webhooks", "/v1/keys", "/v1/usage", "/v1/statistics", "/v1/cyber/breaches"} {
		if got := s.as(t, guide, http.MethodGet, path, ""); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}
