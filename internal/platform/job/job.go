// Package job is the pattern of work that outlives a request: the row is the job.
//
// A job has a state, its progress, the time of its next try and a lease. A worker of any replica claims due jobs,
// renews the lease while it works, and a job whose lease has run out is taken up again, so every step must bear being
// run twice. This package runs jobs; it knows neither which kinds there are nor where rows are kept.
package job

import (
	"context"
	"errors"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ID names a job: "job_" and a UUIDv7.
type ID string

// State is where a job stands.
type State string

// The states. Only ready and running jobs have work left.
const (
	Ready     State = "ready"
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// IsKnown reports whether it is one of the states: see sqldb.Enumerated.
func (s State) IsKnown() bool {
	switch s {
	case Ready, Running, Done, Failed, Cancelled:
		return true
	}
	return false
}

// Job is a piece of work.
type Job struct {
	ID   ID
	Kind string
	// Subject is what the job works on (a breach's name, a feed's id): one unfinished job per kind and subject.
	Subject string
	State   State
	// Args are the job's own parameters as JSON: ids and settings, never personal data.
	Args []byte
	// Progress is the worker's note to itself and to those who watch, as JSON: ids, counts and positions.
	Progress []byte
	// Error is why the last try failed, without any personal value.
	Error      string
	Attempts   int64
	NextAt     time.Time
	CreatedAt  time.Time
	FinishedAt time.Time
	// CancelAsked is set by an operator; the step notices at its next Save.
	CancelAsked bool
}

// Faults of this package.
var (
	ErrNotFound  = fault.New(fault.NotFound, "job.not_found")
	ErrCancelled = fault.New(fault.Conflict, "job.cancelled")
	// ErrLost means that the lease went to another worker: stop at once and write nothing more.
	ErrLost = fault.New(fault.Conflict, "job.lost")
	// ErrExists means that an unfinished job of that kind and subject is already there.
	ErrExists = fault.New(fault.Conflict, "job.exists")
)

// Lease is how long a claim lasts without being renewed. What a killed process held is taken up by another after that,
// at the next look for due jobs: within ten seconds, because an operator watches the match of what a command imported.
const Lease = 8 * time.Second

// renewalsPerLease is how often a lease is renewed before it runs out: a database that is busy for some seconds costs
// nobody the job.
const renewalsPerLease = 4

// Run is one claimed job in the hands of its step.
type Run struct {
	Job
	// Save keeps the progress and renews the lease. It returns ErrCancelled when an operator asked to stop, and ErrLost
	// when the lease was lost.
	Save func(ctx context.Context, progress any) error

	every time.Duration
	last  time.Time
	stop  context.CancelCauseFunc
}

// TellProgress is Save for work that tells its progress often and looks at its context: most of it is dropped, and what
// ends the job ends the context. One goroutine may call it at a time.
func (r *Run) TellProgress(ctx context.Context, progress any) {
	if now := time.Now(); now.Sub(r.last) >= r.every {
		r.last = now
		if err := r.Save(ctx, progress); errors.Is(err, ErrCancelled) || errors.Is(err, ErrLost) {
			r.stop(err)
		}
	}
}
