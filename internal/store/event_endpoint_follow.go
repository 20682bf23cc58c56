package store

import (
	"context"
	"errors"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// How the deliveries of an endpoint follow its state: a few at a time, because an endpoint that was off for days has
// missed many.

// FollowEndpoint brings deliveries of a disabled endpoint to where they should be: see alert.EndpointStore.
func (s Alerts) FollowEndpoint(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID, to alert.EndpointState,
) error {
	if to == alert.Disabled {
		return s.holdDeliveries(ctx, id, endpoint)
	}
	return s.whileDisabled(ctx, id, endpoint, func(tx *sqldb.Tx, e alert.Endpoint, limit int64) (int64, error) {
		return releaseDeliveries(ctx, tx, e, s.now(), limit)
	})
}

// releaseDeliveries makes some of an endpoint's held deliveries pending again, and those that ran out of tries since
// the endpoint began to fail: a partner that repairs a receiver wants everything it missed. It returns how many; fewer
// than limit means that none are left.
func releaseDeliveries(ctx context.Context, tx *sqldb.Tx, e alert.Endpoint, now time.Time, limit int64) (int64, error) {
	const again = `UPDATE delivery SET state = 'pending', attempts = 0, next_at = $3, finished_at = 0,
		ordered = (length(person) > 0)
		WHERE partner_id = $1 AND endpoint_id = $2 AND seq IN (`
	args := []any{e.Partner, e.ID, now, limit}
	n, err := execCounting(
		ctx,
		tx,
		again+`SELECT seq FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'held'
		ORDER BY seq LIMIT $4)`,
		args...,
	)
	if err != nil || n == limit || e.FailingSince.IsZero() {
		return n, err
	}
	// By the index of what failed; by the key SQLite would read all that the endpoint ever got.
	args[3] = limit - n
	failed, err := execCounting(
		ctx,
		tx,
		again+`SELECT seq FROM delivery WHERE partner_id = $1 AND coalesce(endpoint_id, '') = $2 AND state = 'failed'
		AND finished_at >= $5 LIMIT $4)`,
		append(args, e.FailingSince)...,
	)
	return n + failed, err
}

// holdDeliveries holds what waits for an endpoint, while it is disabled.
func (s Alerts) holdDeliveries(ctx context.Context, id partner.ID, endpoint alert.EndpointID) error {
	return s.whileDisabled(ctx, id, endpoint, func(tx *sqldb.Tx, _ alert.Endpoint, limit int64) (int64, error) {
		return holdDeliveries(ctx, tx, id, endpoint, limit)
	})
}

// whileDisabled changes deliveries of an endpoint a few at a time, until none is left or the endpoint is enabled or
// gone.
func (s Alerts) whileDisabled(ctx context.Context, id partner.ID, endpoint alert.EndpointID,
	step func(tx *sqldb.Tx, e alert.Endpoint, limit int64) (int64, error),
) error {
	_, err := s.runInBatches(ctx, sweepBatch, func(tx *sqldb.Tx, _, limit int64) (int64, error) {
		if err := s.lockEvents(ctx, tx, id); err != nil {
			return 0, err
		}
		e, err := s.endpointByID(ctx, tx, id, endpoint)
		if errors.Is(err, alert.ErrEndpointNotFound) { // its deliveries go with it
			return 0, nil
		}
		if err != nil || e.State != alert.Disabled {
			return 0, err
		}
		return step(tx, e, limit)
	})
	return err
}

// holdDeliveries holds back up to limit deliveries of an endpoint.
func holdDeliveries(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, endpoint alert.EndpointID, limit int64,
) (int64, error) {
	return execCounting(
		ctx,
		tx,
		`UPDATE delivery SET state = 'held' WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'pending'
		AND seq IN (SELECT seq FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'pending'
			ORDER BY seq LIMIT $3)`,
		id,
		endpoint,
		limit,
	)
}
