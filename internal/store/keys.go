package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/platform/job"
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
			if err = execStatement(
				ctx,
				tx,
				`INSERT INTO key_ring (name, installation, epoch, body, roots) VALUES ('ring', $1, $2, $3, $4)
				ON CONFLICT (name) DO NOTHING`,
				w.Installation,
				w.Epoch,
				w.Body,
				jsonArgument{w.Roots},
			); err == nil {
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
	ctx context.Context,
	change func(w seal.WrappedRing) (seal.WrappedRing, error),
	also func(in Upkeep) error,
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

// KeyHolder is a process that serves with the keys of the database.
type KeyHolder struct {
	ID string
	// Place is its machine and data folder, for people.
	Place string
	// Epoch is the state of the ring that it has, Root what it opens the next one with.
	Epoch int64
	Root  string
}

// NoteKeyHolder says that a process serves and which keys it has. One that has not said so for ten times within is
// forgotten.
func (s Upkeep) NoteKeyHolder(ctx context.Context, h KeyHolder, within time.Duration) error {
	now := s.now()
	return s.runAll(
		ctx,
		sqldb.NewStatement(`INSERT INTO key_holder (id, seen_at, place, epoch, root) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, epoch = excluded.epoch`,
			h.ID,
			now,
			h.Place,
			h.Epoch,
			h.Root,
		),
		sqldb.NewStatement(`DELETE FROM key_holder WHERE seen_at < $1`, now.Add(-10*within)),
	)
}

// DropKeyHolder says that a process serves no longer.
func (s Upkeep) DropKeyHolder(ctx context.Context, id string) error {
	return s.execAlone(ctx, `DELETE FROM key_holder WHERE id = $1`, id)
}

// ListKeyHolders returns the processes that have said within a time that they serve.
func (s Upkeep) ListKeyHolders(ctx context.Context, within time.Duration) ([]KeyHolder, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, h *KeyHolder) error {
		return row.Scan(&h.ID, &h.Place, &h.Epoch, &h.Root)
	}, `SELECT id, place, epoch, root FROM key_holder WHERE seen_at >= $1 ORDER BY place, id`, s.now().Add(-within))
}

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

// AddRoot lets another root open the keys too, in one transaction.
func (s Upkeep) AddRoot(ctx context.Context, root *seal.Root) error {
	return s.changeRing(
		ctx,
		func(w seal.WrappedRing) (seal.WrappedRing, error) { return s.keys.AddRoot(w, root, s.now()) },
		nil,
	)
}

// NoteRootCopy notes that somebody has shown a copy of a root.
func (s Upkeep) NoteRootCopy(ctx context.Context, root *seal.Root) error {
	return s.changeRing(
		ctx,
		func(w seal.WrappedRing) (seal.WrappedRing, error) { return s.keys.NoteCopy(w, root, s.now()) },
		nil,
	)
}

// DropOtherRoots leaves the root of this process as the only one that opens the keys, and returns the others. It is
// refused while a process that was heard of within a time has another.
func (s Upkeep) DropOtherRoots(ctx context.Context, within time.Duration) (dropped []string, err error) {
	own := s.keys.Root().ID()
	holders, err := s.ListKeyHolders(ctx, within)
	if err != nil {
		return nil, err
	}
	var with []string
	for _, h := range holders {
		if h.Root != own {
			with = append(with, h.Place)
		}
	}
	if len(with) > 0 {
		return nil, seal.ErrKeyNeeded.Note(
			"these servers were started with another root: %s; start them anew with %q first",
			strings.Join(with, ", "),
			s.keys.Root().Place(),
		)
	}
	err = s.changeRing(ctx, func(w seal.WrappedRing) (seal.WrappedRing, error) {
		if dropped = []string{}; len(w.Roots) == 1 {
			return w, seal.ErrKeyNeeded.Note("there is only one root, %s", own)
		}
		for _, id := range w.RootIDs() {
			if id != own {
				dropped = append(dropped, id)
			}
		}
		return s.keys.DropOtherRoots(w)
	}, nil)
	return dropped, err
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
