package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/platform/backup"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/store"
)

// backupCmd is 'vigia backup'. It refuses to overwrite a file.
type backupCmd struct {
	File           string `arg:"" name:"file" type:"path" help:"New file to write, such as vigia-2026-11-15.tar.gz."`
	WithoutCorpora bool   `name:"without-corpora" help:"Leave the leak and password corpora out, because they are kept elsewhere."`
}

func (backupCmd) Help() string {
	return "Copies the embedded database as it is at one moment while servers go on writing, with the corpora and a " +
		"list of digests, to one\n" +
		"file of mode 0600. The keys are in it, wrapped; the root key that opens them is not: keep a copy of the key " +
		"file apart, since the two\n" +
		"together are all that a thief needs, and the backup alone is of no use to anybody. A PostgreSQL database is " +
		"copied by pg_dump, and leak corpora in a bucket by the bucket's own\n" +
		"tools: what is not in the file is named on standard error, with the command that copies it.\n\n" +
		"Examples:\n  vigia backup /backup/vigia-2026-11-15.tar.gz --data /var/lib/vigia\n" +
		"  vigia restore /backup/vigia-2026-11-15.tar.gz --data /var/lib/vigia-new --key-file /safe/keys.json"
}

// viewBackup returns a backup as a record of output, with the size of the archive.
func viewBackup(file string, m backup.Manifest) record {
	size := int64(0)
	if info, err := os.Stat(file); err == nil {
		size = info.Size()
	}
	return newRecord("file", file, "made_at", m.About.MadeAt, "engine", m.About.Engine, "parts", m.About.Parts,
		"files", len(m.Files), "bytes", m.TotalBytes(), "archive_bytes", size)
}

func (b *backupCmd) Run(ctx context.Context, a *app.App, o *output) error {
	bar := o.progress("backup", "bytes")
	m, err := a.WriteBackup(ctx, b.File, app.BackupOptions{
		WithoutCorpora: b.WithoutCorpora,
		Program:        versionText(),
		Progress:       func(done, total int64) { bar.setProgress(done, total, "") },
	})
	bar.clearLine()
	if err != nil {
		return err
	}
	left := a.ListLeftOut(m.About)
	for _, l := range left {
		o.warn("this backup does not hold the " + string(l.Part) + " (" + l.Where + "); copy them with: " + l.Command)
	}
	return o.showRecord(viewBackup(b.File, m).withPairs("not_included", makeRecords(left, func(l app.LeftOut) record {
		return newRecord("part", string(l.Part), "where", l.Where, "copied_by", l.Command)
	})), "The root key is not in it: keep a copy of "+placeOfRoot(&a.Config)+" apart.")
}

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

// checkCmd is 'vigia check', which checks the consistency of all data and changes nothing.
type checkCmd struct{}

func (checkCmd) Help() string {
	return "Looks at everything this installation keeps, while servers go on running: the engine's own check of its " +
		"files, every sealed value,\n" +
		"keyed indexes, references, kept counts, the numbering of events, statuses, cases, erasures, the audit " +
		"trail, every byte of the segments\n" +
		"and password corpora, and who can read the files. What is wrong is listed, and the command ends with code " +
		"1.\n\n" +
		"Examples:\n  vigia check --data /var/lib/vigia\n  vigia check --json | jq '.problems[]'"
}

func (checkCmd) Run(ctx context.Context, a *app.App, o *output) error {
	bar := o.progress("check", "rows")
	counts, order := map[string]int64{}, []string{}
	list, err := a.CheckAll(ctx, func(name string, rows int64) {
		if _, known := counts[name]; !known {
			order = append(order, name)
		}
		counts[name] = max(counts[name], rows)
		bar.setProgress(rows, 0, name)
	})
	bar.clearLine()
	if err != nil {
		return err
	}
	wrong := map[string]int{}
	for _, p := range list {
		wrong[p.Check]++
	}
	err = o.showRecord(newRecord("sound", len(list) == 0, "checks", makeRecords(order, func(name string) record {
		return newRecord("name", name, "looked_at", counts[name], "problems", wrong[name])
	}), "problems", viewProblems(list)))
	return errors.Join(err, problemsError(list))
}

// errProblems ends a command that found something wrong.
var errProblems = fault.New(fault.Internal, "check.problems")

// viewProblems returns the problems of a database as records of output.
func viewProblems(list []store.Problem) []record {
	return makeRecords(
		list,
		func(p store.Problem) record { return newRecord("check", p.Check, "where", p.Where, "what", p.What) },
	)
}

// problemsError turns problems into how the command ends.
func problemsError(list []store.Problem) error {
	if len(list) == 0 {
		return nil
	}
	return errProblems.Note("%d problems were found", len(list))
}
