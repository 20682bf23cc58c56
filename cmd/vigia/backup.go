package main

import (
	"context"
	"os"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/platform/backup"
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
