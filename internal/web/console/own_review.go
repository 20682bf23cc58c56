package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// ownReview lists findings, watched values and devices of one partner.
type ownReview struct {
	of Review
	id partner.ID
}

// FindingList lists findings of the one partner, whatever was asked for.
func (v ownReview) FindingList(ctx context.Context, f cyber.FindingFilter) ([]cyber.Found, cyber.Mark, error) {
	f.Partner = v.id
	return v.of.FindingList(ctx, f)
}

// GroupFindings counts findings of the one partner, whatever was asked for.
func (v ownReview) GroupFindings(ctx context.Context, f cyber.FindingFilter, most int) ([]cyber.FindingGroup, error) {
	f.Partner = v.id
	return v.of.GroupFindings(ctx, f, most)
}

func (v ownReview) StepMarks(ctx context.Context, id partner.ID, findings []cyber.FindingID) ([]cyber.StepMark, error) {
	if id != v.id {
		return nil, cyber.ErrFindingNotFound
	}
	return v.of.StepMarks(ctx, id, findings)
}

// CountAffected counts people of the one partner, whatever was asked for.
func (v ownReview) CountAffected(ctx context.Context, f cyber.FindingFilter) (map[partner.ID]int64, error) {
	f.Partner = v.id
	return v.of.CountAffected(ctx, f)
}

// ListAffected lists people of the one partner, whatever was asked for.
func (v ownReview) ListAffected(ctx context.Context, f cyber.FindingFilter) ([]cyber.Affected, cyber.Mark, error) {
	f.Partner = v.id
	return v.of.ListAffected(ctx, f)
}

// ListAssets lists watched values of the one partner, whatever was asked for.
func (v ownReview) ListAssets(ctx context.Context, f cyber.AssetFilter) ([]cyber.Asset, cyber.Mark, error) {
	f.Partner = v.id
	return v.of.ListAssets(ctx, f)
}

func (v ownReview) DeviceList(
	ctx context.Context, id partner.ID, f cyber.DeviceFilter,
) ([]cyber.Device, cyber.Mark, error) {
	if id != v.id {
		return nil, cyber.Mark{}, partner.ErrNotFound
	}
	return v.of.DeviceList(ctx, id, f)
}

func (v ownReview) GetAsset(ctx context.Context, id partner.ID, asset cyber.AssetID) (cyber.Asset, error) {
	if id != v.id {
		return cyber.Asset{}, cyber.ErrAssetNotFound
	}
	return v.of.GetAsset(ctx, id, asset)
}

func (v ownReview) FindingByID(ctx context.Context, id partner.ID, finding cyber.FindingID) (cyber.Found, error) {
	if id != v.id {
		return cyber.Found{}, cyber.ErrFindingNotFound
	}
	return v.of.FindingByID(ctx, id, finding)
}
