package app

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/backup"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subject"
)

// RestoreOptions are the settings of a restore besides its file.
type RestoreOptions struct {
	// Erasures is the log of erasures, newer than the backup; nil when there is none.
	Erasures io.Reader
	Progress func(done, total int64)
	// Checking is called with the progress of the final check.
	Checking func(name string, rows int64)
}

// Restored is what a restore came to.
type Restored struct {
	Manifest backup.Manifest
	Replayed subject.Replayed
	Problems []store.Problem
}

// RestoreBackup unpacks a backup into an empty folder, opens it with its root key, repeats the erasures that were made
// since the backup, and checks everything. record is called with the restored installation before the check. Until the
// restore is complete a marker keeps every other command out of the folder; the next restore starts over in it.
func RestoreBackup(
	ctx context.Context, c config.Common, path string, o RestoreOptions, record func(*App) error,
) (r Restored, err error) {
	about, err := backup.DescribeArchive(path)
	if err != nil {
		return r, err
	}
	// A backup of an installation on SQLite always holds its database.
	if about.Engine == string(sqldb.SQLite) != about.Holds(backup.Database) {
		return r, about.OtherVersion()
	}
	if about.Holds(backup.Database) != (c.Database == "") {
		if about.Holds(backup.Database) {
			return r, backup.ErrEngine.Note("the backup holds a SQLite database: leave --database out")
		}
		return r, backup.ErrEngine.Note(
			"the backup holds no database: restore PostgreSQL by its own tools first, and name it with --database",
		)
	}
	keys, err := openBackupKeys(c, about)
	if err != nil {
		return r, err
	}
	marker, err := markRestore(c.Data)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, marker.Close()) }()
	if r.Manifest, err = unpackBackup(ctx, c, path, keys, o.Progress); err != nil {
		return r, errors.Join(err, clearFolder(c.Data), os.Remove(marker.Name()))
	}
	a, err := openAnyway(ctx, c, sqldb.Options{MaxConns: 4, StatementTimeout: LongStatement}, thisMachine())
	if err != nil {
		return r, err
	}
	if err := errors.Join(a.settleRestore(ctx, &r, o, record), a.Close()); err != nil {
		return r, err
	}
	return r, os.Remove(marker.Name())
}

// openBackupKeys opens the keys that the backup carries, before anything is unpacked.
func openBackupKeys(c config.Common, about backup.About) (*seal.Keys, error) {
	UseKMS()
	root, err := seal.OpenRoot(c.RootPlace())
	if errors.Is(err, seal.ErrNoKeyFile) {
		return nil, backup.ErrNoKeyFile.Note(
			"the root key is not in the backup: name your copy of the key file with --key-file, or put it at %s",
			c.KeyFilePath(),
		)
	}
	if err != nil {
		return nil, err
	}
	var ring seal.WrappedRing
	if err := json.Unmarshal(about.Ring, &ring); err != nil {
		return nil, backup.ErrForeign.Note("the backup carries no keys that this program can read")
	}
	keys, err := seal.OpenRing(root, ring)
	if errors.Is(err, seal.ErrWrongRoot) {
		return nil, backup.ErrForeign.Because(err).Note(
			"the keys of the backup open under the root %s, and %s holds %s: give the root of the backup's time",
			strings.Join(ring.RootIDs(), " or "),
			c.RootPlace(),
			root.ID(),
		)
	}
	return keys, err
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
		if !slices.Contains(keptInRestore, e.Name()) {
			return backup.ErrNotEmpty.Note(
				"the folder %s is not empty: choose another, or move what is there away",
				path,
			)
		}
	}
	return nil
}

// unpackBackup puts files in place only when all of them are right.
func unpackBackup(
	ctx context.Context, c config.Common, path string, keys *seal.Keys, progress func(done, total int64),
) (m backup.Manifest, err error) {
	stage, err := os.MkdirTemp(c.Data, ".restore-*")
	if err != nil {
		return m, fmt.Errorf("restore: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	m, err = backup.ExtractArchive(
		ctx, path, stage, func(list, mac []byte) bool { return hmac.Equal(mac, keys.MAC(backupMAC, list)) }, progress,
	)
	if err != nil {
		return m, err
	}
	for _, name := range []string{"corpora", "vigia.db"} { // the database last: with it the folder is an installation
		err := durable.RenameSynced(filepath.Join(stage, name), filepath.Join(c.Data, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return m, fmt.Errorf("restore: %w", err)
		}
	}
	return m, nil
}

// settleRestore records the restore, erases again the people in the log of erasures, and checks all data.
func (a *App) settleRestore(ctx context.Context, r *Restored, o RestoreOptions, record func(*App) error) (err error) {
	if err := record(a); err != nil {
		return err
	}
	if o.Erasures != nil {
		if r.Replayed, err = a.Subjects.ReplayLog(ctx, o.Erasures); err != nil {
			return err
		}
	}
	r.Problems, err = a.CheckAll(ctx, o.Checking)
	return err
}
