package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

var _ cyber.MonitoringStore = Monitoring{}

// sealedAsset is what the sealed column of a watched value holds.
type sealedAsset struct {
	Value string           `json:"value"`
	User  partner.UserHash `json:"userHash"`
}

// assetPlace binds a sealed watched value to the partner and the asset.
func assetPlace(id partner.ID, asset cyber.AssetID) seal.Place {
	return seal.Place{Table: "asset", Column: "value", Partner: string(id), Row: string(asset)}
}

// sealAssetValue seals a watched value for its row.
func (s Monitoring) sealAssetValue(id partner.ID, a cyber.Asset) ([]byte, error) {
	plain, err := json.Marshal(sealedAsset{Value: a.Value, User: a.User})
	if err != nil {
		return nil, err
	}
	return s.sealValue(assetPlace(id, a.ID), plain)
}

// openAssetValue opens what sealAssetValue sealed.
func (s Monitoring) openAssetValue(a *cyber.Asset, sealed []byte) error {
	plain, err := s.keys.Unseal(assetPlace(a.Partner, a.ID), sealed)
	var v sealedAsset
	if err == nil {
		err = json.Unmarshal(plain, &v)
	}
	a.Value, a.User = v.Value, v.User
	return wrapError("open asset", err)
}

// opensAsset returns a target of Scan for the sealed value; the ID and the partner of the asset come before it.
func (s Monitoring) opensAsset(a *cyber.Asset) sql.Scanner {
	return scanFunc(func(sealed []byte) error { return s.openAssetValue(a, sealed) })
}

// valueIndex returns how a person's value is recognised when it is added again.
func (s Monitoring) valueIndex(id partner.ID, kind identifier.Kind, normal string) []byte {
	return s.keys.BlindIndex("asset", string(id), append([]byte{byte(kind)}, normal...))
}

// AssetsOfUser returns a person's values in the order added, each once even if it was added under both digests before
// these were known as one person.
func (s Monitoring) AssetsOfUser(ctx context.Context, id partner.ID, hash partner.UserHash) ([]cyber.Asset, error) {
	q := s.readQuerier()
	u, err := s.findUser(ctx, q, id, hash)
	if err != nil {
		return nil, err
	}
	type row struct {
		cyber.Asset
		twin string
	}
	rows, err := collectRows(ctx, q, func(row_ scanner, r *row) error {
		*r = row{Asset: cyber.Asset{Partner: id}}
		var look int64
		var index, sealed []byte
		err := row_.Scan(&r.ID, &r.Kind, &index, &sealed, &r.Status, &r.Source, &r.AddedAt, &look)
		if err != nil {
			return err
		}
		r.twin, r.Waits, r.IsDue = string(index), look != lookDone, look == lookDue
		return s.openAssetValue(&r.Asset, sealed)
	}, `SELECT id, kind, value_index, value, status, source, created_at, look FROM asset
		WHERE partner_id = $1 AND user_index IN ($2, $3) ORDER BY created_at, id`,
		id,
		u.write,
		u.other,
	)
	if err != nil {
		return nil, err
	}
	assets, seen := make([]cyber.Asset, 0, len(rows)), make(map[string]bool, len(rows))
	for _, r := range rows {
		if !seen[r.twin] {
			seen[r.twin] = true
			assets = append(assets, r.Asset)
		}
	}
	return assets, nil
}

// EnrolledValues returns what a person's subscriptions in force name: see cyber.MonitoringStore.
func (s Monitoring) EnrolledValues(
	ctx context.Context, id partner.ID, hash partner.UserHash,
) ([]cyber.EnrolledValue, error) {
	q := s.readQuerier()
	u, err := s.findUser(ctx, q, id, hash)
	if err != nil || u.cpf == nil {
		return nil, err
	}
	list, err := Subscriptions(s).readByCPF(ctx, q, id, u.cpf, "")
	if err != nil {
		return nil, err
	}
	var values []cyber.EnrolledValue
	for _, sub := range list {
		if sub.Over(subscription.DayInBrazil(s.now())) {
			continue
		}
		b := sub.Beneficiary
		values = append(
			values,
			cyber.EnrolledValue{Kind: identifier.Email, Value: b.Email},
			cyber.EnrolledValue{Kind: identifier.Phone, Value: b.Phone},
			cyber.EnrolledValue{
				Kind:  identifier.CPF,
				Value: b.CPF,
			},
			cyber.EnrolledValue{Kind: identifier.Card, Value: b.PrimaryCard},
			cyber.EnrolledValue{Kind: identifier.Card, Value: b.UserCard},
		)
	}
	return values, nil
}

// DeleteAsset erases a value of one of the kinds, its findings and its history; what was added under the person's other
// digest goes with it. Subscriptions that name the value go on and do not watch it any more.
func (s Monitoring) DeleteAsset(
	ctx context.Context, id partner.ID, hash partner.UserHash, asset cyber.AssetID, kinds []identifier.Kind,
) error {
	return s.runAsUser(ctx, id, hash, func(tx *sqldb.Tx, u user) error {
		var kind identifier.Kind
		var index []byte
		err := readColumns(
			ctx,
			tx,
			[]any{&kind, &index},
			`SELECT kind, value_index FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3) AND id = $4`,
			id,
			u.write,
			u.other,
			asset,
		)
		if errors.Is(err, sql.ErrNoRows) || err == nil && !slices.Contains(kinds, kind) {
			return cyber.ErrAssetNotFound
		}
		if err != nil {
			return err
		}
		// First what no subscription names, which is all there is most of the time. The row of a value that an
		// enrolment names at this moment is left to the second step, which waits for the enrolment.
		const sameValue = ` FROM asset
			WHERE partner_id = $1 AND user_index IN ($2, $3) AND kind = $4 AND value_index = $5`
		args := []any{id, u.write, u.other, kind, index}
		gone, err := execCounting(ctx, tx, `DELETE`+sameValue+` AND source < 2`, args...)
		if err != nil {
			return err
		}
		isNamed, err := readValue[bool](ctx, tx, `SELECT EXISTS (SELECT 1`+sameValue+`)`, args...)
		if err != nil {
			return err
		}
		if isNamed && u.cpf != nil {
			if _, err := lockSubscriptions(ctx, tx, id); err != nil {
				return err
			}
			if err := Subscriptions(s).unwatchNamedValue(ctx, tx, id, u, kind, index); err != nil {
				return err
			}
			n, err := execCounting(ctx, tx, `DELETE`+sameValue, args...)
			if err != nil {
				return err
			}
			gone += n
		}
		if gone == 0 {
			return cyber.ErrAssetNotFound
		}
		return nil
	})
}
