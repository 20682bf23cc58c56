package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ plan.Store = Plans{}

// planColumns are those that scanning a plan expects, in its order.
const planColumns = `partner_id, id, name, coverage, max_devices, key_days, keys_end, watch, retired, created_at, mac`

// scanPlanRow reads planColumns. Of a forged row there is nothing but its name, as of a plan that is yet to be written.
func (c core) scanPlanRow(row scanner, into *checked[plan.Plan]) error {
	p := &into.value
	var coverage string
	err := row.Scan(
		&p.Partner,
		&p.ID,
		&p.Name,
		&coverage,
		&p.MaxDevices,
		&p.KeyDays,
		&p.KeysEndWithSubscription,
		&p.Watch,
		&p.Retired,
		&p.CreatedAt,
		c.checksMAC(&into.forged, "plan", func() *grant { return coverageGrant(*p, coverage) }),
	)
	if err != nil { // no row was read, so none is forged
		return err
	}
	into.row = fmt.Sprintf("plan %s/%s", p.Partner, p.ID)
	var failed error
	if p.Coverage, failed = plan.ParseCoverage([]byte(coverage)); failed != nil || into.forged {
		into.forged, *p = true, plan.Plan{ID: p.ID, Partner: p.Partner, Retired: true, CreatedAt: p.CreatedAt}
	}
	return nil
}

// coverageGrant takes the coverage as it is kept.
func coverageGrant(p plan.Plan, coverage string) *grant {
	return new(grant).addTexts(string(p.Partner), string(p.ID), p.Name, coverage).
		addNumbers(int64(p.MaxDevices), int64(p.KeyDays), int64(p.Watch)).
		addBools(p.KeysEndWithSubscription, p.Retired).addNumbers(toMicros(p.CreatedAt))
}

// InsertPlan stores a new plan.
func (s Plans) InsertPlan(ctx context.Context, id partner.ID, p plan.Plan) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if _, err := s.partnerByID(ctx, tx, id); err != nil {
			return err
		}
		added, err := s.insertPlan(ctx, tx, id, p)
		if err == nil && !added {
			err = plan.ErrExists.With("id", fault.PlanExists)
		}
		return err
	})
}

// insertPlan reports whether the plan is new; one that is there stays as it is.
func (c core) insertPlan(ctx context.Context, tx *sqldb.Tx, id partner.ID, p plan.Plan) (bool, error) {
	p.Partner = id
	coverage, err := p.Coverage.MarshalCoverage()
	if err != nil {
		return false, err
	}
	n, err := execCounting(
		ctx,
		tx,
		`INSERT INTO plan (`+planColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (partner_id, id) DO NOTHING`,
		id,
		p.ID,
		p.Name,
		string(coverage),
		p.MaxDevices,
		p.KeyDays,
		p.KeysEndWithSubscription,
		p.Watch,
		p.Retired,
		p.CreatedAt,
		c.grantMAC("plan", coverageGrant(p, string(coverage))),
	)
	return n == 1, err
}

// ListPlans returns a partner's plans, oldest first, forged ones too, which say nothing.
func (s Plans) ListPlans(ctx context.Context, id partner.ID) ([]plan.Plan, error) {
	rows, err := collectRows(
		ctx,
		s.readQuerier(),
		s.scanPlanRow,
		`SELECT `+planColumns+` FROM plan WHERE partner_id = $1 ORDER BY created_at, id`,
		id,
	)
	return valuesOf(rows), err
}

func (s Plans) GetPlan(ctx context.Context, id partner.ID, p plan.ID) (plan.Plan, error) {
	return s.readPlan(ctx, s.readQuerier(), id, p)
}

// readPlan is GetPlan for a querier.
func (c core) readPlan(ctx context.Context, q querier, id partner.ID, p plan.ID) (plan.Plan, error) {
	found, err := c.checkedPlan(ctx, q, id, p)
	return found.value, errors.Join(err, found.forgedError())
}

// checkedPlan returns plan.ErrNotFound when there is no plan, and a forged one with its mark: the caller decides what
// it does with it.
func (c core) checkedPlan(ctx context.Context, q querier, id partner.ID, p plan.ID) (checked[plan.Plan], error) {
	return readRow(
		ctx,
		q,
		c.scanPlanRow,
		plan.ErrNotFound,
		`SELECT `+planColumns+` FROM plan WHERE partner_id = $1 AND id = $2`,
		id,
		p,
	)
}

// UpdatePlan changes one plan and advances the access epoch. A new plan does not advance it, because no cache can hold
// its absence. A forged plan starts empty, so that only what the operator sets now is stored.
func (s Plans) UpdatePlan(
	ctx context.Context, id partner.ID, p plan.ID, change func(*plan.Plan) error,
) (plan.Plan, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (found plan.Plan, err error) {
		if err := moveAccessEpoch(ctx, tx); err != nil {
			return found, err
		}
		kept, err := s.checkedPlan(ctx, tx, id, p)
		if err != nil {
			return found, err
		}
		if found = kept.value; kept.forged {
			found.Retired = false
		}
		if err := change(&found); err != nil {
			return found, err
		}
		coverage, err := found.Coverage.MarshalCoverage()
		if err != nil {
			return found, err
		}
		return found, execStatement(
			ctx,
			tx,
			`UPDATE plan SET name = $3, coverage = $4, max_devices = $5, key_days = $6, keys_end = $7,
			watch = $8, retired = $9, mac = $10 WHERE partner_id = $1 AND id = $2`,
			id,
			p,
			found.Name,
			string(coverage),
			found.MaxDevices,
			found.KeyDays,
			found.KeysEndWithSubscription,
			found.Watch,
			found.Retired,
			s.grantMAC("plan", coverageGrant(found, string(coverage))),
		)
	})
}
