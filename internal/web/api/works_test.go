package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// TestBulkAnswersAreSmall is the attack: ten thousand items in which everything is wrong, under an idempotency key.
// They made an answer of 7 MB, of which 9.3 MB were kept for a day.
func TestBulkAnswersAreSmall(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		body := "[" + strings.Repeat(`{"beneficiary":{"address":{}}},`, subscription.MaxItems-1) + `{"beneficiary":{"address":{}}}]`
		status, first := s.post(t, s.server.URL, s.Live.APIKey, body, "idempotency-key", "tudo-errado")
		if status != http.StatusOK || len(first) > 3<<20 ||
			!strings.Contains(first, `"total_not_created_items":10000`) ||
			!strings.Contains(first, "item: e mais 15 erros") {
			t.Fatalf("%d, %d bytes: %.300s", status, len(first), first)
		}
		var kept int
		if err := s.DB.ReadPool().QueryRowContext(t.Context(), `SELECT max(length(answer)) FROM idempotency`).Scan(&kept); err != nil || kept > 64<<10 {
			t.Error("kept:", kept, err)
		}
		if status, again := s.post(
			t,
			s.server.URL,
			s.Live.APIKey,
			body,
			"idempotency-key",
			"tudo-errado",
		); status != http.StatusOK ||
			again != first {
			t.Errorf("replayed: %d, %d bytes", status, len(again))
		}
		t.Logf("answer of %d bytes, %d kept", len(first), kept)
	})
}

// TestKeptBulkHoldsNobody: what is kept of a bulk names items by their places, and a replay names the people again.
func TestKeptBulkHoldsNobody(t *testing.T) {
	s := newService(t, "sqlite")
	s.plan(t, s.Live, "p")
	body := "[" + itemOf(1, "") + "," + itemOf(2, "") + "," + itemOf(1, "") + "]"
	_, first := s.post(t, s.server.URL, s.Live.APIKey, body, "idempotency-key", "k")
	_, again := s.post(t, s.server.URL, s.Live.APIKey, body, "idempotency-key", "k")
	if first != again || !strings.Contains(first, cpfOf(1)) || !strings.Contains(first, `"total_created_items":2`) {
		t.Errorf("%s\n%s", first, again)
	}
	packed, err := packOutcome(subscription.Outcome{Created: 1, Failures: []subscription.Failure{
		{
			Item:     1,
			CPF:      cpfOf(1),
			Plan:     "p",
			Problems: []subscription.Problem{{Field: subscription.FieldCPF, Rule: subscription.RuleExists}},
		},
	}})
	if err != nil || strings.Contains(string(packed.Body), cpfOf(1)) {
		t.Error(string(packed.Body), err)
	}
}

func callerOf(id partner.ID) partner.Caller { return partner.Caller{Partner: id} }

// TestBulkIsPaidByItems: items and bytes are charged after they were read, and who is in debt waits; single requests do
// not.
func TestBulkIsPaidByItems(t *testing.T) {
	l, now, who := newLimiter(nil), time.Unix(1e9, 0), callerOf("one")
	l.takeToken(who, now)
	n := 0
	for ; l.waitForBulk(who, now) == 0 && n < 100; n++ {
		l.chargeBulk(who, subscription.MaxItems, 4<<20, now)
	}
	if n != 4 || l.takeToken(who, now).wait != 0 {
		t.Error("bulks of ten thousand at once:", n)
	}
	if wait := l.waitForBulk(who, now); wait <= 0 || l.waitForBulk(who, now.Add(wait+time.Millisecond)) != 0 {
		t.Error(wait)
	}
	l = newLimiter(nil)
	l.takeToken(who, now)
	l.chargeBulk(who, 1, 100<<20, now)
	if l.waitForBulk(who, now) == 0 {
		t.Error("bytes are free")
	}
}

// TestListsArePaidByItems is the attack: pages of a thousand events, read over and over, cost a partner no more than
// any other request. Now the items are charged: the reader in debt is refused, its single requests and bulks are not,
// and other partners do not notice.
func TestListsArePaidByItems(t *testing.T) {
	t.Parallel()
	s := newService(t, sqldb.SQLite)
	server := newHandler(t, s.Env)
	ask := func(key, path string) *httptest.ResponseRecorder {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		req.Header.Set("x-api-key", key)
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, req)
		return answer
	}
	const events = "/v1/events?limit=1000"
	if answer := ask(s.Live.APIKey, events); answer.Code != http.StatusOK {
		t.Fatal(answer.Code, answer.Body)
	}
	now := server.Now()
	for range 1 + 400 { // what is allowed at once, a thousand events a page
		server.limits.chargeList(callerOf(s.Live.ID), alert.MaxPage, 0, now)
	}
	for _, path := range []string{events, "/v1/subscriptions?page_size=100", "/v1/cyber/epp", "/v1/cyber/breaches"} {
		if answer := ask(
			s.Live.APIKey,
			path,
		); answer.Code != http.StatusTooManyRequests ||
			answer.Header().Get("retry-after") == "" {
			t.Errorf("%s in debt: %d %v", path, answer.Code, answer.Header())
		}
	}
	if answer := ask(s.Live.APIKey, "/v1/cyber/score/u1"); answer.Code != http.StatusOK {
		t.Error("a single request:", answer.Code)
	}
	if server.limits.waitForBulk(callerOf(s.Live.ID), now) != 0 {
		t.Error("bulks wait for lists")
	}
	if answer := ask(s.Other.APIKey, events); answer.Code != http.StatusOK {
		t.Error("another partner:", answer.Code)
	}
}

// TestListsAreCharged: every list is charged for the items it holds.
func TestListsAreCharged(t *testing.T) {
	t.Parallel()
	s := newService(t, sqldb.SQLite)
	s.plan(t, s.Live, "p")
	items := make([]string, 50)
	for i := range items {
		items[i] = itemOf(i, "")
	}
	if status, body := s.post(
		t,
		s.server.URL,
		s.Live.APIKey,
		"["+strings.Join(items, ",")+"]",
	); status != http.StatusOK {
		t.Fatal(status, body)
	}
	server := newHandler(t, s.Env)
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/subscriptions?page_size=50", http.NoBody)
	req.Header.Set("x-api-key", s.Live.APIKey)
	server.ServeHTTP(httptest.NewRecorder(), req)
	b := server.limits.partnerBucket(callerOf(s.Live.ID))
	if left := b.list.TokensAt(server.Now()); int(left) > b.list.Burst()-len(items)+1 {
		t.Errorf("%v of %d tokens are left after a list of %d", left, b.list.Burst(), len(items))
	}
}

// TestRefusalsArePaced: who goes on asking after being refused hears the next refusals later, bulks sooner than single
// requests; nobody else does, and those who wait are counted.
func TestRefusalsArePaced(t *testing.T) {
	f, now := newRefusals(), time.Unix(1e9, 0)
	for range refusalsAtOnce / heavyRefusal {
		if wait, _ := f.delayOfRefusal("one", true, now); wait != 0 {
			t.Fatal("held at once:", wait)
		}
	}
	if wait, release := f.delayOfRefusal("other", false, now); wait != 0 {
		t.Error("another partner:", wait)
	} else {
		release()
	}
	first, _ := f.delayOfRefusal("one", true, now)
	light, _ := f.delayOfRefusal("one", false, now)
	if first != heavyRefusal*time.Second/refusalsPerSecond || light <= first {
		t.Error("one too many:", first, light)
	}
	for f.of["one"].held < heldOfOne {
		if wait, _ := f.delayOfRefusal("one", true, now); wait <= 0 || wait > holdMost {
			t.Fatal(wait)
		}
	}
	if wait, _ := f.delayOfRefusal("one", true, now); wait != 0 || f.held != heldOfOne {
		t.Error("held without end:", wait, f.held)
	}
	if wait, _ := f.delayOfRefusal("one", false, now.Add(time.Minute)); wait != 0 {
		t.Error("a minute later:", wait)
	}
}

// TestRefusedRequestIsHeld: the server waits before it tells a refusal to one who has heard many.
func TestRefusedRequestIsHeld(t *testing.T) {
	t.Parallel()
	s := newService(t, sqldb.SQLite)
	server := newHandler(t, s.Env)
	var wait time.Duration
	for wait < 100*time.Millisecond {
		var release func()
		wait, release = server.refusals.delayOfRefusal(s.Live.ID, false, server.Now())
		release()
	}
	busy := route{
		method: "GET",
		path:   "/cyber/busy",
		area:   cyberArea,
		scope:  partner.ScopeCyberRead,
		run: func(*Server, *request) (any, error) {
			return nil, errBusy
		},
	}
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/cyber/busy", http.NoBody)
	req.Header.Set("x-api-key", s.Live.APIKey)
	answer, start := httptest.NewRecorder(), time.Now()
	server.serveRequest(answer, req, &busy, server.newObserved(&busy))
	if took := time.Since(start); answer.Code != http.StatusTooManyRequests || took < wait ||
		server.refusals.held != 0 {
		t.Error(answer.Code, took, server.refusals.held)
	}
}
