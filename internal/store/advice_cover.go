package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/subscription"
)

var _ cyber.CoverStore = Cover{}

// LoadEntitled returns the plans of a person's subscriptions in force and the partner's default plan.
func (s Cover) LoadEntitled(ctx context.Context, id partner.ID, sent partner.UserHash) (cyber.Entitled, error) {
	q := s.readQuerier()
	u, err := s.findUser(ctx, q, id, sent)
	if err != nil {
		return cyber.Entitled{}, err
	}
	return s.readEntitled(ctx, q, id, u)
}

// readEntitled is LoadEntitled for a querier.
func (s Cover) readEntitled(ctx context.Context, q querier, id partner.ID, u user) (cyber.Entitled, error) {
	const columns = `p.partner_id, p.id, p.name, p.coverage, p.max_devices, p.key_days, p.keys_end,
		p.watch, p.retired, p.created_at, p.mac`
	var e cyber.Entitled
	err := eachRow(ctx, q, func(row scanner) error {
		var byDefault bool
		var start, expiry subscription.Day
		var found checked[plan.Plan]
		err := s.scanPlanRow(leading{row, []any{&byDefault, &start, &expiry}}, &found)
		switch {
		case err != nil:
		case found.forged:
			err = found.forgedError()
		case byDefault:
			e.Default = append(e.Default, cyber.Entitlement{Plan: found.value})
		default:
			e.Subscribed = append(
				e.Subscribed,
				cyber.Entitlement{Plan: found.value, From: start.Time(), Until: expiry.Time()},
			)
		}
		return err
	}, `SELECT FALSE, b.start_day, b.expiry_day, `+columns+` FROM subscription b
		JOIN plan p ON p.partner_id = b.partner_id AND p.id = b.plan_id
		WHERE b.partner_id = $1 AND b.cpf = $2 AND b.ended_at = 0 AND b.suspended_at = 0 AND b.start_day <= $3
			AND (b.expiry_day = 0 OR b.expiry_day >= $3)
		UNION ALL SELECT TRUE, 0, 0, `+columns+` FROM partner t JOIN plan p ON p.partner_id = t.id
		AND p.id = t.default_plan WHERE t.id = $1`,
		id,
		orEmptyBytes(u.cpf),
		subscription.DayInBrazil(s.now()),
	) // an empty index matches no row
	return e, err
}
