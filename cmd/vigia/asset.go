package main

import (
	"context"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

// assetListCmd is 'vigia asset list'. Values are masked, since terminals are logged.
type assetListCmd struct {
	Partner string `required:"" placeholder:"PARTNER" help:"The partner's id."`
	User    string `required:"" name:"user-hash" placeholder:"HASH" help:"User hash."`
}

func (l *assetListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	user, err := partner.ParseUserHash("user-hash", l.User)
	if err != nil {
		return err
	}
	if _, err := a.Partners.PartnerByID(ctx, partner.ID(l.Partner)); err != nil {
		return err
	}
	found, err := a.Monitoring.ListAssets(ctx, cyber.AssetScope{Partner: partner.ID(l.Partner), User: user})
	if err != nil {
		return err
	}
	return o.listRecords(makeRecords(found, func(v cyber.Asset) record {
		return newRecord(
			"id", v.ID,
			"type", v.Kind,
			"masked", identifier.MaskValue(v.Kind, v.Value),
			"status", v.Status,
			"added_at", v.AddedAt,
		)
	}), "Nothing is watched for this person.")
}
