package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/vigiahq/vigia/internal/store"
)

// LongStatement is how long one statement of a check may take on PostgreSQL.
const LongStatement = time.Hour

// CheckAll checks everything that this installation stores and returns the problems found: the database, the segments
// and password corpora, and who can read the files. It may run beside servers. at is called with the progress and may
// be nil.
func (a *App) CheckAll(ctx context.Context, at func(name string, rows int64)) ([]store.Problem, error) {
	if at == nil {
		at = func(string, int64) {}
	}
	var list []store.Problem
	found := func(p store.Problem) { list = append(list, p) }
	for _, c := range a.Store.Upkeep.ListChecks() {
		at(c.Name, 0)
		err := c.Run(ctx, found, func(rows int64) { at(c.Name, rows) })
		if ctx.Err() != nil {
			return list, ctx.Err()
		}
		if err != nil { // the other checks find what they can
			what := "could not be checked to the end: " + err.Error()
			found(store.Problem{Check: c.Name, Where: "database", What: what})
		}
	}
	err := a.checkSegments(ctx, found, at)
	if ctx.Err() != nil {
		return list, ctx.Err()
	}
	if err != nil {
		found(store.Problem{Check: "segments", Where: "database", What: err.Error()})
	}
	at("passwords", 0)
	if err := a.Passwords.VerifyFiles(ctx); err != nil {
		if ctx.Err() != nil {
			return list, ctx.Err()
		}
		found(store.Problem{Check: "passwords", Where: "corpora/password", What: err.Error()})
	}
	a.checkModes(found)
	return list, nil
}

// checkSegments reads every published segment from the first byte to the last.
func (a *App) checkSegments(ctx context.Context, found func(store.Problem), at func(string, int64)) error {
	at("segments", 0)
	segments, _, err := a.Store.Breaches.ListSegments(ctx)
	if err != nil {
		return fmt.Errorf("check segments: %w", err)
	}
	for i, g := range segments {
		for _, f := range g.ListFiles() {
			_, err := a.Leaks.Library.VerifyFile(ctx, f)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				found(store.Problem{Check: "segments", Where: "breach " + g.Breach, What: err.Error()})
			}
		}
		at("segments", int64(i+1))
	}
	return nil
}

// checkModes looks for files that others can read.
func (a *App) checkModes(found func(store.Problem)) {
	if runtime.GOOS == "windows" {
		return
	}
	for path, most := range map[string]os.FileMode{
		a.Config.Data:                                0o700,
		filepath.Join(a.Config.Data, "vigia.db"):     0o600,
		filepath.Join(a.Config.Data, "vigia.db-wal"): 0o600,
		a.Config.KeyFilePath():                       0o600,
	} {
		info, err := os.Stat(path)
		if err != nil { // not there: a database may be a server's
			continue
		}
		if mode := info.Mode().Perm(); mode&^most != 0 {
			found(store.Problem{
				Check: "files",
				Where: filepath.Base(path),
				What:  fmt.Sprintf("others can read it: its mode is %04o, and should be %04o", mode, most),
			})
		}
	}
}
