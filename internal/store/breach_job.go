package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// TakeJobOf claims the one unfinished job of a kind and subject, if it is due or already held under this worker's name,
// and returns false when there is none to take. A name that stands for a place rather than a process (a folder that
// only one process can hold) so takes up again what a killed process left, without waiting for its lease.
func (s Jobs) TakeJobOf(ctx context.Context, worker, kind, subject string) (j job.Job, taken bool, err error) {
	now := s.now()
	err = s.runInTx(ctx, func(tx *sqldb.Tx) error {
		j, err = scanJobRow(tx.QueryRowContext(ctx, `UPDATE job SET state = 'running', lease = $3, next_at = $5, attempts = attempts + 1, cancel = $6
			WHERE kind = $1 AND subject = $2 AND state IN ('ready', 'running') AND (next_at <= $4 OR state = 'ready' OR lease = $3)
			RETURNING `+jobColumns, kind, subject, worker, toMicros(now), toMicros(now.Add(job.Lease)), false))
		taken = err == nil
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return wrapError("take job", err)
	})
	return j, taken, err
}

// NewestJobOf returns the newest job of a kind and subject.
func (s Jobs) NewestJobOf(ctx context.Context, kind, subject string) (job.Job, error) {
	j, err := scanJobRow(s.readQuerier().QueryRowContext(ctx, `SELECT `+jobColumns+` FROM job WHERE kind = $1 AND subject = $2
		ORDER BY created_at DESC, id DESC LIMIT 1`, kind, subject))
	if errors.Is(err, sql.ErrNoRows) {
		return j, job.ErrNotFound
	}
	return j, classifyError(err)
}
