package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// GetAsset returns one watched value.
func (s Overview) GetAsset(ctx context.Context, id partner.ID, asset cyber.AssetID) (cyber.Asset, error) {
	return readRow(ctx, s.readQuerier(), func(row scanner, a *cyber.Asset) error {
		return row.Scan(&a.ID, &a.Partner, &a.Kind, &a.Status, &a.AddedAt, &a.Waits, Monitoring(s).opensAsset(a))
	}, cyber.ErrAssetNotFound, `SELECT id, partner_id, kind, status, created_at, look <> 0, value FROM asset
		WHERE partner_id = $1 AND id = $2`,
		id,
		asset,
	)
}

// ListAssets returns a page of the watched values in a status that fit, and where the next begins: those without
// findings are those that were looked for. The index knows
// status and time, and of what was found the partner; the rest is sifted before anything is opened.
func (s Overview) ListAssets(ctx context.Context, f cyber.AssetFilter) ([]cyber.Asset, cyber.Mark, error) {
	var c conditions
	addFilter(&c, `status = `, f.Status)
	if f.WaitsOnly {
		c.text += ` AND (look = 1 OR look = 2)` // of each there is an index
	}
	c.addLiveOnly(`partner_id`, f.LiveOnly)
	c.addPeriod(`created_at`, f.From, f.To)
	look := f.Limit
	switch {
	case f.User != "":
		c.addCondition(`partner_id = `, f.Partner)
		if err := s.addPerson(ctx, &c, `user_index`, f.Partner, f.User); err != nil {
			return nil, cyber.Mark{}, err
		}
	case f.Partner != "" && f.WaitsOnly:
		c.addCondition(`partner_id = `, f.Partner)
		look = rowsToLook(f.Limit, f.Kind != "")
	case f.Partner != "" && f.Status != cyber.StatusMonitored && f.Status != "":
		c.text += ` AND status <> '` + string(cyber.StatusMonitored) + `'` // a constant of ours: the index is for these
		c.addCondition(`partner_id = `, f.Partner)
		look = rowsToLook(f.Limit, f.Kind != "")
	default:
		look = rowsToLook(f.Limit, f.Partner != "" || f.Kind != "" || f.Status == cyber.StatusMonitored)
	}
	fits := func(a cyber.Asset) bool {
		return (f.Partner == "" || a.Partner == f.Partner) && (f.Kind == "" || a.Kind.String() == f.Kind) &&
			!(f.Status == cyber.StatusMonitored && a.Waits)
	}
	mark := func(a cyber.Asset) cyber.Mark { return cyber.Mark{At: a.AddedAt, ID: string(a.ID)} }
	return collectPage(ctx, s.readQuerier(), f.Limit, look, fits, mark, func(row scanner, a *cyber.Asset) error {
		opens := scanFunc(func(sealed []byte) error {
			if !fits(*a) {
				return nil
			}
			return Monitoring(s).openAssetValue(a, sealed)
		})
		return row.Scan(&a.ID, &a.Partner, &a.Kind, &a.Status, &a.AddedAt, &a.Waits, opens)
	}, `SELECT id, partner_id, kind, status, created_at, look <> 0, value FROM asset
		WHERE true`+c.text+c.addOrder(`created_at`, `id`, f.Before, f.OldestFirst)+
		c.addLimit(look+1),
		c.args...,
	)
}
