package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/partner"
)

type keyCmd struct {
	Create keyCreateCmd `cmd:"" help:"Give a partner one more key; it is shown once."`
	List   keyListCmd   `cmd:"" help:"List a partner's keys."`
	Roll   keyRollCmd   `cmd:"" help:"Replace a key; the old one works on for a while."`
	Revoke keyRevokeCmd `cmd:"" help:"End a key and the keys it made at once, on every replica within two seconds."`
}

type keyView struct {
	ID        string   `json:"key_id"`
	Partner   string   `json:"partner_id"`
	Label     string   `json:"label"`
	Preview   string   `json:"preview"`
	Scopes    []string `json:"scopes"`
	State     string   `json:"state"`
	CreatedAt string   `json:"created_at"`
	ExpiresAt string   `json:"expires_at"`
	RevokedAt string   `json:"revoked_at"`
	MadeBy    string   `json:"made_by"`
}

func viewKey(k partner.Key) keyView {
	v := keyView{
		ID: string(k.ID), Partner: string(k.Partner), Label: k.Label, Preview: k.Preview, Scopes: []string{}, State: "live",
		CreatedAt: stamp(k.CreatedAt), ExpiresAt: stamp(k.ExpiresAt), RevokedAt: stamp(k.RevokedAt), MadeBy: string(k.MadeBy),
	}
	for _, s := range k.Scopes {
		v.Scopes = append(v.Scopes, string(s))
	}
	switch {
	case !k.RevokedAt.IsZero():
		v.State = "revoked"
	case !k.LiveAt(time.Now()):
		v.State = "expired"
	}
	return v
}

// newKey shows a key that exists in full only now.
func (o *output) newKey(k partner.Key, text string) error {
	view := struct {
		keyView
		APIKey string `json:"api_key"`
	}{viewKey(k), text}
	return o.print(view, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "Key      %s\nAPI key  %s\nScopes   %s\n\nThe API key is shown this once.\n", k.ID, text, strings.Join(view.Scopes, ", "))
	})
}

type keyCreateCmd struct {
	Partner string        `required:"" placeholder:"ID" help:"The partner's id."`
	Label   string        `placeholder:"TEXT" help:"What the key is for."`
	Scopes  []string      `placeholder:"SCOPE" help:"What it may do: cyber, cyber:read, subscriptions, subscriptions:read, credentials, manage, manage:read; default is cyber and subscriptions, which is the 14 operations."`
	Expires time.Duration `placeholder:"TIME" help:"How long it lives (2160h); default is for ever."`
}

// Help shows examples.
func (keyCreateCmd) Help() string {
	return "Example:\n  vigia key create --partner pt_... --label relatorios --scopes subscriptions:read --expires 2160h"
}

// Run creates a key.
func (k *keyCreateCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		scopes, err := partner.ParseScopes(k.Scopes)
		if err != nil {
			return err
		}
		var expires time.Time
		if k.Expires != 0 {
			expires = time.Now().Add(k.Expires)
		}
		key, text, err := a.Partners.CreateKey(ctx, partner.ID(k.Partner), k.Label, scopes, expires)
		if err != nil {
			return err
		}
		return o.newKey(key, text)
	})
}

type keyListCmd struct {
	Partner string `required:"" placeholder:"ID" help:"The partner's id."`
}

// Run lists keys.
func (k *keyListCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		keys, err := a.Partners.Keys(ctx, partner.ID(k.Partner))
		if err != nil {
			return err
		}
		t := table[keyView]{heading: "KEY\tSTARTS\tSTATE\tSCOPES\tCREATED\tEXPIRES\tMADE BY\tLABEL"}
		for _, key := range keys {
			v := viewKey(key)
			t.add(v, v.ID, v.Preview+"...", v.State, strings.Join(v.Scopes, ","), v.CreatedAt, v.ExpiresAt, v.MadeBy, v.Label)
		}
		return t.print(o)
	})
}

type keyRollCmd struct {
	Partner string        `required:"" placeholder:"ID" help:"The partner's id."`
	Key     string        `required:"" placeholder:"KEY" help:"The key's id (key_...)."`
	Overlap time.Duration `default:"24h" placeholder:"TIME" help:"How long the old key works on, at most 168h."`
}

// Run rolls a key.
func (k *keyRollCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		key, text, err := a.Partners.RollKey(ctx, partner.ID(k.Partner), partner.KeyID(k.Key), k.Overlap)
		if err != nil {
			return err
		}
		return o.newKey(key, text)
	})
}

type keyRevokeCmd struct {
	Partner string `required:"" placeholder:"ID" help:"The partner's id."`
	Key     string `required:"" placeholder:"KEY" help:"The key's id (key_...)."`
	// KeepChildren is for keys that are known to be the partner's own doing.
	KeepChildren bool `help:"Let the keys that it made live on."`
}

// Run revokes a key.
func (k *keyRevokeCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		revoke := a.Partners.RevokeKey
		if k.KeepChildren {
			revoke = a.Partners.RevokeKeyOnly
		}
		ended, err := revoke(ctx, partner.ID(k.Partner), partner.KeyID(k.Key))
		if err != nil {
			return err
		}
		view := struct {
			keyView
			EndedToo []string `json:"ended_too"`
		}{viewKey(ended[0]), []string{}}
		for _, made := range ended[1:] {
			view.EndedToo = append(view.EndedToo, string(made.ID))
		}
		return o.print(view, func(w io.Writer) {
			_, _ = fmt.Fprintf(w, "Key %s is revoked.\n", view.ID)
			for _, made := range view.EndedToo {
				_, _ = fmt.Fprintf(w, "Key %s, made by it, is revoked too.\n", made)
			}
		})
	})
}
