package leak

import (
	"context"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// dueBatch bounds how many values are probed at a time, and how many of them are settled in one transaction.
const dueBatch = 200

// SettleDueLooks probes the values whose first look is due: those that got a token after they had to wait, and those
// added when not every segment could be asked, by a process that holds none open or while a new one was on its way. It
// returns how many are settled.
//
// Another process may publish a breach at any time, and what was probed before that is not kept. Then the library is
// loaded anew, and the same values are probed again. Values that cannot be settled all the same, because a segment is
// damaged or a row of their partner is, must not hold up those behind them: the call ends, and the next one goes on
// behind them.
func (l *Library) SettleDueLooks(ctx context.Context) (int, error) {
	l.settling.Lock()
	defer l.settling.Unlock()
	done := 0
	for {
		due, err := l.store.ListDueLooks(ctx, l.unsettled, dueBatch)
		if err != nil {
			return done, err
		}
		before := l.epoch()
		kept, err := l.settleBatch(ctx, due)
		done += kept
		isWhole := err == nil && kept == len(due)
		if err == nil && !isWhole {
			if err = l.LoadPublished(ctx); err == nil && l.epoch() != before {
				continue
			}
		}
		if len(due) < dueBatch { // the next call begins with those that waited longest
			l.unsettled = DuePlace{}
			return done, err
		}
		if !isWhole {
			last := due[len(due)-1]
			l.unsettled = DuePlace{Since: last.Since, Asset: last.Asset}
			return done, err
		}
	}
}

// settleBatch probes values and keeps what it saw. It returns of how many the look is done. What fails for one partner
// does not stop the others.
func (l *Library) settleBatch(ctx context.Context, due []DueLook) (kept int, err error) {
	type group struct {
		partner partner.ID
		epoch   int64
	}
	var order []group
	looked, hits := map[group][]cyber.AssetID{}, map[group][]Hit{}
	for _, d := range due {
		seen := l.ProbeFingerprint(d.Fingerprint)
		if seen.Epoch == 0 && len(seen.Breaches) == 0 {
			continue
		}
		g := group{d.Partner, seen.Epoch}
		if looked[g] == nil {
			order = append(order, g)
		}
		looked[g] = append(looked[g], d.Asset)
		for _, b := range seen.Breaches {
			hits[g] = append(hits[g], Hit{Asset: d.Asset, Seen: b})
		}
	}
	for _, g := range order {
		n, failed := l.store.SettleLooks(ctx, g.partner, g.epoch, looked[g], hits[g])
		kept += n
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("settle first looks of %s: %w", g.partner, failed))
		}
	}
	return kept, err
}

// looksAtOnce is how many rounds of first looks are made before new breaches are looked for again.
const looksAtOnce = 10

// MakeFirstLooks looks up waiting values as far as their partners have tokens, some of each partner in turn.
func (l *Library) MakeFirstLooks(ctx context.Context, looks *cyber.FirstLooks) error {
	for range looksAtOnce {
		started, err := looks.StartLooks(ctx)
		if _, failed := l.SettleDueLooks(ctx); failed != nil {
			err = errors.Join(err, failed)
		}
		if err != nil || started == 0 {
			return err
		}
	}
	return nil
}
