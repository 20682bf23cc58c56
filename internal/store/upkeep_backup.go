package store

import (
	"context"
	"strconv"

	"github.com/vigiahq/vigia/internal/platform/backup"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// backupNote is the name under which the time of a part's last backup is kept.
func backupNote(part backup.Part) string { return "last_backup." + string(part) }

// NoteBackup remembers that a backup was made of parts. What is known of parts that backups cannot hold any more,
// because they moved to a bucket or to another engine, is forgotten: its age would grow for ever.
func (s Upkeep) NoteBackup(ctx context.Context, parts, elsewhere []backup.Part) error {
	now := strconv.AppendInt(nil, toMicros(s.now()), 10)
	var statements sqldb.Statements
	for _, part := range parts {
		statements.Add(`INSERT INTO meta (name, value) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
			backupNote(part),
			now,
		)
	}
	for _, part := range elsewhere {
		statements.Add(`DELETE FROM meta WHERE name = $1`, backupNote(part))
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error { return tx.RunStatements(ctx, statements) })
}

// CopyDatabaseTo writes a copy of the embedded database, as it is at one moment, to a new file.
func (s *Store) CopyDatabaseTo(ctx context.Context, path string) error {
	return s.db.CopyFileTo(ctx, path)
}
