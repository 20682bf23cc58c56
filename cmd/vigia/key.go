package main

import (
	"context"
	"errors"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/partner"
)

// keyCmd groups the commands on API keys of partners.
type keyCmd struct {
	Create keyCreateCmd `cmd:"" help:"Give a partner one more key; it is shown once."`
	List   keyListCmd   `cmd:"" help:"List a partner's keys."`
	Roll   keyRollCmd   `cmd:"" help:"Replace a key; the old one works on for a while."`
	Revoke keyRevokeCmd `cmd:"" help:"End a key and the keys it made at once, on every replica within two seconds."`
}

// keyRecord returns a key as commands show it at a time.
func keyRecord(k partner.Key, now time.Time) record {
	state := "live"
	switch {
	case !k.RevokedAt.IsZero():
		state = "revoked"
	case !k.IsLiveAt(now):
		state = "expired"
	}
	return newRecord(
		"key_id", k.ID,
		"partner_id", k.Partner,
		"label", k.Label,
		"preview", k.Preview,
		"scopes", k.Scopes,
		"state", state,
		"created_at", k.CreatedAt,
		"expires_at", k.ExpiresAt,
		"revoked_at", k.RevokedAt,
		"made_by", k.MadeBy,
	)
}

// showNewKey shows a key that exists in full only now.
func (o *output) showNewKey(k partner.Key, text string, now time.Time) error {
	return o.showRecord(keyRecord(k, now).withPairs("api_key", text), "The API key is shown this once.")
}

// recordNewKey adds a line to the audit trail with the id and the scopes of a key. The line of the command, which was
// added before it ran, names neither where defaults were taken.
func recordNewKey(ctx context.Context, a *app.App, k partner.Key) error {
	return a.Audit.RecordAction(ctx, systemActor(), "key.create", string(k.ID), k.AuditDetail())
}

// keyCreateCmd is 'vigia key create'. The key is printed once.
type keyCreateCmd struct {
	Partner partner.ID    `required:"" placeholder:"ID" help:"The partner's id."`
	Label   string        `placeholder:"TEXT" help:"What the key is for."`
	Scopes  []string      `placeholder:"SCOPE" help:"What it may do: cyber, cyber:read, subscriptions, subscriptions:read, credentials, manage, manage:read, privacy; default is cyber and subscriptions, which is the 14 operations."`
	Expires time.Duration `placeholder:"TIME" help:"How long it lives (2160h); default is for ever."`
}

func (keyCreateCmd) Help() string {
	return "Example:\n  vigia key create --partner pt_... --label relatorios --scopes subscriptions:read --expires " +
		"2160h"
}

func (k *keyCreateCmd) Run(ctx context.Context, a *app.App, o *output) error {
	scopes, err := partner.ParseScopes(k.Scopes)
	if err != nil {
		return err
	}
	var expires time.Time
	if k.Expires != 0 {
		expires = a.Now().Add(k.Expires)
	}
	created, text, err := a.Partners.CreateKey(ctx, k.Partner, k.Label, scopes, expires)
	if err != nil {
		return err
	}
	return errors.Join(o.showNewKey(created, text, a.Now()), recordNewKey(ctx, a, created))
}

// keyListCmd is 'vigia key list'. It shows ids, scopes and ends, never the keys.
type keyListCmd struct {
	Partner partner.ID `required:"" placeholder:"ID" help:"The partner's id."`
}

func (k *keyListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	show := func(key partner.Key) record { return keyRecord(key, a.Now()) }
	found, err := a.Partners.ListKeys(ctx, k.Partner)
	if err != nil {
		return err
	}
	return o.listRecords(
		makeRecords(found, show),
		"No key.",
		"key_id",
		"preview",
		"state",
		"scopes",
		"created_at",
		"expires_at",
		"made_by",
		"label",
	)
}

// keyFlags name a key.
type keyFlags struct {
	Partner partner.ID    `required:"" placeholder:"ID" help:"The partner's id."`
	Key     partner.KeyID `arg:"" name:"key" help:"The key's id (key_...)."`
}

// keyRollCmd is 'vigia key roll'. The old key works on for the overlap, so that the partner can install the new one.
type keyRollCmd struct {
	keyFlags
	Overlap time.Duration `default:"24h" placeholder:"TIME" help:"How long the old key works on, at most 168h."`
}

func (k *keyRollCmd) Run(ctx context.Context, a *app.App, o *output) error {
	next, text, err := a.Partners.RollKey(ctx, k.Partner, k.Key, k.Overlap)
	if err != nil {
		return err
	}
	return errors.Join(o.showNewKey(next, text, a.Now()), recordNewKey(ctx, a, next))
}

// keyRevokeCmd is 'vigia key revoke'. Keys that were made with the key end too, unless --keep-children is given.
type keyRevokeCmd struct {
	keyFlags
	KeepChildren bool `help:"Let the keys that it made live on."`
}

func (k *keyRevokeCmd) Run(ctx context.Context, a *app.App, o *output) error {
	revoke := a.Partners.RevokeKey
	if k.KeepChildren {
		revoke = a.Partners.RevokeKeyOnly
	}
	ended, err := revoke(ctx, k.Partner, k.Key)
	if err != nil {
		return err
	}
	var too []partner.KeyID
	for _, made := range ended[1:] {
		too = append(too, made.ID)
	}
	return o.showRecord(keyRecord(ended[0], a.Now()).withPairs("ended_too", too))
}
