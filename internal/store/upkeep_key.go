package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// ReadRing reads the wrapped ring, for a backup.
func (s Upkeep) ReadRing(ctx context.Context) (seal.WrappedRing, error) {
	return readRing(ctx, s.readQuerier())
}

// FollowRing takes up what others have changed of the ring, and reports whether they have.
func (s Upkeep) FollowRing(ctx context.Context) (changed bool, err error) {
	epoch, err := readValue[int64](ctx, s.readQuerier(), `SELECT epoch FROM key_ring`)
	if err != nil {
		return false, wrapError("follow the keys", err)
	}
	if s.keys.IsCurrent(epoch) {
		return false, nil
	}
	return s.adoptRing(ctx)
}

// adoptRing takes the ring up as it is.
func (s Upkeep) adoptRing(ctx context.Context) (changed bool, err error) {
	w, err := readRing(ctx, s.readQuerier())
	if err != nil {
		return false, wrapError("read the keys", err)
	}
	return s.keys.AdoptRing(w)
}

// mostRingTries bounds how often a change of the ring begins anew because another one came first.
const mostRingTries = 10

// changeRing changes the ring, and commits what also does with it. A key management service may be asked in change,
// which is outside of the transaction.
func (s Upkeep) changeRing(
	ctx context.Context, change func(w seal.WrappedRing) (seal.WrappedRing, error), also func(in Upkeep) error,
) error {
	for range mostRingTries {
		was, err := readRing(ctx, s.readQuerier())
		if err != nil {
			return err
		}
		next, err := change(was)
		if err != nil {
			return err
		}
		err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
			err := execExpecting(
				ctx,
				tx,
				seal.ErrRingMoved,
				`UPDATE key_ring SET epoch = $1, body = $2, roots = $3 WHERE epoch = $4`,
				next.Epoch,
				next.Body,
				jsonArgument{next.Roots},
				was.Epoch,
			)
			if err == nil && also != nil {
				err = also(Upkeep{s.withTransaction(tx)})
			}
			return err
		})
		if !errors.Is(err, seal.ErrRingMoved) {
			if err == nil {
				_, err = s.keys.AdoptRing(next)
			}
			return err
		}
	}
	return seal.ErrRingMoved
}

// RotateKeys makes a new key, under which everybody seals from then on, and the job that seals anew what older ones
// have sealed, in one transaction.
func (s Upkeep) RotateKeys(ctx context.Context) error {
	var primary uint32
	return s.changeRing(ctx, func(w seal.WrappedRing) (next seal.WrappedRing, err error) {
		next, primary, err = s.keys.RotateRing(w)
		return next, err
	}, func(in Upkeep) error { return in.addRewrite(ctx, primary) })
}

// addRewrite makes the job that seals everything anew under a key, unless there is one already.
func (s Upkeep) addRewrite(ctx context.Context, primary uint32) error {
	_, err := Jobs(s).EnqueueJob(ctx, seal.KindRewrite, fmt.Sprint(primary), struct{}{})
	if errors.Is(err, job.ErrExists) {
		return nil
	}
	return err
}
