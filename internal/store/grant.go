package store

import (
	"context"
	"crypto/hmac"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/feed"
	"github.com/vigiahq/vigia/internal/message"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

// A row that gives power, or speaks to people in a partner's name, carries a keyed hash (MAC) of all that it says, so that
// write access to the database without the key file cannot make or change one. Columns that are sealed need none: a seal
// is bound to its row. What cannot be seen is an older state of the same row that was kept and put back.
//
// A forged row is never served. Where the program has a text of its own that text is served instead, as if there were no
// row; otherwise the request is refused with ErrForged.

// ErrForged is a row with a MAC that this program did not write.
var ErrForged = fault.New(fault.Internal, "grant.forged")

func forged(table, row string) error {
	return ErrForged.Note("%s %s was changed by something that does not hold the key file; run: vigia check", table, row)
}

// checked is what was read from a row with a MAC.
type checked[T any] struct {
	value T
	// row is its place: the table and the row's key.
	row    string
	forged bool
}

// err is that of a row that cannot be served.
func (c checked[T]) err() error {
	if c.forged {
		table, row, _ := strings.Cut(c.row, " ")
		return forged(table, row)
	}
	return nil
}

// collectGenuine returns the values of the rows that this program wrote.
func collectGenuine[T any](ctx context.Context, q querier, scan func(scanner) (checked[T], error), query string, args ...any) ([]T, error) {
	rows, err := collect(ctx, q, scan, query, args...)
	if err != nil {
		return nil, err
	}
	list := make([]T, 0, len(rows))
	for _, r := range rows {
		if !r.forged {
			list = append(list, r.value)
		}
	}
	return list, nil
}

// grant gathers what a row says; the order of what is added never changes.
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

func templateGrant(id partner.ID, t message.Template) *grant {
	return new(grant).number(number(id)).text(string(t.Event), string(t.Channel), string(t.Language), t.Subject, t.Text)
}

// planGrant takes the coverage as it is kept.
func planGrant(p plan.Plan, coverage string) *grant {
	return new(grant).text(string(p.Partner), string(p.ID), p.Name, coverage).number(int64(p.MaxDevices), int64(p.KeyDays)).
		truth(p.KeysEndWithSubscription, p.Retired).number(micros(p.CreatedAt))
}

func serviceGrant(sv cyber.Service) *grant {
	return new(grant).text(string(sv.ID), sv.Name, sv.Description).number(sv.Position).truth(sv.Retired).number(micros(sv.CreatedAt))
}

func questionGrant(q cyber.Question) *grant {
	return new(grant).text(string(q.ID), string(q.Service), q.Text).truth(q.Required).number(micros(q.CreatedAt)).text(q.Options...)
}

func answerGrant(a cyber.ReadyAnswer) *grant { return new(grant).text(a.Title, a.Text) }

// contentGrant is that of an item as it is kept.
func contentGrant(id, item string, retired bool) *grant {
	return new(grant).text(id, item).truth(retired)
}

func installGrant(system cyber.System, link string) *grant {
	return new(grant).text(string(system), link)
}

// breachGrant covers what is told of a breach. Its content is known by a digest that is checked where the file is read.
func breachGrant(b cyber.Breach) *grant {
	return new(grant).text(b.Name, b.Title, b.Source, b.Description, exposesText(b.Exposes), string(b.Kind)).
		truth(b.Verified, b.Fabricated, b.SpamList, b.HasVendorWords).number(micros(b.Date), micros(b.AddedAt))
}

// feedGrant takes the settings as they are kept. Target and secret are sealed, and where a feed stands decides nothing.
func feedGrant(f feed.Feed, settings string) *grant {
	return new(grant).text(f.Name, string(f.Kind), settings).truth(f.Paused).number(int64(f.Every), micros(f.Created))
}

// endpointGrant: address and keys are sealed, and since when it fails decides nothing.
func endpointGrant(e alert.Endpoint) *grant {
	return new(grant).text(string(e.ID), string(e.Partner), joinTypes(e.Types), string(e.State), string(e.Reason)).number(micros(e.CreatedAt))
}

// checkGrants looks at every row with a MAC.
func (s Upkeep) checkGrants(ctx context.Context, found func(Problem), seen func(int64)) error {
	const what = "was not written by this program: whoever did could write to the database and does not hold the key file"
	looked := int64(0)
	look := func(where string, forged bool) {
		if looked++; forged {
			found(Problem{"grants", where, what})
		}
		seen(looked)
	}
	for _, table := range []func(context.Context, func(string, bool)) error{
		s.checkPartnerGrants, s.checkOperatorGrants, s.checkSpokenRows,
	} {
		if err := table(ctx, look); err != nil {
			return fmt.Errorf("check grants: %w", err)
		}
	}
	return nil
}

func (s Upkeep) checkPartnerGrants(ctx context.Context, look func(where string, forged bool)) error {
	partners, err := s.partners().Partners(ctx)
	if err != nil {
		return err
	}
	for _, p := range partners {
		look("partner "+string(p.ID), p.Forged)
	}
	keys, err := collect(ctx, s.reader(), s.partners().scanKey, `SELECT `+keyColumns+` FROM api_key k ORDER BY k.partner_id, k.id`)
	if err != nil {
		return err
	}
	for _, k := range keys {
		look("api_key "+string(k.ID), k.Forged)
	}
	return nil
}

// checkSpokenRows looks at the rows that speak to people or decide where something is sent or fetched.
func (s Upkeep) checkSpokenRows(ctx context.Context, look func(where string, forged bool)) error {
	q := s.reader()
	return errors.Join(
		lookAt(ctx, q, look, s.scanTemplate, `SELECT `+templateColumns+` FROM message_template ORDER BY partner_id, event, channel, lang`),
		lookAt(ctx, q, look, s.scanPlan, `SELECT `+planColumns+` FROM plan ORDER BY partner_id, id`),
		lookAt(ctx, q, look, s.scanService, `SELECT `+serviceColumns+` FROM service ORDER BY id`),
		lookAt(ctx, q, look, s.scanQuestion, `SELECT `+questionColumns+` FROM case_question q ORDER BY q.id`),
		lookAt(ctx, q, look, s.scanAnswer, `SELECT title, body, mac FROM case_answer ORDER BY title`),
		lookAt(ctx, q, look, s.scanContent, `SELECT `+contentColumns+` FROM content ORDER BY id`),
		lookAt(ctx, q, look, s.scanInstall, `SELECT `+installColumns+` FROM epp_install ORDER BY system`),
		lookAt(ctx, q, look, s.scanChecked, `SELECT `+breachColumns+` FROM breach b ORDER BY b.name`),
		lookAt(ctx, q, look, s.scanFeed, `SELECT `+feedColumns+` FROM feed ORDER BY name`),
		lookAt(ctx, q, look, s.scanEndpoint, `SELECT `+endpointColumns+` FROM endpoint ORDER BY partner_id, id`),
	)
}

func lookAt[T any](ctx context.Context, q querier, look func(where string, forged bool), scan func(scanner) (checked[T], error), query string) error {
	rows, err := collect(ctx, q, scan, query)
	for _, r := range rows {
		look(r.row, r.forged)
	}
	return err
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
