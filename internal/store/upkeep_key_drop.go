package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// dropPatience is how long a drop waits for transactions that had begun before. It is longer than a session may stand
// still in one.
const dropPatience = 20 * time.Second

// DropOldKeys removes every key but the one that seals now, for good, and returns their ids. It is refused while a
// value is sealed under one of them, while a process that was heard of within a time has not seen the newest ring, and
// while a transaction is open that began before the keys were closed, such as that of a backup.
//
// First the keys are closed: from then on no transaction that begins can write under them, as each looks at the epoch
// of the ring before it commits. Once those that began before have ended the values are counted; what is not there then
// cannot come any more.
func (s Upkeep) DropOldKeys(ctx context.Context, within time.Duration) ([]uint32, error) {
	if _, err := s.adoptRing(ctx); err != nil {
		return nil, err
	}
	if len(s.keys.ListKeyIDs()) == 1 {
		return []uint32{}, nil
	}
	if err := errors.Join(s.refuseBehind(ctx, within), s.refuseSealed(ctx)); err != nil {
		return nil, err
	}
	if err := s.changeRing(ctx, s.keys.CloseOldKeys, nil); err != nil {
		return nil, err
	}
	err := s.db.AwaitTransactions(ctx, dropPatience)
	if errors.Is(err, sqldb.ErrStillWriting) {
		return nil, seal.ErrKeyNeeded.Note("%s: it may be a backup; try again when it is over", err)
	}
	if err == nil {
		err = s.refuseSealed(ctx)
	}
	if err != nil {
		return nil, err
	}
	closed, epoch := s.keys.ClosedIDs(), s.keys.Epoch()
	return closed, s.changeRing(ctx, func(w seal.WrappedRing) (seal.WrappedRing, error) {
		if w.Epoch != epoch {
			return w, seal.ErrKeyNeeded.Note("another command has changed the keys meanwhile; run it again")
		}
		return s.keys.DropClosedKeys(w)
	}, nil)
}

// refuseBehind refuses to drop keys while a live process has not seen the newest ring.
func (s Upkeep) refuseBehind(ctx context.Context, within time.Duration) error {
	holders, err := s.ListKeyHolders(ctx, within)
	if err != nil {
		return err
	}
	var behind []string
	for _, h := range holders {
		if h.Epoch < s.keys.Epoch() {
			behind = append(behind, h.Place)
		}
	}
	if len(behind) == 0 {
		return nil
	}
	return seal.ErrKeyNeeded.Note(
		"these servers have not seen the newest keys yet: %s; try again in a few seconds",
		strings.Join(behind, ", "),
	)
}

// refuseSealed refuses to drop keys while something is sealed under them, and has a worker seal it anew.
func (s Upkeep) refuseSealed(ctx context.Context) error {
	left, err := s.SealedByOlder(ctx)
	if err != nil || len(left) == 0 {
		return err
	}
	if err := s.addRewrite(ctx, s.keys.PrimaryID()); err != nil {
		return err
	}
	return seal.ErrKeyNeeded.Note(
		"still sealed under older keys: %s; a running worker is sealing them anew, try again when it is done",
		strings.Join(left, ", "),
	)
}

// sampleRows is how many values of a column are looked at from each end.
const sampleRows = 200

// FindUnopenable looks at the oldest and the newest values of every sealed column and returns what is sealed under keys
// that this process does not have, in words for the operator. A whole look is Check's.
func (s Upkeep) FindUnopenable(ctx context.Context) (list []string, err error) {
	if _, err := s.FollowRing(ctx); err != nil {
		return nil, err
	}
	for _, c := range sealedColumns {
		lacking := map[uint32]int{}
		for _, order := range []string{"", " DESC"} {
			keys := strings.Join(c.key, order+", ") + order
			err := eachRow(ctx, s.readQuerier(), func(row scanner) error {
				var prefix []byte
				var n int
				if err := row.Scan(&prefix, &n); err != nil {
					return err
				}
				if id, ok := s.keys.LacksKeyOf(prefix); ok {
					lacking[id] = max(lacking[id], n)
				}
				return nil
			}, `SELECT prefix, count(*) FROM (SELECT substr(`+c.column+`, 1, 5) AS prefix FROM `+c.table+
				` ORDER BY `+keys+` LIMIT $1) sample WHERE prefix IS NOT NULL GROUP BY prefix`, sampleRows)
			if err != nil {
				return nil, err
			}
		}
		for id, n := range lacking {
			list = append(list, fmt.Sprintf("%d values of %s.%s under key %08x", n, c.table, c.column, id))
		}
	}
	return list, nil
}
