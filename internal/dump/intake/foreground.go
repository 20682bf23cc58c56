package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
)

// Foreground works on breaches in the process of the caller, which waits for the end: an operator's command, or a
// goroutine of the console. Each piece of work is a job, so that the console shows it and can cancel it, and so that no
// other process does the same.
type Foreground struct {
	Importer *Importer
	Matcher  *leak.Matcher
	Breaches *leak.Breaches
	Runner   *job.Runner
	Jobs     JobList
	// Worker names this machine and data folder as a holder of leases.
	Worker string
	Now    func() time.Time
}

// JobList finds and adds jobs; the store's does.
type JobList interface {
	NewestJobOf(ctx context.Context, kind, subject string) (job.Job, error)
	EnqueueJob(ctx context.Context, kind, subject string, args any) (job.ID, error)
}

// ImportBreach imports a breach. A breach that is published already, but whose match did not come to an end, is
// returned as if it had just been imported: the command that imported it was killed, and goes on when it is repeated.
func (f *Foreground) ImportBreach(ctx context.Context, spec Spec) (Outcome, error) {
	if err := leak.CheckNewBreach(&spec.Breach, f.Now()); err != nil {
		return Outcome{}, err
	}
	return f.runImport(ctx, KindImport, spec, func(ctx context.Context, spec Spec) (Outcome, error) {
		out, err := f.Importer.ImportBreach(ctx, spec)
		if !errors.Is(err, leak.ErrBreachExists) {
			return out, err
		}
		r, isUnmatched, matchErr := f.resumeMatch(ctx, spec.Breach)
		if matchErr != nil {
			return out, matchErr
		}
		if !isUnmatched {
			return out, err
		}
		return Outcome{Record: r}, nil
	})
}

// resumeMatch returns the published breach of the same name and description, and whether its match has not come to an
// end. A match that failed or was cancelled begins anew.
func (f *Foreground) resumeMatch(ctx context.Context, b cyber.Breach) (r leak.Record, isUnmatched bool, err error) {
	r, err = f.Breaches.FindBreach(ctx, b.Name)
	if err != nil {
		return r, false, err
	}
	if r.Title != b.Title || !r.Date.Equal(b.Date) || r.Source != b.Source || !slices.Equal(r.Exposes, b.Exposes) {
		return r, false, nil
	}
	j, err := f.Jobs.NewestJobOf(ctx, leak.KindMatch, b.Name)
	if errors.Is(err, job.ErrNotFound) { // it ended so long ago that its job was swept
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	switch j.State {
	case job.Done:
		return r, false, nil
	case job.Failed, job.Cancelled:
		_, err := f.Jobs.EnqueueJob(ctx, leak.KindMatch, b.Name, nil)
		if errors.Is(err, job.ErrExists) {
			err = nil
		}
		return r, true, err
	case job.Ready, job.Running:
	}
	var p leak.MatchProgress
	if len(j.Progress) > 0 {
		if err := json.Unmarshal(j.Progress, &p); err != nil {
			return r, false, fmt.Errorf("read progress: %w", err)
		}
	}
	return r, p.Phase < leak.PhaseLate, nil
}

// AppendToBreach adds further files to a published breach.
func (f *Foreground) AppendToBreach(ctx context.Context, spec Spec) (Outcome, error) {
	if _, err := f.Breaches.FindBreach(ctx, spec.Breach.Name); err != nil {
		return Outcome{}, err
	}
	return f.runImport(ctx, KindRenew, spec, func(ctx context.Context, spec Spec) (Outcome, error) {
		return f.Importer.AppendToBreach(ctx, spec)
	})
}

// runImport does the work of a job that reads inputs of this machine.
func (f *Foreground) runImport(
	ctx context.Context, kind string, spec Spec, do func(context.Context, Spec) (Outcome, error),
) (Outcome, error) {
	args := map[string]int{"inputs": len(spec.Inputs)}
	hold, err := f.Runner.BeginJob(ctx, f.Worker, kind, spec.Breach.Name, args)
	if errors.Is(err, job.ErrExists) {
		return Outcome{}, ErrBusy.With("name", fault.AnotherMachineImports)
	}
	if err != nil {
		return Outcome{}, err
	}
	var out Outcome
	err = hold.RunStep(ctx, func(ctx context.Context, run *job.Run) error {
		tell, last := spec.Progress, Progress{}
		spec.Progress = func(p Progress) {
			last = p
			if tell != nil {
				tell(p)
			}
			run.TellProgress(ctx, p)
		}
		out, err = do(ctx, spec)
		if errors.Is(err, ErrBusy) { // another process of this place is at it, and holds the same lease
			return job.LeaveToOther(err)
		}
		if err != nil {
			return err
		}
		if kind == KindImport { // a renewal's breach has more than what was read for it
			last = last.Ended(out.Tally)
		}
		_ = run.Save(context.WithoutCancel(ctx), last) // the import is done, whether its last figures are kept or not
		return nil
	})
	return out, err
}

// MatchBreach matches a breach against the watched values: in this process, or by following the server that claimed the
// job first, or while this process was stopped. It does not wait for values that were added during the match; a server
// handles those.
func (f *Foreground) MatchBreach(
	ctx context.Context, name string, tell func(leak.MatchProgress),
) (leak.MatchProgress, error) {
	p, err := f.matchHere(ctx, name, tell)
	if !errors.Is(err, job.ErrNotFound) && !errors.Is(err, job.ErrLost) {
		return p, err
	}
	err = f.Runner.FollowJob(ctx, leak.KindMatch, name, func(j job.Job) (bool, error) {
		p = leak.MatchProgress{}
		if err := json.Unmarshal(j.Progress, &p); err != nil {
			return false, fmt.Errorf("read progress: %w", err)
		}
		tell(p)
		return j.State != job.Ready && j.State != job.Running || p.Phase >= leak.PhaseLate, nil
	})
	return p, err
}

// matchHere matches a breach in this process. job.ErrNotFound says that a server is at it, job.ErrLost that one took it
// up meanwhile.
func (f *Foreground) matchHere(
	ctx context.Context, name string, tell func(leak.MatchProgress),
) (p leak.MatchProgress, err error) {
	hold, err := f.Runner.TakeJob(ctx, f.Worker, leak.KindMatch, name)
	if err != nil {
		return p, err
	}
	err = hold.RunStep(ctx, func(ctx context.Context, run *job.Run) error {
		save := run.Save // a match saves its progress after each step: here it is also told
		run.Save = func(ctx context.Context, progress any) error {
			if at, ok := progress.(*leak.MatchProgress); ok {
				p = *at
				tell(p)
			}
			return save(ctx, progress)
		}
		if err := f.Matcher.MatchFirst(ctx, run); err != nil {
			return err
		}
		return job.ContinueLater() // no failure: a worker makes the last look, for late values
	})
	return p, err
}

// RetractBreach takes a breach back and withdraws its findings, here or through the server that claimed the job first.
func (f *Foreground) RetractBreach(ctx context.Context, name string) (leak.Record, error) {
	r, err := f.DiscardBreach(ctx, name)
	if err != nil {
		return r, err
	}
	return r, f.runJobNow(ctx, leak.KindWithdraw, name, func(ctx context.Context, run *job.Run) error {
		if err := f.Matcher.WithdrawFirst(ctx, run); err != nil {
			return err
		}
		return job.ContinueLater()
	})
}

// DiscardBreach takes a breach back and removes what an unfinished import left on this machine. A worker withdraws its
// findings.
func (f *Foreground) DiscardBreach(ctx context.Context, name string) (leak.Record, error) {
	r, err := f.Breaches.RetractBreach(ctx, name)
	if err != nil {
		return r, err
	}
	err = f.Importer.DiscardWork(name)
	if err != nil && !errors.Is(err, ErrBusy) { // a running import notices by itself
		return r, err
	}
	return r, nil
}

// EditBreach changes the description of a breach and updates statuses accordingly, in this process or through the
// server that claimed the job first.
func (f *Foreground) EditBreach(ctx context.Context, name string, edit func(*cyber.Breach)) (leak.Record, error) {
	r, err := f.Breaches.EditBreach(ctx, name, edit)
	if err != nil {
		return r, err
	}
	return r, f.runJobNow(ctx, leak.KindRestate, name, f.Matcher.RestateBreach)
}

// runJobNow runs a step of a job here, unless a server claimed the job first, or while this process was stopped.
func (f *Foreground) runJobNow(ctx context.Context, kind, subject string, step job.Step) error {
	hold, err := f.Runner.TakeJob(ctx, f.Worker, kind, subject)
	if errors.Is(err, job.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := hold.RunStep(ctx, step); !errors.Is(err, job.ErrLost) {
		return err
	}
	return nil
}
