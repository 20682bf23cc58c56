package api

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// hashMadeOf is the user hash that a partner makes of a CPF.
func hashMadeOf(cpf string, who tenant) string {
	d256, _ := partner.PersonDigests(cpf, who.Salt)
	return hex.EncodeToString(d256[1:])
}

// TestNoFishing is the attack on CPFs: a live partner asks about people under hashes that it made up, and under the
// hash of somebody whom it enrolled. Only the digest of that very CPF opens it.
func TestNoFishing(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.plan(t, s.Live, "ouro")
		enrolled := &belongings{cpf: cpfOf(900), mail: "ana@exemplo.com.br", person: "Ana"}
		if a := s.as(
			t,
			s.Live,
			http.MethodPost,
			"/v1/subscriptions",
			"["+subscriptionOf(enrolled, "ouro", "")+"]",
		); a.status != http.StatusOK ||
			!strings.Contains(a.body, `"success"`) {
			t.Fatal(a)
		}
		for i := range 100 {
			for _, user := range []string{hashOf(fmt.Sprint("inventada", i)), hashMadeOf(cpfOf(900), s.Live)} {
				a := s.as(t, s.Live, http.MethodPost, "/v1/cyber/monitoring", addAsset("cpf", cpfOf(i), user))
				if a.status != http.StatusBadRequest || !strings.Contains(a.header.Get(detailHeader), "userHash") {
					t.Fatal("a CPF under somebody else's hash:", a)
				}
			}
		}
		s.Clock.Advance(time.Minute)
		for _, spelling := range spellings(cpfOf(900), s.Live.Salt) {
			if a := s.as(
				t,
				s.Live,
				http.MethodPost,
				"/v1/cyber/monitoring",
				addAsset("cpf", cpfOf(900), spelling),
			); a.status != http.StatusOK {
				t.Error("under its own digest:", a)
			}
		}
		if a := s.as(
			t,
			s.Live,
			http.MethodPost,
			"/v1/cyber/monitoring",
			addAsset("cpf", cpfOf(5), hashMadeOf(cpfOf(5), s.Live)),
		); a.status != http.StatusOK {
			t.Error("of somebody who is not enrolled, under its own digest:", a)
		}
	})
}

// TestAddingIsFree: a live partner without any subscription adds as many people as it likes, one by one and in lists;
// how many wait for their first look, and until when, stands in the person's list and in the usage.
func TestAddingIsFree(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.unlimited(t, s.Live)
		s.Clock.Advance(time.Minute)
		type looks struct {
			FirstLooks *usageLooks `json:"firstLooks"`
		}
		usageOf := func(who tenant) *usageLooks {
			t.Helper()
			var got looks
			s.as(t, who, http.MethodGet, "/v1/usage", "").into(t, &got)
			return got.FirstLooks
		}
		if got := usageOf(s.Live); got == nil || *got != (usageLooks{PerHour: 200, Burst: 1000, Left: 1000}) {
			t.Errorf("before: %+v", got)
		}
		if got := usageOf(s.Sandbox); got != nil {
			t.Errorf("of a sandbox: %+v", got)
		}
		for _, key := range []string{"", "chave"} { // the second in one transaction
			var got assetsAdded
			h := http.Header{"x-api-key": {s.Live.APIKey}}
			if key != "" {
				h.Set("idempotency-key", key)
			}
			list := call{method: "POST", path: "/v1/cyber/assets", body: assetsOf(1000*len(key), 1000), header: h}
			for range 2 { // a repeat is told the same
				a := s.do(t, list)
				a.into(t, &got)
				if got.Added != 1000 || got.Result != "success" || a.header.Get(waitingHeader) != "1000" {
					t.Fatalf("%d added: %+v, %s wait", got.Added, got.Refused, a.header.Get(waitingHeader))
				}
			}
			s.Clock.Advance(time.Minute)
		}
		for i := range 3 {
			for range 2 {
				a := s.as(
					t,
					s.Live,
					http.MethodPost,
					"/v1/cyber/monitoring",
					addAsset("email", fmt.Sprintf("um%d@exemplo.com.br", i), hashOf("um")),
				)
				if a.status != http.StatusOK || a.header.Get(waitingHeader) != "1" {
					t.Fatal(a)
				}
			}
		}
		if got := usageOf(s.Live); got.Waiting != 2003 || got.Left != 1000 || got.Until == "" {
			t.Errorf("after: %+v", got)
		}
		list := s.as(t, s.Live, http.MethodGet, "/v1/cyber/monitoring/"+hashOf("um"), "")
		if list.header.Get(waitingHeader) != "3" || list.header.Get(untilHeader) != usageOf(s.Live).Until ||
			strings.Count(list.body, `"monitorado"`) != 3 {
			t.Error(list.header, list.body)
		}
		pace := cyber.NewFirstLooks(s.Store.Monitoring, s.Store.Partners, s.Clock.Now)
		for range 3 {
			if _, err := pace.StartLooks(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := usageOf(s.Live); got.Waiting != 1003 || got.Left != 0 {
			t.Errorf("after the first looks began: %+v", got)
		}
		if a := s.as(
			t,
			s.Other,
			http.MethodPost,
			"/v1/cyber/monitoring",
			addAsset("email", "ana@exemplo.com.br", hashOf("ana")),
		); a.status != http.StatusOK || a.header.Get(waitingHeader) != "" {
			t.Error("another partner:", a)
		}
		// Its value has a token and is looked for by a worker, behind nobody else's.
		path := "/v1/cyber/monitoring/" + hashOf("ana")
		if others := s.as(t, s.Other, http.MethodGet, path, ""); others.header.Get(waitingHeader) != "1" {
			t.Error("not looked for yet:", others.header)
		}
		s.settleDueLooks(t)
		if others := s.as(t, s.Other, http.MethodGet, path, ""); others.header.Get(waitingHeader) != "" {
			t.Error("another partner waits:", others.header)
		}
	})
}

// TestStoppedLooksTellUntil: while the operator has stopped first looks, a partner is told how many values wait, and
// when they would have had theirs if the operator let them go on now. It reads that with the key that it was created
// with.
func TestStoppedLooksTellUntil(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		first := s.keyWith(t, s.Live, partner.ContractScopes()...)
		_, err := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil).UpdatePartner(
			t.Context(),
			s.Live.ID,
			func(p *partner.Partner) { p.Settings.FirstLooksPerHour = partner.NoFirstLooks },
		)
		if err != nil {
			t.Fatal(err)
		}
		s.Clock.Advance(time.Minute)
		for from := range 2 {
			a := s.as(t, first, http.MethodPost, "/v1/cyber/assets", assetsOf(700*from, 700))
			if a.status != http.StatusOK {
				t.Fatal(a)
			}
		}
		var got struct {
			FirstLooks usageLooks `json:"firstLooks"`
		}
		s.as(t, first, http.MethodGet, "/v1/usage", "").into(t, &got)
		// 1,000 at once and 400 in two hours.
		until := s.Clock.Now().Add(2 * time.Hour)
		want := usageLooks{Burst: 1000, Waiting: 1400, Stopped: true, Until: formatDay(until.UTC())}
		if got.FirstLooks != want {
			t.Errorf("%+v, not %+v", got.FirstLooks, want)
		}
		asset := addAsset("email", "um@exemplo.com.br", hashOf("um"))
		a := s.as(t, first, http.MethodPost, "/v1/cyber/monitoring", asset)
		list := s.as(t, first, http.MethodGet, "/v1/cyber/monitoring/"+hashOf("um"), "")
		if a.header.Get(waitingHeader) != "1" || list.header.Get(waitingHeader) != "1" ||
			list.header.Get(untilHeader) == "" {
			t.Error(a.header, list.header)
		}
	})
}

// TestUsageIsForEveryKey: any valid key of the partner reads its usage, as it may need the limits for whatever it does;
// statistics still need their scope.
func TestUsageIsForEveryKey(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	for _, scope := range []partner.Scope{
		partner.ScopeCyberRead, partner.ScopeSubscriptionsRead, partner.ScopeCredentials, partner.ScopeManageRead,
	} {
		who := s.keyWith(t, s.Live, scope)
		if got := s.as(t, who, http.MethodGet, "/v1/usage", ""); got.status != http.StatusOK {
			t.Errorf("%s: %d %v", scope, got.status, got.header)
		}
		if got := s.as(t, who, http.MethodPost, "/v1/usage", ""); got.status != http.StatusMethodNotAllowed {
			t.Errorf("POST with %s: %d %v", scope, got.status, got.header)
		}
		got := s.as(t, who, http.MethodGet, "/v1/statistics", "")
		if (got.status == http.StatusOK) != (scope == partner.ScopeManageRead) {
			t.Errorf("statistics with %s: %d", scope, got.status)
		}
	}
}
