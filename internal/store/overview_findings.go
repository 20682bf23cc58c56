package store

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
)

// FindingList returns a page of the findings that fit, and where the next begins. Severity and kind are no columns of the
// table, so they are sifted: see looks.
func (s Overview) FindingList(ctx context.Context, f cyber.FindingFilter) ([]cyber.Found, cyber.Mark, error) {
	c, err := s.findingsThatFit(ctx, f)
	if err != nil {
		return nil, cyber.Mark{}, err
	}
	look := f.Limit
	if f.Kind != "" || f.Severity != "" {
		look = max(f.Limit, looks)
	}
	order := ` ORDER BY f.id DESC`
	if f.Breach != "" { // ids grow with time, so the breach's own index has the order; by time a million rows would be sorted
		if f.Before.ID != "" {
			c.addCondition(`f.id < `, f.Before.ID)
		}
	} else {
		at := `f.found_at`
		if f.User != "" {
			at = byPerson + at
		}
		order = c.addOrder(at, `f.id`, f.Before, f.OldestFirst)
	}
	kept, last, more, err := collectPage(ctx, s.readQuerier(), f.Limit, look, func(one cyber.Found) bool {
		return (f.Kind == "" || one.Asset.Kind.String() == f.Kind) && (f.Severity == "" || one.Finding.Severity == f.Severity)
	}, s.scanFound, selectFound+c.text+order+c.addLimit(look+1), c.args...)
	if err != nil {
		return nil, cyber.Mark{}, fmt.Errorf("list findings: %w", err)
	}
	if !more {
		return kept, cyber.Mark{}, nil
	}
	return kept, cyber.Mark{At: last.Finding.FoundAt, ID: string(last.Finding.ID)}, nil
}

// findingsThatFit returns the conditions of a filter; lists and counts both use them, so that they agree.
func (s Overview) findingsThatFit(ctx context.Context, f cyber.FindingFilter) (c conditions, err error) {
	if f.Partner != "" {
		c.addCondition(`f.partner_id = `, partnerNumber(f.Partner))
	}
	if f.User != "" {
		u, err := s.findUser(ctx, s.readQuerier(), f.Partner, f.User)
		if err != nil {
			return c, err
		}
		c.addCondition(`f.asset_id IN (SELECT id FROM asset WHERE partner_id = `, partnerNumber(f.Partner))
		c.addEither(`user_index`, u.write, u.other)
		c.text += `)` // joined to them, SQLite reads all findings of the partner
	}
	if f.OpenOnly {
		c.addCondition(`f.resolution = `, "")
	}
	if f.ResolvedOnly {
		c.addCondition(`f.resolution <> `, "")
	}
	if f.Breach != "" {
		c.addCondition(`f.breach = `, f.Breach)
	}
	c.addPeriod(`f.found_at`, f.From, f.To)
	return c, nil
}

// ListAssets returns a page of the watched values in a status that fit, and where the next begins. The index knows status and
// time, and of what was found the partner; the rest is sifted before anything is opened.
func (s Overview) ListAssets(ctx context.Context, f cyber.AssetFilter) ([]cyber.Asset, cyber.Mark, error) {
	var c conditions
	c.addCondition(`status = `, string(f.Status))
	c.addPeriod(`created_at`, f.From, f.To)
	look := f.Limit
	switch {
	case f.User != "":
		u, err := s.findUser(ctx, s.readQuerier(), f.Partner, f.User)
		if err != nil {
			return nil, cyber.Mark{}, err
		}
		c.addCondition(`partner_id = `, partnerNumber(f.Partner))
		c.addEither(`user_index`, u.write, u.other)
	case f.Partner != "" && f.Status != cyber.StatusMonitored:
		c.text += ` AND status <> '` + string(cyber.StatusMonitored) + `'` // a constant of ours: the index is for these
		c.addCondition(`partner_id = `, partnerNumber(f.Partner))
		if f.Kind != "" {
			look = max(f.Limit, looks)
		}
	case f.Partner != "", f.Kind != "":
		look = max(f.Limit, looks)
	}
	type row struct {
		cyber.Asset
		sealed []byte
	}
	kept, last, more, err := collectPage(ctx, s.readQuerier(), f.Limit, look, func(r row) bool {
		return (f.Partner == "" || r.Partner == f.Partner) && (f.Kind == "" || r.Kind.String() == f.Kind)
	}, func(sc scanner) (row, error) {
		var r row
		var created int64
		err := sc.Scan(&r.ID, scanPartnerID(&r.Partner), &r.Kind, &r.Status, &created, &r.sealed)
		r.AddedAt = fromMicros(created)
		return r, err
	}, `SELECT id, partner_id, kind, status, created_at, value FROM asset WHERE true`+c.text+c.addOrder(`created_at`, `id`, f.Before, f.OldestFirst)+c.addLimit(look+1), c.args...)
	if err != nil {
		return nil, cyber.Mark{}, fmt.Errorf("list assets: %w", err)
	}
	assets := make([]cyber.Asset, len(kept))
	for i, r := range kept {
		assets[i] = r.Asset
		if err := s.monitoring().openAssetValue(&assets[i], r.sealed); err != nil {
			return nil, cyber.Mark{}, err
		}
	}
	if !more {
		return assets, cyber.Mark{}, nil
	}
	return assets, cyber.Mark{At: last.AddedAt, ID: string(last.ID)}, nil
}
