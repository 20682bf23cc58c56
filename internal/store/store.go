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
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/backup"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Migrations is where the product's migrations are read from. A test of upgrades lays one more beside them, and is the
// next release.
var Migrations fs.FS = migrationFiles

// Store is the open database: what concerns it as a whole, and the areas.
type Store struct {
	core
	Areas
}

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
	// bulk are the bulk requests being kept by this process.
	bulk bulkQueues
	// looks are the tokens for first looks that this process holds.
	looks heldLooks
	// exactSpelling says that another spelling of a Gmail mailbox does not count.
	exactSpelling bool
	// due is signalled when deliveries became due in this process.
	due chan struct{}
}

// ErrUnavailable means that the database cannot serve at the moment.
var ErrUnavailable = fault.New(fault.Unavailable, "store.unavailable")

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

// runInBulkTx is inTx for work that writes a number of rows.
func (c core) runInBulkTx(ctx context.Context, rows int, fn func(tx *sqldb.Tx) error) error {
	if c.tx != nil || rows <= fewRows {
		return c.runInTransaction(ctx, fn)
	}
	return classifyError(c.db.InBulkTx(ctx, fn))
}

// runInBatches does long work in transactions of a few rows: see sqldb.DB.InBatches.
func (c core) runInBatches(ctx context.Context, step func(tx *sqldb.Tx, limit int64) (int64, error)) (int64, error) {
	done, err := c.runBatches(
		ctx,
		sweepBatch,
		func(tx *sqldb.Tx, _, limit int64) (int64, error) { return step(tx, limit) },
	)
	return done, classifyError(err)
}

// runBatches is sqldb.DB.InBatches, or the same steps in the transaction that the area is open on.
func (c core) runBatches(
	ctx context.Context,
	largest int64,
	step func(tx *sqldb.Tx, done, limit int64) (int64, error),
) (done int64, err error) {
	if c.tx == nil {
		return c.db.InBatches(ctx, largest, step)
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

// listQuerier is reader for long lists that may be a moment old: a standby answers them if there is one.
func (c core) listQuerier() querier {
	if c.tx != nil {
		return c.tx
	}
	return c.db.ListReader()
}

// toMicros returns how a time is kept.
func toMicros(t time.Time) int64 { return sqldb.ToMicros(t) }

// fromMicros is the inverse of toMicros.
func fromMicros(us int64) time.Time { return sqldb.FromMicros(us) }

// MigrationList returns the product's migrations.
func MigrationList() ([]sqldb.Migration, error) {
	sub, err := fs.Sub(Migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	return sqldb.Migrations(sub)
}

// Migrate brings the database to this program's schema and returns what was applied. It needs no keys.
func Migrate(ctx context.Context, db *sqldb.DB, now time.Time) ([]sqldb.Migration, error) {
	list, err := MigrationList()
	if err != nil {
		return nil, err
	}
	return db.ApplyMigrations(ctx, list, now)
}

// CheckStandby refuses a standby of another database. One that does not answer, or has not got that far, is no reason
// not to start: lists are answered without it.
func (s *Store) CheckStandby(ctx context.Context) error {
	standby := s.db.StandbyPool()
	if standby == nil {
		return nil
	}
	w, err := readRing(ctx, standby)
	if err != nil {
		return nil //nolint:nilerr // see above
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

// Areas are the parts of the store by noun. Each fulfils the interfaces of the rules that work with its tables, over
// the database or, inside a Tx, over one transaction of it.
type Areas struct {
	Partners      Partners
	Plans         Plans
	Subscriptions Subscriptions
	Monitoring    Monitoring
	Breaches      Breaches
	Feeds         Feeds
	Alerts        Alerts
	Cases         Cases
	Services      Services
	Devices       Devices
	Cover         Cover
	Advice        Advice
	Subjects      Subjects
	Operators     Operators
	Audit         Audit
	Jobs          Jobs
	Answers       Answers
	Overview      Overview
	Upkeep        Upkeep
}

// The areas, each in the files that are named after its nouns.
type (
	// Partners are tenants, their API keys and salts.
	Partners struct{ core }
	// Plans are what partners sell.
	Plans struct{ core }
	// Subscriptions are the people that partners enrolled.
	Subscriptions struct{ core }
	// Monitoring are watched values and what was found of them.
	Monitoring struct{ core }
	// Breaches are what values are looked up in, and the work of importing and matching.
	Breaches struct{ core }
	// Feeds bring breaches by themselves.
	Feeds struct{ core }
	// Alerts are events, the endpoints that want to be told of them, and the deliveries between.
	Alerts struct{ core }
	// Cases are support cases, their triage and slots.
	Cases struct{ core }
	// Services are what a case can be opened for.
	Services struct{ core }
	// Devices hold endpoint-protection keys, and the pools those come from.
	Devices struct{ core }
	// Cover is what a person's plans give.
	Cover struct{ core }
	// Advice is a person's posture, answers and scores, and the content catalogue.
	Advice struct{ core }
	// Subjects are people with rights: everything about one, read or erased.
	Subjects struct{ core }
	// Operators are the people who run the service, and their sessions.
	Operators struct{ core }
	// Audit is the trail.
	Audit struct{ core }
	// Jobs are work that outlives a request.
	Jobs struct{ core }
	// Answers are kept under idempotency keys.
	Answers struct{ core }
	// Overview reads across areas for the console.
	Overview struct{ core }
	// Upkeep checks, rewrites and sweeps what all areas hold.
	Upkeep struct{ core }
)

// newAreas returns all areas over one core.
func newAreas(c core) Areas {
	return Areas{
		Partners{c},
		Plans{c},
		Subscriptions{c},
		Monitoring{c},
		Breaches{c},
		Feeds{c},
		Alerts{c},
		Cases{c},
		Services{c},
		Devices{c},
		Cover{c},
		Advice{c},
		Subjects{c},
		Operators{c},
		Audit{c},
		Jobs{c},
		Answers{c},
		Overview{c},
		Upkeep{c},
	}
}

// Tx is one transaction over all areas: what is done through it is committed together, or not at all.
type Tx struct{ Areas }

// InTransaction runs fn in one transaction. It may run more than once, when the engine asks for a repetition.
func (s *Store) InTransaction(ctx context.Context, fn func(tx Tx) error) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error { return fn(s.openAreas(tx)) })
}

// CopyDatabaseTo writes a copy of the embedded database, as it is at one moment, to a new file.
func (s *Store) CopyDatabaseTo(ctx context.Context, path string) error {
	return s.db.CopyFileTo(ctx, path)
}

// everywhere are the tables of which each machine has a copy: they have no partner in their key, and rows of partners
// refer to them, or requests of partners read them and they seldom change. Their changes need every machine. All other
// tables without a partner stay on the coordinator.
var everywhere = []string{
	"partner",
	"breach",
	"service",
	"case_slot",
	"api_key",
	"case_booking",
	"case_question",
	"case_target",
	"content",
	"epoch",
	"epp_install",
	"key_ring",
	"meta",
	"schema_migration",
}

// CopiedTables returns the tables that Distribute copies to every machine.
func CopiedTables() []string { return slices.Clone(everywhere) }

// Distribute spreads the partners' tables over the machines of a PostgreSQL with Citus, each partner's rows on one, and
// returns how many tables it has spread.
func (s *Store) Distribute(ctx context.Context) (int, error) {
	return s.db.Distribute(ctx, "partner_id", everywhere)
}

// Backlog is what waits in the whole service, and since when.
type Backlog struct {
	Deliveries     int64
	OldestDelivery time.Time
	Jobs           int64 // due, and feeds that are due and have no job yet
	OldestJob      time.Time
	OldestLook     time.Time // since when the first look is due that has been due longest
	NewestBreach   time.Time
	// LastBackups is when a backup last held each part; a part that none held is missing.
	LastBackups map[backup.Part]time.Time
}

// CountBacklog counts what waits.
func (s Upkeep) CountBacklog(ctx context.Context) (Backlog, error) {
	var b Backlog
	q := s.readQuerier()
	err := readColumns(
		ctx,
		q,
		[]any{&b.Deliveries, &b.OldestDelivery},
		`SELECT count(*), min(created_at) FROM delivery WHERE state = 'pending'`,
	)
	if err == nil {
		// A feed that is due becomes a job only when a worker sees it; without any worker its own time has to tell.
		into := []any{&b.Jobs, &b.OldestJob, &b.OldestLook, &b.NewestBreach}
		err = readColumns(ctx, q, into, `SELECT count(*), min(next_at),
			(SELECT min(due_at) FROM asset WHERE look = 1),
			(SELECT max(published_at) FROM breach WHERE state = 'published') FROM (
				SELECT next_at FROM job WHERE state IN ('ready', 'running') AND next_at <= $1
				UNION ALL
				SELECT next_at FROM feed WHERE NOT paused AND next_at <= $1 AND NOT EXISTS (
					SELECT 1 FROM job WHERE kind = $2 AND subject = feed.name AND state IN ('ready', 'running'))
			) waiting`,
			s.now(),
			feed.KindRun,
		)
	}
	if err != nil {
		return b, err
	}
	b.LastBackups = map[backup.Part]time.Time{}
	for _, part := range []backup.Part{backup.Database, backup.Leaks, backup.Passwords} {
		at, err := findValue[int64](ctx, q, nil, `SELECT value FROM meta WHERE name = $1`, backupNote(part)) // digits
		if err != nil {
			return b, err
		}
		if at != 0 {
			b.LastBackups[part] = fromMicros(at)
		}
	}
	return b, nil
}

// backupNote is the name under which the time of a part's last backup is kept.
func backupNote(part backup.Part) string { return "last_backup." + string(part) }

// NoteBackup remembers that a backup was made of parts. What is known of parts that backups cannot hold any more,
// because they moved to a bucket or to another engine, is forgotten: its age would grow for ever.
func (s Upkeep) NoteBackup(ctx context.Context, parts, elsewhere []backup.Part) error {
	now := strconv.AppendInt(nil, toMicros(s.now()), 10)
	var statements []sqldb.Statement
	for _, part := range parts {
		statements = append(statements, sqldb.NewStatement(`INSERT INTO meta (name, value) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
			backupNote(part),
			now,
		))
	}
	for _, part := range elsewhere {
		statements = append(statements, sqldb.NewStatement(`DELETE FROM meta WHERE name = $1`, backupNote(part)))
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error { return tx.RunStatements(ctx, statements) })
}
