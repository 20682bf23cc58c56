package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

func askKey(user, device string) string {
	return fmt.Sprintf(`{"operatingSystem":"windows","type":"antivirus","deviceName":%q,"userHash":%q}`, device, user)
}

// enrolled are user hashes of people with a subscription in force.
func (s *service) enrolled(t *testing.T, who tenant, from, to int) []string {
	t.Helper()
	s.plan(t, who, "p")
	if status, text := s.post(
		t,
		s.server.URL,
		who.APIKey,
		itemsOf(from, to),
	); status != http.StatusOK ||
		!strings.Contains(text, `"success"`) {
		t.Fatal(status, text)
	}
	var users []string
	for n := from; n < to; n++ {
		users = append(users, hashMadeOf(cpfOf(n), who))
	}
	return users
}

// TestPoolHasOwners is the attack: a partner asks for keys until a vendor's pool is empty. People without a
// subscription get none, one person a few, and a partner its share; what is reserved for another stays.
func TestPoolHasOwners(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		endpoints := s.fillPool(t, 40)
		ask := func(who tenant, user, device string) answered {
			return s.as(t, who, http.MethodPost, "/v1/cyber/epp", askKey(user, device))
		}
		if a := ask(
			s.Live,
			hashOf("inventada"),
			"pc",
		); a.status != http.StatusConflict ||
			!strings.Contains(a.body, "assinatura em vigor") {
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
		if got, last := drain(
			s.Live,
			func(i int) (string, string) { return users[0], fmt.Sprint("pc", i) },
		); got != 10 ||
			last.status != http.StatusConflict {
			t.Error("one person:", got, last)
		}
		if got, last := drain(
			s.Live,
			func(i int) (string, string) { return users[1+i], "pc" },
		); got != 10 || last.status != http.StatusConflict ||
			!strings.Contains(last.body, "Cota") {
			t.Error("one partner, after 10 of one person:", got, last)
		}
		// Reserved for the other: the first, with a larger quota, leaves them.
		quota, kept := int64(40), int64(15)
		for _, set := range []error{
			endpoints.UpdateShare(t.Context(), s.Live.ID, cyber.PoolResource(cyber.Windows), &quota, nil),
			endpoints.UpdateShare(t.Context(), s.Other.ID, cyber.PoolResource(cyber.Windows), nil, &kept),
		} {
			if set != nil {
				t.Fatal(set)
			}
		}
		if got, last := drain(
			s.Live,
			func(i int) (string, string) { return users[15+i], "outro" },
		); got != 5 ||
			last.status != http.StatusServiceUnavailable {
			t.Error("what is not reserved:", got, last)
		}
		others := s.enrolled(t, s.Other, 100, 120)
		if got, last := drain(
			s.Other,
			func(i int) (string, string) { return others[i], "pc" },
		); got != 15 ||
			last.status != http.StatusServiceUnavailable {
			t.Error("what is reserved:", got, last)
		}
		if a := ask(s.Live, users[0], "pc0"); a.status != http.StatusOK || !strings.Contains(a.body, "POOL-") {
			t.Error("a device that has its key:", a)
		}
		shares, err := endpoints.ListShares(t.Context())
		if err != nil || len(shares) != 2 || shares[0].Used+shares[1].Used != 40 {
			t.Error(shares, err)
		}
	})
}

// TestSlotsHaveOwners: appointments are for people with a subscription, within a partner's share, and those that were
// kept for one partner are nobody else's.
func TestSlotsHaveOwners(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		cases := cyber.NewCases(s.Store.Cases, s.Clock.Now)
		start := s.Clock.Now().Add(24 * time.Hour).Truncate(time.Hour)
		var times []time.Time
		for i := range 24 {
			times = append(times, start.Add(time.Duration(i)*time.Hour))
		}
		if _, err := cases.AddFreeSlots(t.Context(), "sv_ajuda_phishing", "", times); err != nil {
			t.Fatal(err)
		}
		late := start.Add(48 * time.Hour)
		if _, err := cases.AddFreeSlots(t.Context(), "sv_ajuda_phishing", s.Other.ID, []time.Time{late}); err != nil {
			t.Fatal(err)
		}
		book := func(who tenant, user string, at time.Time) answered {
			return s.as(
				t,
				who,
				http.MethodPost,
				"/v1/cyber/case",
				fmt.Sprintf(
					`{"serviceId":"sv_ajuda_phishing","userHash":%q,"appointments":[{"appointment":%q}]}`,
					user,
					at.Format(time.RFC3339),
				),
			)
		}
		if a := book(
			s.Live,
			hashOf("inventada"),
			times[0],
		); a.status != http.StatusConflict ||
			!strings.Contains(a.body, "assinatura em vigor") {
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

// fillPool loads so many vendor keys for Windows.
func (s *service) fillPool(t *testing.T, n int) *cyber.Endpoints {
	t.Helper()
	endpoints := cyber.NewEndpoints(s.Store.Devices, s.Clock.Now, nil)
	var file strings.Builder
	for i := range n {
		fmt.Fprintf(&file, "POOL-%04d\n", i)
	}
	if _, err := endpoints.LoadKeyPool(t.Context(), cyber.Windows, strings.NewReader(file.String()), nil); err != nil {
		t.Fatal(err)
	}
	return endpoints
}

// TestSandboxTakesNothingReal is the attack: a sandbox partner took both keys of a pool of two that live partners pay
// for, and a real appointment. It gets a generated key and a time of a made-up calendar.
func TestSandboxTakesNothingReal(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		endpoints := s.fillPool(t, 2)
		for i := range 3 {
			a := s.as(t, s.Sandbox, http.MethodPost, "/v1/cyber/epp", askKey(hashOf("ana"), fmt.Sprint("pc", i)))
			if a.status != http.StatusOK || strings.Contains(a.body, "POOL-") {
				t.Error("a key of a sandbox:", a)
			}
		}
		sources, err := endpoints.ListSources(t.Context())
		if err != nil || slices.ContainsFunc(sources, func(src cyber.Source) bool { return src.Taken != 0 }) {
			t.Error("keys were taken:", sources, err)
		}
		cases := cyber.NewCases(s.Store.Cases, s.Clock.Now)
		const service = "sv_ajuda_phishing"
		real := cyber.SandboxTimes(s.Clock.Now())[0] // at the same moment as a made-up one
		if _, err := cases.AddFreeSlots(
			t.Context(),
			service,
			"",
			[]time.Time{real, real.Add(time.Minute)},
		); err != nil {
			t.Fatal(err)
		}
		book := func(at time.Time) answered {
			return s.as(
				t,
				s.Sandbox,
				http.MethodPost,
				"/v1/cyber/case",
				fmt.Sprintf(
					`{"serviceId":%q,"userHash":%q,"appointments":[{"appointment":%q}]}`,
					service,
					hashOf("ana"),
					at.Format(time.RFC3339),
				),
			)
		}
		shown := s.as(t, s.Sandbox, http.MethodGet, "/v1/cyber/services/"+service, "")
		if made := cyber.SandboxTimes(
			s.Clock.Now(),
		); !strings.Contains(shown.body, made[len(made)-1].Format("2006-01-02T15:04")) ||
			strings.Contains(shown.body, real.Add(time.Minute).Format("T15:04")) {
			t.Error("the times that a sandbox sees:", shown)
		}
		if a := book(real.Add(time.Minute)); a.status != http.StatusConflict {
			t.Error("a real time:", a)
		}
		if a := book(real); a.status != http.StatusOK {
			t.Error("a made-up time:", a)
		}
		if a := book(real); a.status != http.StatusConflict {
			t.Error("the same time twice:", a)
		}
		if a := s.as(t, s.Sandbox, http.MethodGet, "/v1/cyber/cases/"+hashOf("ana"), ""); !strings.Contains(a.body, real.Format("2006-01-02T15:04")) {
			t.Error("the case does not tell its appointment:", a)
		}
		slots, err := cases.ListSlots(t.Context(), service)
		if err != nil || len(slots) != 2 || slots[0].Case != "" || slots[1].Case != "" {
			t.Error("real times were taken:", slots, err)
		}
	})
}

// TestPoolKeepsAFloor is the attack: of three live partners two took all hundred keys of a pool before the third asked.
func TestPoolKeepsAFloor(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.fillPool(t, 100)
		third := s.tenant(t, partner.Live)
		drain := func(who tenant, from int) (got int) {
			for _, user := range s.enrolled(t, who, from, from+60) {
				if a := s.as(t, who, http.MethodPost, "/v1/cyber/epp", askKey(user, "pc")); a.status == http.StatusOK {
					got++
				}
			}
			return got
		}
		if first, second, last := drain(s.Live, 0), drain(s.Other, 100), drain(third, 200); first != 50 || second != 40 || last != 10 {
			t.Errorf("three partners got %d, %d and %d of 100 keys, want 50, 40 and 10", first, second, last)
		}
	})
}

// TestUnusedKeyReturnsToItsPool: a revoked key that no device used is issued again where the vendor allows it, and the
// partner has its place in the pool back; one that was activated is spent.
func TestUnusedKeyReturnsToItsPool(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		endpoints := s.fillPool(t, 1)
		users := s.enrolled(t, s.Live, 0, 3)
		issue := func(user string) (key string, status int) {
			a := s.as(t, s.Live, http.MethodPost, "/v1/cyber/epp", askKey(user, "pc"))
			if _, rest, found := strings.Cut(a.body, `"eppKey":"`); found {
				key, _, _ = strings.Cut(rest, `"`)
			}
			return key, a.status
		}
		revoke := func(user, key string) {
			t.Helper()
			if a := s.as(
				t,
				s.Live,
				http.MethodPost,
				"/v1/cyber/epp/"+key+"/revoke",
				fmt.Sprintf(`{"userHash":%q}`, user),
			); a.status != http.StatusOK {
				t.Fatal(a)
			}
		}
		key, _ := issue(users[0])
		revoke(users[0], key)
		if _, status := issue(users[1]); status != http.StatusServiceUnavailable {
			t.Error("a vendor that does not allow it:", status)
		}
		allowed := true
		if err := endpoints.UpdateSource(
			t.Context(),
			cyber.Windows,
			cyber.SourceChange{Returns: &allowed},
		); err != nil {
			t.Fatal(err)
		}
		if _, err := endpoints.LoadKeyPool(
			t.Context(),
			cyber.Windows,
			strings.NewReader("SECOND-KEY-0001"),
			nil,
		); err != nil {
			t.Fatal(err)
		}
		second, _ := issue(users[1])
		revoke(users[1], second)
		again, status := issue(users[2])
		if again != second || status != http.StatusOK {
			t.Errorf("%q was given back, %q came: %d", second, again, status)
		}
		if a := s.as(
			t,
			s.Live,
			http.MethodPost,
			"/v1/cyber/epp/"+again+"/activate",
			fmt.Sprintf(`{"userHash":%q}`, users[2]),
		); a.status != http.StatusOK {
			t.Fatal(a)
		}
		revoke(users[2], again)
		if _, status := issue(users[2]); status != http.StatusServiceUnavailable {
			t.Error("a key that a device used came again:", status)
		}
		shares, err := endpoints.ListShares(t.Context())
		if err != nil || len(shares) != 1 || shares[0].Used != 2 {
			t.Error(shares, err)
		}
	})
}
