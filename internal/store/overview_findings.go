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
			c.add(`f.id < `, f.Before.ID)
		}
	} else {
		order = c.order(`f.found_at`, `f.id`, f.Before, f.OldestFirst)
	}
	rows, err := s.findings(ctx, c.text+order+c.limit(look+1), c.args...)
	if err != nil {
		return nil, cyber.Mark{}, err
	}
	kept, last, more := sift(rows, f.Limit, look, func(one cyber.Found) bool {
		return (f.Kind == "" || one.Asset.Kind.String() == f.Kind) && (f.Severity == "" || one.Finding.Severity == f.Severity)
	})
	if !more {
		return kept, cyber.Mark{}, nil
	}
	return kept, cyber.Mark{At: last.Finding.FoundAt, ID: string(last.Finding.ID)}, nil
}

// findingsThatFit is the one rule for what a list of findings holds and counts.
func (s Overview) findingsThatFit(ctx context.Context, f cyber.FindingFilter) (c conditions, err error) {
	if f.Partner != "" {
		c.add(`f.partner_id = `, number(f.Partner))
	}
	if f.User != "" {
		u, err := s.userOf(ctx, s.reader(), f.Partner, f.User)
		if err != nil {
			return c, err
		}
		c.either(`a.user_index`, u.write, u.other)
	}
	if f.OpenOnly {
		c.add(`f.resolution = `, "")
	}
	if f.ResolvedOnly {
		c.add(`f.resolution <> `, "")
	}
	if f.Breach != "" {
		c.add(`f.breach = `, f.Breach)
	}
	c.period(`f.found_at`, f.From, f.To)
	return c, nil
}

// AssetList returns a page of the watched values in a status that fit, and where the next begins. The index knows status and
// time, and of what was found the partner; the rest is sifted before anything is opened.
func (s Overview) AssetList(ctx context.Context, f cyber.AssetFilter) ([]cyber.Asset, cyber.Mark, error) {
	var c conditions
	c.add(`status = `, string(f.Status))
	c.period(`created_at`, f.From, f.To)
	look := f.Limit
	switch {
	case f.User != "":
		u, err := s.userOf(ctx, s.reader(), f.Partner, f.User)
		if err != nil {
			return nil, cyber.Mark{}, err
		}
		c.add(`partner_id = `, number(f.Partner))
		c.either(`user_index`, u.write, u.other)
	case f.Partner != "" && f.Status != cyber.StatusMonitored:
		c.text += ` AND status <> '` + string(cyber.StatusMonitored) + `'` // a constant of ours: the index is for these
		c.add(`partner_id = `, number(f.Partner))
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
	rows, err := collect(ctx, s.reader(), func(sc scanner) (row, error) {
		var r row
		var created int64
		err := sc.Scan(&r.ID, numbered(&r.Partner), &r.Kind, &r.Status, &created, &r.sealed)
		r.AddedAt = fromMicros(created)
		return r, err
	}, `SELECT id, partner_id, kind, status, created_at, value FROM asset WHERE true`+c.text+c.order(`created_at`, `id`, f.Before, f.OldestFirst)+c.limit(look+1), c.args...)
	if err != nil {
		return nil, cyber.Mark{}, fmt.Errorf("list assets: %w", err)
	}
	kept, last, more := sift(rows, f.Limit, look, func(r row) bool {
		return (f.Partner == "" || r.Partner == f.Partner) && (f.Kind == "" || r.Kind.String() == f.Kind)
	})
	assets := make([]cyber.Asset, len(kept))
	for i, r := range kept {
		assets[i] = r.Asset
		if err := s.monitoring().openAsset(&assets[i], r.sealed); err != nil {
			return nil, cyber.Mark{}, err
		}
	}
	if !more {
		return assets, cyber.Mark{}, nil
	}
	return assets, cyber.Mark{At: last.AddedAt, ID: string(last.ID)}, nil
}
