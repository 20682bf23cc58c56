package alert

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
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

// ListTypes returns the types that may be read. Tests are about nothing but the endpoint, so every caller may read them.
func (a Areas) ListTypes() []Type {
	return slices.DeleteFunc(slices.Clone(Types), func(t Type) bool {
		return t != WebhookTest && (t.ofSubscriptions() && !a.Subscriptions || !t.ofSubscriptions() && !a.Cyber)
	})
}

// CheckTypes refuses types whose events may not be read: an endpoint must not be told what its maker could not have read. No
// types means all of them.
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

// NewFeed joins the rule to a store.
func NewFeed(store FeedStore) *Feed { return &Feed{store} }

// Page is a stretch of a partner's events.
type Page struct {
	Events []Kept
	// Next is the cursor behind everything that was looked at; empty while the partner has no event at all.
	Next    string
	HasMore bool
	// Skipped means that events between the cursor and the first one here are not kept any more.
	Skipped bool
}

// ReadNewest returns the newest events that the caller may read, the newest first. It moves no cursor: to have seen them
// does not count as having them.
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
