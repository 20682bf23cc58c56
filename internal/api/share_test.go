package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

func askKey(user, device string) string {
	return fmt.Sprintf(`{"operatingSystem":"windows","type":"antivirus","deviceName":%q,"userHash":%q}`, device, user)
}

// enrolled are user hashes of people with a subscription in force.
func (s *service) enrolled(t *testing.T, who tenant, from, to int) []string {
	t.Helper()
	s.plan(t, who, "p")
	if status, text := s.post(t, s.server.URL, who.APIKey, itemsOf(from, to)); status != http.StatusOK || !strings.Contains(text, `"success"`) {
		t.Fatal(status, text)
	}
	var users []string
	for n := from; n < to; n++ {
		users = append(users, hashMadeOf(cpfOf(n), who))
	}
	return users
}

// TestPoolHasOwners is the attack: a partner asks for keys until a vendor's pool is empty. People without a subscription
// get none, one person a few, and a partner its share; what is reserved for another stays.
//
//vigia:row A23
//vigia:bar 40 keys, two live partners: none for people without a subscription, 10 for one person, half for one partner
//vigia:seen 2026-11-16 0, 10 and 20; before, 40
//vigia:tier C
//vigia:broken a share that is not asked: all 40 went to one partner
func TestPoolHasOwners(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		endpoints := cyber.NewEndpoints(s.Store.Devices, s.Clock.Now, nil)
		var file strings.Builder
		for i := range 40 {
			fmt.Fprintf(&file, "POOL-%04d\n", i)
		}
		if _, err := endpoints.LoadPool(t.Context(), cyber.Windows, strings.NewReader(file.String()), nil); err != nil {
			t.Fatal(err)
		}
		ask := func(who tenant, user, device string) answered {
			return s.as(t, who, http.MethodPost, "/v1/cyber/epp", askKey(user, device))
		}
		if a := ask(s.Live, hashOf("inventada"), "pc"); a.status != http.StatusConflict || !strings.Contains(a.body, "assinatura em vigor") {
			t.Error("somebody without a subscription:", a)
		}
		users := s.enrolled(t, s.Live, 0, 40)
		drain := func(who tenant, next func(i int) (user, device string)) (got int, last answered) {
			for i := range 60 {
				user, device := next(i)
				if last = ask(who, user, device); last.status != http.StatusOK {
					return got, last
				}
				got++
			}
			return got, last
		}
		if got, last := drain(s.Live, func(i int) (string, string) { return users[0], fmt.Sprint("pc", i) }); got != 10 || last.status != http.StatusConflict {
			t.Error("one person:", got, last)
		}
		if got, last := drain(s.Live, func(i int) (string, string) { return users[1+i], "pc" }); got != 10 || last.status != http.StatusConflict || !strings.Contains(last.body, "Cota") {
			t.Error("one partner, after 10 of one person:", got, last)
		}
		// Reserved for the other: the first, with a larger quota, leaves them.
		quota, kept := int64(40), int64(15)
		for _, set := range []error{
			endpoints.SetShare(t.Context(), s.Live.ID, cyber.PoolResource(cyber.Windows), &quota, nil),
			endpoints.SetShare(t.Context(), s.Other.ID, cyber.PoolResource(cyber.Windows), nil, &kept),
		} {
			if set != nil {
				t.Fatal(set)
			}
		}
		if got, last := drain(s.Live, func(i int) (string, string) { return users[15+i], "outro" }); got != 5 || last.status != http.StatusServiceUnavailable {
			t.Error("what is not reserved:", got, last)
		}
		others := s.enrolled(t, s.Other, 100, 120)
		if got, last := drain(s.Other, func(i int) (string, string) { return others[i], "pc" }); got != 15 || last.status != http.StatusServiceUnavailable {
			t.Error("what is reserved:", got, last)
		}
		if a := ask(s.Live, users[0], "pc0"); a.status != http.StatusOK || !strings.Contains(a.body, "POOL-") {
			t.Error("a device that has its key:", a)
		}
		shares, err := endpoints.Shares(t.Context())
		if err != nil || len(shares) != 2 || shares[0].Used+shares[1].Used != 40 {
			t.Error(shares, err)
		}
	})
}

// TestSlotsHaveOwners: appointments are for people with a subscription, within a partner's share, and those that were
// kept for one partner are nobody else's.
//
//vigia:row A23
func TestSlotsHaveOwners(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		cases := cyber.NewCases(s.Store.Cases, s.Clock.Now)
		start := s.Clock.Now().Add(24 * time.Hour).Truncate(time.Hour)
		var times []time.Time
		for i := range 24 {
			times = append(times, start.Add(time.Duration(i)*time.Hour))
		}
		if _, err := cases.AddSlots(t.Context(), "sv_ajuda_phishing", times); err != nil {
			t.Fatal(err)
		}
		late := start.Add(48 * time.Hour)
		if _, err := cases.AddSlotsFor(t.Context(), "sv_ajuda_phishing", s.Other.ID, []time.Time{late}); err != nil {
			t.Fatal(err)
		}
		book := func(who tenant, user string, at time.Time) answered {
			return s.as(t, who, http.MethodPost, "/v1/cyber/case",
				fmt.Sprintf(`{"serviceId":"sv_ajuda_phishing","userHash":%q,"appointments":[{"appointment":%q}]}`, user, at.Format(time.RFC3339)))
		}
		if a := book(s.Live, hashOf("inventada"), times[0]); a.status != http.StatusConflict || !strings.Contains(a.body, "assinatura em vigor") {
			t.Error("somebody without a subscription:", a)
		}
		users := s.enrolled(t, s.Live, 0, 20)
		if a := book(s.Live, users[0], late); a.status != http.StatusConflict || !strings.Contains(a.body, "horários") {
			t.Error("another partner's time:", a)
		}
		got := 0
		var last answered
		for i := range 20 {
			if last = book(s.Live, users[i], times[i]); last.status != http.StatusOK {
				break
			}
			got++
		}
		if got != 12 || last.status != http.StatusConflict || !strings.Contains(last.body, "Cota") {
			t.Error("one partner of 25 times:", got, last)
		}
		if a := book(s.Other, s.enrolled(t, s.Other, 100, 101)[0], late); a.status != http.StatusOK {
			t.Error("the partner that it was kept for:", a)
		}
	})
}
