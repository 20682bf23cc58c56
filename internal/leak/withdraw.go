package leak

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/job"
)

// WithdrawBreach closes the findings of a retracted breach and takes its file away. It is the step of KindWithdraw. The
// second look catches findings of requests that began before the retraction.
func (m *Matcher) WithdrawBreach(ctx context.Context, run *job.Run) error {
	if err := m.WithdrawFirst(ctx, run); err != nil {
		return err
	}
	breach, err := m.store.BreachByName(ctx, run.Subject)
	if err != nil {
		return err
	}
	if err := job.PauseStep(ctx, breach.RetractedAt.Add(m.Settle).Sub(m.now())); err != nil {
		return err
	}
	return m.WithdrawFirst(ctx, run)
}

// WithdrawFirst is WithdrawBreach without the wait and the second look.
func (m *Matcher) WithdrawFirst(ctx context.Context, run *job.Run) error {
	breach, err := m.store.BreachByName(ctx, run.Subject)
	if err != nil || breach.State != Retracted {
		return err
	}
	for withdrawn := 0; ; {
		n, err := m.store.WithdrawFindings(ctx, breach.Name, tellBatch)
		if err != nil {
			return err
		}
		withdrawn += n
		if err := run.Save(ctx, map[string]int{"withdrawn": withdrawn}); err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	for _, file := range breach.ListFiles() {
		if err := m.files.RemoveFile(ctx, file.Name); err != nil {
			return err
		}
	}
	return m.dropFormer(ctx, breach)
}

// RestateBreach computes statuses again after a breach was edited. It is the step of KindRestate.
func (m *Matcher) RestateBreach(ctx context.Context, run *job.Run) error {
	return m.walkFindings(ctx, run, func(after cyber.FindingID) (cyber.FindingID, error) {
		return m.store.RestateFindings(ctx, run.Subject, after, tellBatch)
	})
}

// RejudgeSites judges a partner's findings again after its sites, or those watched for it, were changed. It is the step
// of KindSites.
func (m *Matcher) RejudgeSites(ctx context.Context, run *job.Run) error {
	return m.walkFindings(ctx, run, func(after cyber.FindingID) (cyber.FindingID, error) {
		return m.store.RejudgeSites(ctx, partner.ID(run.Subject), after, tellBatch)
	})
}

// walkFindings goes over findings, as far as next has any, and keeps where it is.
func (m *Matcher) walkFindings(
	ctx context.Context, run *job.Run, next func(after cyber.FindingID) (cyber.FindingID, error),
) error {
	var p struct {
		After cyber.FindingID `json:"after"`
	}
	if err := json.Unmarshal(run.Progress, &p); err != nil {
		return fmt.Errorf("read progress: %w", err)
	}
	for {
		last, err := next(p.After)
		if err != nil || last == "" {
			return err
		}
		p.After = last
		if err := run.Save(ctx, p); err != nil {
			return err
		}
	}
}
