package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// UpdateEndpoint changes an endpoint and moves its deliveries to the state that follows, in transactions of a few rows.
// An endpoint is enabled only after everything it missed is due again: until then nothing is sent, so that a person's
// events stay in order. An endpoint is disabled at once, and its pending deliveries are held afterwards. If the process
// is interrupted, the first stays disabled and can be enabled again; for the second, the sweep holds what is left.
func (s Alerts) UpdateEndpoint(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID, change func(*alert.Endpoint) error,
) (e alert.Endpoint, err error) {
	for changed := false; !changed; {
		err := s.runInTransaction(ctx, func(tx *sqldb.Tx) (err error) {
			e, changed, err = s.updateEndpoint(ctx, tx, id, endpoint, change)
			return err
		})
		if err != nil {
			return e, err
		}
	}
	if e.State == alert.Disabled && s.tx == nil { // a transaction that does more is not made longer: see FollowEndpoint
		err = s.holdDeliveries(ctx, id, endpoint)
	}
	return e, err
}

// updateEndpoint changes an endpoint, unless it is to be enabled and more is to be sent again first than fits into one
// transaction: then it does some of that.
func (s Alerts) updateEndpoint(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, endpoint alert.EndpointID, change func(*alert.Endpoint) error,
) (
	e alert.Endpoint, changed bool, err error,
) {
	if err := s.lockEvents(ctx, tx, id); err != nil {
		return e, false, err
	}
	if e, err = s.endpointByID(ctx, tx, id, endpoint); err != nil {
		return e, false, err
	}
	before := e
	if err := change(&e); err != nil {
		return e, false, err
	}
	now := s.now()
	e.ChangedAt = now
	if e.State == alert.Enabled && before.State != alert.Enabled {
		n, err := releaseDeliveries(ctx, tx, before, now, sweepBatch)
		if err != nil || n >= sweepBatch {
			return e, false, err
		}
		e.FailingSince = time.Time{}
		tx.AfterCommit(s.signalDue)
	}
	keys, err := s.sealKeyring(e)
	if err != nil {
		return e, false, err
	}
	err = execStatement(
		ctx,
		tx,
		`UPDATE endpoint SET keys = $3, types = $4, state = $5, reason = $6, failing_since = $7, changed_at = $8,
		mac = $9 WHERE partner_id = $1 AND id = $2`,
		id,
		endpoint,
		keys,
		joinTexts(e.Types),
		e.State,
		e.Reason,
		e.FailingSince,
		now,
		s.grantMAC("endpoint", endpointGrant(e)),
	)
	if err == nil && e.State == alert.Disabled && before.State != alert.Disabled {
		_, err = holdDeliveries(ctx, tx, id, endpoint, sweepBatch)
	}
	return e, true, err
}

// DeleteEndpoint deletes an endpoint at once and its deliveries and attempts in batches; a sweep finishes what a crash
// leaves, or a transaction that does more.
func (s Alerts) DeleteEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID) error {
	err := s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if err := s.lockEvents(ctx, tx, id); err != nil {
			return err
		}
		return execExpecting(
			ctx,
			tx,
			alert.ErrEndpointNotFound,
			`DELETE FROM endpoint WHERE partner_id = $1 AND id = $2`,
			id,
			endpoint,
		)
	})
	if err != nil || s.tx != nil {
		return err
	}
	return s.deleteDeliveries(ctx, id, endpoint)
}

// deleteDeliveries deletes an endpoint's deliveries and their attempts, a few rows per transaction.
func (s Alerts) deleteDeliveries(ctx context.Context, id partner.ID, endpoint alert.EndpointID) error {
	_, err := s.runInBatches(ctx, int64(sweepBatch/rowsOfDelivery), func(tx *sqldb.Tx, _, limit int64) (int64, error) {
		seqs, err := collectValues[int64](
			ctx,
			tx,
			`SELECT seq FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 ORDER BY seq LIMIT $3`,
			id,
			endpoint,
			limit,
		)
		if err != nil {
			return 0, err
		}
		var list sqldb.Statements
		for _, seq := range seqs {
			list = append(list, deleteDelivery(id, endpoint, seq)...)
		}
		return int64(len(seqs)), tx.RunStatements(ctx, list)
	})
	return wrapError("delete deliveries", err)
}
