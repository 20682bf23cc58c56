package alert

import (
	"context"
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
