package alert

import (
	"context"
	"encoding/base64"
	"encoding/binary"
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

// FeedStore is what reading by cursor needs.
type FeedStore interface {
	// EventsAfter returns up to limit events that follow seq, and the number of the newest event there is.
	EventsAfter(ctx context.Context, id partner.ID, seq int64, limit int) (list []Kept, newest int64, err error)
	// NotePull remembers that the partner has everything up to seq.
	NotePull(ctx context.Context, id partner.ID, seq int64) error
}

// Feed lets a partner read its events by cursor.
type Feed struct{ store FeedStore }

// NewFeed joins the rule to a store.
func NewFeed(store FeedStore) *Feed { return &Feed{store} }

// Page is a stretch of a partner's events.
type Page struct {
	Events []Kept
	// Next is the cursor behind the last event; empty while the partner has no event at all.
	Next    string
	HasMore bool
	// Skipped means that events between the cursor and the first one here are not kept any more.
	Skipped bool
}

// MaxPage bounds a page.
const MaxPage = 1000

// Read returns what follows a cursor; the empty cursor stands before the oldest event that is kept. Numbers are in the order
// of commits, so nothing can appear later before a cursor that was handed out. Coming back with a cursor is the proof
// that everything up to it has arrived.
func (f *Feed) Read(ctx context.Context, id partner.ID, cursor string, limit int) (Page, error) {
	after, err := parseCursor(cursor)
	if err != nil {
		return Page{}, err
	}
	limit = min(max(limit, 1), MaxPage)
	list, newest, err := f.store.EventsAfter(ctx, id, after, limit+1)
	if err != nil {
		return Page{}, err
	}
	if after > newest {
		// Handed out by a database that knew more than this one: going on would hide what is still to come.
		return Page{}, ErrCursor.With("after: is ahead of the newest event; read again without it")
	}
	if after > 0 {
		if err := f.store.NotePull(ctx, id, after); err != nil {
			return Page{}, err
		}
	}
	page := Page{Events: list, Next: cursor}
	if len(list) > limit {
		page.Events, page.HasMore = list[:limit], true
	}
	if n := len(page.Events); n > 0 {
		page.Next = cursorAt(page.Events[n-1].Seq)
		page.Skipped = cursor != "" && page.Events[0].Seq > after+1
	}
	return page, nil
}

// cursorAt writes the place behind an event; parseCursor takes exactly this spelling.
func cursorAt(seq int64) string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, uint64(seq)))
}

func parseCursor(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != 8 || raw[0] > 0x7f {
		return 0, ErrCursor.With("after: must be the value of next in an earlier answer")
	}
	seq := int64(binary.BigEndian.Uint64(raw))
	if seq < 1 || cursorAt(seq) != text {
		return 0, ErrCursor.With("after: must be the value of next in an earlier answer")
	}
	return seq, nil
}
