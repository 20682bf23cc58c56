// Package app builds the whole service from its configuration, runs it and stops it in order.
//
// App is the service without its listeners, which is what an admin command needs; Server is an App that listens and
// works. Here rules are joined to the store, kinds of jobs to their steps, and chores to their clocks. This is also
// where time and chance come in. It holds no rule of its own and no SQL, and only the command line imports it.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subject"
)

// App is the service without its listeners: what an admin command needs, and what a server is made of.
type App struct {
	Rules
	Config    config.Common
	Keys      *seal.Keys
	Store     *store.Store
	Passwords *password.Library
	Leaks     *Leaks
	Jobs      *job.Runner
	Subjects  *subject.Rights
	// Engine is which database answers.
	Engine sqldb.Engine
	now    func() time.Time
	// exchange shares password corpora between replicas; nil without a bucket.
	exchange *password.Exchange
	// clock is what now reads; nil on a clock that was passed in.
	clock *clock
}

// OpenApp prepares the data folder, opens the database, migrates it, and opens its keys by the root, or makes both for
// a new database. Many processes may do so at once.
func OpenApp(ctx context.Context, c config.Common, opts sqldb.Options) (*App, error) {
	return openOnMachine(ctx, c, opts, thisMachine())
}

// openOnMachine is OpenApp on a machine with a clock of its own.
func openOnMachine(ctx context.Context, c config.Common, opts sqldb.Options, m machine) (*App, error) {
	if err := RefuseRestoring(c.Data); err != nil {
		return nil, err
	}
	return openAnyway(ctx, c, opts, m)
}

// OpenAppAt opens the app on another clock, for commands that work on other days; a server uses the real one.
func OpenAppAt(ctx context.Context, c config.Common, opts sqldb.Options, now func() time.Time) (*App, error) {
	if err := RefuseRestoring(c.Data); err != nil {
		return nil, err
	}
	db, err := openFolder(ctx, c, opts)
	if err != nil {
		return nil, err
	}
	a, err := buildApp(ctx, c, db, now)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

// openAnyway opens the app even in a folder that is being restored, for the restore itself. The database is asked for
// the time before anything is written.
func openAnyway(ctx context.Context, c config.Common, opts sqldb.Options, m machine) (*App, error) {
	db, err := openFolder(ctx, c, opts)
	if err != nil {
		return nil, err
	}
	shared := newClock(m)
	if db.EngineName() == sqldb.PostgreSQL {
		if _, _, err := shared.follow(ctx, db.ServerTime); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	a, err := buildApp(ctx, c, db, shared.now)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	a.clock = shared
	return a, nil
}

// buildApp joins an open database to its keys and rules.
func buildApp(ctx context.Context, c config.Common, db *sqldb.DB, now func() time.Time) (*App, error) {
	if _, err := store.Migrate(ctx, db, now()); err != nil {
		return nil, fmt.Errorf("bring the database up to date: %w", err)
	}
	keys, err := openKeys(ctx, c, db, now)
	if err != nil {
		return nil, err
	}
	passwords, err := password.OpenLibrary(c.CorporaPath(), now)
	if err != nil {
		return nil, fmt.Errorf("password corpora: %w", err)
	}
	st := store.NewStore(db, keys, now, leak.Judge{})
	st.GmailAsOne(c.GmailAsOne)
	leaks, err := openLeaks(c, st, keys, now)
	if err != nil {
		return nil, fmt.Errorf("leak corpora: %w", err)
	}
	exchange, err := openExchange(c, passwords, st)
	if err != nil {
		return nil, fmt.Errorf("password corpora: %w", err)
	}
	a := &App{
		Config:    c,
		Keys:      keys,
		Store:     st,
		Passwords: passwords,
		Leaks:     leaks,
		Engine:    db.EngineName(),
		now:       now,
		exchange:  exchange,
	}
	a.Rules = a.newRules(st.Areas)
	a.makeLastingRules()
	a.Jobs = job.NewRunner(st.Jobs, slog.New(slog.DiscardHandler), a.jobKinds(nil)...)
	leaks.Foreground = &intake.Foreground{
		Importer: leaks.Importer,
		Matcher:  leaks.Matcher,
		Breaches: leaks.Breaches,
		Runner:   a.Jobs,
		Jobs:     st.Jobs,
		Worker:   a.leaseHolder(),
		Now:      now,
	}
	a.Subjects = subject.NewRights(st.Subjects, st.Partners, a.Audit, now)
	if err := st.CheckStandby(ctx); err != nil {
		return nil, err
	}
	return a, a.Services.SeedServices(ctx)
}

// openKeys opens the keys of the database by the root, and makes both only for a database that never had any.
func openKeys(ctx context.Context, c config.Common, db *sqldb.DB, now func() time.Time) (*seal.Keys, error) {
	UseKMS()
	exists, err := store.HasRing(ctx, db)
	if err != nil {
		return nil, err
	}
	open := seal.OpenOrCreateRoot
	if exists {
		open = seal.OpenRoot
	}
	root, err := open(c.RootPlace())
	if err != nil {
		return nil, err
	}
	return store.OpenKeys(ctx, db, root, now())
}

// Close lets go of the database.
func (a *App) Close() error { return errors.Join(a.Leaks.Library.Close(), a.Store.Close()) }
