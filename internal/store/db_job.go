package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// jobColumns are those that scanJobRow expects, in its order.
const jobColumns = `id, kind, subject, state, args, progress, error, attempts, next_at, cancel, created_at, finished_at`

func scanJobRow(row scanner, j *job.Job) error {
	return row.Scan(
		&j.ID,
		&j.Kind,
		&j.Subject,
		&j.State,
		&j.Args,
		&j.Progress,
		&j.Error,
		&j.Attempts,
		&j.NextAt,
		&j.CancelAsked,
		&j.CreatedAt,
		&j.FinishedAt,
	)
}

// EnqueueJob puts work in the queue; job.ErrExists when the same work is there already and not finished.
func (s Jobs) EnqueueJob(ctx context.Context, kind, subject string, args any) (job.ID, error) {
	return runReturning(
		ctx,
		s.core,
		func(tx *sqldb.Tx) (job.ID, error) { return s.insertJob(ctx, tx, kind, subject, args) },
	)
}

// insertJob adds a job in the caller's transaction, so that a stage hands over together with its own result.
func (s Jobs) insertJob(ctx context.Context, tx *sqldb.Tx, kind, subject string, args any) (job.ID, error) {
	id := job.ID("job_" + uuid.Must(uuid.NewV7()).String())
	return id, execExpecting(ctx, tx, job.ErrExists, `INSERT INTO job
		(id, kind, subject, state, args, progress, error, attempts, next_at, lease, cancel, created_at, finished_at)
		VALUES ($1, $2, $3, 'ready', $4, '{}', '', 0, $5, '', $6, $5, 0)
		ON CONFLICT (kind, subject) WHERE state IN ('ready', 'running') DO NOTHING`,
		id,
		kind,
		subject,
		jsonArgument{args},
		s.now(),
		false,
	)
}

// ClaimJobs takes up to limit due jobs of the given kinds for worker, oldest first: new ones, and those whose lease has
// run out.
func (s Jobs) ClaimJobs(ctx context.Context, worker string, kinds []string, limit int) ([]job.Job, error) {
	if len(kinds) == 0 {
		return nil, nil
	}
	now := s.now()
	args := []any{now, now.Add(job.Lease), worker, limit}
	marks := appendMarks(&args, kinds)
	// The due ones are locked as they are read, so no other worker has them. They are read once, before: a subquery
	// that PostgreSQL runs for each row finds other rows each time, and the limit is none.
	query := `WITH due AS MATERIALIZED (
			SELECT id FROM job WHERE state IN ('ready', 'running') AND next_at <= $1 AND kind IN (` + marks + `)
			ORDER BY next_at LIMIT $4` + s.db.SkipLocked() + `)
		UPDATE job SET state = 'running', lease = $3, next_at = $2, attempts = attempts + 1
		WHERE id IN (SELECT id FROM due)
		RETURNING ` + jobColumns
	jobs, err := runReturning(
		ctx,
		s.core,
		func(tx *sqldb.Tx) ([]job.Job, error) { return collectRows(ctx, tx, scanJobRow, query, args...) },
	)
	// An UPDATE returns its rows in any order.
	slices.SortFunc(
		jobs,
		func(a, b job.Job) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) },
	)
	return jobs, err
}

// SaveJob stores the progress of a claimed job and renews its lease; job.ErrCancelled tells that an operator asked to
// stop.
func (s Jobs) SaveJob(ctx context.Context, worker string, id job.ID, progress any) error {
	cancel, err := s.renewLease(
		ctx,
		`UPDATE job SET next_at = $3, progress = $4 WHERE id = $1 AND lease = $2 AND state = 'running'
		RETURNING cancel`,
		id,
		worker,
		s.now().Add(job.Lease),
		jsonArgument{progress},
	)
	if err == nil && cancel {
		return job.ErrCancelled
	}
	return err
}

// RenewJob renews the lease and tells whether an operator asked to stop.
func (s Jobs) RenewJob(ctx context.Context, worker string, id job.ID) (cancel bool, err error) {
	return s.renewLease(
		ctx,
		`UPDATE job SET next_at = $3 WHERE id = $1 AND lease = $2 AND state = 'running' RETURNING cancel`,
		id,
		worker,
		s.now().Add(job.Lease),
	)
}

// renewLease runs a statement that returns whether an operator asked to stop; job.ErrLost when the lease is another's.
func (s Jobs) renewLease(ctx context.Context, query string, args ...any) (cancel bool, err error) {
	return runReturning(
		ctx,
		s.core,
		func(tx *sqldb.Tx) (bool, error) {
			return readRow(ctx, tx, scanValue[bool], job.ErrLost, query, args...)
		},
	)
}

// FinishJob ends a claimed job, or puts it back for another try when state is job.Ready.
func (s Jobs) FinishJob(ctx context.Context, worker string, j job.Job, state job.State, reason string) error {
	now := s.now()
	next, finished := time.Time{}, now
	if state == job.Ready {
		next, finished = now.Add(job.BackoffPause(j.Attempts)), time.Time{}
	}
	return s.execAlone(ctx, `UPDATE job SET state = $3, error = $4, next_at = $5, finished_at = $6, lease = ''
		WHERE id = $1 AND lease = $2 AND state = 'running'`,
		j.ID,
		worker,
		state,
		reason,
		next,
		finished,
	)
}

// CancelJob asks a job to stop: a waiting one at once, a running one at its next step.
func (s Jobs) CancelJob(ctx context.Context, id job.ID) error {
	return s.runAll(
		ctx,
		sqldb.NewStatement(
			`UPDATE job SET state = 'cancelled', finished_at = $2 WHERE id = $1 AND state = 'ready'`,
			id,
			s.now(),
		),
		sqldb.NewStatement(`UPDATE job SET cancel = $2 WHERE id = $1 AND state = 'running'`, id, true),
	)
}

func (s Jobs) GetJob(ctx context.Context, id job.ID) (job.Job, error) {
	return readRow(
		ctx,
		s.readQuerier(),
		scanJobRow,
		job.ErrNotFound,
		`SELECT `+jobColumns+` FROM job WHERE id = $1`,
		id,
	)
}

// ListJobs returns the newest jobs of a kind, or of every kind when kind is empty.
func (s Jobs) ListJobs(ctx context.Context, kind string, limit int) ([]job.Job, error) {
	const newest = ` ORDER BY created_at DESC, id DESC LIMIT $1`
	if kind == "" {
		return collectRows(
			ctx,
			s.readQuerier(),
			scanJobRow,
			`SELECT `+jobColumns+` FROM job`+newest,
			limit,
		)
	}
	return collectRows(
		ctx,
		s.readQuerier(),
		scanJobRow,
		`SELECT `+jobColumns+` FROM job WHERE kind = $2`+newest,
		limit,
		kind,
	)
}

// ListJobsAbout returns the newest jobs of some kinds about one subject.
func (s Jobs) ListJobsAbout(ctx context.Context, subject string, kinds []string, limit int) ([]job.Job, error) {
	args := []any{subject, limit}
	return collectRows(
		ctx,
		s.readQuerier(),
		scanJobRow,
		`SELECT `+jobColumns+` FROM job WHERE subject = $1 AND kind IN (`+appendMarks(&args, kinds)+`)
		ORDER BY created_at DESC, id DESC LIMIT $2`,
		args...,
	)
}

// TakeJobOf claims the one unfinished job of a kind and subject, if it is due or already held under this worker's name,
// and returns false when there is none to take. A name that stands for a place rather than a process (a folder that
// only one process can hold) so takes up again what a killed process left, without waiting for its lease.
func (s Jobs) TakeJobOf(ctx context.Context, worker, kind, subject string) (j job.Job, taken bool, err error) {
	now := s.now()
	j, err = runReturning(ctx, s.core, func(tx *sqldb.Tx) (job.Job, error) {
		return readRow(
			ctx,
			tx,
			scanJobRow,
			nil,
			`UPDATE job SET state = 'running', lease = $3, next_at = $5, attempts = attempts + 1, cancel = $6
			WHERE kind = $1 AND subject = $2 AND state IN ('ready', 'running') AND (next_at <= $4 OR state = 'ready'
			OR lease = $3)
			RETURNING `+jobColumns,
			kind,
			subject,
			worker,
			now,
			now.Add(job.Lease),
			false,
		)
	})
	return j, j.ID != "", err
}

func (s Jobs) NewestJobOf(ctx context.Context, kind, subject string) (job.Job, error) {
	return readRow(
		ctx,
		s.readQuerier(),
		scanJobRow,
		job.ErrNotFound,
		`SELECT `+jobColumns+` FROM job WHERE kind = $1 AND subject = $2
		ORDER BY created_at DESC, id DESC LIMIT 1`,
		kind,
		subject,
	)
}
