package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/platform/backup"
)

// Backlog is what waits in the whole service, and since when.
type Backlog struct {
	Deliveries     int64
	OldestDelivery time.Time
	Jobs           int64 // due, and feeds that are due and have no job yet
	OldestJob      time.Time
	OldestLook     time.Time // since when the first look is due that has been due longest
	NewestBreach   time.Time
	// LastBackups is when a backup last held each part; a part that none held is missing.
	LastBackups map[backup.Part]time.Time
}

// CountBacklog counts what waits.
func (s Upkeep) CountBacklog(ctx context.Context) (Backlog, error) {
	var b Backlog
	q := s.readQuerier()
	err := readColumns(
		ctx,
		q,
		[]any{&b.Deliveries, &b.OldestDelivery},
		`SELECT count(*), min(created_at) FROM delivery WHERE state = 'pending'`,
	)
	if err == nil {
		// A feed that is due becomes a job only when a worker sees it; without any worker its own time has to tell.
		into := []any{&b.Jobs, &b.OldestJob, &b.OldestLook, &b.NewestBreach}
		err = readColumns(ctx, q, into, `SELECT count(*), min(next_at),
			(SELECT min(due_at) FROM asset WHERE look = 1),
			(SELECT max(published_at) FROM breach WHERE state = 'published') FROM (
				SELECT next_at FROM job WHERE state IN ('ready', 'running') AND next_at <= $1
				UNION ALL
				SELECT next_at FROM feed WHERE NOT paused AND next_at <= $1 AND NOT EXISTS (
					SELECT 1 FROM job WHERE kind = $2 AND subject = feed.name AND state IN ('ready', 'running'))
			) waiting`,
			s.now(),
			feed.KindRun,
		)
	}
	if err != nil {
		return b, err
	}
	b.LastBackups = map[backup.Part]time.Time{}
	for _, part := range []backup.Part{backup.Database, backup.Leaks, backup.Passwords} {
		const query = `SELECT value FROM meta WHERE name = $1` // digits
		at, err := readRow(ctx, q, scanValue[int64], nil, query, backupNote(part))
		if err != nil {
			return b, err
		}
		if at != 0 {
			b.LastBackups[part] = fromMicros(at)
		}
	}
	return b, nil
}
