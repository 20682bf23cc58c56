package app

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vigiahq/vigia/internal/backup"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/durable"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subject"
)

// BackupOptions choose what goes into a backup.
type BackupOptions struct {
	// WithoutCorpora leaves the corpora out, because they are kept elsewhere. With a bucket they always are.
	WithoutCorpora bool
	Program        string
	Progress       func(done, total int64)
}

// The purposes of keyed hashes.
const backupMAC = "backup"

// Backup writes a copy of this installation to a new file, while servers go on writing. The key file is never in it:
// together they would be all that a thief needs. A PostgreSQL database is copied by its own tools; then the archive
// holds the corpora alone.
func (a *App) Backup(ctx context.Context, path string, o BackupOptions) (m backup.Manifest, err error) {
	if _, err := os.Lstat(path); err == nil { // told before the work, and once more after it
		return m, backup.ErrExists.With("there is a file of that name already")
	}
	stage, err := os.MkdirTemp(filepath.Dir(path), ".vigia-backup-*")
	if err != nil {
		return m, fmt.Errorf("backup: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	about := backup.About{
		Format: backup.Format, MadeAt: a.now().UTC(), Program: o.Program, Engine: string(a.Engine), Corpora: "included", Binding: a.Keys.Binding(),
	}
	var sources []backup.Source
	defer func() {
		for _, s := range sources {
			err = errors.Join(err, s.File.Close())
		}
	}()
	st := a.Store
	if a.Engine == sqldb.SQLite {
		about.Database = true
		copied, file, err := a.copyDatabase(ctx, filepath.Join(stage, "vigia.db"))
		if err != nil {
			return m, err
		}
		defer func() { _ = copied.Close() }() // only read from here on
		st, sources = copied, append(sources, backup.Source{Name: "vigia.db", File: file})
	}
	if o.WithoutCorpora || a.Config.Corpora != "" {
		about.Corpora = "referenced"
	} else {
		corpora, err := a.openCorpora(ctx, st)
		sources = append(sources, corpora...)
		if err != nil {
			return m, err
		}
	}
	return backup.Write(ctx, path, about, sources, func(list []byte) []byte { return a.Keys.MAC(backupMAC, list) }, o.Progress)
}

// copyDatabase copies the database and opens the copy: what is archived has been seen to open with the keys.
func (a *App) copyDatabase(ctx context.Context, path string) (*store.Store, *os.File, error) {
	if err := a.Store.CopyTo(ctx, path); err != nil {
		return nil, nil, err
	}
	db, err := sqldb.Open(ctx, path, sqldb.Options{Passing: true})
	if err != nil {
		return nil, nil, err
	}
	copied := store.New(db, a.Keys, a.now)
	err = copied.CheckKeys(ctx)
	if err == nil {
		err = db.Scrub(ctx) // all of it is in the one file
	}
	var file *os.File
	if err == nil {
		file, err = os.Open(filepath.Clean(path))
	}
	if err != nil {
		return nil, nil, errors.Join(err, copied.Close())
	}
	return copied, file, nil
}

// openCorpora opens every file that the copy of the database speaks of, and the password corpora in force.
func (a *App) openCorpora(ctx context.Context, st *store.Store) (sources []backup.Source, err error) {
	segments, _, err := st.Breaches.Segments(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range segments {
		for _, file := range g.Files() {
			name := filepath.Base(file.Name)
			f, err := os.Open(filepath.Join(a.Config.CorporaPath(), "leak", name))
			if err != nil {
				return sources, fmt.Errorf("the segment of breach %s cannot be opened; if it was retracted just now, run the command again: %w", g.Breach, err)
			}
			sources = append(sources, backup.Source{Name: "corpora/leak/" + name, File: f})
		}
	}
	passwords, err := a.Passwords.OpenFiles()
	for _, f := range passwords {
		sources = append(sources, backup.Source{Name: "corpora/password/" + filepath.Base(f.Name()), File: f})
	}
	if err != nil {
		err = fmt.Errorf("password corpora: %w", err)
	}
	return sources, err
}

// RestoreOptions say what a restore is told besides its file.
type RestoreOptions struct {
	// Erasures is the log of erasures, newer than the backup; nil when there is none.
	Erasures io.Reader
	Progress func(done, total int64)
	// Checking is told what is being checked.
	Checking func(name string, rows int64)
}

// Restored is what a restore came to.
type Restored struct {
	Manifest backup.Manifest
	Replayed subject.Replayed
	Problems []store.Problem
}

// Restore unpacks a backup into an empty folder, opens it with its key file, erases again whoever was erased since, and
// checks everything. record is called with the restored installation before it is looked at.
func Restore(ctx context.Context, c config.Common, path string, o RestoreOptions, record func(*App) error) (Restored, error) {
	var r Restored
	about, err := backup.Describe(path)
	if err != nil {
		return r, err
	}
	if about.Database != (c.Database == "") {
		if about.Database {
			return r, backup.ErrEngine.With("the backup holds a SQLite database: leave --database out")
		}
		return r, backup.ErrEngine.With("the backup holds no database: restore PostgreSQL by its own tools first, and name it with --database")
	}
	keys, err := keysOf(c, about)
	if err != nil {
		return r, err
	}
	if err := emptyFolder(c.Data); err != nil {
		return r, err
	}
	if r.Manifest, err = unpack(ctx, c, path, keys, o.Progress); err != nil {
		return r, err
	}
	a, err := Open(ctx, c, sqldb.Options{MaxConns: 4, StatementTimeout: LongStatement})
	if err != nil {
		return r, err
	}
	return r, errors.Join(a.settle(ctx, &r, o, record), a.Close())
}

func (a *App) settle(ctx context.Context, r *Restored, o RestoreOptions, record func(*App) error) (err error) {
	if err := record(a); err != nil {
		return err
	}
	if o.Erasures != nil {
		if r.Replayed, err = a.Subjects.Replay(ctx, o.Erasures); err != nil {
			return err
		}
	}
	r.Problems, err = a.Check(ctx, o.Checking)
	return err
}

// keysOf opens the key file and makes sure that the backup is sealed with it, before anything is unpacked.
func keysOf(c config.Common, about backup.About) (*seal.Keys, error) {
	keys, err := seal.Open(c.KeyFilePath())
	if errors.Is(err, seal.ErrNoKeyFile) {
		return nil, backup.ErrNoKeyFile.With("the key file is not in the backup: name your copy of it with --key-file, or put it at %s", c.KeyFilePath())
	}
	if err != nil {
		return nil, err
	}
	if err := keys.Verify(about.Binding); err != nil {
		return nil, backup.ErrForeign.With("the key file at %s belongs to another installation than the backup", c.KeyFilePath())
	}
	return keys, nil
}

// emptyFolder refuses a folder that holds anything but the key file: nothing is ever overwritten.
func emptyFolder(path string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	for _, e := range entries {
		if e.Name() != "keys.json" && e.Name() != "keys.json.lock" {
			return backup.ErrNotEmpty.With("the folder %s is not empty: choose another, or move what is there away", path)
		}
	}
	return nil
}

// unpack puts files in place only when all of them are right.
func unpack(ctx context.Context, c config.Common, path string, keys *seal.Keys, progress func(done, total int64)) (m backup.Manifest, err error) {
	if err := prepareFolder(c.Data); err != nil {
		return m, err
	}
	stage, err := os.MkdirTemp(c.Data, ".restore-*")
	if err != nil {
		return m, fmt.Errorf("restore: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	m, err = backup.Extract(ctx, path, stage, func(list, mac []byte) bool { return hmac.Equal(mac, keys.MAC(backupMAC, list)) }, progress)
	if err != nil {
		return m, err
	}
	for _, name := range []string{"corpora", "vigia.db"} { // the database last: with it the folder is an installation
		err := durable.Rename(filepath.Join(stage, name), filepath.Join(c.Data, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return m, fmt.Errorf("restore: %w", err)
		}
	}
	return m, nil
}
