// Package store holds all SQL of the product, one text for both engines, and seals and opens personal data on its way.
//
// Store is the open database and its areas, one for each noun; each area fulfils the small interfaces that the rule
// packages declare. One exported method is one transaction unless it is called on a Tx, and partner.ID comes right
// after the context in every method that touches a partner's rows, and stands in every WHERE. What leaves for the
// database holds no personal value in the clear and no unkeyed hash of one.
//
// No rule lives here: a decision that needs rows under a lock is a function that the caller passes, or the Judge that
// the store was given. Nothing here may wait for a network, hash a password or read a file inside a transaction.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// Store is the open database: what concerns it as a whole, and the areas.
type Store struct {
	core
	Areas
}

// Judge decides on watched values that a transaction holds under a lock: see leak.Judge.
type Judge interface {
	DiscoverFindings(
		values []*leak.Watched,
		hits []leak.Hit,
		published map[string]cyber.Breach,
		newID func() (cyber.FindingID, error),
		now time.Time,
	) (leak.Verdict, error)
	RejudgeFindings(
		values []*leak.Watched,
		breach cyber.Breach,
		held map[cyber.AssetID]leak.Held,
		now time.Time,
	) leak.Verdict
	RejudgeSites(values []*leak.Watched) leak.Verdict
	RestateValues(values []*leak.Watched) leak.Verdict
	CloseFindings(
		values []*leak.Watched,
		which func(cyber.Finding) bool,
		why cyber.Resolution,
		now time.Time,
	) leak.Verdict
	UniteValues(values []*leak.Watched) ([]*leak.Watched, []leak.Union)
	SettleExposes(named []cyber.Exposed, t *leak.Tally) []cyber.Exposed
}

var _ Judge = leak.Judge{}

// NewStore joins a migrated database, its keys (OpenKeys) and who decides on findings.
func NewStore(db *sqldb.DB, keys *seal.Keys, now func() time.Time, judge Judge) *Store {
	if keys != nil {
		db.GuardWrites(keyGuard{db: db, keys: keys})
	}
	c := core{process: &process{db: db, keys: keys, now: now, judge: judge, due: make(chan struct{}, 1)}}
	return &Store{core: c, Areas: newAreas(c)}
}

// GmailAsOne says whether every spelling of a watched Gmail mailbox counts, or only its own. Before use.
func (s *Store) GmailAsOne(on bool) { s.exactSpelling = !on }

// CheckStandby refuses a standby of another database. One that does not answer, or has not got that far, is no reason
// not to start: lists are answered without it.
func (s *Store) CheckStandby(ctx context.Context) error {
	standby := s.db.StandbyPool()
	if standby == nil {
		return nil
	}
	w, err := readRing(ctx, standby)
	if err != nil {
		return nil // see above
	}
	if w.Installation != s.keys.Installation() {
		return fmt.Errorf("--database-read: %w", seal.ErrWrongKeys)
	}
	return nil
}

// Distrusted is closed when the disk under the database has failed in a way that only a new start mends.
func (s *Store) Distrusted() <-chan struct{} { return s.db.Distrusted() }

// ProveSession proves that the database gives each connection a session of its own: see sqldb.DB.ProveSession.
func (s *Store) ProveSession(ctx context.Context) error {
	_, err := s.db.ProveSession(ctx)
	return err
}

// ServerTime returns the time of PostgreSQL's machine.
func (s *Store) ServerTime(ctx context.Context) (time.Time, error) {
	at, err := s.db.ServerTime(ctx)
	return at, classifyError(err)
}

// WatchWriter has fn told how long each transaction held SQLite's only writer.
func (s *Store) WatchWriter(ctx context.Context, fn func(time.Duration)) error {
	return s.db.WatchWriter(ctx, func(h sqldb.Hold) { fn(h.Time) })
}

// CheckReady returns an error unless the database answers, takes writes as far as is known, and has this program's
// schema. A newer one is as good: while replicas are replaced one by one, the first new one migrates, and the others
// serve on until their turn comes.
func (s *Store) CheckReady(ctx context.Context) error {
	select {
	case <-s.db.Distrusted():
		return classifyError(sqldb.ErrDistrusted)
	default:
	}
	if err := s.db.CheckWrites(); err != nil {
		return err
	}
	list, err := MigrationList()
	if err != nil {
		return err
	}
	pending, err := s.db.CountPending(ctx, list)
	if err != nil && !errors.Is(err, sqldb.ErrNewerDatabase) {
		return classifyError(err)
	}
	if pending > 0 {
		return fmt.Errorf("%d migrations are missing", pending)
	}
	return nil
}

// ConnectionPools returns the database's connection pools, for their metrics.
func (s *Store) ConnectionPools() map[string]*sql.DB { return s.db.ConnectionPools() }

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }
