package store

import (
	"context"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// core is all that the areas share.
type core struct {
	*process
	// tx is the transaction that every method joins; nil when each is one of its own.
	tx *sqldb.Tx
}

// process is what belongs to the open database and not to a transaction of it.
type process struct {
	db   *sqldb.DB
	keys *seal.Keys
	now  func() time.Time
	// judge decides on findings: no rule lives here.
	judge Judge
	// inFlight are the idempotency claims being worked on by this process.
	inFlight sync.Map
	// looks are the tokens for first looks that this process holds.
	looks heldLooks
	// exactSpelling says that another spelling of a Gmail mailbox does not count.
	exactSpelling bool
	// due is signalled when deliveries became due in this process.
	due chan struct{}
}

// withTransaction returns the same core inside a transaction.
func (c core) withTransaction(tx *sqldb.Tx) core { return core{c.process, tx} }

// openAreas returns the transaction as rules see it.
func (c core) openAreas(tx *sqldb.Tx) Tx { return Tx{newAreas(c.withTransaction(tx))} }

// runInTransaction runs fn in the transaction that the area is open on, or in one of its own.
func (c core) runInTransaction(ctx context.Context, fn func(tx *sqldb.Tx) error) error {
	if c.tx != nil {
		return fn(c.tx)
	}
	return classifyError(c.db.InTransaction(ctx, fn))
}

// runInBulkTx is runInTransaction for work that writes a number of rows.
func (c core) runInBulkTx(ctx context.Context, rows int, fn func(tx *sqldb.Tx) error) error {
	if c.tx != nil || rows <= fewRows {
		return c.runInTransaction(ctx, fn)
	}
	return classifyError(c.db.InBulkTx(ctx, fn))
}

// runInBatches does long work in transactions of a few rows (see sqldb.DB.InBatches), or the same steps in the
// transaction that the area is open on.
func (c core) runInBatches(
	ctx context.Context, largest int64, step func(tx *sqldb.Tx, done, limit int64) (int64, error),
) (done int64, err error) {
	if c.tx == nil {
		done, err = c.db.InBatches(ctx, largest, step)
		return done, classifyError(err)
	}
	for {
		n, err := step(c.tx, done, largest)
		if err != nil || n == 0 {
			return done, err
		}
		done += n
	}
}

// readSnapshot runs fn on a core all of whose reads see one state of the database. fn must not write.
func (c core) readSnapshot(ctx context.Context, fn func(in core) error) error {
	if c.tx != nil {
		return fn(c)
	}
	return classifyError(c.db.ReadSnapshot(ctx, func(tx *sqldb.Tx) error { return fn(c.withTransaction(tx)) }))
}

// readQuerier is for methods of one SELECT; inside a transaction it sees what that has written.
func (c core) readQuerier() querier {
	if c.tx != nil {
		return c.tx
	}
	return c.db.KeptReader()
}

// listQuerier is readQuerier for long lists that may be a moment old: a standby answers them if there is one.
func (c core) listQuerier() querier {
	if c.tx != nil {
		return c.tx
	}
	return c.db.ListReader()
}
