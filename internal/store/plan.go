package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ plan.Store = Plans{}

const planColumns = `partner_id, id, name, coverage, max_devices, key_days, keys_end, retired, created_at`

func scanPlan(row scanner) (plan.Plan, error) {
	var p plan.Plan
	var coverage string
	var devices, days, created int64
	if err := row.Scan(numbered(&p.Partner), &p.ID, &p.Name, &coverage, &devices, &days, &p.KeysEndWithSubscription, &p.Retired, &created); err != nil {
		return p, err
	}
	p.MaxDevices, p.KeyDays, p.CreatedAt = int(devices), int(days), fromMicros(created)
	var err error
	if p.Coverage, err = plan.ParseCoverage([]byte(coverage)); err != nil {
		return p, fmt.Errorf("read coverage: %w", err)
	}
	return p, nil
}

// InsertPlan keeps a new plan.
func (s Plans) InsertPlan(ctx context.Context, id partner.ID, p plan.Plan) error {
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
		if _, err := s.partnerByID(ctx, tx, id); err != nil {
			return err
		}
		added, err := insertPlan(ctx, tx, id, p)
		if err == nil && !added {
			err = plan.ErrExists.With("id: the partner has a plan of this id")
		}
		return err
	})
}

// insertPlan reports whether the plan is new; one that is there stays as it is.
func insertPlan(ctx context.Context, tx *sqldb.Tx, id partner.ID, p plan.Plan) (bool, error) {
	coverage, err := p.Coverage.JSON()
	if err != nil {
		return false, err
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO plan (`+planColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (partner_id, id) DO NOTHING`, number(id), string(p.ID), p.Name, string(coverage), int64(p.MaxDevices),
		int64(p.KeyDays), p.KeysEndWithSubscription, p.Retired, micros(p.CreatedAt))
	if err != nil {
		return false, fmt.Errorf("insert plan: %w", err)
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// Plans returns a partner's plans, oldest first.
func (s Plans) Plans(ctx context.Context, id partner.ID) ([]plan.Plan, error) {
	return collect(ctx, s.reader(), scanPlan, `SELECT `+planColumns+` FROM plan WHERE partner_id = $1 ORDER BY created_at, id`, number(id))
}

// PlanByID returns one plan.
func (s Plans) PlanByID(ctx context.Context, id partner.ID, p plan.ID) (plan.Plan, error) {
	return planByID(ctx, s.reader(), id, p)
}

func planByID(ctx context.Context, q querier, id partner.ID, p plan.ID) (plan.Plan, error) {
	found, err := scanPlan(q.QueryRowContext(ctx, `SELECT `+planColumns+` FROM plan WHERE partner_id = $1 AND id = $2`,
		number(id), string(p)))
	if errors.Is(err, sql.ErrNoRows) {
		return found, plan.ErrNotFound
	}
	if err != nil {
		return found, classify(fmt.Errorf("read plan: %w", err))
	}
	return found, nil
}

// UpdatePlan changes one plan and moves the access epoch. A new plan does not: nobody remembers that there was none.
func (s Plans) UpdatePlan(ctx context.Context, id partner.ID, p plan.ID, change func(*plan.Plan) error) (plan.Plan, error) {
	var found plan.Plan
	err := s.inTx(ctx, func(tx *sqldb.Tx) error {
		if err := moveAccessEpoch(ctx, tx); err != nil {
			return err
		}
		var err error
		if found, err = planByID(ctx, tx, id, p); err != nil {
			return err
		}
		if err := change(&found); err != nil {
			return err
		}
		coverage, err := found.Coverage.JSON()
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE plan SET name = $3, coverage = $4, max_devices = $5, key_days = $6, keys_end = $7,
			retired = $8 WHERE partner_id = $1 AND id = $2`, number(id), string(p), found.Name, string(coverage),
			int64(found.MaxDevices), int64(found.KeyDays), found.KeysEndWithSubscription, found.Retired)
		if err != nil {
			return fmt.Errorf("update plan: %w", err)
		}
		return nil
	})
	return found, err
}
