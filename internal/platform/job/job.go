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

// BackoffPause returns the pause before the next try.
func BackoffPause(attempts int64) time.Duration {
	pause := time.Second << min(attempts, 9)
	return min(pause, 5*time.Minute)
}

// PauseStep pauses a step.
func PauseStep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Step does the work of one kind of job. It returns nil when the job is done, ErrCancelled when it stopped on request;
// what becomes of any other error is the kind's to decide.
type Step func(ctx context.Context, run *Run) error

// Lane is a number of places for jobs. Kinds with lanes of their own do not keep each other waiting.
type Lane struct {
	Name   string
	AtOnce int
	// Before is called before each look for due jobs, to add what became due by the clock; it may be nil.
	Before func(ctx context.Context) error
}

// Kind declares one kind of job.
type Kind struct {
	Name string
	// Lane is where workers run it. Nil means that they do not: it needs what only its beginner has, a file for
	// instance.
	Lane *Lane
	// Step is what workers run. A process that runs a job in the foreground may use another step.
	Step Step
	// Tries is after how many a job counts as failed; 0 means after the first.
	Tries int64
}

// errLater is Later as an error.
var errLater = errors.New("the rest is done later")

// ContinueLater is returned by a step whose rest another process is to do, soon. It is not a failure.
func ContinueLater() error { return errLater }

// left is an error that leaves the row as it is.
type left struct{ error }

// Unwrap gives the cause.
func (l left) Unwrap() error { return l.error }

// LeaveToOther marks an error of a step that found another process at the same work: the job is that one's to finish.
func LeaveToOther(err error) error { return left{err} }

// decideOutcome returns what becomes of a job whose step returned err. It is not to be touched when touch is false.
func (k Kind) decideOutcome(attempts int64, err error) (state State, reason string, touch bool) {
	switch {
	case err == nil:
		return Done, "", true
	case errors.Is(err, ErrLost), errors.As(err, new(left)):
		return "", "", false
	case errors.Is(err, ErrCancelled):
		return Cancelled, "", true
	case errors.Is(err, context.Canceled), errors.Is(err, errLater): // the process stops, or leaves the rest to another
		return Ready, "", true
	}
	// No repetition would mend a wrong argument, or bring back what is gone.
	if kind := fault.KindOf(err); kind == fault.Invalid || kind == fault.NotFound || attempts >= k.Tries {
		return Failed, fault.Keep(err), true
	}
	return Ready, fault.Keep(err), true
}

// Pace is how fast long work goes and when it will be over: one rule for the terminal and the console.
type Pace struct {
	// Percent is how much of it is done, 0 to 100; -1 when the total is unknown.
	Percent float64
	// PerSecond is how much was done in a second since this run began; 0 before anything was.
	PerSecond float64
	// Left is the time that the rest takes at this speed; 0 when that is not known.
	Left time.Duration
}

// EstimatePace judges work of which done of total was done after elapsed; before is what an earlier run had done, which
// says nothing about the speed of this one. A total of 0 is not known.
func EstimatePace(done, before, total int64, elapsed time.Duration) Pace {
	p := Pace{Percent: -1}
	if total > 0 {
		p.Percent = min(100, 100*float64(done)/float64(total))
	}
	if s := elapsed.Seconds(); s > 0 && done > before {
		p.PerSecond = float64(done-before) / s
		if total > done {
			p.Left = time.Duration(float64(total-done) / p.PerSecond * float64(time.Second)).Round(time.Second)
		}
	}
	return p
}
