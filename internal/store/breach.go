package store

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

var _ leak.Store = Breaches{}

// breachColumns are what a person or partner may be told of a breach; the table goes by b.
const breachColumns = `b.name, b.title, b.day, b.source, b.description, b.exposes, b.kind, b.verified, b.fabricated,
	b.spam_list, b.vendor_words, b.added_at, b.digest || b.pairs_digest, b.mac`

// breachTargets returns where the columns of a breach are scanned to. Of a forged row there is nothing but its name and
// dates, under the neutral title. The made-up breach comes with the schema, before there are keys, so its own text
// needs no MAC and replaces a forged one.
func (c core) breachTargets(b *cyber.Breach, forged *bool) []any {
	b.Exposes = []cyber.Exposed{}
	return []any{
		&b.Name,
		&b.Title,
		&b.Date,
		&b.Source,
		&b.Description,
		splitsTexts(&b.Exposes),
		&b.Kind,
		&b.Verified,
		&b.Fabricated,
		&b.SpamList,
		&b.HasVendorWords,
		&b.AddedAt,
		&b.Content,
		scanFunc(func(mac []byte) error {
			grant := breachGrant(*b)
			if *forged = !c.isGenuine("breach", grant, mac); !*forged {
				return nil
			}
			if made := cyber.MadeUpBreach(); b.Name == made.Name {
				*b, *forged = made, !slices.EqualFunc(grant.parts, breachGrant(made).parts, bytes.Equal)
				return nil
			}
			*b = cyber.Breach{
				Name:    b.Name,
				Title:   cyber.NeutralTitle(b.Date),
				Date:    b.Date,
				AddedAt: b.AddedAt,
				Kind:    cyber.SourceBreach,
				Exposes: []cyber.Exposed{},
				Content: b.Content,
			}
			return nil
		}),
	}
}

// scanBreach reads breachColumns as people may see them.
func (c core) scanBreach(row scanner, b *cyber.Breach) error {
	var r checked[cyber.Breach]
	err := c.scanChecked(row, &r)
	*b = r.value
	return err
}

// scanChecked reads breachColumns. A forged row is no error here: the caller decides what it does with it.
func (c core) scanChecked(row scanner, r *checked[cyber.Breach]) error {
	err := row.Scan(c.breachTargets(&r.value, &r.forged)...)
	r.value, r.row = r.value.ForPeople(), "breach "+r.value.Name
	return err
}

// recordColumns are those of a breach with the state of its files.
const recordColumns = breachColumns + `, b.state, b.segment, b.digest, b.tally, b.published_at, b.retracted_at,
	b.pairs, b.pairs_digest,
	b.renewals, b.renewed_at, b.former`

// scanRecord reads recordColumns. A wrong MAC is no error here: see breachTargets for what is left of a forged breach.
func (c core) scanRecord(row scanner, r *leak.Record) error {
	var former string
	err := row.Scan(
		append(
			c.breachTargets(&r.Breach, new(bool)),
			&r.State,
			&r.Segment,
			&r.Digest,
			parsesJSON(&r.Tally),
			&r.PublishedAt,
			&r.RetractedAt,
			&r.Pairs,
			&r.PairsDigest,
			&r.Renewals,
			&r.RenewedAt,
			&former,
		)...)
	r.Former = strings.Fields(former)
	return err
}

// ListBreaches returns all breaches, oldest first.
func (s Breaches) ListBreaches(ctx context.Context) ([]leak.Record, error) {
	return collectRows(
		ctx,
		s.readQuerier(),
		s.scanRecord,
		`SELECT `+recordColumns+` FROM breach b ORDER BY b.added_at, b.name`,
	)
}

func (s Breaches) BreachByName(ctx context.Context, name string) (leak.Record, error) {
	return s.breachByName(ctx, s.readQuerier(), name)
}

// breachByName returns leak.ErrBreachNotFound when there is no breach of that name.
func (c core) breachByName(ctx context.Context, q querier, name string) (leak.Record, error) {
	return readRow(
		ctx,
		q,
		c.scanRecord,
		leak.ErrBreachNotFound.With("name", fault.NoSuchBreach),
		`SELECT `+recordColumns+` FROM breach b WHERE b.name = $1`,
		name,
	)
}

// publishedBreaches returns those of the named breaches that are published.
func (c core) publishedBreaches(ctx context.Context, q querier, names []string) (map[string]cyber.Breach, error) {
	return c.selectBreaches(ctx, q, names, ` AND b.state = 'published'`)
}

// breachesByName returns those of the named breaches that there are, in whatever state.
func (c core) breachesByName(ctx context.Context, q querier, names []string) (map[string]cyber.Breach, error) {
	return c.selectBreaches(ctx, q, names, "")
}

func (c core) selectBreaches(
	ctx context.Context, q querier, names []string, only string,
) (map[string]cyber.Breach, error) {
	var args []any
	byName := make(map[string]cyber.Breach, len(names))
	err := eachRow(ctx, q, func(row scanner) error {
		var b cyber.Breach
		err := c.scanBreach(row, &b)
		byName[b.Name] = b
		return err
	}, `SELECT `+breachColumns+` FROM breach b WHERE b.name `+inList(c.db.EngineName(), &args, names)+only,
		args...,
	)
	return byName, err
}

// breachGrant covers what is told of a breach. Its content is known by a digest that is checked where the file is read.
func breachGrant(b cyber.Breach) *grant {
	return new(grant).addTexts(b.Name, b.Title, b.Source, b.Description, joinTexts(b.Exposes), string(b.Kind)).
		addBools(b.Verified, b.Fabricated, b.SpamList, b.HasVendorWords).
		addNumbers(toMicros(b.Date), toMicros(b.AddedAt))
}
