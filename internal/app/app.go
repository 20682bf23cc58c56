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
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
	"github.com/vigiahq/vigia/internal/web/api"
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

// openFolder prepares the data folder and opens the database.
func openFolder(ctx context.Context, c config.Common, opts sqldb.Options) (*sqldb.DB, error) {
	if err := c.CheckCommon(); err != nil {
		return nil, err
	}
	if err := prepareFolder(c.Data); err != nil {
		return nil, err
	}
	opts.Insecure = c.DatabaseInsecure
	return sqldb.OpenDatabase(ctx, c.DatabaseAddress(), opts)
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

// prepareFolder creates the data folder, or makes sure that an existing one of ours is closed to other users.
func prepareFolder(path string) error {
	err := durable.MakeFolder(filepath.Dir(path), 0o750)
	if err == nil {
		err = os.Mkdir(path, 0o700)
	}
	if err == nil {
		err = durable.SyncFolder(filepath.Dir(path))
	}
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("data folder: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("data folder: %s is not a folder", path)
	}
	if err := checkOwner(path, info, os.Geteuid()); err != nil {
		return err
	}
	// Windows has no modes: there the folder's access list decides, which is the operator's to set.
	if info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows" {
		return nil
	}
	if !isOwnFolder(path) {
		return fmt.Errorf("data folder: others can look into %s (mode %04o), and it holds files that are not Vigia's; "+
			"choose an empty folder, or run: chmod 700 %s", path, info.Mode().Perm(), path)
	}
	if err := os.Chmod(path, 0o700); err != nil { //nolint:gosec // a folder needs its execute bit
		return fmt.Errorf("data folder: %w", err)
	}
	return nil
}

// checkOwner refuses a folder of another user, who could put another database or key file into it. Windows has no such
// numbers.
func checkOwner(path string, info os.FileInfo, user int) error {
	if owner := seal.FileOwner(info); runtime.GOOS != "windows" && owner != user {
		return fmt.Errorf(
			"data folder: %s belongs to user %d and this program runs as user %d; run it as the owner, or give the "+
				"folder to that user",
			path,
			owner,
			user,
		)
	}
	return nil
}

// isOwnFolder reports whether a folder is empty or already holds our database or keys: only then its mode is ours to
// change.
func isOwnFolder(path string) bool {
	entries, err := os.ReadDir(path)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if e.Name() == "vigia.db" || e.Name() == "keys.json" {
			return true
		}
	}
	return len(entries) == 0
}

// Rules are what commands, partners and pages ask, over the database or over one transaction of it.
type Rules struct {
	Partners      *partner.Registry
	Services      *cyber.Services
	Plans         *plan.Catalogue
	Subscriptions *subscription.Registry
	Cases         *cyber.Cases
	Endpoints     *cyber.Endpoints
	Cover         *cyber.Cover
	Sessions      *cyber.PortalSessions
	Content       *cyber.Catalogue
	Monitoring    *cyber.Monitoring
	FirstLooks    *cyber.FirstLooks
	Messages      *message.Catalogue
	Webhooks      *alert.Endpoints
	Feed          *alert.Feed
	History       *alert.History
	Operators     *operator.Registry
	Audit         *operator.Trail
	Breaches      *cyber.Breaches
	Meter         *partner.Meter
	Figures       store.Overview
	Erasures      *subject.Erasures
}

// newRules joins the rules that remember nothing between calls to areas of the store.
func (a *App) newRules(in store.Areas) Rules {
	return Rules{
		Partners:      partner.NewRegistry(in.Partners, a.now, nil),
		Plans:         plan.NewCatalogue(in.Plans, a.now),
		Subscriptions: subscription.NewRegistry(in.Subscriptions, in.Plans, in.Partners, a.now),
		Cases:         cyber.NewCases(in.Cases, a.now),
		Endpoints:     cyber.NewEndpoints(in.Devices, a.now, nil),
		Cover:         cyber.NewCover(in.Cover),
		Sessions:      cyber.NewPortalSessions(in.Subjects, in.Partners, a.Keys, a.now, nil),
		Monitoring:    cyber.NewMonitoring(in.Monitoring, in.Partners, a.Leaks.Library, a.Keys.Fingerprint, a.now),
		FirstLooks:    cyber.NewFirstLooks(in.Monitoring, in.Partners, a.now),
		Messages:      message.NewCatalogue(in.Alerts),
		Webhooks:      alert.NewEndpoints(in.Alerts, a.now, nil),
		Feed:          alert.NewEventFeed(in.Alerts),
		History:       alert.NewHistory(in.Alerts, in.Partners),
		Audit:         operator.NewTrail(in.Audit, a.now),
		Breaches:      cyber.NewBreaches(in.Breaches),
		Meter:         partner.NewMeter(in.Partners, a.now),
		Figures:       in.Overview,
		Erasures:      subject.NewErasures(in.Subjects, a.now),
	}
}

// makeLastingRules adds the rules that remember something between calls: made once, and over the
// store of a transaction inside one.
func (a *App) makeLastingRules() {
	a.Services = cyber.NewServices(a.Store.Services, a.now)
	a.Content = cyber.NewCatalogue(a.Store.Advice, a.now)
	a.Operators = operator.NewRegistry(a.Store.Operators, a.isExposedPassword, a.now)
}

// rulesWithin returns the rules whose changes are committed together, with tx.
func (a *App) rulesWithin(tx store.Tx) Rules {
	in := a.newRules(tx.Areas)
	in.Services, in.Content = a.Services.WithStore(tx.Services), a.Content.WithStore(tx.Advice)
	in.Operators = a.Operators.WithStore(tx.Operators)
	return in
}

// forPartners returns the rules of the partner API.
func (r Rules) forPartners(passwords api.Passwords, persons *cyber.Persons) api.Rules {
	return api.Rules{
		Events:        r.Feed,
		Messages:      r.Messages,
		Webhooks:      r.Webhooks,
		Passwords:     passwords,
		Subscriptions: r.Subscriptions,
		Monitoring:    r.Monitoring,
		Services:      r.Services,
		Cases:         r.Cases,
		Endpoints:     r.Endpoints,
		Cover:         r.Cover,
		Sessions:      r.Sessions,
		Persons:       persons,
		Breaches:      r.Breaches,
		History:       r.History,
		Keys:          r.Partners,
		FirstLooks:    r.FirstLooks,
		Meter:         r.Meter,
		Figures:       r.Figures,
		Audit:         r.Audit,
		Erasures:      r.Erasures,
	}
}

// ledger keeps answers of the partner API together with the effects of their requests.
type ledger struct {
	app       *App
	passwords api.Passwords
	persons   *cyber.Persons
}

// Once runs the store's Once with the rules bound to its transaction.
func (l ledger) Once(
	ctx context.Context,
	id partner.ID,
	c partner.RequestClaim,
	work func(in *api.Rules) (partner.Answer, error),
) (partner.Answer, bool, error) {
	return l.app.Store.Answers.AnswerOnce(ctx, id, c, func(tx store.Tx) (partner.Answer, error) {
		in := l.app.rulesWithin(tx).forPartners(l.passwords, l.persons.WithStore(tx.Advice))
		return work(&in)
	})
}

// watchWriter measures how long transactions keep others from SQLite's only writer.
func (s *Server) watchWriter(ctx context.Context) error {
	held := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "vigia_writer_held_seconds",
		Help:    "Time for which a transaction held the only writer of a one-file database, its sync included.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
	})
	s.metrics.RegisterCollectors(held)
	return s.app.Store.WatchWriter(ctx, func(time time.Duration) { held.Observe(time.Seconds()) })
}

// NewPersons returns the rules of advice and score. missed is called with the error when a day's score could not be
// stored, and may be nil.
func (a *App) NewPersons(missed func(context.Context, error)) *cyber.Persons {
	return cyber.NewPersons(a.Store.Advice, a.Content, a.now, missed)
}
