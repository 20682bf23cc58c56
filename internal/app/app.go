// Package app builds the whole service from its configuration, runs it and stops it in order. It joins rules to the
// store, binds kinds of jobs to their steps, and holds no rule of its own. Only the command line imports it.
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

	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/password"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
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
	// clock is what now reads where it follows the database's; nil on a clock that was passed in.
	clock *clock
}

// OpenApp prepares the data folder, opens or makes the key file, opens the database, migrates it and checks that the two
// belong together. Many processes may do so at once.
func OpenApp(ctx context.Context, c config.Common, opts sqldb.Options) (*App, error) {
	return openFollowing(ctx, c, opts, time.Now)
}

// openFollowing opens with a clock that follows the database's where that is a server's.
func openFollowing(ctx context.Context, c config.Common, opts sqldb.Options, own func() time.Time) (*App, error) {
	shared := &clock{own: own}
	a, err := OpenAppAt(ctx, c, opts, shared.adjustedNow)
	if err != nil {
		return nil, err
	}
	a.clock = shared
	if _, err := a.followClock(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// OpenAppAt opens the app on another clock, for commands that work on other days; a server uses the real one.
func OpenAppAt(ctx context.Context, c config.Common, opts sqldb.Options, now func() time.Time) (*App, error) {
	if err := RefuseRestoring(c.Data); err != nil {
		return nil, err
	}
	return openAnyway(ctx, c, opts, now)
}

// openAnyway opens the app even in a folder that is being restored, for the restore itself.
func openAnyway(ctx context.Context, c config.Common, opts sqldb.Options, now func() time.Time) (*App, error) {
	if err := c.CheckCommon(); err != nil {
		return nil, err
	}
	if err := prepareFolder(c.Data); err != nil {
		return nil, err
	}
	opts.Insecure = c.DatabaseInsecure
	db, err := sqldb.OpenDatabase(ctx, c.DatabaseAddress(), opts)
	if err != nil {
		return nil, err
	}
	a, err := buildApp(ctx, c, db, now)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

// buildApp joins an open database to its keys and rules.
func buildApp(ctx context.Context, c config.Common, db *sqldb.DB, now func() time.Time) (*App, error) {
	if _, err := store.Migrate(ctx, db, now()); err != nil {
		return nil, fmt.Errorf("bring the database up to date: %w", err)
	}
	keys, err := openKeyFile(ctx, c, db)
	if err != nil {
		return nil, err
	}
	passwords, err := password.OpenLibrary(c.CorporaPath(), now)
	if err != nil {
		return nil, fmt.Errorf("password corpora: %w", err)
	}
	st := store.NewStore(db, keys, now)
	st.GmailAsOne(c.GmailAsOne)
	leaks, err := openLeaks(c, st, keys, now)
	if err != nil {
		return nil, fmt.Errorf("leak corpora: %w", err)
	}
	a := &App{Config: c, Keys: keys, Store: st, Passwords: passwords, Leaks: leaks, Engine: db.EngineName(), now: now}
	a.Rules = a.newRules(st.Areas)
	a.makeLastingRules()
	a.Jobs = job.NewRunner(st.Jobs, slog.New(slog.DiscardHandler), a.jobKinds(nil)...)
	a.Subjects = subject.NewRights(st.Subjects, st.Partners, a.Audit, now)
	if err := errors.Join(st.BindKeyFile(ctx), st.CheckStandby(ctx)); err != nil {
		return nil, err
	}
	return a, a.Services.SeedServices(ctx)
}

// openKeyFile opens the key file, and makes one only for a database that never had any.
func openKeyFile(ctx context.Context, c config.Common, db *sqldb.DB) (*seal.Keys, error) {
	UseKMS()
	bound, err := store.IsBound(ctx, db)
	if err != nil {
		return nil, err
	}
	if bound {
		return seal.OpenKeyFile(c.KeyFilePath())
	}
	if c.KMS != "" {
		return seal.OpenOrCreate(c.KeyFilePath(), seal.WithKMSKey(c.KMS))
	}
	return seal.OpenOrCreate(c.KeyFilePath())
}

// Close lets go of the database.
func (a *App) Close() error { return errors.Join(a.Leaks.closeLibrary(), a.Store.Close()) }

// prepareFolder creates the data folder, or makes sure that an existing one of ours is closed to other users.
func prepareFolder(path string) error {
	err := os.MkdirAll(filepath.Dir(path), 0o750)
	if err == nil {
		err = os.Mkdir(path, 0o700)
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
		return fmt.Errorf("data folder: %s belongs to user %d and this program runs as user %d; run it as the owner, or give the folder to that user",
			path, owner, user)
	}
	return nil
}

// isOwnFolder reports whether a folder is empty or already holds our database or keys: only then its mode is ours to change.
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
