package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

var _ subject.Finder = Subjects{}

// partnersAtOnce is how many partners one statement of a search asks about.
const partnersAtOnce = 100

// owned is a row that a search found.
type owned struct {
	partner partner.ID
	name    []byte
}

// readAtEach reads rows by a key that differs between partners. The query is completed by the conditions for each of
// them; in those ? stands for the key.
func (s Subjects) readAtEach(
	ctx context.Context, at []partner.ID, query string, conditions []string, key func(partner.ID) any,
) ([]owned, error) {
	var all []owned
	for part := range slices.Chunk(at, partnersAtOnce) {
		var args []any
		var each []string
		for _, id := range part {
			args = append(args, id, key(id))
			for _, c := range conditions {
				each = append(
					each,
					`partner_id = $`+strconv.Itoa(len(args)-1)+` AND `+strings.Replace(
						c,
						"?",
						`$`+strconv.Itoa(len(args)),
						1,
					),
				)
			}
		}
		args = append(args, subject.MaxHits)
		found, err := collectRows(ctx, s.readQuerier(), func(row scanner, o *owned) error {
			return row.Scan(&o.partner, &o.name)
		}, query+` WHERE (`+strings.Join(each, ` OR `)+`) LIMIT $`+strconv.Itoa(len(args)), args...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// mergePersons makes hits of rows that name users: one for each person, by the index of the longer digest where both
// are known.
func (s Subjects) mergePersons(ctx context.Context, rows []owned) ([]subject.Hit, error) {
	byPartner := map[partner.ID][][]byte{}
	for _, r := range rows {
		byPartner[r.partner] = append(byPartner[r.partner], r.name)
	}
	var hits []subject.Hit
	for id, indexes := range byPartner {
		known, err := s.findPersons(ctx, s.readQuerier(), id, indexes)
		if err != nil {
			return nil, err
		}
		for _, p := range known {
			hits = append(hits, subject.Hit{Kind: subject.HitPerson, Partner: id, ID: userReference(p.key)})
		}
	}
	slices.SortFunc(
		hits,
		func(a, b subject.Hit) int { return strings.Compare(string(a.Partner)+a.ID, string(b.Partner)+b.ID) },
	)
	return slices.Compact(hits), nil
}

// PersonsOfCPF returns those enrolled with a CPF and those who watch it: see subject.Finder.
func (s Subjects) PersonsOfCPF(ctx context.Context, at []partner.ID, cpf string) ([]subject.Hit, error) {
	rows, err := s.readAtEach(
		ctx,
		at,
		`SELECT partner_id, user_512 FROM person`,
		[]string{"cpf = ?"},
		func(id partner.ID) any { return s.blindCPFIndex(id, cpf) },
	)
	if err != nil {
		return nil, err
	}
	watched, err := s.findWatchers(ctx, at, identifier.CPF, cpf)
	if err != nil {
		return nil, err
	}
	return s.mergePersons(ctx, append(rows, watched...))
}

// PersonsOfValue returns those who watch a value.
func (s Subjects) PersonsOfValue(
	ctx context.Context, at []partner.ID, kind identifier.Kind, normal string,
) ([]subject.Hit, error) {
	rows, err := s.findWatchers(ctx, at, kind, normal)
	if err != nil {
		return nil, err
	}
	return s.mergePersons(ctx, rows)
}

// findWatchers returns the people who watch a value. It names the id because SQLite would rather read all of a
// partner's in an index that holds every column asked for.
func (s Subjects) findWatchers(
	ctx context.Context, at []partner.ID, kind identifier.Kind, normal string,
) ([]owned, error) {
	return s.readAtEach(ctx, at, `SELECT partner_id, user_index FROM asset`,
		[]string{"value_index = ? AND id <> ''"},
		func(id partner.ID) any { return Monitoring(s).valueIndex(id, kind, normal) },
	)
}

// PersonsOfUser returns the people that a user hash names: enrolled, or named in a request that wrote.
func (s Subjects) PersonsOfUser(ctx context.Context, at []partner.ID, user partner.UserHash) ([]subject.Hit, error) {
	key := func(id partner.ID) any { return s.blindUserIndex(id, user) }
	rows, err := s.readAtEach(
		ctx,
		at,
		`SELECT partner_id, user_512 FROM person`,
		[]string{"user_512 = ?", "user_256 = ?"},
		key,
	)
	if err != nil {
		return nil, err
	}
	named, err := s.readAtEach(
		ctx,
		at,
		`SELECT partner_id, user_index FROM person_name`,
		[]string{"user_index = ?"},
		key,
	)
	if err != nil {
		return nil, err
	}
	return s.mergePersons(ctx, append(rows, named...))
}

// SubscriptionsOfHolder are subscriptions in force of a company's people.
func (s Subjects) SubscriptionsOfHolder(ctx context.Context, at []partner.ID, cnpj string) ([]subject.Hit, error) {
	rows, err := s.readAtEach(
		ctx,
		at,
		`SELECT partner_id, CAST(seq AS TEXT) FROM subscription`,
		[]string{"holder = ? AND holder <> '' AND ended_at = 0"},
		func(id partner.ID) any { return Subscriptions(s).holderIndex(id, cnpj) },
	)
	return searchHits(subject.HitSubscription, rows), err
}

// named are the tables that hold what an operator may name by its id.
var named = map[subject.HitKind]string{
	subject.HitCase:     `SELECT partner_id, id FROM support_case`,
	subject.HitEvent:    `SELECT partner_id, id FROM event`,
	subject.HitDevice:   `SELECT partner_id, id FROM epp_key`,
	subject.HitEndpoint: `SELECT partner_id, id FROM endpoint`,
}

// FindByID are things by their ids.
func (s Subjects) FindByID(
	ctx context.Context, at []partner.ID, kind subject.HitKind, id string,
) ([]subject.Hit, error) {
	rows, err := s.readAtEach(ctx, at, named[kind], []string{"id = ?"}, func(partner.ID) any { return id })
	return searchHits(kind, rows), err
}

func (s Subjects) CasesNumbered(ctx context.Context, at []partner.ID, short int64) ([]subject.Hit, error) {
	rows, err := s.readAtEach(
		ctx,
		at,
		named[subject.HitCase],
		[]string{"short = ?"},
		func(partner.ID) any { return short },
	)
	return searchHits(subject.HitCase, rows), err
}

// searchHits returns rows as hits of one kind, in the same order.
func searchHits(kind subject.HitKind, rows []owned) []subject.Hit {
	hits := make([]subject.Hit, len(rows))
	for i, r := range rows {
		hits[i] = subject.Hit{Kind: kind, Partner: r.partner, ID: string(r.name)}
	}
	return hits
}
