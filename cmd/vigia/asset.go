package main

import (
	"context"
	"fmt"
	"io"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

type assetCmd struct {
	Add  assetAddCmd  `cmd:"" help:"Watch a domain (any e-mail under it is a hit), a random Pix key or a CNPJ for a partner's person."`
	List assetListCmd `cmd:"" help:"List the watched values of a person; the values themselves are masked."`
}

type assetAddCmd struct {
	Partner string `required:"" placeholder:"PARTNER" help:"The partner's id."`
	User    string `required:"" name:"user-hash" placeholder:"HASH" help:"User hash under which the partner lists it."`
	Type    string `default:"domain" enum:"domain,pix_key,cnpj" help:"domain, pix_key or cnpj: the other types are the partner's to add."`
	Value   string `required:"" placeholder:"VALUE" help:"The domain, key or number."`
}

// Help shows examples.
func (assetAddCmd) Help() string {
	return "Example:\n  vigia asset add --partner pt_... --user-hash HASH --type domain --value empresa-exemplo.com.br"
}

// Run adds a value.
func (c *assetAddCmd) Run(ctx context.Context, common *config.Common, o *output) error {
	return withApp(ctx, common, func(a *app.App) error {
		user, err := partner.ParseUserHash("user-hash", c.User)
		if err != nil {
			return err
		}
		p, err := a.Partners.Partner(ctx, partner.ID(c.Partner))
		if err != nil {
			return err
		}
		added, err := a.Monitoring.WatchOf(ctx, cyber.Owner{Partner: p.ID, Mode: p.Mode}, user, cyber.OperatorAdds, c.Type, c.Value)
		if err != nil {
			return err
		}
		return o.print(map[string]any{"partner_id": p.ID, "type": c.Type, "added": added}, func(w io.Writer) {
			if !added {
				_, _ = fmt.Fprintln(w, "It was already watched for that person.")
				return
			}
			_, _ = fmt.Fprintln(w, "It is watched. A running server looks it up in every breach within seconds.")
		})
	})
}

type assetListCmd struct {
	Partner string `required:"" placeholder:"PARTNER" help:"The partner's id."`
	User    string `required:"" name:"user-hash" placeholder:"HASH" help:"User hash."`
}

type assetView struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Masked  string `json:"masked"`
	Status  string `json:"status"`
	AddedAt string `json:"added_at"`
}

// Run lists a person's values.
func (c *assetListCmd) Run(ctx context.Context, common *config.Common, o *output) error {
	return withApp(ctx, common, func(a *app.App) error {
		user, err := partner.ParseUserHash("user-hash", c.User)
		if err != nil {
			return err
		}
		if _, err := a.Partners.Partner(ctx, partner.ID(c.Partner)); err != nil {
			return err
		}
		assets, err := a.Monitoring.Watched(ctx, partner.ID(c.Partner), user)
		if err != nil {
			return err
		}
		t := table[assetView]{heading: "ASSET\tTYPE\tVALUE\tSTATUS\tADDED"}
		for _, as := range assets {
			v := assetView{string(as.ID), as.Kind.String(), identifier.Mask(as.Kind, as.Value), string(as.Status), stamp(as.AddedAt)}
			t.add(v, v.ID, v.Type, v.Masked, v.Status, v.AddedAt)
		}
		return t.print(o)
	})
}
