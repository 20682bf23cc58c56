package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/backup"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
)

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
