package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/platform/backup"
	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
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

// WriteBackup writes a copy of this installation to a new file, while servers go on writing. The root key is never in
// it: together they would be all that a thief needs. A PostgreSQL database is copied by its own tools, and leak corpora
// in a bucket by those of the bucket; ListLeftOut names them. Passwords are always taken along: every machine has its
// own copy, and fetching them anew takes hours.
func (a *App) WriteBackup(ctx context.Context, path string, o BackupOptions) (m backup.Manifest, err error) {
	if _, err := os.Lstat(path); err == nil { // checked before the work, and once more after it
		return m, backup.ErrExists.Note("there is a file %s already", path)
	}
	stage, unstage, err := stageBackup(filepath.Dir(path))
	if err != nil {
		return m, fmt.Errorf("backup: %w", err)
	}
	defer func() { err = errors.Join(err, unstage()) }()
	about := backup.About{
		Format:  backup.Format,
		MadeAt:  a.now().UTC(),
		Program: o.Program,
		Engine:  string(a.Engine),
	}
	var sources []backup.Source
	defer func() {
		for _, s := range sources {
			err = errors.Join(err, s.File.Close())
		}
	}()
	st, keys := a.Store, a.Keys
	if a.Engine == sqldb.SQLite {
		about.Parts = append(about.Parts, backup.Database)
		copied, own, file, err := a.copyDatabase(ctx, filepath.Join(stage, "vigia.db"))
		if err != nil {
			return m, err
		}
		defer func() { _ = copied.Close() }() // only read from here on
		st, keys, sources = copied, own, append(sources, backup.Source{Name: "vigia.db", File: file})
	}
	if !o.WithoutCorpora && !a.Leaks.Files.IsShared() {
		segments, err := a.openSegments(ctx, st)
		sources = append(sources, segments...)
		if err != nil {
			return m, err
		}
		about.Parts = append(about.Parts, backup.Leaks)
	}
	if !o.WithoutCorpora {
		// A machine that does not serve may lack what the bucket has.
		if err := a.SharePasswords(ctx); err != nil && !errors.Is(err, password.ErrBusy) {
			return m, err
		}
		passwords, imported, err := a.openPasswords()
		sources = append(sources, passwords...)
		if err != nil {
			return m, err
		}
		if imported {
			about.Parts = append(about.Parts, backup.Passwords)
		}
	}
	ring, err := st.Upkeep.ReadRing(ctx)
	if err == nil {
		about.Ring, err = json.Marshal(ring)
	}
	if err != nil {
		return m, fmt.Errorf("backup: the keys: %w", err)
	}
	staged := filepath.Join(stage, "archive")
	m, err = backup.WriteArchive(
		ctx, staged, about, sources, func(list []byte) []byte { return keys.MAC(backupMAC, list) }, o.Progress,
	)
	if err == nil {
		err = durable.RenameNew(staged, path)
	}
	if err == nil {
		err = a.Store.Upkeep.NoteBackup(ctx, m.About.Parts, a.partsOfOthers())
	}
	if errors.Is(err, fs.ErrExist) {
		err = backup.ErrExists.Note("there is a file %s already", path)
	}
	return m, err
}

// stagePrefix is how the folders begin in which backups are prepared, and stageLock a file in each that is locked while
// its backup is at work.
const stagePrefix, stageLock = ".vigia-backup-", "lock"

// stageBackup makes a folder to prepare a backup in, beside its place, and removes those that killed backups have left.
func stageBackup(beside string) (stage string, unstage func() error, err error) {
	left, err := filepath.Glob(filepath.Join(beside, stagePrefix+"*"))
	if err != nil {
		return "", nil, err
	}
	for _, folder := range left {
		f, err := os.Open(filepath.Join(folder, stageLock))
		if err != nil {
			continue // just being made, or another's
		}
		dead, err := durable.TryLockFile(f)
		if err == nil && dead {
			err = os.RemoveAll(folder)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return "", nil, err
		}
	}
	if stage, err = os.MkdirTemp(beside, stagePrefix+"*"); err != nil {
		return "", nil, err
	}
	lock, err := os.OpenFile(filepath.Join(stage, stageLock), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = durable.TryLockFile(lock)
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(stage))
	}
	return stage, func() error { return errors.Join(lock.Close(), os.RemoveAll(stage)) }, nil
}
