package alert

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// sentTo are the rows of an event with deliveries in some states, to endpoints a, b, ...
func sentTo(seq int64, t Type, states ...DeliveryState) (rows []Sent) {
	at := noon.Add(time.Duration(seq) * time.Second)
	if len(states) == 0 {
		return []Sent{{Seq: seq, At: at, Type: t}}
	}
	for i, s := range states {
		rows = append(rows, Sent{seq, at, t, EndpointID('a' + rune(i)), s})
	}
	return rows
}

// TestTally: which event was pushed, which was pulled, and which is missing.
func TestTally(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows   []Sent
		pulled Pulls
		want   string // pushed, pulled, missing
	}{
		"no endpoint wants it":              {sentTo(5, LeakDetected), Pulls{}, "0 0 1"},
		"the only one has it":               {sentTo(5, LeakDetected, Delivered), Pulls{}, "1 0 0"},
		"both have it":                      {sentTo(5, LeakDetected, Delivered, Delivered), Pulls{}, "1 0 0"},
		"one waits":                         {sentTo(5, LeakDetected, Delivered, Pending), Pulls{}, "0 0 1"},
		"one is disabled":                   {sentTo(5, LeakDetected, Held, Delivered), Pulls{}, "0 0 1"},
		"one gave up":                       {sentTo(5, LeakDetected, Delivered, DeliveryFailed), Pulls{}, "0 0 1"},
		"an endpoint that is gone has it":   {sentTo(5, LeakDetected, Pending, Pending, Delivered)[2:], Pulls{}, "0 0 1"},
		"one that is gone does not have it": {sentTo(5, LeakDetected, Delivered, Delivered, Pending), Pulls{}, "1 0 0"},
		"read up to it":                     {sentTo(5, LeakDetected), Pulls{Cyber: 5}, "0 1 0"},
		"read up to the one before":         {sentTo(5, LeakDetected), Pulls{Cyber: 4}, "0 0 1"},
		"the other area was read":           {sentTo(5, LeakDetected), Pulls{Subscriptions: 9}, "0 0 1"},
		"its own area was read":             {sentTo(5, SubscriptionEnded), Pulls{Subscriptions: 5}, "0 1 0"},
		"only the other one was":            {sentTo(5, SubscriptionEnded), Pulls{Cyber: 9}, "0 0 1"},
		"pushed and read":                   {sentTo(5, LeakDetected, Delivered), Pulls{Cyber: 5}, "1 1 0"},
		"read and not pushed":               {sentTo(5, LeakDetected, Pending), Pulls{Cyber: 5}, "0 1 0"},
	} {
		tally := NewTally(ReportOf{}, c.pulled, []EndpointReport{{Endpoint: "a"}, {Endpoint: "b"}})
		if n, last := tally.AddEvents(c.rows); n != 1 || last != 5 {
			t.Errorf("%s: %d events up to %d", name, n, last)
		}
		r, _ := tally.FinishReport(false)
		if got := fmt.Sprint(r.Pushed, r.Pulled, r.Missing); got != c.want || r.Events != 1 {
			t.Errorf("%s: %s of %d, want %s", name, got, r.Events, c.want)
		}
	}
}

// TestTallyInParts: deliveries are counted by endpoint and state, the first of the missing are named, and a report that
// is not at its end says where to go on.
func TestTallyInParts(t *testing.T) {
	t.Parallel()
	tally := NewTally(
		ReportOf{Most: 4, Show: 2},
		Pulls{},
		[]EndpointReport{{Endpoint: "a", State: Enabled}, {Endpoint: "b", State: Disabled}},
	)
	if got := fmt.Sprint(tally.Remaining(3), tally.Remaining(9)); got != "3 4" {
		t.Errorf("room for %s", got)
	}
	first := slices.Concat(
		sentTo(2, LeakDetected, Delivered, Held),
		sentTo(3, LeakDetected, Delivered),
		sentTo(4, LeakDetected, Pending, Held),
	)
	if n, last := tally.AddEvents(first); n != 3 || last != 4 || tally.Remaining(9) != 1 {
		t.Errorf("%d events up to %d, room for %d", n, last, tally.Remaining(9))
	}
	if n, last := tally.AddEvents(sentTo(6, LeakDetected, DeliveryFailed)); n != 1 || last != 6 ||
		tally.Remaining(9) != 0 {
		t.Errorf("%d events up to %d, room for %d", n, last, tally.Remaining(9))
	}
	r, oldest := tally.FinishReport(true)
	difftest.Check(t, "the oldest that are missing", fmt.Sprint(oldest), "[2 4]")
	want := r
	want.Missing, want.Pushed, want.Next, want.Until = 3, 1, 6, noon.Add(6*time.Second)
	difftest.Check(t, "the report", r, want)
	if got := fmt.Sprintf(
		"%+v",
		r.Endpoints,
	); got != "[{Endpoint:a State:enabled Delivered:2 Pending:1 Held:0 Failed:1} {Endpoint:b State:disabled Delivered:0 Pending:0 Held:2 Failed:0}]" {
		t.Error(got)
	}
	if r, _ = tally.FinishReport(false); r.Next != 0 || !r.Until.IsZero() {
		t.Errorf("after the last event it goes on at %d, %v", r.Next, r.Until)
	}
	if open := NewTally(ReportOf{}, Pulls{}, nil); open.Remaining(7) != 7 {
		t.Error("a report of all events ends")
	}
}

// TestPullsNote: what was read counts for the areas of the reader, and is not unread again.
func TestPullsNote(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of   Areas
		seq  int64
		want Pulls
	}{
		{Everything, 9, Pulls{9, 9}},
		{Areas{Cyber: true}, 9, Pulls{9, 3}},
		{Areas{Subscriptions: true}, 9, Pulls{5, 9}},
		{Areas{}, 9, Pulls{5, 3}},
		{Everything, 4, Pulls{5, 4}},
		{Everything, 1, Pulls{5, 3}},
	} {
		if got := (Pulls{5, 3}).WithRead(c.of, c.seq); got != c.want {
			t.Errorf("%+v reads up to %d: %+v, want %+v", c.of, c.seq, got, c.want)
		}
	}
}
