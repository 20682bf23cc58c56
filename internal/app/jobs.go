package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/store"
)

// Kinds of jobs.
const kindRewriteSealed = "keys.rewrite"

// steps binds each kind of job to its work.
func (s *Server) steps() map[string]job.Step {
	steps := map[string]job.Step{
		kindRewriteSealed: s.app.rewriteSealed,
	}
	maps.Copy(steps, s.app.leakSteps())
	return steps
}

// startWorkers runs the jobs and the periodic chores of this process.
func (s *Server) startWorkers(group *errgroup.Group, ctx context.Context) { //nolint:revive // the group comes first, it owns the context
	group.Go(func() error { s.runJobs(ctx, s.steps(), jobsAtOnce); return nil })
	group.Go(func() error { return s.watchKeysAndPools(ctx) })
	group.Go(func() error { s.sweepRetention(ctx); return nil })
	group.Go(func() error {
		every(ctx, 30*time.Second, func() {
			if n, err := s.app.Subscriptions.Sweep(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("sweep of subscriptions failed", "cause", err.Error())
			} else if n > 0 {
				s.log.Info("subscriptions ended", "count", n)
			}
		})
		return nil
	})
	group.Go(func() error {
		every(ctx, 10*time.Minute, func() {
			if n, err := s.app.Store.SweepAnswers(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("sweep of kept answers failed", "cause", err.Error())
			} else if n > 0 {
				s.log.Info("swept kept answers", "count", n)
			}
		})
		return nil
	})
}

const (
	jobPoll     = time.Second
	jobsAtOnce  = 4
	renewEvery  = job.Lease / 3
	maxAttempts = 20
)

// runJobs claims due jobs of the kinds that have a step and runs them, a few at once, until ctx ends.
func (s *Server) runJobs(ctx context.Context, steps map[string]job.Step, atOnce int) {
	worker := "w_" + rand.Text()
	kinds := make([]string, 0, len(steps))
	for k := range steps {
		kinds = append(kinds, k)
	}
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(chan struct{}, atOnce)
	every(ctx, jobPoll, func() {
		free := cap(slots) - len(slots)
		if free == 0 || ctx.Err() != nil {
			return
		}
		jobs, err := s.app.Store.ClaimJobs(ctx, worker, kinds, free)
		if err != nil {
			if ctx.Err() == nil {
				s.log.Error("jobs cannot be claimed", "cause", err.Error())
			}
			return
		}
		for _, j := range jobs {
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				s.runJob(ctx, worker, j, steps[j.Kind])
			})
		}
	})
}

// runJob runs one job under a lease that is renewed beside it.
func (s *Server) runJob(ctx context.Context, worker string, j job.Job, step job.Step) {
	stepCtx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		tick := time.NewTicker(renewEvery)
		defer tick.Stop()
		for {
			select {
			case <-stepCtx.Done():
				return
			case <-tick.C:
			}
			cancel, err := s.app.Store.RenewJob(stepCtx, worker, j.ID)
			if errors.Is(err, job.ErrLost) {
				stop(job.ErrLost)
			} else if cancel {
				stop(job.ErrCancelled)
			}
		}
	})
	run := &job.Run{Job: j, Save: func(ctx context.Context, progress any) error {
		return s.app.Store.SaveJob(ctx, worker, j.ID, progress)
	}}
	err := s.safely(stepCtx, step, run)
	if cause := context.Cause(stepCtx); cause != nil && err != nil {
		err = cause
	}
	stop(nil)
	renewing.Wait()
	s.finishJob(context.WithoutCancel(ctx), worker, j, err)
}

// safely turns a panic of a step into an error: one bad job must not end the process.
func (s *Server) safely(ctx context.Context, step job.Step, run *job.Run) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic of type %T", p)
		}
	}()
	return step(ctx, run)
}

func (s *Server) finishJob(ctx context.Context, worker string, j job.Job, err error) {
	state, reason := job.Done, ""
	switch {
	case err == nil:
	case errors.Is(err, job.ErrLost):
		return
	case errors.Is(err, job.ErrCancelled):
		state = job.Cancelled
	case errors.Is(err, context.Canceled):
		state = job.Ready // the process stops; another takes the job up
	default:
		reason, state = err.Error(), job.Ready
		kind := fault.KindOf(err)
		if kind == fault.Invalid || kind == fault.NotFound || j.Attempts >= maxAttempts {
			state = job.Failed
		}
		s.log.Error("job failed", "job", string(j.ID), "kind", j.Kind, "attempt", j.Attempts, "state", string(state), "cause", reason)
	}
	if err := s.app.Store.FinishJob(ctx, worker, j, state, reason); err != nil {
		s.log.Error("job cannot be finished", "job", string(j.ID), "cause", err.Error())
	}
}

// RotateKeys makes a new primary key and asks the workers to rewrite what older ones sealed.
func (a *App) RotateKeys(ctx context.Context) error {
	if err := a.Keys.Rotate(); err != nil {
		return err
	}
	_, err := a.Store.AddJob(ctx, kindRewriteSealed, fmt.Sprint(a.Keys.PrimaryID()), struct{}{})
	return err
}

// rewriteSealed is the step of kindRewriteSealed.
func (a *App) rewriteSealed(ctx context.Context, run *job.Run) error {
	if _, err := a.Keys.Reload(); err != nil {
		return err
	}
	var p store.RewriteProgress
	if err := json.Unmarshal(run.Progress, &p); err != nil {
		return fmt.Errorf("read progress: %w", err)
	}
	for {
		done, err := a.Store.RewriteSealed(ctx, &p, 500)
		if err != nil || done {
			return err
		}
		if err := run.Save(ctx, p); err != nil {
			return err
		}
	}
}
