package app

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tink-crypto/tink-go/v2/core/registry"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/platform/backup"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
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
		ctx,
		staged,
		about,
		sources,
		func(list []byte) []byte { return keys.MAC(backupMAC, list) },
		o.Progress,
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

// copyDatabase copies the database and opens the copy by the root: what is archived has been seen to open.
func (a *App) copyDatabase(ctx context.Context, path string) (*store.Store, *seal.Keys, *os.File, error) {
	if err := a.Store.CopyDatabaseTo(ctx, path); err != nil {
		return nil, nil, nil, err
	}
	db, err := sqldb.OpenDatabase(ctx, path, sqldb.Options{Passing: true})
	if err != nil {
		return nil, nil, nil, err
	}
	keys, err := store.OpenKeys(ctx, db, a.Keys.Root(), a.now())
	if err != nil {
		return nil, nil, nil, errors.Join(err, db.Close())
	}
	copied := store.NewStore(db, keys, a.now, leak.Judge{})
	err = db.ScrubDeleted(ctx) // all of it is in the one file
	var file *os.File
	if err == nil {
		file, err = os.Open(filepath.Clean(path))
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, copied.Close())
	}
	return copied, keys, file, nil
}

// openSegments opens every segment that the copy of the database speaks of.
func (a *App) openSegments(ctx context.Context, st *store.Store) (sources []backup.Source, err error) {
	segments, _, err := st.Breaches.ListSegments(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range segments {
		for _, file := range g.ListFiles() {
			name := filepath.Base(file.Name)
			f, err := os.Open(filepath.Join(a.Config.CorporaPath(), "leak", name))
			if err != nil {
				return sources, fmt.Errorf("the segment of breach %s cannot be opened; if it was retracted just now, "+
					"run the command again: %w", g.Breach, err)
			}
			sources = append(sources, backup.Source{Name: "corpora/leak/" + name, File: f})
		}
	}
	return sources, nil
}

// openPasswords opens the password corpora in force and reports whether an operator brought one of them: the built-in
// sample is made anew by every start and is no part worth the name.
func (a *App) openPasswords() (sources []backup.Source, imported bool, err error) {
	corpora, err := a.Passwords.ReadStatus()
	if err != nil {
		return nil, false, fmt.Errorf("password corpora: %w", err)
	}
	imported = slices.ContainsFunc(corpora, func(c password.Corpus) bool { return !c.Sample() })
	files, err := a.Passwords.OpenFiles()
	for _, f := range files {
		sources = append(sources, backup.Source{Name: "corpora/password/" + filepath.Base(f.Name()), File: f})
	}
	if err != nil {
		err = fmt.Errorf("password corpora: %w", err)
	}
	return sources, imported, err
}

// partsOfOthers lists the parts that no 'vigia backup' of this installation can hold.
func (a *App) partsOfOthers() []backup.Part {
	var parts []backup.Part
	if a.Engine != sqldb.SQLite {
		parts = append(parts, backup.Database)
	}
	if a.Leaks.Files.IsShared() {
		parts = append(parts, backup.Leaks)
	}
	return parts
}

// LeftOut is a part of an installation that a backup does not hold.
type LeftOut struct {
	Part backup.Part
	// Where is the place that has it, and Command what copies it from there.
	Where, Command string
}

// ListLeftOut returns what a backup of this installation does not hold.
func (a *App) ListLeftOut(about backup.About) []LeftOut {
	var list []LeftOut
	if !about.Holds(backup.Database) {
		list = append(list, LeftOut{
			Part:    backup.Database,
			Where:   "PostgreSQL",
			Command: `pg_dump --format=custom --file=vigia.dump "$VIGIA_DATABASE"`,
		})
	}
	switch {
	case about.Holds(backup.Leaks):
	case a.Leaks.Files.IsShared():
		where, command := "the bucket of --corpora", "rclone sync, or versioning of the bucket"
		if folder, ok := strings.CutPrefix(a.Config.Corpora, "file://"); ok {
			where, command = folder, "cp -a "+folder+" /backup/"
		}
		list = append(list, LeftOut{Part: backup.Leaks, Where: where, Command: command})
	default:
		list = append(list, leftOutFolder(backup.Leaks, filepath.Join(a.Config.CorporaPath(), "leak")))
	}
	corpora, err := a.Passwords.ReadStatus()
	imported := err != nil || slices.ContainsFunc(corpora, func(c password.Corpus) bool { return !c.Sample() })
	switch {
	case about.Holds(backup.Passwords):
	case imported:
		list = append(list, leftOutFolder(backup.Passwords, filepath.Join(a.Config.CorporaPath(), "password")))
	case a.Engine == sqldb.PostgreSQL: // a replica of another machine may have them
		list = append(list, LeftOut{
			Part:    backup.Passwords,
			Where:   "not on this machine",
			Command: "vigia backup, on a machine where 'vigia passwords status' shows a corpus",
		})
	}
	return list
}

// leftOutFolder is a part that lies in a folder of this machine.
func leftOutFolder(part backup.Part, folder string) LeftOut {
	return LeftOut{Part: part, Where: folder, Command: "cp -a " + folder + " /backup/"}
}

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
	ctx context.Context,
	c config.Common,
	path string,
	o RestoreOptions,
	record func(*App) error,
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

// restoreMarker is a file in the data folder while a restore is not complete, locked by the one at work: what is there
// may be half of a backup, or a whole one with people in it who have been erased since.
const restoreMarker = "restoring"

// ErrRestoring means that a restore of the folder was begun and did not come to its end.
var ErrRestoring = fault.New(fault.Conflict, "backup.restoring")

// RefuseRestoring refuses a folder whose restore is not complete.
func RefuseRestoring(folder string) error {
	if _, err := os.Lstat(filepath.Join(folder, restoreMarker)); err == nil {
		return ErrRestoring.Note(
			"a restore into %s did not come to its end, or is still at work: run the same 'vigia restore' again, it "+
				"begins anew",
			folder,
		)
	}
	return nil
}

// markRestore makes the marker in an empty folder, or takes over the one of a restore that was killed and clears what
// that has left.
func markRestore(folder string) (marker *os.File, err error) {
	name := filepath.Join(folder, restoreMarker)
	_, serr := os.Lstat(name)
	if serr != nil {
		if err := emptyFolder(folder); err != nil {
			return nil, err
		}
	}
	if err := prepareFolder(folder); err != nil {
		return nil, err
	}
	marker, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	locked, err := durable.TryLockFile(marker)
	if err == nil && !locked {
		err = ErrRestoring.Note("another restore into %s is at work", folder)
	}
	if err == nil && serr == nil {
		err = clearFolder(folder)
	}
	if err == nil {
		err = durable.SyncFolder(folder)
	}
	if err != nil {
		return nil, errors.Join(err, marker.Close())
	}
	return marker, nil
}

// keptInRestore are the files of a data folder that are not a restore's own.
var keptInRestore = []string{"keys.json", "keys.json.lock", restoreMarker}

// clearFolder removes what a restore has put into a folder that was empty before.
func clearFolder(path string) error {
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if !slices.Contains(keptInRestore, e.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(path, e.Name())))
		}
	}
	return err
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
	ctx context.Context,
	c config.Common,
	path string,
	keys *seal.Keys,
	progress func(done, total int64),
) (m backup.Manifest, err error) {
	stage, err := os.MkdirTemp(c.Data, ".restore-*")
	if err != nil {
		return m, fmt.Errorf("restore: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	m, err = backup.ExtractArchive(
		ctx,
		path,
		stage,
		func(list, mac []byte) bool { return hmac.Equal(mac, keys.MAC(backupMAC, list)) },
		progress,
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

// UseKMS lets a key management service be the root. The service may be on an inner address, because the
// operator names it; a cloud's address of credentials is not among those.
var UseKMS = sync.OnceFunc(func() {
	var inner []netip.Prefix
	for _, p := range []string{"127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"} {
		inner = append(inner, netip.MustParsePrefix(p))
	}
	guard := webhook.NewGuard(inner)
	guard.Ports = append(guard.Ports, 8200)
	registry.RegisterKMSClient(
		seal.NewKMSClient(seal.KMSOptions{HTTP: guard.NewClient(webhook.ClientOptions{}), Env: os.Getenv}),
	)
})

// KeysBesideData reports whether a copy of the data folder includes the root key.
func KeysBesideData(c config.Common) bool {
	inside, err := filepath.Rel(c.Data, c.KeyFilePath())
	return err == nil && c.KMS == "" && inside != ".." &&
		!strings.HasPrefix(inside, ".."+string(filepath.Separator))
}

// WarnOfCustody says at each start what an operator has chosen, or left as it was, that lets others at the data.
func (a *App) WarnOfCustody(log *slog.Logger, standby string) {
	if KeysBesideData(a.Config) {
		log.Warn("the key file is in the data folder: whoever copies the folder, or the disk, can read everything",
			"file", a.Config.KeyFilePath(),
			"mend", "move it and name it with --key-file, or use a KMS: vigia keys root --new")
	}
	for option, address := range map[string]string{
		"--database":      a.Config.DatabaseAddress(),
		"--database-read": standby,
	} {
		if sqldb.Unverified(address) {
			log.Warn(
				"the database's certificate is not checked: anybody on the way could answer in its place",
				"option", option,
				"mend", "add sslmode=verify-full to the address and leave --database-insecure out",
			)
		}
	}
}
