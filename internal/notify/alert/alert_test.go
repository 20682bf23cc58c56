package alert

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func plainSchedule(attempts int, now time.Time, after time.Duration) (time.Time, bool) {
	return webhook.NewSchedule(func() float64 { return 0.5 }).NextAttempt(attempts, now, after)
}

// TestSettle: what each answer makes of a delivery.
func TestSettle(t *testing.T) {
	for name, c := range map[string]struct {
		attempts int
		outcome  webhook.Outcome
		want     string
	}{
		"arrived":              {0, webhook.Outcome{Status: 204}, "delivered 1"},
		"arrived at last":      {9, webhook.Outcome{Status: 200}, "delivered 10"},
		"first failure":        {0, webhook.Outcome{Status: 500}, "pending 1 ordered in 5s"},
		"second failure":       {1, webhook.Outcome{Status: 500}, "pending 2 in 5m0s"},
		"redirect":             {0, webhook.Outcome{Status: 302}, "pending 1 ordered in 5s"},
		"no answer":            {0, webhook.Outcome{Failure: webhook.FailureTimeout}, "pending 1 ordered in 5s"},
		"asked to wait little": {0, webhook.Outcome{Status: 429, RetryAfter: 20 * time.Second}, "pending 1 ordered in 21s"},
		"asked to wait long":   {0, webhook.Outcome{Status: 429, RetryAfter: time.Hour}, "pending 1 in 1h3m0s"},
		"last failure":         {9, webhook.Outcome{Status: 500}, "failed 10"},
		"gone":                 {3, webhook.Outcome{Status: 410}, "pending 3 ordered in 1m0s"},
		"cut by our own stop":  {3, webhook.Outcome{Failure: webhook.FailureInterrupted}, "pending 3 ordered in 0s"},
	} {
		r := settleAttempt(Delivery{Ordered: true, Attempts: c.attempts}, noon, c.outcome, plainSchedule, noon)
		got := fmt.Sprintf("%s %d", r.State, r.Attempts)
		if r.State == Pending && r.Ordered {
			got += " ordered"
		}
		if r.State == Pending {
			got += " in " + r.NextAt.Sub(noon).String()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if r := settleAttempt(Delivery{}, noon, webhook.Outcome{Status: 500}, plainSchedule, noon); r.Ordered {
		t.Error("a delivery about nobody became one that others wait for")
	}
}

// TestOrderTries: a receiver that is asked again soon, and fails, is waited for once and not a second time.
func TestOrderTries(t *testing.T) {
	soon := func(_ int, now time.Time, _ time.Duration) (time.Time, bool) { return now.Add(time.Second), true }
	d := Delivery{Ordered: true}
	for attempt, ordered := range []bool{true, false, false} {
		r := settleAttempt(d, noon, webhook.Outcome{Status: 500}, soon, noon)
		if r.Attempts != attempt+1 || r.Ordered != ordered {
			t.Errorf("after %d failures: ordered %t, want %t", r.Attempts, r.Ordered, ordered)
		}
		d.Attempts = r.Attempts
	}
}

// TestOrderWait: a next try is waited for when it is at most a minute away.
func TestOrderWait(t *testing.T) {
	for wait, ordered := range map[time.Duration]bool{time.Minute: true, time.Minute + time.Microsecond: false} {
		next := func(_ int, now time.Time, _ time.Duration) (time.Time, bool) { return now.Add(wait), true }
		if r := settleAttempt(
			Delivery{Ordered: true},
			noon,
			webhook.Outcome{Status: 500},
			next,
			noon,
		); r.Ordered != ordered {
			t.Errorf("a next try in %s: ordered %t", wait, r.Ordered)
		}
	}
}

// TestLaneKeepsPersonsTogether: one chain per person, in order, and one for each event about nobody.
func TestLaneKeepsPersonsTogether(t *testing.T) {
	l := newEndpointLane(EndpointRef{}, slots(4))
	l.queueDeliveries(
		[]Delivery{{Seq: 1, Person: "a"}, {Seq: 2}, {Seq: 3, Person: "b"}, {Seq: 4, Person: "a"}, {Seq: 5}},
	)
	var got []string
	for chain := l.takeChain(); chain != nil; chain = l.takeChain() {
		var seqs []string
		for _, d := range chain {
			seqs = append(seqs, fmt.Sprint(d.Seq))
		}
		got = append(got, strings.Join(seqs, "+"))
	}
	if fmt.Sprint(got) != "[1+4 2 3 5]" || l.queued != 0 {
		t.Errorf("%v, %d left", got, l.queued)
	}
	l.queueDeliveries([]Delivery{{Seq: 6}, {Seq: 7, Person: "a"}})
	if l.clearQueued(); l.queued != 0 || l.takeChain() != nil || len(l.held) != 5 {
		t.Errorf("%d left, %d in memory", l.queued, len(l.held))
	}
}

// TestLaneKnowsWhoWaits: nothing is taken twice, and nobody's later delivery before the earlier one is done with.
func TestLaneKnowsWhoWaits(t *testing.T) {
	l := newEndpointLane(EndpointRef{}, slots(4))
	first := Delivery{Seq: 1, Person: "a", Ordered: true}
	l.queueDeliveries([]Delivery{first})
	l.takeChain() // under way
	free := func(seq int64, person string, due bool) bool {
		return l.canTakeDelivery(Open{Delivery: Delivery{Seq: seq, Person: person, Ordered: true}, Due: due})
	}
	look := func(want string) {
		t.Helper()
		got := fmt.Sprint(
			free(1, "a", true),
			free(2, "a", true),
			free(3, "b", false),
			free(4, "b", true),
			free(5, "c", true),
			free(6, "", true),
			free(7, "", false),
		)
		if got != want {
			t.Errorf("free: %s, want %s", got, want)
		}
	}
	look("false false false false true true false")
	if !l.skipped {
		t.Error("it is not known that something was left out")
	}
	// The first failed, which is on disk, but a look that has begun does not know.
	l.recorded = append(l.recorded, Result{Delivery: first, State: Pending, Ordered: true})
	look("false false false false true true false")
	// The next page of the pass does not show it any more; it is waited for all the same.
	l.forgetSettled()
	if free(8, "a", true) {
		t.Error("a later delivery passes one that waits for its next try")
	}
	l.startPass() // its row says what it needs to
	if !free(8, "a", true) {
		t.Error("nothing waits any more")
	}
	// What was left out because an earlier one was under way is not overtaken when that one has arrived before the next
	// page.
	second := Delivery{Seq: 10, Person: "d", Ordered: true}
	l.queueDeliveries([]Delivery{second})
	if free(11, "d", true) {
		t.Error("a later delivery passes one that is under way")
	}
	l.recorded = append(l.recorded, Result{Delivery: second, State: Delivered})
	l.forgetSettled()
	if free(12, "d", true) {
		t.Error("a later delivery passes one that the pass has left out")
	}
}

// TestCursor: every place has one spelling, and nothing else is read as a cursor.
func TestCursor(t *testing.T) {
	for _, seq := range []int64{1, 2, 255, 1 << 40, 1<<63 - 1} {
		for _, mark := range []uint64{0, 1, 1 << 63} {
			place := cursorPlace{seq, mark}
			if got, err := parseCursor(place.String()); err != nil || got != place {
				t.Errorf("%v came back as %v: %v", place, got, err)
			}
		}
	}
	for _, bad := range []string{
		"1", "AAAAAAAAAAA", "_________8E", "AAAAAAAAAAE=", "AAAAAAAAAAF", " AAAAAAAAAAE", "AAAAAAAAAAE\n", "AAAAAAAAAAEAAAAAAAAAAA", strings.Repeat("A", 300),
	} {
		if _, err := parseCursor(bad); !errors.Is(err, ErrCursor) {
			t.Errorf("%q was read as a cursor", bad)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(cursorPlace{seq: 7}.String())
	f.Add(cursorPlace{7, 9}.String())
	f.Add("AAAAAAAAAAF")
	f.Fuzz(func(t *testing.T, text string) {
		if place, err := parseCursor(text); err == nil && text != "" && place.String() != text {
			t.Errorf("%q and %q are both %v", text, place, place)
		}
	})
}

func TestParseTypes(t *testing.T) {
	if list, err := ParseTypes([]string{"webhook.test", "case.status_changed", "webhook.test"}); err != nil ||
		len(list) != 2 {
		t.Error(list, err)
	}
	if _, err := ParseTypes([]string{"case.closed"}); !errors.Is(err, ErrTypes) {
		t.Error(err)
	}
	e := Endpoint{Types: []Type{LeakDetected}}
	if !e.WantsType(LeakDetected) || e.WantsType(StatusChanged) || !(Endpoint{}).WantsType(StatusChanged) {
		t.Error("the filter is wrong")
	}
	if e.State = Disabled; e.InitialDeliveryState() != Held ||
		(Endpoint{State: Enabled}).InitialDeliveryState() != Pending {
		t.Error("a delivery begins in the wrong state")
	}
}

// TestDead: five days of nothing but failures, not less.
func TestDead(t *testing.T) {
	e := Endpoint{FailingSince: noon}
	fiveDays := noon.AddDate(0, 0, 5)
	if e.IsFailingTooLong(fiveDays.Add(-time.Second)) || !e.IsFailingTooLong(fiveDays) ||
		(Endpoint{}).IsFailingTooLong(noon) {
		t.Error("an endpoint is dead at the wrong time")
	}
}

// TestIsFailing: an endpoint that somebody switched off does not fail; one that failures switched off, or whose last try
// failed, does.
func TestIsFailing(t *testing.T) {
	for name, c := range map[string]struct {
		endpoint Endpoint
		want     bool
	}{
		"in order":              {Endpoint{State: Enabled}, false},
		"its last try failed":   {Endpoint{State: Enabled, FailingSince: noon}, true},
		"failures stopped it":   {Endpoint{State: Disabled, Reason: Failing}, true},
		"its receiver is gone":  {Endpoint{State: Disabled, Reason: Gone}, true},
		"somebody stopped it":   {Endpoint{State: Disabled}, false},
		"stopped while failing": {Endpoint{State: Disabled, FailingSince: noon}, false},
	} {
		if c.endpoint.IsFailing() != c.want {
			t.Errorf("%s: %t", name, !c.want)
		}
	}
}

// TestHealth: the share of what is over, and the time of what arrived; nothing is known of an endpoint to which nothing
// was sent.
func TestHealth(t *testing.T) {
	for _, c := range []struct {
		health Health
		rate   int64
		mean   time.Duration
	}{
		{Health{}, -1, 0},
		{Health{Failed: 3}, 0, 0},
		{Health{Delivered: 3, Failed: 1, Travel: 6 * time.Second}, 75, 2 * time.Second},
		{Health{Delivered: 2, Travel: 6 * time.Second}, 100, 3 * time.Second},
	} {
		if rate, mean := c.health.Rate(), c.health.MeanDuration(); rate != c.rate || mean != c.mean {
			t.Errorf("%+v: %d %%, %v", c.health, rate, mean)
		}
	}
}

// TestEndOfErasedKeyNamesNobody: the event of a key that ended with its person outlives them.
func TestEndOfErasedKeyNamesNobody(t *testing.T) {
	for reason, want := range map[cyber.EndReason]partner.UserHash{cyber.EndErased: "", cyber.EndRevoked: "abc"} {
		if e := NewKeyEndEvent(cyber.Device{User: "abc", EndReason: reason}, noon, ""); e.User != want {
			t.Errorf("%s: %q", reason, e.User)
		}
	}
}

// TestBody: the bytes that partners verify do not change by accident.
func TestBody(t *testing.T) {
	e := NewEvent("pt_1", LeakDetected, "abc", noon, Leak{Findings: []LeakFinding{
		{
			ID:       "f",
			Asset:    "a",
			Kind:     "email",
			Status:   "alerta",
			Breach:   "loja",
			Severity: "high",
			Exposed:  []cyber.Exposed{cyber.ExposedEmail},
			Basis:    cyber.BasisRow,
		},
	}})
	body, err := e.MarshalBody()
	want := `{"type":"monitoring.leak_detected","timestamp":"2026-11-15T12:00:00.000Z","data":{"userHash":"abc","findings":[` +
		`{"id":"f","assetId":"a","assetType":"email","status":"alerta","breach":"loja","severity":"high","exposed":["email"],"basis":"row"}]}}`
	if err != nil || string(body) != want {
		t.Errorf("%s %v", body, err)
	}
	if !strings.HasPrefix(string(e.ID), "evt_") || e.Partner != partner.ID("pt_1") {
		t.Error(e.ID, e.Partner)
	}
}

// TestSampleIDs: the ids in samples have the prefixes that those of events have, so that a receiver that checks them
// takes samples, too.
func TestSampleIDs(t *testing.T) {
	member := regexp.MustCompile(`"(id|[a-zA-Z]+Id)":"([^"]*)"`)
	shape := regexp.MustCompile(`^((as|fd|cs|ek|er)_[0-9a-f-]{36}|sv_[a-z_]+|sub_[0-9]+)$`)
	seen := 0
	for _, kind := range Types {
		body, err := SampleBody(kind, noon)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range member.FindAllStringSubmatch(string(body), -1) {
			switch found[1] {
			case "planId", "partnerInternalId": // names that partners choose
			default:
				seen++
				if !shape.MatchString(found[2]) {
					t.Errorf("%s: %s", kind, found[0])
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no sample has an id")
	}
}
