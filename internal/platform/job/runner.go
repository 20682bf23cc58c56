package job

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Store is where jobs are kept.
type Store interface {
	EnqueueJob(ctx context.Context, kind, subject string, args any) (ID, error)
	// ClaimJobs takes due jobs of the kinds for worker.
	ClaimJobs(ctx context.Context, worker string, kinds []string, limit int) ([]Job, error)
	// TakeJobOf claims the unfinished job of a kind and subject, if it waits or is held under this very name.
	TakeJobOf(ctx context.Context, worker, kind, subject string) (j Job, taken bool, err error)
	RenewJob(ctx context.Context, worker string, id ID) (cancel bool, err error)
	SaveJob(ctx context.Context, worker string, id ID, progress any) error
	FinishJob(ctx context.Context, worker string, j Job, state State, reason string) error
	// NewestJobOf returns the newest job of a kind and subject.
	NewestJobOf(ctx context.Context, kind, subject string) (Job, error)
}

// Runner is the one way in which jobs are run: claimed, kept under a renewed lease, told of, and finished.
type Runner struct {
	store Store
	kinds map[string]Kind
	log   *slog.Logger
	// poll is how often a lane with a free place looks for due jobs, renew how often leases are renewed, tell how often
	// a progress is kept, watch how often Follow looks.
	poll, renew, tell, watch time.Duration
}

// NewRunner makes a runner of the kinds. What goes wrong in the background is told to log.
func NewRunner(store Store, log *slog.Logger, kinds ...Kind) *Runner {
	r := &Runner{
		store: store, log: log, kinds: make(map[string]Kind, len(kinds)),
		poll: time.Second, renew: Lease / renewalsPerLease, tell: time.Second, watch: 200 * time.Millisecond,
	}
	for _, k := range kinds {
		r.kinds[k.Name] = k
	}
	return r
}

// RunDueJobs runs due jobs of all kinds that have a lane, until ctx ends and the last step has stopped.
func (r *Runner) RunDueJobs(ctx context.Context) {
	lanes := map[*Lane][]string{}
	for _, k := range r.kinds {
		if k.Lane != nil {
			lanes[k.Lane] = append(lanes[k.Lane], k.Name)
		}
	}
	var running sync.WaitGroup
	for lane, kinds := range lanes {
		slices.Sort(kinds)
		running.Go(func() { r.runJobLane(ctx, lane, kinds) })
	}
	running.Wait()
}

// runJobLane claims as many jobs as there are free places, again whenever one becomes free.
func (r *Runner) runJobLane(ctx context.Context, lane *Lane, kinds []string) {
	var running sync.WaitGroup
	defer running.Wait()
	places, freed := make(chan struct{}, lane.AtOnce), make(chan struct{}, 1)
	tick := time.NewTicker(r.poll)
	defer tick.Stop()
	for ctx.Err() == nil {
		// A name for each look: a process that slept past its own lease must not hold a job twice.
		worker := "w_" + rand.Text()
		jobs, err := r.claimJobs(ctx, worker, lane, kinds, cap(places)-len(places))
		if err != nil && ctx.Err() == nil {
			r.log.Error("jobs cannot be claimed", "lane", lane.Name, "cause", err.Error())
		}
		for _, j := range jobs {
			places <- struct{}{}
			running.Go(func() {
				h := Hold{Job: j, runner: r, worker: worker}
				r.logOutcome(ctx, j, h.RunStep(ctx, r.kinds[j.Kind].Step))
				<-places
				select {
				case freed <- struct{}{}:
				default: // told already
				}
			})
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-freed:
		}
	}
}

// logOutcome logs what went wrong with a job; that it was cancelled or lost, or that the process stops, is nothing
// wrong.
func (r *Runner) logOutcome(ctx context.Context, j Job, err error) {
	if err != nil && !errors.Is(err, ErrCancelled) && !errors.Is(err, ErrLost) && ctx.Err() == nil {
		r.log.Error("job failed", "job", string(j.ID), "kind", j.Kind, "attempt", j.Attempts, "cause", err.Error())
	}
}

// claimJobs takes due jobs of a lane.
func (r *Runner) claimJobs(ctx context.Context, worker string, lane *Lane, kinds []string, free int) ([]Job, error) {
	if lane.Before != nil {
		if err := lane.Before(ctx); err != nil {
			return nil, err
		}
	}
	if free == 0 {
		return nil, nil
	}
	return r.store.ClaimJobs(ctx, worker, kinds, free)
}

// BeginJob adds a job, unless it is there, and takes it for worker. ErrExists says that another one is at it.
func (r *Runner) BeginJob(ctx context.Context, worker, kind, subject string, args any) (*Hold, error) {
	if _, err := r.store.EnqueueJob(ctx, kind, subject, args); err != nil && !errors.Is(err, ErrExists) {
		return nil, err
	}
	h, err := r.TakeJob(ctx, worker, kind, subject)
	if errors.Is(err, ErrNotFound) {
		return nil, ErrExists
	}
	return h, err
}

// TakeJob takes the unfinished job of a kind and subject for worker. ErrNotFound says that there is none, or that
// another one is at it.
func (r *Runner) TakeJob(ctx context.Context, worker, kind, subject string) (*Hold, error) {
	j, taken, err := r.store.TakeJobOf(ctx, worker, kind, subject)
	if err != nil {
		return nil, err
	}
	if !taken {
		return nil, ErrNotFound
	}
	return &Hold{Job: j, runner: r, worker: worker}, nil
}

// FollowJob looks at the newest job of a kind and subject, again and again, until see has seen enough.
func (r *Runner) FollowJob(ctx context.Context, kind, subject string, see func(Job) (enough bool, err error)) error {
	for {
		j, err := r.store.NewestJobOf(ctx, kind, subject)
		if err != nil {
			return err
		}
		if enough, err := see(j); enough || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(r.watch):
		}
	}
}
