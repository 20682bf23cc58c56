package store

import (
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// bookMadeUp takes the first wished time of a sandbox partner's made-up calendar that none of its cases has.
func (s Cases) bookMadeUp(
	ctx context.Context, tx *sqldb.Tx, c cyber.Case, wishes cyber.Wishes, now time.Time,
) (time.Time, error) {
	free, err := s.freeMadeUp(ctx, tx, c.Partner, c.Service, now)
	if err != nil {
		return time.Time{}, err
	}
	for _, at := range wishes.Times {
		if !slices.ContainsFunc(free, at.Equal) {
			continue
		}
		return at, execStatement(
			ctx,
			tx,
			`UPDATE support_case SET made_up_at = $3 WHERE partner_id = $1 AND id = $2`,
			c.Partner,
			c.ID,
			at,
		)
	}
	return time.Time{}, cyber.ErrAppointmentTaken.With("appointments", fault.NoTimeFree)
}

// freeMadeUp returns the times of a sandbox partner's made-up calendar that none of its cases has.
func (s Cases) freeMadeUp(
	ctx context.Context, q querier, id partner.ID, service cyber.ServiceID, now time.Time,
) ([]time.Time, error) {
	taken, err := collectValues[int64](ctx, q, `SELECT made_up_at FROM support_case
		WHERE partner_id = $1 AND service_id = $2 AND made_up_at > $3`,
		id,
		service,
		now,
	)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(cyber.SandboxTimes(now), func(at time.Time) bool {
		return slices.Contains(taken, toMicros(at))
	}), nil
}

// sandboxSlots returns the free made-up times of a service that has a calendar.
func (s Cases) sandboxSlots(
	ctx context.Context, id partner.ID, service cyber.ServiceID, after time.Time,
) ([]time.Time, error) {
	calendar, err := hasCalendar(ctx, s.readQuerier(), service, after)
	if err != nil || !calendar {
		return nil, err
	}
	return s.freeMadeUp(ctx, s.readQuerier(), id, service, after)
}
