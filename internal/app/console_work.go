package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/job"
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

// beginWork takes a job and leaves the work to a goroutine of the server; after is called when it is over, or at once when
// the same work is already under way, which is busy.
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
		err := hold.RunStep(context.WithoutCancel(w.ctx), func(ctx context.Context, run *job.Run) error { return w.runStep(ctx, run, do) })
		if err != nil && w.ctx.Err() == nil && !errors.Is(err, job.ErrCancelled) {
			w.log.Error("work of the console failed", "kind", kind, "subject", subject, "cause", err.Error()) // the job's row tells the operator
		}
		return nil
	})
	return nil
}

// beginDetached begins what a page alone knows how to do.
func (w *consoleWork) beginDetached(ctx context.Context, kind, subject string, busy error, do func(context.Context, func(any)) (any, error)) error {
	return w.beginWork(ctx, kind, subject, busy, do, func() {})
}

// runStep runs the work until it is over, cancelled, or the server stops.
func (w *consoleWork) runStep(ctx context.Context, run *job.Run, do work) error {
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

// uploadFolder returns the folder that holds an upload during its import. It is in the data folder, which only the service
// can read.
func (w *consoleWork) uploadFolder() string {
	return filepath.Join(w.app.Config.CorporaPath(), "upload")
}

// sweepUploads removes what a killed process left.
func (w *consoleWork) sweepUploads() error {
	if err := os.RemoveAll(w.uploadFolder()); err != nil {
		return fmt.Errorf("uploads: %w", err)
	}
	return nil
}

// keepUpload writes an upload to a folder of its own; remove takes it away again.
func (w *consoleWork) keepUpload(name string, file io.Reader) (path string, remove func(), err error) {
	folder := filepath.Join(w.uploadFolder(), rand.Text())
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", nil, fmt.Errorf("keep upload: %w", err)
	}
	remove = func() {
		if err := os.RemoveAll(folder); err != nil {
			w.log.Error("an upload cannot be removed", "cause", err.Error())
		}
	}
	path = filepath.Join(folder, "upload"+filepath.Ext(filepath.Base(name)))
	if err := writeUpload(path, file); err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}

// writeUpload keeps what a page was sent; the console bounds how much that can be.
func writeUpload(path string, file io.Reader) error {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep upload: %w", err)
	}
	_, err = io.Copy(out, file)
	if err = errors.Join(err, out.Close()); err != nil {
		return intake.ErrInput.With("file", fault.ArrivedInPart).Because(err)
	}
	return nil
}
