package store

import (
	"cmp"
	"context"
	"crypto/hmac"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// A row that gives power, or speaks to people in a partner's name, carries a keyed hash (MAC) of all that it says, so
// that write access to the database without the key file cannot make or change one. Columns that are sealed need none:
// a seal is bound to its row. What cannot be seen is an older state of the same row that was kept and put back.
//
// A forged row is never served. Where the program has a text of its own that text is served instead, as if there were
// no row; otherwise the request is refused with ErrForged.

// ErrForged is a row with a MAC that this program did not write.
var ErrForged = fault.New(fault.Internal, "grant.forged")

// forgedRowError returns the error of a row that this program did not write.
func forgedRowError(table, row string) error {
	return ErrForged.Note(
		"%s %s was changed by something that does not hold the key file; run: vigia check",
		table,
		row,
	)
}

// checked is what was read from a row with a MAC.
type checked[T any] struct {
	value T
	// row is its place: the table and the row's key.
	row    string
	forged bool
}

// forgedError is that of a row that cannot be served.
func (c checked[T]) forgedError() error {
	if c.forged {
		table, row, _ := strings.Cut(c.row, " ")
		return forgedRowError(table, row)
	}
	return nil
}

// collectGenuine returns the values of the rows that this program wrote.
func collectGenuine[T any](
	ctx context.Context,
	q querier,
	scan func(scanner, *checked[T]) error,
	query string,
	args ...any,
) ([]T, error) {
	rows, err := collectRows(ctx, q, scan, query, args...)
	return valuesOf(slices.DeleteFunc(rows, func(r checked[T]) bool { return r.forged })), err
}

// readGenuine is readRow for a row with a MAC; a forged one is an error.
func readGenuine[T any](
	ctx context.Context,
	q querier,
	scan func(scanner, *checked[T]) error,
	missing error,
	query string,
	args ...any,
) (T, error) {
	r, err := readRow(ctx, q, scan, missing, query, args...)
	return r.value, errors.Join(err, r.forgedError())
}

func valuesOf[T any](rows []checked[T]) []T {
	values := make([]T, len(rows))
	for i, r := range rows {
		values[i] = r.value
	}
	return values
}

// grant gathers what a row says; the order of what is added never changes.
type grant struct{ parts [][]byte }

func (g *grant) addTexts(values ...string) *grant {
	for _, v := range values {
		g.parts = append(g.parts, []byte(v))
	}
	return g
}

func (g *grant) addBytes(values ...[]byte) *grant {
	g.parts = append(g.parts, values...)
	return g
}

func (g *grant) addNumbers(values ...int64) *grant {
	for _, v := range values {
		g.parts = append(g.parts, binary.AppendVarint(nil, v))
	}
	return g
}

// addBools adds truth values to what is covered.
func (g *grant) addBools(values ...bool) *grant {
	for _, v := range values {
		if v {
			g.addNumbers(1)
		} else {
			g.addNumbers(0)
		}
	}
	return g
}

// grantMAC returns the keyed hash of a row of the table.
func (c core) grantMAC(table string, g *grant) []byte { return c.keys.MAC("grant."+table, g.parts...) }

// isGenuine reports whether this program wrote the row.
func (c core) isGenuine(table string, g *grant, mac []byte) bool {
	return hmac.Equal(c.grantMAC(table, g), mac)
}

// checksMAC returns a target of Scan for the MAC of a row, which comes behind all columns that it covers.
func (c core) checksMAC(forged *bool, table string, covered func() *grant) sql.Scanner {
	return scanFunc(func(mac []byte) error {
		*forged = !c.isGenuine(table, covered(), mac)
		return nil
	})
}

// keyedDigest returns what is stored of a secret that a caller presents: a digest under the key file. With write access
// to the database alone, an attacker cannot store the digest of a secret of their own.
func (c core) keyedDigest(use string, secret []byte) []byte { return c.keys.MAC("digest."+use, secret) }

// partnerGrant: settings that are not set are left out, so that a setting of a later release changes nothing for rows
// without it.
func partnerGrant(p partner.Partner) *grant {
	settings, err := json.Marshal(p.Settings, json.OmitZeroStructFields(true), json.Deterministic(true))
	if err != nil {
		panic(err) // a struct of numbers, texts and truths
	}
	return new(grant).addTexts(string(p.ID), p.Name, string(p.Mode)).addBools(p.Suspended).addBytes(settings).
		addNumbers(toMicros(p.CreatedAt))
}

// apiKeyGrant covers what an API key allows.
func apiKeyGrant(k partner.Key) *grant {
	return new(grant).addTexts(string(k.ID), string(k.Partner), k.Label, k.Preview).addBytes(k.Digest).
		addTexts(joinTexts(k.Scopes)).
		addNumbers(toMicros(k.CreatedAt), toMicros(k.ExpiresAt), toMicros(k.RevokedAt)).
		addTexts(string(k.MadeBy), string(k.Line))
}

// joinTexts writes a list as a column keeps it, separated by commas.
func joinTexts[T ~string](list []T) string {
	return strings.Join(convertTexts[string](list), ",")
}

// splitsTexts returns a target of Scan that undoes joinTexts; the list of an empty text is nil.
func splitsTexts[T ~string](list *[]T) sql.Scanner {
	return scanFunc(func(text []byte) error {
		for name := range strings.SplitSeq(string(text), ",") {
			if name != "" {
				*list = append(*list, T(name))
			}
		}
		return nil
	})
}

// operatorGrant covers everything that decides about an operator's access: the role, the credentials, the lock, the
// invitation.
func operatorGrant(o operator.Operator) *grant {
	return new(grant).addTexts(string(o.ID), o.Email, string(o.Role), string(o.Partner)).addBools(o.Disabled).
		addTexts(o.Password).addBytes(o.TOTP).addBools(o.TOTPOn).addNumbers(o.TOTPStep).addBytes(o.Invite).
		addNumbers(toMicros(o.InviteUntil), int64(o.Failures), toMicros(o.LockedUntil)).
		addNumbers(toMicros(o.CreatedAt), toMicros(o.LastLogin)).
		addBytes(o.Recovery...).addNumbers(toMicros(o.NoticedAt))
}

// sessionGrant covers a session's owner, its origin and its times, so that a session can be neither moved nor
// prolonged.
func sessionGrant(n operator.Session) *grant {
	return new(grant).addBytes(n.Digest).addTexts(string(n.Operator), n.From).
		addNumbers(toMicros(n.CreatedAt), toMicros(n.SeenAt), toMicros(n.ProvedAt))
}

// templateGrant covers the partner as well, so that a template cannot be moved to another partner.
func templateGrant(id partner.ID, t message.Template) *grant {
	return new(grant).addNumbers(id.Number()).
		addTexts(string(t.Event), string(t.Channel), string(t.Language), t.Subject, t.Text)
}

// coverageGrant takes the coverage as it is kept.
func coverageGrant(p plan.Plan, coverage string) *grant {
	return new(grant).addTexts(string(p.Partner), string(p.ID), p.Name, coverage).
		addNumbers(int64(p.MaxDevices), int64(p.KeyDays), int64(p.Watch)).
		addBools(p.KeysEndWithSubscription, p.Retired).addNumbers(toMicros(p.CreatedAt))
}

// serviceGrant covers what people see of a service.
func serviceGrant(sv cyber.Service) *grant {
	return new(grant).addTexts(string(sv.ID), sv.Name, sv.Description).addNumbers(sv.Position).addBools(sv.Retired).
		addNumbers(toMicros(sv.CreatedAt))
}

// questionGrant covers the question, the service it belongs to and the options, in their order.
func questionGrant(q cyber.Question) *grant {
	return new(grant).addTexts(string(q.ID), string(q.Service), q.Text).addBools(q.Required).
		addNumbers(toMicros(q.CreatedAt)).addTexts(q.Options...)
}

// answerGrant covers the title and the text of a ready answer.
func answerGrant(a cyber.ReadyAnswer) *grant { return new(grant).addTexts(a.Title, a.Text) }

// contentGrant is that of an item as it is kept.
func contentGrant(id, item string, retired bool) *grant {
	return new(grant).addTexts(id, item).addBools(retired)
}

// installGrant covers an install link and the system it is for, so that two links cannot be swapped.
func installGrant(system cyber.System, link string) *grant {
	return new(grant).addTexts(string(system), link)
}

// breachGrant covers what is told of a breach. Its content is known by a digest that is checked where the file is read.
func breachGrant(b cyber.Breach) *grant {
	return new(grant).addTexts(b.Name, b.Title, b.Source, b.Description, joinTexts(b.Exposes), string(b.Kind)).
		addBools(b.Verified, b.Fabricated, b.SpamList, b.HasVendorWords).
		addNumbers(toMicros(b.Date), toMicros(b.AddedAt))
}

// feedSettingsGrant takes the settings as they are kept. Target and secret are sealed, and where a feed stands decides
// nothing.
func feedSettingsGrant(f feed.Feed, settings string) *grant {
	return new(grant).addTexts(f.Name, string(f.Kind), settings).addBools(f.Paused).
		addNumbers(int64(f.Every), toMicros(f.Created))
}

// endpointGrant: address and keys are sealed, and since when it fails decides nothing.
func endpointGrant(e alert.Endpoint) *grant {
	return new(grant).
		addTexts(string(e.ID), string(e.Partner), joinTexts(e.Types), string(e.State), string(e.Reason)).
		addNumbers(toMicros(e.CreatedAt))
}

// checkGrants looks at every row with a MAC.
func (s Upkeep) checkGrants(ctx context.Context, found func(Problem), seen func(int64)) error {
	const what = "was not written by this program: " +
		"whoever did could write to the database and does not hold the key file"
	looked := int64(0)
	look := func(where string, forged bool) {
		if looked++; forged {
			found(Problem{"grants", where, what})
		}
		seen(looked)
	}
	for _, table := range []func(context.Context, func(string, bool)) error{
		s.checkPartnerGrants, s.checkLookBuckets, s.checkOperatorGrants, s.checkSpokenRows,
	} {
		if err := table(ctx, look); err != nil {
			return fmt.Errorf("check grants: %w", err)
		}
	}
	return nil
}

// checkPartnerGrants looks at the MACs of all partners and API keys.
func (s Upkeep) checkPartnerGrants(ctx context.Context, look func(where string, forged bool)) error {
	partners, err := Partners(s).ListPartners(ctx)
	if err != nil {
		return err
	}
	for _, p := range partners {
		look("partner "+string(p.ID), p.Forged)
	}
	keys, err := collectRows(
		ctx,
		s.readQuerier(),
		Partners(s).scanKeyRow,
		`SELECT `+keyColumns+` FROM api_key k ORDER BY k.partner_id, k.id`,
	)
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
	q := s.readQuerier()
	return errors.Join(
		checkRows(
			ctx,
			q,
			look,
			s.scanTemplate,
			`SELECT `+templateColumns+` FROM message_template ORDER BY partner_id, event, channel, lang`,
		),
		checkRows(ctx, q, look, s.scanPlanRow, `SELECT `+planColumns+` FROM plan ORDER BY partner_id, id`),
		checkRows(ctx, q, look, s.scanService, `SELECT `+serviceColumns+` FROM service ORDER BY id`),
		checkRows(ctx, q, look, s.scanQuestion, `SELECT `+questionColumns+` FROM case_question q ORDER BY q.id`),
		checkRows(ctx, q, look, s.scanAnswer, `SELECT title, body, mac FROM case_answer ORDER BY title`),
		checkRows(ctx, q, look, s.scanContent, `SELECT `+contentColumns+` FROM content ORDER BY id`),
		checkRows(ctx, q, look, s.scanInstall, `SELECT `+installColumns+` FROM epp_install ORDER BY system`),
		checkRows(ctx, q, look, s.scanChecked, `SELECT `+breachColumns+` FROM breach b ORDER BY b.name`),
		checkRows(ctx, q, look, s.scanShared, `SELECT `+sharedColumns+` FROM password_corpus ORDER BY algorithm`),
		checkRows(ctx, q, look, s.scanFeed, `SELECT `+feedColumns+` FROM feed ORDER BY name`),
		checkRows(ctx, q, look, s.scanEndpoint, `SELECT `+endpointColumns+` FROM endpoint ORDER BY partner_id, id`),
	)
}

// fromTable finds the table of a query.
var fromTable = regexp.MustCompile(`FROM (\w+)`)

// checkRows reports the rows of a query that this program did not write. A row that cannot be read, such as one with a
// seal that does not open, counts as one and keeps no other from being looked at.
func checkRows[T any](
	ctx context.Context,
	q querier,
	look func(where string, forged bool),
	scan func(scanner, *checked[T]) error,
	query string,
) error {
	return eachRow(ctx, q, func(row scanner) error {
		var r checked[T]
		err := scan(row, &r)
		look(cmp.Or(r.row, "a row of "+fromTable.FindStringSubmatch(query)[1]), r.forged || err != nil)
		return nil
	}, query)
}

// checkOperatorGrants looks at the MACs of all operators and sessions. One that cannot be unsealed counts as forged.
func (s Upkeep) checkOperatorGrants(ctx context.Context, look func(where string, forged bool)) error {
	people := Operators(s)
	err := eachRow(ctx, s.readQuerier(), func(row scanner) error {
		var o operator.Operator
		err := people.scanOperator(row, &o)
		look("operator "+string(o.ID), o.Forged || err != nil)
		return nil
	}, `SELECT `+operatorColumns+` FROM operator o ORDER BY o.created_at, o.id`)
	if err != nil {
		return err
	}
	return eachRow(ctx, s.readQuerier(), func(row scanner) error {
		var n operator.Session
		err := row.Scan(people.sessionTargets(&n)...)
		look("operator_session of "+string(n.Operator), err != nil)
		return nil
	}, `SELECT `+sessionColumns+` FROM operator_session n ORDER BY n.operator_id, n.created_at, n.digest`)
}
