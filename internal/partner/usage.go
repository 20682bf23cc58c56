package partner

import (
	"context"
	"time"
)

// Requests are how often a partner asked for an operation in a day.
type Requests struct {
	// Day is days since 1970-01-01, by the clock of Brasília.
	Day       int64
	Operation string
	// Sent are all that a valid key sent, Refused those answered with 400 and above.
	Sent, Refused int64
}

// KeepRequests is for how many days requests are counted.
const KeepRequests = 90

// LoggedRequest is one request of a partner as its developers see it afterwards. It holds nothing of what was sent.
type LoggedRequest struct {
	At        time.Time
	Operation string
	Status    int
	Took      time.Duration
	// Fault is the code of the fault and the field that it is about; empty when there was none.
	Fault string
	// Key is the API key that it came with.
	Key KeyID
}

// MaxLogged is how many requests of a partner are kept, the latest.
const MaxLogged = 1000

// MeterStore keeps what partners ask for.
type MeterStore interface {
	// AddRequests adds to what is counted, and forgets days before the given one.
	AddRequests(ctx context.Context, id ID, counts []Requests, forget int64) error
	// LogRequests keeps requests, and forgets all but the latest MaxLogged; LatestRequests returns them, newest first.
	LogRequests(ctx context.Context, id ID, lines []LoggedRequest) error
	LatestRequests(ctx context.Context, id ID, failedOnly bool, limit int) ([]LoggedRequest, error)
	// RequestsOf returns the counts since a day, newest day first, then by operation.
	RequestsOf(ctx context.Context, id ID, since int64) ([]Requests, error)
}

// Meter counts what partners ask for, by day.
type Meter struct {
	store MeterStore
	now   func() time.Time
}

// NewMeter joins the rule to a store and a clock.
func NewMeter(store MeterStore, now func() time.Time) *Meter { return &Meter{store, now} }

// AddRequests counts what one process has seen of a partner, and keeps the latest of it.
func (m *Meter) AddRequests(ctx context.Context, id ID, counts []Requests, lines []LoggedRequest) error {
	if err := m.store.AddRequests(ctx, id, counts, DayNumber(m.now())-KeepRequests); err != nil {
		return err
	}
	return m.store.LogRequests(ctx, id, lines)
}

// LatestRequests returns the latest requests of a partner, newest first, or those of them that were refused.
func (m *Meter) LatestRequests(ctx context.Context, id ID, failedOnly bool) ([]LoggedRequest, error) {
	return m.store.LatestRequests(ctx, id, failedOnly, MaxLogged)
}

// CountsOfDays returns the counts of the last days.
func (m *Meter) CountsOfDays(ctx context.Context, id ID, days int64) ([]Requests, error) {
	return m.store.RequestsOf(ctx, id, DayNumber(m.now())-min(days, KeepRequests)+1)
}
