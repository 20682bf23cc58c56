package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// InsertCase stores a new case and books its slot: see cyber.CaseStore.
func (s Cases) InsertCase(ctx context.Context, id partner.ID, c cyber.Case, wishes cyber.Wishes) (cyber.Case, error) {
	sealed, err := s.sealValue(
		sealedCasePlace(id, c.ID, c.Service),
		keptCase{User: string(c.User), Appointments: c.Appointments, Answers: c.Answers},
	)
	if err != nil {
		return c, err
	}
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		u, err := s.findAndNameUser(ctx, tx, id, c.User)
		if err != nil {
			return err
		}
		c.Short, err = readValue[int64](ctx, tx,
			`UPDATE counter SET value = value + 1 WHERE name = 'cases' RETURNING value`)
		if err != nil {
			return err
		}
		err = execStatement(ctx, tx,
			`INSERT INTO support_case (id, partner_id, user_index, service_id, status, assignee, details, target,
			clock_used, clock_since, due_at, created_at, changed_at, rating, short, spoke_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, $14, $15)`,
			c.ID, id, u.write, c.Service, c.Status, c.Assignee, sealed, c.Clock.Target, c.Clock.Used, c.Clock.Since,
			dueTimeMicros(c), c.CreatedAt, c.ChangedAt, c.Short, c.SpokeAt)
		if err != nil {
			return err
		}
		if err := s.insertMove(ctx, tx, c, cyber.CaseMove{Number: 1, To: c.Status, At: c.CreatedAt}); err != nil {
			return err
		}
		c.Booked, err = s.bookSlot(ctx, tx, c, u, wishes, c.CreatedAt)
		return err
	})
	return c, err
}

// lockCase makes changes of one case wait for each other, so that each sees the last; a partner's have to be of the
// person it names.
func (s Cases) lockCase(ctx context.Context, tx *sqldb.Tx, owner partner.ID, key cyber.CaseKey) (user, error) {
	if key.Partner == "" {
		return user{}, execStatement(
			ctx,
			tx,
			`UPDATE support_case SET assignee = assignee WHERE partner_id = $1 AND id = $2`,
			owner,
			key.ID,
		)
	}
	u, err := s.findAndNameUser(ctx, tx, key.Partner, key.User)
	if err != nil {
		return u, err
	}
	return u, execExpecting(
		ctx,
		tx,
		errNoCase,
		`UPDATE support_case SET assignee = assignee WHERE partner_id = $1 AND id = $2 AND user_index IN ($3, $4)`,
		key.Partner,
		key.ID,
		u.write,
		u.other,
	)
}

// UpdateCase changes a case: see cyber.CaseStore.
func (s Cases) UpdateCase(
	ctx context.Context, key cyber.CaseKey, change func(*cyber.Case) (cyber.CaseChange, error),
) (cyber.Case, error) {
	var c cyber.Case
	owner, err := key.Partner, error(nil)
	if owner == "" {
		if owner, err = s.caseOwner(ctx, key.ID); err != nil {
			return c, err
		}
	}
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		u, err := s.lockCase(ctx, tx, owner, key)
		if err != nil {
			return err
		}
		if c, err = s.readCase(ctx, tx, owner, key.ID); err != nil {
			return err
		}
		done, err := change(&c)
		if err != nil {
			return err
		}
		err = execStatement(ctx, tx,
			`UPDATE support_case SET status = $2, assignee = $3, clock_used = $4, clock_since = $5, changed_at = $6,
			due_at = $8, rating = $9, spoke = $10, spoke_at = $11, ending_to = $12, ending_by = $13, ending_at = $14,
			writing_at = $15 WHERE id = $1 AND partner_id = $7`,
			c.ID, c.Status, c.Assignee, c.Clock.Used, c.Clock.Since, c.ChangedAt, c.Partner, dueTimeMicros(c), c.Rating,
			c.Spoke, c.SpokeAt, c.Ending.To, c.Ending.Actor, c.Ending.At, c.WritingAt)
		if err != nil {
			return err
		}
		if done.Book != nil {
			if err := s.rebookSlot(ctx, tx, &c, u, *done.Book); err != nil {
				return err
			}
		}
		return s.addHistoryLines(ctx, tx, &c, done)
	})
	return c, err
}

// EndingCases returns cases whose final move is due: see cyber.CaseStore.
func (s Cases) EndingCases(ctx context.Context, now time.Time, limit int) ([]cyber.CaseID, error) {
	return collectValues[cyber.CaseID](
		ctx,
		s.readQuerier(),
		`SELECT id FROM support_case WHERE ending_at > 0 AND ending_at <= $1 ORDER BY ending_at LIMIT $2`,
		now,
		limit,
	)
}

// SetWriter notes who is writing: see cyber.CaseStore.
func (s Cases) SetWriter(ctx context.Context, key cyber.CaseKey, writer string, now time.Time) error {
	owner, err := s.caseOwner(ctx, key.ID)
	if err == nil && key.Partner != "" && owner != key.Partner {
		err = errNoCase
	}
	if err != nil {
		return err
	}
	return s.execAlone(
		ctx,
		`UPDATE support_case SET writer = $3, writing_at = $4 WHERE partner_id = $1 AND id = $2`,
		owner,
		key.ID,
		writer,
		now,
	)
}
