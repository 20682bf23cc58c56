package job

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// Hold is a job that this process holds. It must be run.
type Hold struct {
	Job
	runner *Runner
	worker string
}

// RunStep runs a step while the lease is renewed beside it, and finishes the job. It returns the step's error; of a job
// that is over because it was cancelled or lost, or because ctx ended, the cause.
func (h *Hold) RunStep(ctx context.Context, step Step) error {
	stepCtx, stop := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { h.renewLease(stepCtx, stop) })
	err := h.runSafely(stepCtx, step, stop)
	if cause := context.Cause(stepCtx); err != nil && cause != nil {
		err = cause
	}
	stop(nil)
	renewing.Wait()
	if state, reason, touch := h.runner.kinds[h.Kind].decideOutcome(h.Attempts, err); touch {
		// The end is written down also when the process is stopping: the job need not wait for its lease to run out
		// then.
		if ferr := h.runner.store.FinishJob(context.WithoutCancel(ctx), h.worker, h.Job, state, reason); ferr != nil {
			return errors.Join(err, ferr)
		}
	}
	if errors.Is(err, errLater) {
		return nil
	}
	return err
}

// renewLease keeps the lease until ctx ends, and ends the step when the lease is lost or an operator asks to stop.
func (h *Hold) renewLease(ctx context.Context, stop context.CancelCauseFunc) {
	tick := time.NewTicker(h.runner.renew)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		cancel, err := h.runner.store.RenewJob(ctx, h.worker, h.ID)
		switch {
		case errors.Is(err, ErrLost):
			stop(ErrLost)
		case cancel:
			stop(ErrCancelled)
		}
	}
}

// runSafely turns a panic of a step into an error: one bad job must not end the process.
func (h *Hold) runSafely(ctx context.Context, step Step, stop context.CancelCauseFunc) (err error) {
	ctx, span := telemetry.StartJob(ctx, h.Kind)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic of type %T", p) // its text may hold what was worked on
		}
		telemetry.EndJobSpan(span, err)
	}()
	return step(
		ctx,
		&Run{Job: h.Job, every: h.runner.tell, stop: stop, Save: func(ctx context.Context, progress any) error {
			return h.runner.store.SaveJob(ctx, h.worker, h.ID, progress)
		}},
	)
}
