package alert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// keptEvents is a partner's events; seqs are the numbers that are still kept.
type keptEvents struct {
	seqs   []int64
	newest int64
	gap    bool
	pulled []int64
	fails  error
}

func (k *keptEvents) EventsAfter(_ context.Context, _ partner.ID, _ Areas, seq int64, limit int) (Stretch, error) {
	s := Stretch{Newest: k.newest, Gap: k.gap}
	for _, n := range k.seqs {
		if n > seq && len(s.Events) < limit {
			s.Events = append(s.Events, Kept{Seq: n})
		}
	}
	return s, k.fails
}

func (k *keptEvents) NewestEvents(context.Context, partner.ID, Areas, int) ([]Kept, error) {
	return nil, k.fails
}

func (k *keptEvents) SavePull(_ context.Context, _ partner.ID, _ Areas, seq int64) error {
	k.pulled = append(k.pulled, seq)
	return k.fails
}

// TestFeedRead: what a partner that reads by cursor gets, page by page.
func TestFeedRead(t *testing.T) {
	for name, c := range map[string]struct {
		kept   keptEvents
		after  int64
		limit  int
		events []int64
		next   int64
		more   bool
		skip   bool
		pulled []int64
	}{
		"no event yet":                        {limit: 10},
		"from the oldest":                     {kept: keptEvents{seqs: []int64{1, 2, 3}, newest: 3}, limit: 10, events: []int64{1, 2, 3}, next: 3},
		"a full page that is the last":        {kept: keptEvents{seqs: []int64{1, 2, 3}, newest: 3}, limit: 3, events: []int64{1, 2, 3}, next: 3},
		"a page that is not the last":         {kept: keptEvents{seqs: []int64{1, 2, 3}, newest: 3}, limit: 2, events: []int64{1, 2}, next: 2, more: true},
		"a page of none is one of one":        {kept: keptEvents{seqs: []int64{1, 2, 3}, newest: 3}, limit: 0, events: []int64{1}, next: 1, more: true},
		"going on":                            {kept: keptEvents{seqs: []int64{1, 2, 3}, newest: 3}, after: 1, limit: 10, events: []int64{2, 3}, next: 3, pulled: []int64{1}},
		"at the end":                          {kept: keptEvents{seqs: []int64{1, 2, 3}, newest: 3}, after: 3, limit: 10, next: 3, pulled: []int64{3}},
		"behind what other areas were told":   {kept: keptEvents{seqs: []int64{1, 2}, newest: 9}, after: 1, limit: 10, events: []int64{2}, next: 9, pulled: []int64{1}},
		"a new reader is told of no gap":      {kept: keptEvents{seqs: []int64{8}, newest: 8, gap: true}, limit: 10, events: []int64{8}, next: 8},
		"a late reader is told of the gap":    {kept: keptEvents{seqs: []int64{8}, newest: 8, gap: true}, after: 2, limit: 10, events: []int64{8}, next: 8, skip: true, pulled: []int64{2}},
		"everything after the cursor is gone": {kept: keptEvents{newest: 8, gap: true}, after: 2, limit: 10, next: 8, skip: true, pulled: []int64{2}},
	} {
		cursor, next := "", ""
		if c.after > 0 {
			cursor = cursorPlace{seq: c.after}.String()
		}
		if c.next > 0 {
			next = cursorPlace{seq: c.next}.String()
		}
		page, err := NewEventFeed(&c.kept).ReadPage(t.Context(), "p", Everything, cursor, c.limit)
		var seqs []int64
		for _, e := range page.Events {
			seqs = append(seqs, e.Seq)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		difftest.Check(t, name+": the events", seqs, c.events)
		want := page
		want.Next, want.HasMore, want.Skipped = next, c.more, c.skip
		difftest.Check(t, name, page, want)
		if !slices.Equal(c.kept.pulled, c.pulled) {
			t.Errorf("%s: known to have arrived: %v, want %v", name, c.kept.pulled, c.pulled)
		}
	}
}

// TestFeedRefuses: a cursor of a database that knew more than this one, and a database that is away.
func TestFeedRefuses(t *testing.T) {
	if _, err := NewEventFeed(&keptEvents{newest: 3}).ReadPage(t.Context(), "p", Everything, cursorPlace{seq: 4}.String(), 10); !errors.Is(err, ErrCursor) {
		t.Errorf("a cursor ahead of the newest event: %v", err)
	}
	if _, err := NewEventFeed(&keptEvents{}).ReadPage(t.Context(), "p", Everything, "not one", 10); !errors.Is(err, ErrCursor) {
		t.Errorf("not a cursor: %v", err)
	}
	if _, err := NewEventFeed(&keptEvents{fails: errAway}).ReadPage(t.Context(), "p", Everything, "", 10); !errors.Is(err, errAway) {
		t.Errorf("without a database: %v", err)
	}
}

// TestAreas: who may read which events. A test event is everybody's.
func TestAreas(t *testing.T) {
	cyber := []Type{
		LeakDetected,
		StatusChanged,
		FirstLooksChanged,
		StepDue,
		CaseStatusChanged,
		CaseMessageAdded,
		CaseBooked,
		CaseRated,
		KeyExpiring,
		KeyActivated,
		KeyEnded,
		ErasureRequested,
		ErasureCancelled,
		ErasureCompleted,
		WebhookTest,
	}
	subscriptions := []Type{SubscriptionEnded, SubscriptionSuspended, SubscriptionResumed, WebhookTest}
	for _, c := range []struct {
		of   Areas
		want []Type
	}{{Areas{}, []Type{WebhookTest}}, {Areas{Cyber: true}, cyber}, {Areas{Subscriptions: true}, subscriptions}, {Everything, Types}} {
		if got := c.of.ListTypes(); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%+v reads %v, want %v", c.of, got, c.want)
		}
	}
	if KeepEvents != 720*time.Hour {
		t.Errorf("events are kept for %s, not for the 30 days that partners are told", KeepEvents)
	}
}
