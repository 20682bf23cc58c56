package partner

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Caller is who sent a request.
type Caller struct {
	Partner  ID
	Mode     Mode
	Settings Settings
	KeyID    KeyID
	// Line is what the key's idempotency claims are kept under.
	Line KeyID
	// Epoch is the access epoch that the key was found under, 0 where nothing remembered may be relied on. What was
	// read of the partner's set-up for a caller of the same epoch holds for this one.
	Epoch int64
	key   *Key
}

// HasScope reports whether the key that was shown covers need.
func (c Caller) HasScope(need Scope) bool { return c.key != nil && c.key.HasScope(need) }

// Gate checks API keys. It remembers the keys it has seen, so that a request does not cost a database look-up, and
// forgets all of them when the access epoch moves: WatchChanges polls it, so a revocation acts within two seconds on
// every replica. When the epoch cannot be read the memory is not trusted.
type Gate struct {
	store Store
	now   func() time.Time

	mu sync.RWMutex
	// known is by the digests of keys.
	known map[[sha256.Size]byte]*entry
	epoch int64
	// trustedUntil ends the validity of known unless a poll of the epoch renews it.
	trustedUntil time.Time
}

// entry is shared by requests and never changed.
type entry struct {
	key     Key
	partner Partner
}

const (
	pollInterval = 500 * time.Millisecond
	trustFor     = 1500 * time.Millisecond
	// maxKnown bounds the memory; beyond it the whole memory starts over. Only well-formed keys that exist are kept.
	maxKnown = 100_000
)

// NewKeyGate makes a gate; its memory is used only while WatchChanges runs.
func NewKeyGate(store Store, now func() time.Time) *Gate {
	return &Gate{store: store, now: now, known: map[[sha256.Size]byte]*entry{}}
}

// WatchChanges keeps the gate's memory honest until ctx ends.
func (g *Gate) WatchChanges(ctx context.Context) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		g.RefreshMemory(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// RefreshMemory is one look of WatchChanges: whether what is remembered still counts.
func (g *Gate) RefreshMemory(ctx context.Context) {
	asked := g.now() // trust runs from before the question, so a slow answer does not stretch it
	ctx, cancel := context.WithTimeout(ctx, trustFor)
	defer cancel()
	epoch, err := g.store.AccessEpoch(ctx)
	if err != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if epoch != g.epoch {
		clear(g.known)
		g.epoch = epoch
	}
	g.trustedUntil = asked.Add(trustFor)
}

// Authenticate says who presents key, if it is live and covers need. A live key of a partner that is not suspended but
// lacks the scope returns the caller with ErrScopeMissing: the partner may know what its own key lacks. Every other
// failure is ErrUnauthorised, whatever its cause; only a database that does not answer is another error.
func (g *Gate) Authenticate(ctx context.Context, key string, need Scope) (Caller, error) {
	now := g.now()
	e, epoch, err := g.findKeyByText(ctx, key, now)
	if err != nil {
		return Caller{}, err
	}
	if !e.key.IsLiveAt(now) || e.partner.Suspended {
		return Caller{}, ErrUnauthorised
	}
	caller := Caller{
		Partner:  e.partner.ID,
		Mode:     e.partner.Mode,
		Settings: e.partner.Settings,
		KeyID:    e.key.ID,
		Line:     e.key.Line,
		Epoch:    epoch,
		key:      &e.key,
	}
	if !e.key.HasScope(need) {
		return caller, ErrScopeMissing.With("x-api-key", fault.ScopeMissing, need.Describe())
	}
	return caller, nil
}

// findKeyByText answers from memory, if it is to be trusted, else from the database. Only what comes from memory has an
// epoch.
func (g *Gate) findKeyByText(ctx context.Context, key string, now time.Time) (*entry, int64, error) {
	if !WellFormed(key) {
		return nil, 0, ErrUnauthorised
	}
	digest := sha256.Sum256([]byte(key))
	g.mu.RLock()
	e, ok := g.known[digest]
	epoch, trusted := g.epoch, now.Before(g.trustedUntil)
	g.mu.RUnlock()
	if ok && trusted {
		return e, epoch, nil
	}
	e, err := g.loadKeyFromStore(ctx, digest)
	if err != nil {
		return nil, 0, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	// An epoch that moved while the database answered may have revoked what was read.
	if g.epoch == epoch {
		if len(g.known) >= maxKnown {
			clear(g.known)
		}
		g.known[digest] = e
	}
	return e, 0, nil
}

// loadKeyFromStore asks the database for the key with this digest.
func (g *Gate) loadKeyFromStore(ctx context.Context, digest [sha256.Size]byte) (*entry, error) {
	key, p, err := g.store.KeyByDigest(ctx, digest[:])
	if errors.Is(err, ErrKeyNotFound) {
		// The same comparison as for a known key, so that the two do not differ in time.
		Key{Digest: make([]byte, sha256.Size)}.matchesDigest(digest[:])
		return nil, ErrUnauthorised
	}
	if err != nil {
		return nil, err
	}
	if !key.matchesDigest(digest[:]) {
		return nil, ErrUnauthorised
	}
	return &entry{key: key, partner: p}, nil
}

// A partner that repeats a request after a time-out sends the same idempotency key. The claim on that key, the effect
// of the work and the answer that was given are kept in one transaction, so a repeat finds either all three or none.
// An answer is a status and bytes: this file knows neither HTTP nor SQL.

// KeepAnswers is how long an answer is remembered.
const KeepAnswers = 24 * time.Hour

// RequestClaim is what makes two requests the same.
type RequestClaim struct {
	// Line is that of the API key: another key of the partner does not find the answer, one that replaced it does.
	Line KeyID
	// Path is the operation without its version prefix, path values included.
	Path string
	// Key is what the partner chose.
	Key string
	// Digest is the SHA-256 of the body (and query): the same key with another digest is refused.
	Digest []byte
	// About is the person that the request names, as it was sent; empty when it names no person, or many: answers to
	// those hold no personal data.
	About UserHash
	// Queue, if it is not empty, names what all such work of a partner waits for: those who wait share a transaction.
	Queue string
	// IsBulk is whether the work writes many rows.
	IsBulk bool
}

// MaxKeptAnswer bounds an answer that is kept, in bytes. One that is larger was given once: a repeat is told that the
// work is done.
const MaxKeptAnswer = 512 << 10

// Answer is what was said.
type Answer struct {
	Status int
	Body   []byte
	// Headers are what the answer says beside its body, by name, such as the detail of a refusal. They are kept and
	// come again with a replay, so nothing belongs here that is true of one request only. Nil for most answers.
	Headers map[string]string
	// Created is the ID of what the request made, where Body holds a secret that is shown once: an API key, a webhook's
	// secret, a link to a person's page. Such a body is not kept; a repeat is told the ID instead.
	Created string
}

// Faults of a repeated request.
var (
	ErrOtherBody    = fault.New(fault.Unprocessable, "idempotency.other_body")
	ErrStillRunning = fault.New(fault.Conflict, "idempotency.still_running")
	// ErrNotKept is a repeat of a request that was done, whose answer was too large to keep.
	ErrNotKept = fault.New(fault.Conflict, "idempotency.answer_not_kept")
	// ErrGivenOnce is a repeat of a request that was done, whose answer held a secret.
	ErrGivenOnce = fault.New(fault.Conflict, "idempotency.given_once")
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

// Brasilia is the distance of the service's days from UTC: they begin at midnight there. Brazil has had no summer time
// since 2019.
const Brasilia = -3 * time.Hour

// DayNumber numbers the calendar day of a moment in Brasília: days since 1970-01-01.
func DayNumber(t time.Time) int64 {
	return int64(t.Add(Brasilia).Sub(time.Unix(0, 0)) / (24 * time.Hour))
}

// UntilTomorrow returns how long the calendar day of Brasília lasts from a moment on.
func UntilTomorrow(t time.Time) time.Duration {
	return 24*time.Hour - t.Add(Brasilia).Sub(time.Unix(0, 0))%(24*time.Hour)
}

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
