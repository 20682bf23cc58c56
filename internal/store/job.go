package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// jobColumns are those that scanJob expects, in its order.
const jobColumns = `id, kind, subject, state, args, progress, error, attempts, next_at, cancel, created_at, finished_at`

// scanJobRow reads a job.
func scanJobRow(row scanner) (job.Job, error) {
	var j job.Job
	var next, created, finished int64
	var args, progress string
	err := row.Scan(&j.ID, &j.Kind, &j.Subject, &j.State, &args, &progress, &j.Error, &j.Attempts, &next, &j.CancelAsked,
		&created, &finished)
	j.Args, j.Progress = []byte(args), []byte(progress)
	j.NextAt, j.CreatedAt, j.FinishedAt = fromMicros(next), fromMicros(created), fromMicros(finished)
	return j, err
}

// EnqueueJob puts work in the queue; job.ErrExists when the same work is there already and not finished.
func (s Jobs) EnqueueJob(ctx context.Context, kind, subject string, args any) (job.ID, error) {
	var id job.ID
	err := s.runInTransaction(ctx, func(tx *sqldb.Tx) (err error) {
		id, err = s.insertJob(ctx, tx, kind, subject, args)
		return err
	})
	return id, err
}

// insertJob adds a job in the caller's transaction, so that a stage hands over together with its own result.
func (s Jobs) insertJob(ctx context.Context, tx *sqldb.Tx, kind, subject string, args any) (job.ID, error) {
	text, err := json.Marshal(args)
	if err != nil {
		return "", fmt.Errorf("add job: %w", err)
	}
	made, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("add job: %w", err)
	}
	id, now := job.ID("job_"+made.String()), toMicros(s.now())
	res, err := tx.ExecContext(ctx, `INSERT INTO job
		(id, kind, subject, state, args, progress, error, attempts, next_at, lease, cancel, created_at, finished_at)
		VALUES ($1, $2, $3, 'ready', $4, '{}', '', 0, $5, '', $6, $5, 0)
		ON CONFLICT (kind, subject) WHERE state IN ('ready', 'running') DO NOTHING`, string(id), kind, subject, string(text), now, false)
	if err != nil {
		return "", fmt.Errorf("add job: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return "", errors.Join(job.ErrExists, err)
	}
	return id, nil
}

// ClaimJobs takes up to limit due jobs of the given kinds for worker, oldest first: new ones, and those whose lease has
// run out.
func (s Jobs) ClaimJobs(ctx context.Context, worker string, kinds []string, limit int) ([]job.Job, error) {
	if len(kinds) == 0 {
		return nil, nil
	}
	now := s.now()
	args := []any{toMicros(now), toMicros(now.Add(job.Lease)), worker, int64(limit)}
	marks := appendListMarks(&args, kinds)
	var jobs []job.Job
	// The due ones are locked as they are read, so no other worker has them. They are read once, before: a subquery
	// that PostgreSQL runs for each row finds other rows each time, and the limit is none.
	query := `WITH due AS MATERIALIZED (
			SELECT id FROM job WHERE state IN ('ready', 'running') AND next_at <= $1 AND kind IN (` + marks + `)
			ORDER BY next_at LIMIT $4` + s.db.SkipLocked() + `)
		UPDATE job SET state = 'running', lease = $3, next_at = $2, attempts = attempts + 1
		WHERE id IN (SELECT id FROM due)
		RETURNING ` + jobColumns
	err := s.runInTransaction(ctx, func(tx *sqldb.Tx) (err error) {
		jobs, err = collectRows(ctx, tx, scanJobRow, query, args...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim jobs: %w", err)
	}
	// An UPDATE returns its rows in any order.
	slices.SortFunc(jobs, func(a, b job.Job) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return jobs, nil
}

// SaveJob stores the progress of a claimed job and renews its lease; job.ErrCancelled tells that an operator asked to
// stop.
func (s Jobs) SaveJob(ctx context.Context, worker string, id job.ID, progress any) error {
	text, err := json.Marshal(progress)
	if err != nil {
		return fmt.Errorf("save job: %w", err)
	}
	var cancel bool
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		err := tx.QueryRowContext(ctx, `UPDATE job SET progress = $4, next_at = $3
			WHERE id = $1 AND lease = $2 AND state = 'running' RETURNING cancel`,
			string(id), worker, toMicros(s.now().Add(job.Lease)), string(text)).Scan(&cancel)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return job.ErrLost
		case err != nil:
			return fmt.Errorf("save job: %w", err)
		}
		return nil
	})
	if err == nil && cancel {
		return job.ErrCancelled
	}
	return err
}

// RenewJob renews the lease and tells whether an operator asked to stop.
func (s Jobs) RenewJob(ctx context.Context, worker string, id job.ID) (cancel bool, err error) {
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		err := tx.QueryRowContext(ctx, `UPDATE job SET next_at = $3 WHERE id = $1 AND lease = $2 AND state = 'running'
			RETURNING cancel`, string(id), worker, toMicros(s.now().Add(job.Lease))).Scan(&cancel)
		if errors.Is(err, sql.ErrNoRows) {
			return job.ErrLost
		}
		return err
	})
	return cancel, err
}

// FinishJob ends a claimed job, or puts it back for another try when state is job.Ready.
func (s Jobs) FinishJob(ctx context.Context, worker string, j job.Job, state job.State, reason string) error {
	now := s.now()
	next, finished := int64(0), toMicros(now)
	if state == job.Ready {
		next, finished = toMicros(now.Add(job.BackoffPause(j.Attempts))), 0
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		return execStatement(ctx, tx, "finish job", `UPDATE job SET state = $3, error = $4, next_at = $5, finished_at = $6, lease = ''
			WHERE id = $1 AND lease = $2 AND state = 'running'`,
			string(j.ID), worker, string(state), reason, next, finished)
	})
}

// CancelJob asks a job to stop: a waiting one at once, a running one at its next step.
func (s Jobs) CancelJob(ctx context.Context, id job.ID) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if err := execStatement(ctx, tx, "cancel job", `UPDATE job SET state = 'cancelled', finished_at = $2 WHERE id = $1 AND state = 'ready'`,
			string(id), toMicros(s.now())); err != nil {
			return err
		}
		return execStatement(ctx, tx, "cancel job", `UPDATE job SET cancel = $2 WHERE id = $1 AND state = 'running'`, string(id), true)
	})
}

// GetJob returns one job.
func (s Jobs) GetJob(ctx context.Context, id job.ID) (job.Job, error) {
	j, err := scanJobRow(s.readQuerier().QueryRowContext(ctx, `SELECT `+jobColumns+` FROM job WHERE id = $1`, string(id)))
	if errors.Is(err, sql.ErrNoRows) {
		return j, job.ErrNotFound
	}
	return j, classifyError(err)
}

// ListJobs returns the newest jobs of a kind; of every kind but the parts of imports, of which there may be thousands, when
// kind is empty.
func (s Jobs) ListJobs(ctx context.Context, kind string, limit int) ([]job.Job, error) {
	const newest = ` ORDER BY created_at DESC, id DESC LIMIT $1`
	if kind == "" {
		return collectRows(ctx, s.readQuerier(), scanJobRow, `SELECT `+jobColumns+` FROM job WHERE kind <> 'breach.part'`+newest, int64(limit))
	}
	return collectRows(ctx, s.readQuerier(), scanJobRow, `SELECT `+jobColumns+` FROM job WHERE kind = $2`+newest, int64(limit), kind)
}

// ListJobsAbout returns the newest jobs of some kinds about one subject.
func (s Jobs) ListJobsAbout(ctx context.Context, subject string, kinds []string, limit int) ([]job.Job, error) {
	args := []any{subject, int64(limit)}
	return collectRows(ctx, s.readQuerier(), scanJobRow, `SELECT `+jobColumns+` FROM job WHERE subject = $1 AND kind IN (`+appendListMarks(&args, kinds)+`)
		ORDER BY created_at DESC, id DESC LIMIT $2`, args...)
}
