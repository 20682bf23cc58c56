package app

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/leak"
)

// SpreadBreach has the workers of all replicas import, and waits for them. When ctx ends they go on.
func (a *App) SpreadBreach(ctx context.Context, spec intake.Spec, partBytes int64) (intake.Outcome, error) {
	if err := a.Leaks.Importer.SpreadImport(ctx, spec, partBytes); err != nil {
		return intake.Outcome{}, err
	}
	name := spec.Breach.Name
	var out intake.Outcome
	err := a.Jobs.FollowJob(ctx, intake.KindSpread, name, func(j job.Job) (over bool, err error) {
		var p intake.Progress
		if err := json.Unmarshal(j.Progress, &p); err != nil {
			return false, fmt.Errorf("read progress: %w", err)
		}
		if spec.Progress != nil {
			spec.Progress(p)
		}
		switch j.State {
		case job.Done:
			out.Record, err = a.Store.Breaches.BreachByName(ctx, name)
			return true, err
		case job.Cancelled:
			return true, job.ErrCancelled.With("name", fault.ImportCancelled)
		case job.Failed:
			return true, intake.ErrInput.Note("%s", fault.Recall(j.Error).Text)
		case job.Ready, job.Running:
		}
		return false, nil
	})
	return out, err
}

// SpreadProgress tells how far a spread import is; false when the breach is not imported so, or no longer.
func (a *App) SpreadProgress(ctx context.Context, r leak.Record) (p intake.Progress, failed string, spread bool) {
	if r.State != leak.Importing {
		return p, "", false
	}
	j, err := a.Store.Jobs.NewestJobOf(ctx, intake.KindSpread, r.Name)
	if err != nil || json.Unmarshal(j.Progress, &p) != nil {
		return p, "", false
	}
	if j.State == job.Cancelled {
		return p, "cancelled", true
	}
	return p, fault.Recall(j.Error).Text, true
}
