package app

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
)

// consoleWork is long work that a page begins. It runs in this process, as a job that any console shows and cancels.
type consoleWork struct {
	app   *App
	log   *slog.Logger
	ctx   context.Context //nolint:containedctx // the server's own, which outlives the request that begins the work
	group *errgroup.Group
	// worker holds the leases. It is another name in every process, so that only what a dead process left can be taken
	// up.
	worker string
}

// newConsoleWork returns the runner of jobs that are started in the console and run in this process.
func (s *Server) newConsoleWork(ctx context.Context, group *errgroup.Group) *consoleWork {
	return &consoleWork{app: s.app, log: s.log, ctx: ctx, group: group, worker: "c_" + rand.Text()}
}

// errStopped fails a job whose process stops. No other process has its files, so an operator has to start it again.
var errStopped = fault.New(fault.Unavailable, "job.stopped")

// work does something long. It tells how far it is and returns what is kept of the result.
type work func(ctx context.Context, tell func(progress any)) (result any, err error)

// beginWork takes a job and leaves the work to a goroutine of the server; after is called when it is over, or at once
// when the same work is already under way, which is busy.
func (w *consoleWork) beginWork(ctx context.Context, kind, subject string, busy error, do work, after func()) error {
	hold, err := w.app.Jobs.BeginJob(ctx, w.worker, kind, subject, struct{}{})
	if errors.Is(err, job.ErrExists) {
		err = busy
	}
	if err != nil {
		after()
		return err
	}
	w.group.Go(func() error {
		defer after()
		// The lease outlives the server's context by the moment that it takes to write down how the job ended.
		err := hold.RunStep(
			context.WithoutCancel(w.ctx),
			func(ctx context.Context, run *job.Run) error { return w.runWorkStep(ctx, run, do) },
		)
		if err != nil && w.ctx.Err() == nil && !errors.Is(err, job.ErrCancelled) {
			w.log.Error(
				"work of the console failed",
				"kind", kind,
				"subject", subject,
				"cause", err.Error(),
			) // the job's row tells the operator
		}
		return nil
	})
	return nil
}

// beginDetached begins what a page alone knows how to do.
func (w *consoleWork) beginDetached(
	ctx context.Context, kind, subject string, busy error, do func(context.Context, func(any)) (any, error),
) error {
	return w.beginWork(ctx, kind, subject, busy, do, func() {})
}

// runWorkStep runs the work until it is over, cancelled, or the server stops.
func (w *consoleWork) runWorkStep(ctx context.Context, run *job.Run, do work) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(w.ctx, func() { stop(errStopped) })()
	result, err := do(ctx, func(progress any) { run.TellProgress(ctx, progress) })
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	if err != nil {
		return err
	}
	return run.Save(context.WithoutCancel(ctx), result)
}
