package job

import (
	"context"
	"errors"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

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

// errLater is ContinueLater as an error.
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
