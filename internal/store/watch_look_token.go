package store

import (
	"context"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// heldLooks are tokens for first looks that this process took from the database and has not used yet. A request for a
// new value then costs no statement, and the row of a busy partner is not locked by each of them. What a process holds
// when it ends is lost to the partner.
type heldLooks struct {
	mu sync.Mutex
	of map[partner.ID]*heldLook
	// observe, if set, is told of first looks that this process has made, and of how many found a breach.
	observe func(id partner.ID, looks, hits int)
}

// ObserveLooks has fn called after first looks of a partner were kept. It is set before the store is used.
func (s Monitoring) ObserveLooks(fn func(id partner.ID, looks, hits int)) { s.looks.observe = fn }

func (h *heldLooks) observeLooks(id partner.ID, looks, hits int) {
	if h.observe != nil {
		h.observe(id, looks, hits)
	}
}

// heldLook is one partner's share.
type heldLook struct {
	tokens int64
	// dryUntil is before when the database need not be asked for tokens again.
	dryUntil time.Time
}

func (h *heldLooks) changeHeld(id partner.ID, change func(l *heldLook)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil {
		h.of = map[partner.ID]*heldLook{}
	}
	if h.of[id] == nil { // one for each partner: nothing to evict
		h.of[id] = &heldLook{}
	}
	change(h.of[id])
}

// addTokens holds tokens that were taken in a transaction which is on disk now.
func (h *heldLooks) addTokens(id partner.ID, n int64) {
	h.changeHeld(id, func(l *heldLook) { l.tokens += n })
}

// emptyTokens returns the tokens of a partner, which this process holds no longer.
func (h *heldLooks) emptyTokens(id partner.ID) (n int64) {
	h.changeHeld(id, func(l *heldLook) { n, l.tokens = l.tokens, 0 })
	return n
}

// tokensAtOnce returns how many tokens a process takes at a time: fewer when there are few, so that other replicas get
// theirs.
func tokensAtOnce(left int64) int64 { return min(max(left/20, 1), 64) }

// dryTime is how long a process does not ask for tokens after there were none. Values that are added meanwhile wait,
// and a worker looks after those every second.
const dryTime = 5 * time.Second

// TakeLookToken takes a token: see cyber.MonitoringStore. It takes none while older values wait.
func (s Monitoring) TakeLookToken(ctx context.Context, id partner.ID, pace cyber.LookPace) (bool, error) {
	if pace.IsStopped() {
		return false, nil
	}
	now := s.now()
	var taken, ask bool
	s.looks.changeHeld(id, func(l *heldLook) {
		taken = l.tokens > 0
		ask = !now.Before(l.dryUntil)
		if taken {
			l.tokens--
		}
	})
	if taken || !ask {
		return taken, nil
	}
	err := s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		taken = false
		b, err := s.lockBucket(ctx, tx, id)
		if err != nil {
			return err
		}
		waiting, err := readValue[bool](ctx, tx,
			`SELECT EXISTS (SELECT 1 FROM asset WHERE partner_id = $1 AND look = 2)`, id)
		if err != nil {
			return err
		}
		b.RefillTokens(now, pace)
		if waiting || b.Left(pace) == 0 {
			s.looks.changeHeld(id, func(l *heldLook) { l.dryUntil = now.Add(dryTime) })
			return nil
		}
		lot := b.TakeTokens(tokensAtOnce(b.Left(pace)), pace)
		if err := s.keepBucket(ctx, tx, id, b); err != nil {
			return err
		}
		taken = true
		tx.AfterCommit(func() { s.looks.addTokens(id, lot-1) })
		return nil
	})
	return taken, err
}
