package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// markColumns are those that scanning a mark on a step expects, in its order.
const markColumns = `m.finding_id, m.step, m.state, m.marked_at`

// scanStepMark reads what was said of a step.
func scanStepMark(row scanner, m *cyber.StepMark) error {
	return row.Scan(&m.Finding, &m.Step, &m.State, &m.At)
}

// ListStepMarks returns all that was said of the steps of a person's findings.
func (s Monitoring) ListStepMarks(ctx context.Context, id partner.ID, hash partner.UserHash) ([]cyber.StepMark, error) {
	// CROSS JOIN has SQLite begin with the person's values: it would rather read all steps of the partner in their
	// order.
	return collectOfUser(
		ctx,
		s.core,
		id,
		hash,
		scanStepMark,
		`SELECT `+markColumns+` FROM asset a CROSS JOIN finding f CROSS JOIN finding_step m
		WHERE a.partner_id = $1 AND a.user_index IN ($2, $3) AND f.partner_id = a.partner_id AND f.asset_id = a.id
			AND m.partner_id = f.partner_id AND m.finding_id = f.id ORDER BY m.finding_id, m.step`,
	)
}

// ChangePlan changes a finding's plan under the lock of its value: see cyber.PlanStore. As with ResolveFinding, one of
// a value that another has taken over is what that one knows of the same breach.
func (s Monitoring) ChangePlan(ctx context.Context, id partner.ID, hash partner.UserHash, finding cyber.FindingID,
	change func(cyber.Plan) (cyber.PlanChange, error),
) (after cyber.Rechecked, err error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (after cyber.Rechecked, err error) {
		u, err := s.findAndNameUser(ctx, tx, id, hash)
		if err != nil {
			return after, err
		}
		asset, breach, err := findingPlace(ctx, tx, id, u, finding)
		if err != nil {
			return after, err
		}
		values, _, err := s.lockAssets(ctx, tx, id, []cyber.AssetID{asset})
		if err != nil {
			return after, err
		}
		w, f := findBreachFinding(values, breach)
		if f == nil {
			return after, cyber.ErrFindingNotFound
		}
		marks, err := readStepMarks(ctx, tx, id, []cyber.FindingID{f.ID})
		if err != nil {
			return after, err
		}
		decided, err := change(cyber.NewFindingPlan(*f, marks))
		if err != nil {
			return after, err
		}
		if m := decided.Mark; m != nil {
			if err := saveStepMark(ctx, tx, id, *m); err != nil {
				return after, err
			}
			marks = append(marks, *m) // the last that is said of a step counts
		}
		switch {
		case decided.Close != "":
			err = s.keepVerdict(
				ctx,
				tx,
				id,
				s.judge.CloseFindings(
					values,
					func(f cyber.Finding) bool { return f.Breach.Name == breach },
					decided.Close,
					s.now(),
				),
			)
		case decided.Restate:
			err = s.keepVerdict(ctx, tx, id, s.judge.RestateValues(values))
		}
		after = cyber.Rechecked{Plan: cyber.NewFindingPlan(*f, marks), Status: w.Status}
		return after, err
	})
}

// findBreachFinding returns what values know of a breach; nil when they do not.
func findBreachFinding(values []*leak.Watched, breach string) (*leak.Watched, *cyber.Finding) {
	for _, w := range values {
		for i := range w.Findings {
			if w.Findings[i].Breach.Name == breach {
				return w, &w.Findings[i]
			}
		}
	}
	return nil, nil
}

// readStepMarks returns what was said of the steps of findings.
func readStepMarks(
	ctx context.Context, q querier, id partner.ID, findings []cyber.FindingID,
) ([]cyber.StepMark, error) {
	args := []any{id}
	return collectRows(
		ctx,
		q,
		scanStepMark,
		`SELECT `+markColumns+` FROM finding_step m WHERE m.partner_id = $1 AND m.finding_id IN (`+appendMarks(
			&args,
			findings,
		)+`)`,
		args...,
	)
}

// saveStepMark stores what was said of a step over what was said before; a step that is to be done again has no row.
func saveStepMark(ctx context.Context, tx *sqldb.Tx, id partner.ID, m cyber.StepMark) (err error) {
	if m.State == cyber.StepTodo {
		err = execStatement(
			ctx,
			tx,
			`DELETE FROM finding_step WHERE partner_id = $1 AND finding_id = $2 AND step = $3`,
			id,
			m.Finding,
			m.Step,
		)
	} else {
		err = execStatement(
			ctx,
			tx,
			`INSERT INTO finding_step (partner_id, finding_id, step, state, marked_at) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (partner_id, finding_id, step) DO UPDATE SET state = excluded.state,
			marked_at = excluded.marked_at`,
			id,
			m.Finding,
			m.Step,
			m.State,
			m.At,
		)
	}
	return err
}
