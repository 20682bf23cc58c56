package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// RemindSteps writes the events of steps that are due soon: see cyber.PlanStore. A few of a partner's reminders and
// their events are one transaction, and a row that another replica holds is passed over, so each is given once.
func (s Monitoring) RemindSteps(
	ctx context.Context,
	decide func(p cyber.Plan, since, now time.Time) cyber.Reminder,
) (int, error) {
	return workOffDue(
		ctx,
		s.core,
		func(tx *sqldb.Tx, id partner.ID, part []cyber.FindingID) (locked, told int, err error) {
			return s.remindFindings(ctx, tx, id, part, decide)
		},
		`SELECT partner_id, id FROM finding WHERE remind_at > 0 AND remind_at <= $1 ORDER BY remind_at LIMIT $2`,
	)
}

// reminded is a finding whose time has come.
type reminded struct {
	cyber.Finding
	since time.Time
	user  partner.UserHash
}

// remindFindings decides about those of a partner's findings that are still due and not locked by another worker.
func (s Monitoring) remindFindings(ctx context.Context, tx *sqldb.Tx, id partner.ID, findings []cyber.FindingID,
	decide func(p cyber.Plan, since, now time.Time) cyber.Reminder,
) (locked, told int, err error) {
	now := s.now()
	due, err := s.lockReminders(ctx, tx, id, findings, now)
	if err != nil || len(due) == 0 {
		return 0, 0, err
	}
	ids := make([]cyber.FindingID, len(due))
	for i, r := range due {
		ids[i] = r.ID
	}
	marks, err := readStepMarks(ctx, tx, id, ids)
	if err != nil {
		return 0, 0, err
	}
	var people []partner.UserHash
	steps := map[partner.UserHash][]cyber.Plan{}
	next := make(sqldb.Statements, len(due))
	for i, f := range due {
		plan := cyber.NewFindingPlan(f.Finding, marks)
		r := decide(plan, f.since, now)
		next[i] = sqldb.NewStatement(
			`UPDATE finding SET remind_at = $3 WHERE partner_id = $1 AND id = $2`,
			id,
			f.ID,
			r.Next,
		)
		if len(r.Due) == 0 {
			continue
		}
		if steps[f.user] == nil {
			people = append(people, f.user)
		}
		plan.Steps = r.Due
		steps[f.user] = append(steps[f.user], plan)
	}
	if err := tx.RunStatements(ctx, next); err != nil {
		return 0, 0, err
	}
	events := make([]alert.Event, len(people))
	for i, user := range people {
		events[i] = alert.NewStepsDueEvent(id, user, steps[user], now)
	}
	return len(due), len(events), Alerts(s).addPartnerEvents(ctx, tx, id, events...)
}

// lockReminders locks findings first and reads them then, so that neither values nor breaches are locked with them.
func (s Monitoring) lockReminders(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, findings []cyber.FindingID, now time.Time,
) ([]reminded, error) {
	args := []any{id, now}
	locked, err := collectValues[cyber.FindingID](
		ctx,
		tx,
		`SELECT id FROM finding WHERE partner_id = $1 AND id IN (`+appendMarks(
			&args,
			findings,
		)+`) AND remind_at > 0 AND remind_at <= $2 ORDER BY id`+s.db.SkipLocked(),
		args...,
	)
	if err != nil || len(locked) == 0 {
		return nil, err
	}
	args = []any{id}
	return collectRows(ctx, tx, func(row scanner, r *reminded) error {
		a := cyber.Asset{Partner: id}
		err := s.scanFinding(longer{row, []any{&r.since, &a.ID, s.opensAsset(&a)}}, &r.Finding)
		r.user = a.User
		return err
	}, `SELECT `+findingColumns+`, f.remind_at, a.id, a.value FROM finding f
		JOIN asset a ON a.partner_id = f.partner_id AND a.id = f.asset_id
		JOIN breach b ON b.name = f.breach WHERE f.partner_id = $1
		AND f.id `+inList(tx.EngineName(), &args, locked)+` ORDER BY f.id`,
		args...,
	)
}
