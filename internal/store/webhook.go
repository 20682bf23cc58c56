package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ alert.EndpointStore = Alerts{}

// endpointPlace binds a sealed column of an endpoint to the partner and the endpoint.
func endpointPlace(id partner.ID, endpoint alert.EndpointID, column string) seal.Place {
	return seal.Place{Table: "endpoint", Column: column, Partner: string(id), Row: string(endpoint)}
}

// keptKey is a key of an endpoint as the sealed column holds it.
type keptKey struct {
	Key   string `json:"key"`
	Until int64  `json:"until,omitempty"`
}

// sealKeyring seals the keys of an endpoint for its row.
func (s Alerts) sealKeyring(e alert.Endpoint) ([]byte, error) {
	kept := make([]keptKey, 0, len(e.Keys))
	for _, k := range e.Keys {
		key, ok := k.Key.(interface{ Reveal() string })
		if !ok {
			return nil, fmt.Errorf("seal endpoint keys: unexpected %T", k.Key)
		}
		kept = append(kept, keptKey{key.Reveal(), toMicros(k.Until)})
	}
	return s.sealValue(endpointPlace(e.Partner, e.ID, "keys"), kept)
}

// openKeyring opens what sealKeyring sealed.
func (c core) openKeyring(e *alert.Endpoint, sealed []byte) error {
	var kept []keptKey
	if c.openSealed(endpointPlace(e.Partner, e.ID, "keys"), sealed, &kept) != nil {
		return errors.New("open endpoint keys: not in the form they were sealed in") // the cause might quote a key
	}
	for _, k := range kept {
		var key webhook.Key
		var err error
		if strings.HasPrefix(k.Key, "whsec_") {
			key, err = webhook.ParseSecret(k.Key)
		} else {
			key, err = webhook.ParseSigningKey(k.Key)
		}
		if err != nil {
			return fmt.Errorf("open endpoint keys: %w", err)
		}
		e.Keys = append(e.Keys, webhook.DatedKey{Key: key, Until: fromMicros(k.Until)})
	}
	return nil
}

// endpointColumns are those that scanning an endpoint expects, in its order.
const endpointColumns = `id, partner_id, url, keys, types, state, reason, failing_since, changed_at, created_at, mac`

// scanEndpoint reads and opens an endpoint. One that does not open is forged.
func (c core) scanEndpoint(row scanner, into *checked[alert.Endpoint]) error {
	e := &into.value
	var url, keys []byte
	err := row.Scan(
		&e.ID,
		&e.Partner,
		&url,
		&keys,
		splitsTexts(&e.Types),
		&e.State,
		&e.Reason,
		&e.FailingSince,
		&e.ChangedAt,
		&e.CreatedAt,
		c.checksMAC(&into.forged, "endpoint", func() *grant { return endpointGrant(*e) }),
	)
	into.row = "endpoint " + string(e.ID)
	if c.openSealed(endpointPlace(e.Partner, e.ID, "url"), url, &e.URL) != nil || c.openKeyring(e, keys) != nil {
		into.forged = true
	}
	return err
}

// lockEvents keeps new events of the partner out until the transaction ends. Whatever changes which endpoints there are
// takes it first, so that fan-out and change see each other whole: no delivery is made for a state that is gone.
func (s Alerts) lockEvents(ctx context.Context, tx *sqldb.Tx, id partner.ID) error {
	return execStatement(ctx, tx, `INSERT INTO event_counter (partner_id, last) VALUES ($1, 0)
		ON CONFLICT (partner_id) DO UPDATE SET last = event_counter.last`,
		id,
	)
}

// InsertEndpoint stores a new endpoint.
func (s Alerts) InsertEndpoint(ctx context.Context, id partner.ID, e alert.Endpoint, limit int) error {
	url, err := s.sealValue(endpointPlace(id, e.ID, "url"), e.URL)
	if err != nil {
		return err
	}
	keys, err := s.sealKeyring(e)
	if err != nil {
		return err
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if _, err := s.partnerByID(ctx, tx, id); err != nil {
			return err
		}
		if err := s.lockEvents(ctx, tx, id); err != nil {
			return err
		}
		n, err := readValue[int](ctx, tx, `SELECT count(*) FROM endpoint WHERE partner_id = $1`, id)
		if err != nil {
			return err
		}
		if n >= limit {
			return alert.ErrTooManyEndpoints.With("partner", fault.WebhooksAtMost, limit)
		}
		return execStatement(
			ctx,
			tx,
			`INSERT INTO endpoint (`+endpointColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			e.ID,
			id,
			url,
			keys,
			joinTexts(e.Types),
			e.State,
			e.Reason,
			e.FailingSince,
			e.ChangedAt,
			e.CreatedAt,
			s.grantMAC("endpoint", endpointGrant(e)),
		)
	})
}

// ListEndpoints returns a partner's endpoints, oldest first, without forged ones.
func (s Alerts) ListEndpoints(ctx context.Context, id partner.ID) ([]alert.Endpoint, error) {
	return collectGenuine(
		ctx,
		s.readQuerier(),
		s.scanEndpoint,
		`SELECT `+endpointColumns+` FROM endpoint WHERE partner_id = $1
		ORDER BY created_at, id`,
		id,
	)
}

func (s Alerts) EndpointByID(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (alert.Endpoint, error) {
	return s.endpointByID(ctx, s.readQuerier(), id, endpoint)
}

// endpointByID returns alert.ErrEndpointNotFound for an unknown endpoint and an error for a forged row: events must not
// be sent to an address that this program did not store.
func (s Alerts) endpointByID(
	ctx context.Context,
	q querier,
	id partner.ID,
	endpoint alert.EndpointID,
) (alert.Endpoint, error) {
	return readGenuine(
		ctx,
		q,
		s.scanEndpoint,
		alert.ErrEndpointNotFound,
		`SELECT `+endpointColumns+` FROM endpoint WHERE partner_id = $1 AND id = $2`,
		id,
		endpoint,
	)
}

func (s Alerts) EndpointOwner(ctx context.Context, endpoint alert.EndpointID) (partner.ID, error) {
	return findValue[partner.ID](
		ctx,
		s.readQuerier(),
		alert.ErrEndpointNotFound,
		`SELECT partner_id FROM endpoint WHERE id = $1`,
		endpoint,
	)
}

// UpdateEndpoint changes an endpoint and moves its deliveries to the state that follows, in transactions of a few rows.
// An endpoint is enabled only after everything it missed is due again: until then nothing is sent, so that a person's
// events stay in order. An endpoint is disabled at once, and its pending deliveries are held afterwards. If the process
// is interrupted, the first stays disabled and can be enabled again; for the second, the sweep holds what is left.
func (s Alerts) UpdateEndpoint(
	ctx context.Context,
	id partner.ID,
	endpoint alert.EndpointID,
	change func(*alert.Endpoint) error,
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
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	endpoint alert.EndpointID,
	change func(*alert.Endpoint) error,
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
		mac = $9
		WHERE partner_id = $1 AND id = $2`,
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
	_, err := s.runBatches(ctx, int64(sweepBatch/rowsOfDelivery), func(tx *sqldb.Tx, _, limit int64) (int64, error) {
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
		var list []sqldb.Statement
		for _, seq := range seqs {
			list = append(list, deleteDelivery(id, endpoint, seq)...)
		}
		return int64(len(seqs)), tx.RunStatements(ctx, list)
	})
	return wrapError("delete deliveries", classifyError(err))
}

// How the deliveries of an endpoint follow its state: a few at a time, because an endpoint that was off for days has
// missed many.

// FollowEndpoint brings deliveries of a disabled endpoint to where they should be: see alert.EndpointStore.
func (s Alerts) FollowEndpoint(
	ctx context.Context,
	id partner.ID,
	endpoint alert.EndpointID,
	to alert.EndpointState,
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
	_, err := s.runInBatches(ctx, func(tx *sqldb.Tx, limit int64) (int64, error) {
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
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	endpoint alert.EndpointID,
	limit int64,
) (int64, error) {
	return execCounting(
		ctx,
		tx,
		`UPDATE delivery SET state = 'held' WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'pending'
		AND seq IN (
		SELECT seq FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'pending'
		ORDER BY seq LIMIT $3)`,
		id,
		endpoint,
		limit,
	)
}

// EndpointHealth returns how an endpoint fares by its newest deliveries, all of which its own index names: see
// alert.HistoryStore.
func (s Alerts) EndpointHealth(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (alert.Health, error) {
	var h alert.Health
	q := s.readQuerier()
	err := readColumns(
		ctx,
		q,
		[]any{&h.Delivered, &h.Failed, &h.Travel},
		`SELECT count(*) FILTER (WHERE state = 'delivered'), count(*) FILTER (WHERE state = 'failed'),
			CAST(coalesce(sum(finished_at - created_at) FILTER (WHERE state = 'delivered'), 0) AS BIGINT)
		FROM (SELECT state, created_at, finished_at FROM delivery WHERE partner_id = $1 AND endpoint_id = $2
		ORDER BY seq DESC LIMIT $3) AS newest`,
		id,
		endpoint,
		alert.HealthOver,
	)
	if err != nil {
		return h, err
	}
	err = readColumns(
		ctx,
		q,
		[]any{&h.Backlog, &h.Held},
		`SELECT (SELECT count(*) FROM (SELECT 1 AS one FROM delivery
			WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'pending' LIMIT $3) AS waiting),
			(SELECT count(*) FROM (SELECT 1 AS one FROM delivery
			WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'held' LIMIT $3) AS held)`,
		id,
		endpoint,
		alert.MaxBacklog,
	)
	if err != nil {
		return h, err
	}
	event, err := s.lastTriedEvent(ctx, id, endpoint)
	if err != nil || event == "" {
		return h, err
	}
	tries, err := s.ListAttempts(ctx, id, event)
	for _, t := range tries {
		if t.Endpoint == endpoint && !t.At.Before(h.Last.At) {
			h.Last = t
		}
	}
	return h, err
}

// lastTriedEvent returns the event of the newest delivery that was tried; empty when none was. A delivery that met a
// 410, or is sent again, has tries although none counts. What waits is tried from the oldest on, so behind the newest
// deliveries it looks where that begins.
func (s Alerts) lastTriedEvent(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (alert.EventID, error) {
	const of = `partner_id = $1 AND endpoint_id = $2`
	const begin = `coalesce((SELECT min(o.seq) FROM delivery o
		WHERE o.partner_id = $1 AND o.endpoint_id = $2 AND o.state = 'pending'),
		(SELECT min(o.seq) FROM delivery o WHERE o.partner_id = $1 AND o.endpoint_id = $2 AND o.state = 'held'), 0)`
	for _, stretch := range []string{
		`SELECT event_id, seq, attempts, state FROM delivery WHERE ` + of + ` ORDER BY seq DESC LIMIT $3`,
		`SELECT event_id, seq, attempts, state FROM delivery
		WHERE ` + of + ` AND seq >= ` + begin + ` ORDER BY seq LIMIT $3`,
		`SELECT event_id, seq, attempts, state FROM delivery
		WHERE ` + of + ` AND seq < ` + begin + ` ORDER BY seq DESC LIMIT $3`,
	} {
		events, err := collectValues[alert.EventID](
			ctx,
			s.readQuerier(),
			`SELECT event_id FROM (`+stretch+`) AS near WHERE attempts > 0 OR state = 'delivered' OR EXISTS (
			SELECT 1 FROM attempt a WHERE a.partner_id = $1 AND a.endpoint_id = $2 AND a.seq = near.seq)
			ORDER BY seq DESC LIMIT 1`,
			id,
			endpoint,
			alert.HealthOver,
		)
		if err != nil || len(events) > 0 {
			return cmp.Or(append(events, "")...), err
		}
	}
	return "", nil
}
