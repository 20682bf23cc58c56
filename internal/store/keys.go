package store

import (
	"context"
	"errors"
	"time"

	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// HasRing reports whether a migrated database has keys already, so that lost ones are never replaced by new ones.
func HasRing(ctx context.Context, db *sqldb.DB) (bool, error) {
	return readValue[bool](ctx, db.ReadPool(), `SELECT EXISTS (SELECT 1 FROM key_ring)`)
}

// errNoRing means that nobody has made the keys of the database yet.
var errNoRing = errors.New("the database has no keys yet")

// readRing reads the wrapped ring.
func readRing(ctx context.Context, q querier) (seal.WrappedRing, error) {
	return readRow(ctx, q, func(row scanner, w *seal.WrappedRing) error {
		return row.Scan(&w.Installation, &w.Epoch, &w.Body, parsesJSON(&w.Roots))
	}, errNoRing, `SELECT installation, epoch, body, roots FROM key_ring`)
}

// OpenKeys opens the keys of a migrated database by a root. The first to do so makes them: of many who try at once one
// succeeds, and the others open what that one has made.
func OpenKeys(ctx context.Context, db *sqldb.DB, root *seal.Root, now time.Time) (*seal.Keys, error) {
	w, err := readRing(ctx, db.ReadPool())
	if errors.Is(err, errNoRing) {
		if w, err = seal.NewRing(root, now); err != nil {
			return nil, err
		}
		err = classifyError(db.InTransaction(ctx, func(tx *sqldb.Tx) (err error) {
			err = execStatement(ctx, tx,
				`INSERT INTO key_ring (name, installation, epoch, body, roots) VALUES ('ring', $1, $2, $3, $4)
				ON CONFLICT (name) DO NOTHING`,
				w.Installation, w.Epoch, w.Body, jsonArgument{w.Roots})
			if err == nil {
				w, err = readRing(ctx, tx)
			}
			return err
		}))
	}
	if err != nil {
		return nil, wrapError("open the keys", err)
	}
	keys, err := seal.OpenRing(root, w)
	if err != nil {
		return nil, err
	}
	keys.FollowBy(func(ctx context.Context) (w seal.WrappedRing, err error) {
		err = db.ReadApart(ctx, func(q sqldb.Querier) (err error) {
			w, err = readRing(ctx, q)
			return err
		})
		return w, err
	})
	return keys, nil
}

// keyGuard keeps values out of the database that were sealed under a key which is closed: a process that was stopped
// for an hour must not commit what nobody will be able to open. The look is made in the transaction that writes, so
// that there is no moment in between. Who closes keys then waits for the transactions that had begun before: see
// Upkeep.DropOldKeys.
type keyGuard struct {
	db   *sqldb.DB
	keys *seal.Keys
}

// FindMark returns the key of a sealed value.
func (g keyGuard) FindMark(value []byte) (uint32, bool) { return g.keys.SealedByUs(value) }

// CheckMarks compares the epoch of the ring that the transaction sees with the one that this process has.
func (g keyGuard) CheckMarks(ctx context.Context, in sqldb.Querier, marks []uint32) error {
	epoch, err := readValue[int64](ctx, in, `SELECT epoch FROM key_ring`)
	if err != nil {
		return err
	}
	return g.keys.CheckWritten(marks, epoch)
}

// RenewAfter reads the ring again when it has changed under a transaction.
func (g keyGuard) RenewAfter(ctx context.Context, err error) bool {
	if !errors.Is(err, seal.ErrRingMoved) {
		return false
	}
	w, err := readRing(ctx, g.db.ReadPool())
	if err == nil {
		_, err = g.keys.AdoptRing(w)
	}
	return err == nil
}
