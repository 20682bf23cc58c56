package api

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// hashMadeOf is the user hash that a partner makes of a CPF.
func hashMadeOf(cpf string, who tenant) string {
	d256, _ := partner.Digests(cpf, who.Salt)
	return hex.EncodeToString(d256[1:])
}

// settings changes a partner's.
func (s *service) settings(t *testing.T, who tenant, change func(*partner.Settings)) {
	t.Helper()
	_, err := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil).Change(t.Context(), who.ID, func(p *partner.Partner) { change(&p.Settings) })
	if err != nil {
		t.Fatal(err)
	}
}

// twin is a second process on the same database.
func (s *service) twin(t *testing.T) *service {
	t.Helper()
	second := *s
	second.Env = storetest.Reopen(t, s.Address, s.Folder, s.Keys, s.Clock)
	second.server = httptest.NewServer(newHandler(t, second.Env))
	t.Cleanup(second.server.Close)
	return &second
}

// watched posts values and counts those that the service took, until it refuses with until.
func (s *service) watched(t *testing.T, who tenant, until int, next func(i int) string) (taken int, last answered) {
	t.Helper()
	for i := range 2000 {
		if last = s.as(t, who, http.MethodPost, "/v1/cyber/monitoring", next(i)); last.status == until {
			return taken, last
		}
		if last.status == http.StatusOK {
			taken++
		}
		if s.Clock.Advance(10 * time.Millisecond); i%100 == 0 {
			s.Clock.Advance(time.Second) // the rate of requests is not what is tested
		}
	}
	return taken, last
}

// TestNoFishing is the attack: a live partner without subscribers asks about people it made up. A CPF under a hash that
// is not its own is refused; with the hashes that its salt gives it, the partner gets as far as the hour's cap.
//
//vigia:row A21
//vigia:bar of CPFs under made-up hashes none is taken; under their own digests as many as an hour's cap
//vigia:seen 2026-11-16 0 of 100, and 200 in an hour; before, all
//vigia:tier C: 100 under made-up hashes
//vigia:broken monitoring that does not compare the hash with the CPF
func TestNoFishing(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		for i := range 100 {
			a := s.as(t, s.Live, http.MethodPost, "/v1/cyber/monitoring", addAsset("cpf", cpfOf(i), hashOf(fmt.Sprint("inventada", i))))
			if a.status != http.StatusBadRequest || !strings.Contains(a.header.Get(detailHeader), "userHash") {
				t.Fatal("a CPF under somebody else's hash:", a)
			}
		}
		s.Clock.Advance(time.Minute)
		own := func(i int) string { return addAsset("cpf", cpfOf(i), hashMadeOf(cpfOf(i), s.Live)) }
		taken, last := s.watched(t, s.Live, http.StatusTooManyRequests, own)
		if taken != 200 || last.header.Get("retry-after") == "" {
			t.Error("an hour took", taken, last)
		}
		if got := strings.Join(last.header.Values("RateLimit-Policy"), ", "); !strings.Contains(got, `"assets-hour";q=200;w=3600, "assets-day";q=1000;w=86400`) {
			t.Error(got)
		}
		// Taking values away gives no place back, and what is there already needs none.
		list := s.as(t, s.Live, http.MethodGet, "/v1/cyber/monitoring/"+hashMadeOf(cpfOf(0), s.Live), "").body
		id := list[strings.Index(list, "as_"):][:39]
		if a := s.as(t, s.Live, http.MethodDelete, "/v1/cyber/monitoring/"+id+"/"+hashMadeOf(cpfOf(0), s.Live), ""); a.status != http.StatusOK {
			t.Error(a)
		}
		if a := s.as(t, s.Live, http.MethodPost, "/v1/cyber/monitoring", own(300)); a.status != http.StatusTooManyRequests {
			t.Error("after a removal:", a)
		}
		if a := s.as(t, s.Live, http.MethodPost, "/v1/cyber/monitoring", own(1)); a.status != http.StatusOK {
			t.Error("again what is there:", a)
		}
		if a := s.as(t, s.Other, http.MethodPost, "/v1/cyber/monitoring", addAsset("email", "ana@exemplo.com.br", hashOf("ana"))); a.status != http.StatusOK {
			t.Error("another partner:", a)
		}
		s.Clock.Advance(time.Hour)
		if a := s.as(t, s.Live, http.MethodPost, "/v1/cyber/monitoring", own(300)); a.status != http.StatusOK || !strings.Contains(strings.Join(a.header.Values("RateLimit"), ", "), `"assets-hour";r=199`) {
			t.Error("an hour later:", a)
		}
	})
}

// TestPeopleUnknownToSubscriptions: who is enrolled may be watched, others within the partner's budget; whoever was let
// in stays, and an enrolment makes room.
//
//vigia:row A21
func TestPeopleUnknownToSubscriptions(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.plan(t, s.Live, "ouro")
		s.settings(t, s.Live, func(set *partner.Settings) { set.UnknownPeople, set.AssetsPerHour, set.AssetsPerDay = 3, 50, 60 })
		add := func(user string) answered {
			return s.as(t, s.Live, http.MethodPost, "/v1/cyber/monitoring", addAsset("email", fmt.Sprintf("m%d@exemplo.com.br", time.Now().UnixNano()), user))
		}
		for i := range 3 {
			if a := add(hashOf(fmt.Sprint("p", i))); a.status != http.StatusOK {
				t.Fatal(a)
			}
		}
		if a := add(hashOf("p0")); a.status != http.StatusOK {
			t.Error("one more value of somebody who counts already:", a)
		}
		refused := add(hashOf("p3"))
		if refused.status != http.StatusConflict || !strings.Contains(refused.body, "sem assinatura") {
			t.Error("one too many:", refused)
		}
		if a := s.as(t, s.Live, http.MethodPost, "/v1/cyber/monitoring", addAsset("cpf", cpfOf(8), hashMadeOf(cpfOf(8), s.Live))); a.status != http.StatusConflict {
			t.Error("one's own CPF is no way round:", a)
		}
		b := &belongings{cpf: cpfOf(9), mail: "ana@exemplo.com.br", person: "Ana"}
		if a := s.as(t, s.Live, http.MethodPost, "/v1/subscriptions", "["+subscriptionOf(b, "ouro", "")+"]"); a.status != http.StatusOK || !strings.Contains(a.body, `"success"`) {
			t.Fatal(a)
		}
		if a := add(hashMadeOf(cpfOf(9), s.Live)); a.status != http.StatusOK {
			t.Error("somebody enrolled:", a)
		}
		if a := s.as(t, s.Live, http.MethodPost, "/v1/cyber/monitoring", addAsset("cpf", cpfOf(10), hashMadeOf(cpfOf(9), s.Live))); a.status != http.StatusOK {
			t.Error("a CPF beside that of somebody enrolled:", a)
		}
		if a := s.as(t, s.Live, http.MethodPost, "/v1/cyber/monitoring", addAsset("cpf", cpfOf(10), hashMadeOf(cpfOf(8), s.Live))); a.status != http.StatusBadRequest {
			t.Error("a CPF beside that of nobody enrolled:", a)
		}
		if n, err := s.Store.Monitoring.SweepStrangers(t.Context()); err != nil || n != 0 {
			t.Error("people who are watched were let go:", n, err)
		}
	})
}

// TestCapsHoldOverReplicas: two processes on one database together grant what one would.
//
//vigia:row A21
func TestCapsHoldOverReplicas(t *testing.T) {
	s := newService(t, sqldb.PostgreSQL)
	twin := s.twin(t)
	var mu sync.Mutex
	taken := 0
	var group sync.WaitGroup
	for i, one := range []*service{s, twin} {
		group.Go(func() {
			for n := range 150 {
				a := one.as(t, s.Live, http.MethodPost, "/v1/cyber/monitoring", addAsset("email", fmt.Sprintf("r%d-%d@exemplo.com.br", i, n), hashOf(fmt.Sprint("r", n%10))))
				mu.Lock()
				if a.status == http.StatusOK {
					taken++
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	// A process may keep a few places that it did not use.
	if taken > 200 || taken < 190 {
		t.Error("two replicas granted", taken)
	}
}
