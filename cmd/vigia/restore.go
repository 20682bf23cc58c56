package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/platform/backup"
	"github.com/vigiahq/vigia/internal/platform/config"
)

// restoreCmd is 'vigia restore'. The root key is not in a backup and has to be given.
type restoreCmd struct {
	File     string `arg:"" name:"file" help:"The backup."`
	Erasures string `placeholder:"FILE" help:"Log of erasures (erasures.jsonl of the lost data folder, or 'vigia subject log'): whoever was erased after the backup is erased again."`
}

func (restoreCmd) Help() string {
	return "Unpacks into an empty folder (a key file may be in it), checks every byte, opens it with the root key, " +
		"erases again whoever was\n" +
		"erased since, and looks at everything like 'vigia check'. Nothing is put in place before all of the backup " +
		"has been found right.\n\n" +
		"Example:\n  vigia restore vigia-2026-11-15.tar.gz --data /var/lib/vigia-new --key-file /safe/keys.json " +
		"--erasures erasures.jsonl"
}

func (r *restoreCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	if err := checkNamedFile(r.File); err != nil {
		return err
	}
	opts := app.RestoreOptions{}
	if r.Erasures != "" {
		log, err := openNamedFile(r.Erasures)
		if err != nil {
			return err
		}
		defer func() { _ = log.Close() }() // only read
		opts.Erasures = log
	}
	bar := o.progress("restore", "bytes")
	opts.Progress = func(done, total int64) { bar.setProgress(done, total, "") }
	checking := o.progress("check", "rows")
	opts.Checking = func(name string, rows int64) { checking.setProgress(rows, 0, name) }
	done, err := app.RestoreBackup(ctx, *c, r.File, opts, func(a *app.App) error { return recordCommand(ctx, a) })
	bar.clearLine()
	checking.clearLine()
	if err != nil {
		return err
	}
	r.warnOfMissing(o, c, done.Manifest.About)
	record := viewBackup(r.File, done.Manifest).withPairs(
		"erasures_replayed", done.Replayed.Lines,
		"rows_erased_again", done.Replayed.Rows,
		"problems", viewProblems(done.Problems),
	)
	return errors.Join(o.showRecord(record, "Restored to "+c.Data+"."), problemsError(done.Problems))
}

// warnOfMissing names what the restored installation has not got back from the backup.
func (r *restoreCmd) warnOfMissing(o *output, c *config.Common, about backup.About) {
	if r.Erasures == "" {
		o.warn("no log of erasures was given (--erasures): people erased after " + formatTime(about.MadeAt) +
			" are back; run 'vigia subject replay FILE' before serving")
	}
	if !about.Holds(backup.Database) {
		o.warn(
			"the database is not in this backup: the one named by --database has to be filled by pg_restore, from a " +
				"dump made before the backup",
		)
	}
	if !about.Holds(backup.Leaks) && c.Corpora != "" {
		o.warn("the leak corpora are not in this backup: they are read from the bucket of --corpora")
	} else if !about.Holds(backup.Leaks) {
		o.warn("the leak corpora are not in this backup: name their bucket with --corpora, or put their copy into " +
			filepath.Join(c.CorporaPath(), "leak"))
	}
	if !about.Holds(backup.Passwords) {
		o.warn("no password corpus is in this backup: until 'vigia passwords import' or 'vigia passwords download', " +
			"password checks of live partners are answered 503")
	}
}
