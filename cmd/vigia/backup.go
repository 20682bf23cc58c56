package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/backup"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/store"
)

type backupCmd struct {
	File           string `arg:"" name:"file" type:"path" help:"New file to write, such as vigia-2026-11-15.tar.gz."`
	WithoutCorpora bool   `name:"without-corpora" help:"Leave the leak and password corpora out, because they are kept elsewhere."`
}

// Help shows examples.
func (backupCmd) Help() string {
	return "Copies the embedded database as it is at one moment while servers go on writing, with the corpora and a list of digests, to one\n" +
		"file of mode 0600. The key file is not in it: keep a copy of it apart, since the two together are all that a thief needs, and the\n" +
		"backup alone is of no use to anybody. A PostgreSQL database is copied by its own tools (see docs/backup.md); then the file holds\n" +
		"the corpora alone.\n\n" +
		"Examples:\n  vigia backup /backup/vigia-2026-11-15.tar.gz --data /var/lib/vigia\n" +
		"  vigia restore /backup/vigia-2026-11-15.tar.gz --data /var/lib/vigia-new --key-file /safe/keys.json"
}

type backupView struct {
	File     string `json:"file"`
	MadeAt   string `json:"made_at"`
	Engine   string `json:"engine"`
	Database bool   `json:"database"`
	Corpora  string `json:"corpora"`
	Files    int    `json:"files"`
	Bytes    int64  `json:"bytes"`
	Archive  int64  `json:"archive_bytes"`
}

func viewBackup(file string, m backup.Manifest) backupView {
	v := backupView{
		File: file, MadeAt: stamp(m.About.MadeAt), Engine: m.About.Engine, Database: m.About.Database, Corpora: m.About.Corpora, Files: len(m.Files), Bytes: m.Bytes(),
	}
	if info, err := os.Stat(file); err == nil {
		v.Archive = info.Size()
	}
	return v
}

func (v backupView) text(w io.Writer) {
	database := "a copy of the SQLite database"
	if !v.Database {
		database = "no database: copy PostgreSQL by its own tools"
	}
	_, _ = fmt.Fprintf(w, "Backup     %s (%.1f MB)\nMade       %s\nHolds      %s; corpora %s; %d files, %.1f MB\n", v.File, float64(v.Archive)/1e6, v.MadeAt,
		database, v.Corpora, v.Files, float64(v.Bytes)/1e6)
}

// Run writes a backup.
func (b *backupCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withAppFor(ctx, c, func(a *app.App) error {
		bar := o.progress("backup", "bytes")
		m, err := a.Backup(ctx, b.File, app.BackupOptions{
			WithoutCorpora: b.WithoutCorpora, Program: versionText(), Progress: func(done, total int64) { bar.set(done, total, "") },
		})
		bar.end()
		if err != nil {
			return err
		}
		v := viewBackup(b.File, m)
		return o.print(v, func(w io.Writer) {
			v.text(w)
			_, _ = fmt.Fprintln(w, "\nThe key file is not in it: keep a copy of", a.Keys.Path(), "apart.")
		})
	})
}

type restoreCmd struct {
	File     string `arg:"" name:"file" type:"existingfile" help:"The backup."`
	Erasures string `placeholder:"FILE" type:"existingfile" help:"Log of erasures (erasures.jsonl of the lost data folder, or 'vigia subject log'): whoever was erased after the backup is erased again."`
}

// Help shows examples.
func (restoreCmd) Help() string {
	return "Unpacks into an empty folder (a key file may be in it), checks every byte, opens it with the key file, erases again whoever was\n" +
		"erased since, and looks at everything like 'vigia check'. Nothing is put in place before all of the backup has been found right.\n\n" +
		"Example:\n  vigia restore vigia-2026-11-15.tar.gz --data /var/lib/vigia-new --key-file /safe/keys.json --erasures erasures.jsonl"
}

// errProblems ends a command that found something wrong.
var errProblems = fault.New(fault.Internal, "check.problems")

// Run restores a backup.
func (r *restoreCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	opts := app.RestoreOptions{}
	if r.Erasures != "" {
		log, err := os.Open(filepath.Clean(r.Erasures))
		if err != nil {
			return fmt.Errorf("erasures: %w", err)
		}
		defer func() { _ = log.Close() }() // only read
		opts.Erasures = log
	}
	bar := o.progress("restore", "bytes")
	opts.Progress = func(done, total int64) { bar.set(done, total, "") }
	checking := o.progress("check", "rows")
	opts.Checking = func(name string, rows int64) { checking.set(rows, 0, name) }
	done, err := app.Restore(ctx, *c, r.File, opts, func(a *app.App) error { return recordCommand(ctx, a) })
	bar.end()
	checking.end()
	if err != nil {
		return err
	}
	v := struct {
		backupView
		Replayed int           `json:"erasures_replayed"`
		Erased   int64         `json:"rows_erased_again"`
		Problems []problemView `json:"problems"`
	}{viewBackup(r.File, done.Manifest), done.Replayed.Lines, done.Replayed.Rows, viewProblems(done.Problems)}
	err = o.print(v, func(w io.Writer) {
		v.text(w)
		_, _ = fmt.Fprintf(w, "Restored   to %s\n", c.Data)
		if r.Erasures != "" {
			_, _ = fmt.Fprintf(w, "Erasures   %d replayed, %d rows erased again\n", v.Replayed, v.Erased)
		} else {
			_, _ = fmt.Fprintln(w, "Erasures   none given. If anybody was erased after the backup was made, run 'vigia subject replay' before serving.")
		}
		o.problems(w, done.Problems)
	})
	return errors.Join(err, found(done.Problems))
}

type problemView struct {
	Check string `json:"check"`
	Where string `json:"where"`
	What  string `json:"what"`
}

func viewProblems(list []store.Problem) []problemView {
	views := make([]problemView, len(list))
	for i, p := range list {
		views[i] = problemView(p)
	}
	return views
}

// found turns problems into how the command ends.
func found(list []store.Problem) error {
	if len(list) == 0 {
		return nil
	}
	return errProblems.With("%d problems were found", len(list))
}

// problems prints them for people; a thousand of one kind are shown as a few.
func (o *output) problems(w io.Writer, list []store.Problem) {
	if len(list) == 0 {
		_, _ = fmt.Fprintln(w, "Everything is as it should be.")
		return
	}
	const most = 20
	counts := map[string]int{}
	var rows [][]string
	for _, p := range list {
		if counts[p.Check]++; counts[p.Check] <= most {
			rows = append(rows, []string{p.Check, p.Where, p.What})
		}
	}
	for check, n := range counts {
		if n > most {
			rows = append(rows, []string{check, "...", fmt.Sprintf("and %d more; --json lists all", n-most)})
		}
	}
	o.table(w, "CHECK\tWHERE\tWHAT IS WRONG", rows)
}

// withAppFor is withApp for work that may take long on a large database.
func withAppFor(ctx context.Context, c *config.Common, fn func(a *app.App) error) error {
	return withOptions(ctx, c, sqldb.Options{MaxConns: 4, StatementTimeout: app.LongStatement}, fn)
}
