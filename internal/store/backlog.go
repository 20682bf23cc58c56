package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/sqldb"
)

// Backlog is what waits in the whole service, and since when.
type Backlog struct {
	Deliveries     int64
	OldestDelivery time.Time
	Jobs           int64 // due
	OldestJob      time.Time
	NewestBreach   time.Time
	LastBackup     time.Time // zero: there was none
}

// CountBacklog counts what waits.
func (s Upkeep) CountBacklog(ctx context.Context) (Backlog, error) {
	var b Backlog
	var delivery, job, breach int64
	err := s.readQuerier().QueryRowContext(ctx, `SELECT count(*), coalesce(min(created_at), 0) FROM delivery WHERE state = 'pending'`).
		Scan(&b.Deliveries, &delivery)
	if err == nil {
		err = s.readQuerier().QueryRowContext(ctx, `SELECT count(*), coalesce(min(next_at), 0), (SELECT coalesce(max(published_at), 0) FROM breach WHERE state = 'published')
			FROM job WHERE state IN ('ready', 'running') AND next_at <= $1`, toMicros(s.now())).Scan(&b.Jobs, &job, &breach)
	}
	if err != nil {
		return b, classifyError(fmt.Errorf("count backlog: %w", err))
	}
	b.OldestDelivery, b.OldestJob, b.NewestBreach = fromMicros(delivery), fromMicros(job), fromMicros(breach)
	var at []byte
	err = s.readQuerier().QueryRowContext(ctx, `SELECT value FROM meta WHERE name = 'last_backup'`).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return b, nil
	}
	if err != nil {
		return b, classifyError(fmt.Errorf("read last backup: %w", err))
	}
	us, err := strconv.ParseInt(string(at), 10, 64)
	if err != nil {
		return b, fmt.Errorf("read last backup: %w", err)
	}
	b.LastBackup = fromMicros(us)
	return b, nil
}

// NoteBackup remembers that a backup was made.
func (s Upkeep) NoteBackup(ctx context.Context) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		return execStatement(ctx, tx, "note backup", `INSERT INTO meta (name, value) VALUES ('last_backup', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
			strconv.AppendInt(nil, toMicros(s.now()), 10))
	})
}
