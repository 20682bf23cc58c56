package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

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

// endpointGrant: address and keys are sealed, and since when it fails decides nothing.
func endpointGrant(e alert.Endpoint) *grant {
	return new(grant).
		addTexts(string(e.ID), string(e.Partner), joinTexts(e.Types), string(e.State), string(e.Reason)).
		addNumbers(toMicros(e.CreatedAt))
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
	ctx context.Context, q querier, id partner.ID, endpoint alert.EndpointID,
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
	return readRow(
		ctx,
		s.readQuerier(),
		scanValue[partner.ID],
		alert.ErrEndpointNotFound,
		`SELECT partner_id FROM endpoint WHERE id = $1`,
		endpoint,
	)
}
