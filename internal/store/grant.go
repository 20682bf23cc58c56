package store

import (
	"context"
	"crypto/hmac"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// A row that gives somebody power carries a keyed hash of all that it gives, so that who can write to the database and
// does not hold the key file cannot make or change one. What cannot be seen is an older state of the same row that
// somebody kept and put back.

// ErrForged is a row that grants power and was not written by this program.
var ErrForged = fault.New(fault.Internal, "grant.forged")

func forged(table, row string) error {
	return ErrForged.With("%s %s was changed by something that does not hold the key file; run: vigia check", table, row)
}

// grant gathers what a row grants; the order of what is added never changes.
type grant struct{ parts [][]byte }

func (g *grant) text(values ...string) *grant {
	for _, v := range values {
		g.parts = append(g.parts, []byte(v))
	}
	return g
}

func (g *grant) bytes(values ...[]byte) *grant {
	g.parts = append(g.parts, values...)
	return g
}

func (g *grant) number(values ...int64) *grant {
	for _, v := range values {
		g.parts = append(g.parts, binary.AppendVarint(nil, v))
	}
	return g
}

func (g *grant) truth(values ...bool) *grant {
	for _, v := range values {
		if v {
			g.number(1)
		} else {
			g.number(0)
		}
	}
	return g
}

// mac is the keyed hash of a row of the table.
func (c core) mac(table string, g *grant) []byte { return c.keys.MAC("grant."+table, g.parts...) }

// genuine tells whether this program wrote the row.
func (c core) genuine(table string, g *grant, mac []byte) bool {
	return hmac.Equal(c.mac(table, g), mac)
}

// keyedDigest is what is kept of a secret that somebody shows: a digest under the key file, so that who writes to the
// database cannot write that of a secret of their own.
func (c core) keyedDigest(use string, secret []byte) []byte { return c.keys.MAC("digest."+use, secret) }

// partnerGrant: settings that are not set are left out, so that a setting of a later release changes nothing for rows
// without it.
func partnerGrant(p partner.Partner) *grant {
	settings, err := json.Marshal(p.Settings, json.OmitZeroStructFields(true), json.Deterministic(true))
	if err != nil {
		panic(err) // a struct of numbers, texts and truths
	}
	return new(grant).text(string(p.ID), p.Name, string(p.Mode)).truth(p.Suspended).bytes(settings).number(micros(p.CreatedAt))
}

func keyGrant(k partner.Key) *grant {
	return new(grant).text(string(k.ID), string(k.Partner), k.Label, k.Preview).bytes(k.Digest).text(scopeText(k.Scopes)).
		number(micros(k.CreatedAt), micros(k.ExpiresAt), micros(k.RevokedAt)).text(string(k.MadeBy), string(k.Line))
}

func scopeText(scopes []partner.Scope) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, ",")
}

func operatorGrant(o operator.Operator) *grant {
	return new(grant).text(string(o.ID), o.Email, string(o.Role), string(o.Partner)).truth(o.Disabled).text(o.Password).bytes(o.TOTP).truth(o.TOTPOn).
		number(o.TOTPStep).bytes(o.Invite).
		number(micros(o.InviteUntil), int64(o.Failures), micros(o.LockedUntil), micros(o.CreatedAt), micros(o.LastLogin)).
		bytes(o.Recovery...).number(micros(o.NoticedAt))
}

func sessionGrant(n operator.Session) *grant {
	return new(grant).bytes(n.Digest).text(string(n.Operator), n.From).number(micros(n.CreatedAt), micros(n.SeenAt), micros(n.ProvedAt))
}

// checkGrants looks at every row that grants power.
func (s Upkeep) checkGrants(ctx context.Context, found func(Problem), seen func(int64)) error {
	const what = "was not written by this program: whoever did could write to the database and does not hold the key file"
	looked := int64(0)
	look := func(where string, forged bool) {
		if looked++; forged {
			found(Problem{"grants", where, what})
		}
		seen(looked)
	}
	partners, err := s.partners().Partners(ctx)
	if err != nil {
		return fmt.Errorf("check grants: %w", err)
	}
	for _, p := range partners {
		look("partner "+string(p.ID), p.Forged)
	}
	keys, err := collect(ctx, s.reader(), s.partners().scanKey, `SELECT `+keyColumns+` FROM api_key k ORDER BY k.partner_id, k.id`)
	if err != nil {
		return fmt.Errorf("check grants: %w", err)
	}
	for _, k := range keys {
		look("api_key "+string(k.ID), k.Forged)
	}
	if err := s.checkOperatorGrants(ctx, look); err != nil {
		return fmt.Errorf("check grants: %w", err)
	}
	return nil
}

func (s Upkeep) checkOperatorGrants(ctx context.Context, look func(where string, forged bool)) error {
	people := Operators(s)
	all, err := people.operators(ctx, s.reader())
	if err != nil {
		return err
	}
	for _, o := range all {
		look("operator "+string(o.ID), o.Forged)
	}
	rows, err := collect(ctx, s.reader(), func(row scanner) (*sessionRow, error) {
		r := &sessionRow{}
		return r, row.Scan(r.dest()...)
	}, `SELECT `+sessionColumns+` FROM operator_session n ORDER BY n.operator_id, n.created_at, n.digest`)
	if err != nil {
		return err
	}
	for _, r := range rows {
		_, err := people.openSession(r)
		look("operator_session of "+string(r.session.Operator), err != nil)
	}
	return nil
}
