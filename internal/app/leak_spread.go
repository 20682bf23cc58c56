package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/leak"
)

// spreadsAtOnce is how many spread imports a worker watches; that costs next to nothing.
const spreadsAtOnce = 16

// startSpread scans parts of spread imports, one at a time, because one takes all cores, and watches over such imports.
func (s *Server) startSpread(ctx context.Context, group *errgroup.Group) error {
	client, err := DownloadClient(s.cfg.Outgoing())
	if err != nil {
		return err
	}
	spreader := s.app.Leaks.Spreader
	spreader.Client = client
	group.Go(func() error {
		s.runJobs(ctx, map[string]job.Step{leak.KindSpread: spreader.Watch}, spreadsAtOnce)
		return nil
	})
	worker := "p_" + rand.Text()
	group.Go(func() error {
		every(ctx, jobPoll, func() {
			for ctx.Err() == nil {
				jobs, err := s.app.Store.ClaimJobs(ctx, worker, []string{leak.KindPart}, 1)
				if err != nil && ctx.Err() == nil {
					s.log.Error("parts of imports cannot be claimed", "cause", err.Error())
				}
				if len(jobs) == 0 {
					return
				}
				s.runJob(ctx, worker, jobs[0], spreader.Part) // one at a time
			}
		})
		return nil
	})
	return nil
}

// SpreadBreach has the workers of all replicas import, and waits for them. When ctx ends they go on.
func (a *App) SpreadBreach(ctx context.Context, spec leak.Spec, partBytes int64) (leak.Outcome, error) {
	if err := a.Leaks.Importer.Spread(ctx, spec, partBytes); err != nil {
		return leak.Outcome{}, err
	}
	name := spec.Breach.Name
	for {
		j, err := a.Store.JobOf(ctx, leak.KindSpread, name)
		if err != nil {
			return leak.Outcome{}, err
		}
		var p leak.Progress
		if err := json.Unmarshal(j.Progress, &p); err != nil {
			return leak.Outcome{}, fmt.Errorf("read progress: %w", err)
		}
		if spec.Progress != nil {
			spec.Progress(p)
		}
		switch j.State {
		case job.Done:
			r, err := a.Store.BreachByName(ctx, name)
			return leak.Outcome{Record: r}, err
		case job.Cancelled:
			return leak.Outcome{}, job.ErrCancelled.With("name: the import was cancelled")
		case job.Failed:
			return leak.Outcome{}, leak.ErrInput.With("%s", j.Error)
		case job.Ready, job.Running:
		}
		select {
		case <-ctx.Done():
			return leak.Outcome{}, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// SpreadProgress tells how far a spread import is; false when the breach is not imported so, or no longer.
func (a *App) SpreadProgress(ctx context.Context, r leak.Record) (p leak.Progress, failed string, spread bool) {
	if r.State != leak.Importing {
		return p, "", false
	}
	j, err := a.Store.JobOf(ctx, leak.KindSpread, r.Name)
	if err != nil || json.Unmarshal(j.Progress, &p) != nil {
		return p, "", false
	}
	if j.State == job.Cancelled {
		return p, "cancelled", true
	}
	return p, j.Error, true
}
