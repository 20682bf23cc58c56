package alert

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Faults of the feed.
var (
	ErrCursor        = fault.New(fault.Invalid, "event.cursor_invalid")
	ErrEventNotFound = fault.New(fault.NotFound, "event.not_found")
	ErrReplay        = fault.New(fault.Invalid, "event.replay_invalid")
)

// KeepEvents is how long events can be read, pushed and replayed unless the operator says otherwise.
const KeepEvents = 30 * 24 * time.Hour

// Kept is an event as it was kept: the very bytes that are pushed.
type Kept struct {
	ID   EventID
	Seq  int64
	Type Type
	At   time.Time
	Body []byte
}

// Areas are the parts of the contract whose events a caller may read.
type Areas struct{ Cyber, Subscriptions bool }

// Everything is what the operator sees, and a key with both scopes.
var Everything = Areas{Cyber: true, Subscriptions: true}

// ofSubscriptions reports whether an event is about a subscription; all others, tests aside, are the cyber area's.
func (t Type) ofSubscriptions() bool {
	return t == SubscriptionEnded || t == SubscriptionSuspended || t == SubscriptionResumed
}

// ListTypes returns the types that may be read. Tests are about nothing but the endpoint, so every caller may read
// them.
func (a Areas) ListTypes() []Type {
	return slices.DeleteFunc(slices.Clone(Types), func(t Type) bool {
		return t != WebhookTest && (t.ofSubscriptions() && !a.Subscriptions || !t.ofSubscriptions() && !a.Cyber)
	})
}

// CheckTypes refuses types whose events may not be read: an endpoint must not be told what its maker could not have
// read. No types means all of them.
func (a Areas) CheckTypes(names []string) error {
	wanted, err := ParseTypes(names)
	if err != nil {
		return err
	}
	if len(wanted) == 0 {
		wanted = Types
	}
	readable := a.ListTypes()
	if slices.ContainsFunc(wanted, func(t Type) bool { return !slices.Contains(readable, t) }) {
		return ErrTypes.With("types", fault.EventsOfKey, readable)
	}
	return nil
}

// CanRead reports whether events of a type may be read.
func (a Areas) CanRead(t Type) bool { return slices.Contains(a.ListTypes(), t) }

// Stretch is what the store has behind a number.
type Stretch struct {
	Events []Kept
	// At is the event at the number itself, empty when it is not kept any more.
	At EventID
	// Newest is the number of the newest event there is, of any type; everything up to it was looked at. NewestID is
	// empty when it is not kept any more.
	Newest   int64
	NewestID EventID
	// Gap means that the event right behind the number is not kept any more.
	Gap bool
}

// FeedStore is what reading by cursor needs.
type FeedStore interface {
	// EventsAfter returns up to limit events of some areas that follow seq.
	EventsAfter(ctx context.Context, id partner.ID, of Areas, seq int64, limit int) (Stretch, error)
	// NewestEvents returns up to limit events of some areas, the newest first.
	NewestEvents(ctx context.Context, id partner.ID, of Areas, limit int) ([]Kept, error)
	// SavePull remembers that the partner has everything of these areas up to seq.
	SavePull(ctx context.Context, id partner.ID, of Areas, seq int64) error
}

// Feed lets a partner read its events by cursor.
type Feed struct{ store FeedStore }

// NewEventFeed joins the rule to a store.
func NewEventFeed(store FeedStore) *Feed { return &Feed{store} }

// Page is a stretch of a partner's events.
type Page struct {
	Events []Kept
	// Next is the cursor behind everything that was looked at; empty while the partner has no event at all.
	Next    string
	HasMore bool
	// Skipped means that events between the cursor and the first one here are not kept any more.
	Skipped bool
}

// ReadNewest returns the newest events that the caller may read, the newest first. It moves no cursor: to have seen
// them does not count as having them.
func (f *Feed) ReadNewest(ctx context.Context, id partner.ID, of Areas, limit int) ([]Kept, error) {
	return f.store.NewestEvents(ctx, id, of, min(max(limit, 1), MaxPage))
}

// MaxPage bounds a page.
const MaxPage = 1000

// ReadPage returns what follows a cursor in the areas that the caller may read; the empty cursor stands before the
// oldest event that is kept. Numbers are in the order of commits, so no event can appear later before a cursor that was
// handed out. A cursor is a position among all events, independent of the caller's areas. A caller that returns with a
// cursor proves that everything of its areas up to it has arrived.
func (f *Feed) ReadPage(ctx context.Context, id partner.ID, of Areas, cursor string, limit int) (Page, error) {
	place, err := parseCursor(cursor)
	if err != nil {
		return Page{}, err
	}
	after := place.seq
	limit = min(max(limit, 1), MaxPage)
	stretch, err := f.store.EventsAfter(ctx, id, of, after, limit+1)
	if err != nil {
		return Page{}, err
	}
	if after > stretch.Newest {
		// Handed out by a database that knew more than this one: going on would hide what is still to come.
		return Page{}, ErrCursor.With("after", fault.CursorAhead)
	}
	if place.mark != 0 && stretch.At != "" && eventMark(stretch.At) != place.mark {
		// The same, but meanwhile this database has given the numbers up to the cursor to other events.
		return Page{}, ErrCursor.With("after", fault.CursorRestored)
	}
	if after > 0 {
		if err := f.store.SavePull(ctx, id, of, after); err != nil {
			return Page{}, err
		}
	}
	page := Page{Events: stretch.Events, Next: cursor, Skipped: cursor != "" && stretch.Gap}
	// Behind what others may read as well, so that a quiet area's cursor does not grow old.
	next := cursorPlace{stretch.Newest, eventMark(stretch.NewestID)}
	if len(page.Events) > limit {
		page.Events, page.HasMore, next = page.Events[:limit], true, cursorPlace{}
	}
	if n := len(page.Events); n > 0 && page.Events[n-1].Seq > next.seq {
		next = cursorPlace{page.Events[n-1].Seq, eventMark(page.Events[n-1].ID)}
	}
	if next.seq > 0 && next.seq != after {
		page.Next = next.String()
	}
	return page, nil
}

// cursorPlace is a place behind an event. The mark tells events apart that have the same number, one of them in a
// database that was later replaced by an older backup; zero where it is not known.
type cursorPlace struct {
	seq  int64
	mark uint64
}

// eventMark returns the mark of an event, never zero unless there is none.
func eventMark(id EventID) uint64 {
	if id == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(id))
	return binary.BigEndian.Uint64(sum[:8]) | 1
}

// String writes the cursor; parseCursor takes exactly this spelling.
func (p cursorPlace) String() string {
	raw := binary.BigEndian.AppendUint64(nil, uint64(p.seq))
	if p.mark != 0 {
		raw = binary.BigEndian.AppendUint64(raw, p.mark)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// parseCursor accepts exactly what String writes: 8 bytes of number, or 16 with a mark. Other spellings are refused, so
// that a cursor can be compared as text.
func parseCursor(text string) (p cursorPlace, err error) {
	if text == "" {
		return p, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil && (len(raw) == 8 || len(raw) == 16) {
		p.seq = int64(binary.BigEndian.Uint64(raw))
		if len(raw) == 16 {
			p.mark = binary.BigEndian.Uint64(raw[8:])
		}
	}
	if p.seq < 1 || p.String() != text {
		return cursorPlace{}, ErrCursor.With("after", fault.CursorFormat)
	}
	return p, nil
}

// Pulls are how far a partner has read its events, by area.
type Pulls struct{ Cyber, Subscriptions int64 }

// HasRead reports whether the partner has read an event.
func (p Pulls) HasRead(t Type, seq int64) bool {
	if t.ofSubscriptions() {
		return seq <= p.Subscriptions
	}
	return seq <= p.Cyber
}

// WithRead returns how far the partner has read once it has everything of some areas up to a number; it never goes
// back.
func (p Pulls) WithRead(of Areas, seq int64) Pulls {
	if of.Cyber {
		p.Cyber = max(p.Cyber, seq)
	}
	if of.Subscriptions {
		p.Subscriptions = max(p.Subscriptions, seq)
	}
	return p
}

// Report compares what happened with what the partner got.
type Report struct {
	Events int64
	// Pushed are events that every endpoint wanting them has received, and at least one did.
	Pushed int64
	// Pulled are events up to the cursor that the partner has shown.
	Pulled int64
	// Missing are neither pushed nor pulled.
	Missing int64
	// Oldest are the first of the missing.
	Oldest    []Kept
	Endpoints []EndpointReport
	// Next is the number of the last event that was looked at, if there are more, and Until its time.
	Next  int64
	Until time.Time
}

// ReportOf says which events are compared.
type ReportOf struct {
	// From and To are a window; a zero time is an open end.
	From, To time.Time
	// After is the number of an event: only later ones count.
	After int64
	// Most is how many are looked at; 0 is all.
	Most int
	// Show is how many of the missing are named.
	Show int
}

// EndpointReport counts an endpoint's deliveries by state.
type EndpointReport struct {
	Endpoint                         EndpointID
	State                            EndpointState
	Delivered, Pending, Held, Failed int64
}

func (e *EndpointReport) countDelivery(s DeliveryState) {
	switch s {
	case Delivered:
		e.Delivered++
	case Pending:
		e.Pending++
	case Held:
		e.Held++
	case DeliveryFailed:
		e.Failed++
	}
}

// Sent is an event and one of its deliveries, as a tally counts them; without any, Endpoint is empty.
type Sent struct {
	Seq      int64
	At       time.Time
	Type     Type
	Endpoint EndpointID
	State    DeliveryState
}

// Tally makes a report of events as they are read.
type Tally struct {
	report Report
	of     ReportOf
	pulled Pulls
	lines  map[EndpointID]int // places in report.Endpoints
	oldest []int64
}

// NewTally begins a report on a partner's endpoints, each with its name and state.
func NewTally(of ReportOf, pulled Pulls, endpoints []EndpointReport) *Tally {
	t := &Tally{report: Report{Endpoints: endpoints}, of: of, pulled: pulled, lines: map[EndpointID]int{}}
	for i, e := range endpoints {
		t.lines[e.Endpoint] = i
	}
	return t
}

// Remaining returns how many more events may be read, at most atOnce.
func (t *Tally) Remaining(atOnce int64) int64 {
	if t.of.Most > 0 {
		return min(atOnce, int64(t.of.Most)-t.report.Events)
	}
	return atOnce
}

// AddEvents counts events with their deliveries, those of one event behind each other, and tells how many events they
// were and which was the last.
func (t *Tally) AddEvents(rows []Sent) (events, last int64) {
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Seq == rows[0].Seq {
			n++
		}
		t.addEvent(rows[:n])
		rows, events = rows[n:], events+1
	}
	return events, t.report.Next
}

// addEvent counts one event. A delivery to an endpoint that there is no more says nothing.
func (t *Tally) addEvent(rows []Sent) {
	e, r, sent, open := rows[0], &t.report, 0, 0
	for _, d := range rows {
		line, there := t.lines[d.Endpoint]
		if !there {
			continue
		}
		sent++
		if r.Endpoints[line].countDelivery(d.State); d.State != Delivered {
			open++
		}
	}
	r.Events++
	r.Next, r.Until = e.Seq, e.At
	pushed, pulled := sent > 0 && open == 0, t.pulled.HasRead(e.Type, e.Seq)
	if pushed {
		r.Pushed++
	}
	if pulled {
		r.Pulled++
	}
	if pushed || pulled {
		return
	}
	if r.Missing++; len(t.oldest) < t.of.Show {
		t.oldest = append(t.oldest, e.Seq)
	}
}

// FinishReport returns the report and the numbers of the missing events that it is to name. Where no event is left to
// look at, nothing says where to go on.
func (t *Tally) FinishReport(more bool) (r Report, oldest []int64) {
	if !more {
		t.report.Next, t.report.Until = 0, time.Time{}
	}
	return t.report, t.oldest
}
