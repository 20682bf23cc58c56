package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
)

var _ subject.Store = Subjects{}

// PersonReference returns the audit trail's name for a person.
func (s Subjects) PersonReference(p subject.Person) string {
	if p.CPF != "" {
		return "ps_" + hex.EncodeToString(s.keys.BlindIndex("audit.person", "", []byte(p.CPF)))
	}
	return userReference(s.blindUserIndex(p.Partner, p.User))
}

// erasedReference returns the name of a person in the erasures of one partner.
func (s Subjects) erasedReference(id partner.ID, p subject.Person) string {
	if p.CPF != "" {
		return "ps_" + hex.EncodeToString(s.keys.BlindIndex("erasure.person", string(id), []byte(p.CPF)))
	}
	return userReference(s.blindUserIndex(p.Partner, p.User))
}

// userReference returns the trail's name for a user of a partner.
func userReference(index []byte) string { return "us_" + hex.EncodeToString(index) }

// indexes are all keys under which one person's rows of one partner may stand.
type indexes struct {
	partner partner.ID
	cpf     []byte // empty when it is not known
	user256 []byte // the same as user512 when the hash is no digest of a known person
	user512 []byte
	// value is the index of the person's CPF as a watched value, under whichever user; empty without a CPF.
	value []byte
}

// computeIndexes computes a person's keys. By a CPF it needs no row to be there; by a user hash it learns the rest from
// the person's row.
func (s Subjects) computeIndexes(ctx context.Context, q querier, id partner.ID, p subject.Person) (indexes, error) {
	if p.CPF == "" {
		u, err := s.findUser(ctx, q, id, p.User)
		return indexes{partner: id, cpf: orEmptyBytes(u.cpf), user256: u.other, user512: u.write, value: []byte{}}, err
	}
	salt, err := Partners(s).OpenSalt(ctx, id)
	if err != nil {
		return indexes{}, err
	}
	x := indexes{partner: id, value: Monitoring(s).valueIndex(id, identifier.CPF, p.CPF)}
	x.cpf, x.user256, x.user512 = s.personColumns(id, p.CPF, salt)
	return x, nil
}

// orEmptyBytes returns b, or an empty slice in place of nil, which would be NULL.
func orEmptyBytes(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Held reads everything about a person for one partner, all of it as of one moment.
func (s Subjects) Held(ctx context.Context, who partner.Partner, p subject.Person) (h subject.Held, err error) {
	return s.heldUnlessErased(ctx, who, p, func(in Subjects) (subject.Held, error) {
		h, err := in.readRowsHeld(ctx, who, p, math.MaxInt64)
		if err == nil {
			h.StoredAnswers, err = in.countAnswers(ctx, h, p)
		}
		return h, err
	})
}

// newestEvents is how many events a page is given.
const newestEvents = 200

// ReadHeldRows is Held but for kept answers and all but the newest events, which take longer to look through than a
// page may.
func (s Subjects) ReadHeldRows(ctx context.Context, who partner.Partner, p subject.Person) (h subject.Held, err error) {
	return s.heldUnlessErased(
		ctx,
		who,
		p,
		func(in Subjects) (subject.Held, error) { return in.readRowsHeld(ctx, who, p, newestEvents) },
	)
}

// heldUnlessErased reads in one snapshot. It returns nothing for a person whose erasure has begun, even if rows remain.
func (s Subjects) heldUnlessErased(
	ctx context.Context,
	who partner.Partner,
	p subject.Person,
	read func(Subjects) (subject.Held, error),
) (
	h subject.Held, err error,
) {
	err = s.readSnapshot(ctx, func(in core) error {
		of := Subjects{in}
		x, err := of.computeIndexes(ctx, of.readQuerier(), who.ID, p)
		if err != nil {
			return err
		}
		gone, err := of.beingErased(ctx, of.readQuerier(), x)
		if err != nil || gone {
			h = subject.Held{Partner: who}
			return err
		}
		h, err = read(of)
		return err
	})
	return h, err
}

// heldReader reads what is held of one person; after an error it reads nothing more.
type heldReader struct {
	Subjects
	ctx context.Context //nolint:containedctx // lives for one reading
	q   querier
	x   indexes
	h   subject.Held
	err error
}

// readHeld reads rows of the person.
func readHeld[T any](r *heldReader, scan func(scanner, *T) error, query string, args ...any) (list []T) {
	if r.err == nil {
		list, r.err = collectRows(r.ctx, r.q, scan, query, args...)
	}
	return list
}

// readRowsHeld is ReadHeldRows within a snapshot.
func (s Subjects) readRowsHeld(
	ctx context.Context,
	who partner.Partner,
	p subject.Person,
	events int64,
) (subject.Held, error) {
	r := &heldReader{Subjects: s, ctx: ctx, q: s.readQuerier(), h: subject.Held{Partner: who}}
	if r.x, r.err = s.computeIndexes(ctx, r.q, who.ID, p); r.err != nil {
		return r.h, r.err
	}
	user, values := r.x.userArguments(), r.x.assetArguments()
	r.h.Subscriptions, r.err = Subscriptions(s).readByCPF(ctx, r.q, r.x.partner, r.x.cpf, ``)
	slices.SortFunc(r.h.Subscriptions, func(a, b subscription.Subscription) int { return cmp.Compare(a.Seq, b.Seq) })
	r.readAssets(values)
	r.h.Findings = readHeld(
		r,
		Monitoring(s).scanFinding,
		`SELECT `+findingColumns+` FROM asset a JOIN finding f ON f.partner_id = a.partner_id AND f.asset_id = a.id
		LEFT JOIN breach b ON b.name = f.breach WHERE a.partner_id = $1 AND f.partner_id = $1
		AND f.asset_id IN `+assetIDsOfPerson+`
		ORDER BY `+byPerson+`f.found_at, f.id`,
		values...,
	)
	r.h.Steps = readHeld(
		r,
		scanStepMark,
		`SELECT `+markColumns+` FROM finding f CROSS JOIN finding_step m
		WHERE f.partner_id = $1 AND f.asset_id IN `+assetIDsOfPerson+`
		AND m.partner_id = f.partner_id AND m.finding_id = f.id ORDER BY m.marked_at, m.finding_id, m.step`,
		values...,
	)
	r.readCases(user)
	r.h.Devices = readHeld(
		r,
		Devices(s).scanDevice,
		`SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3)
		ORDER BY issued_at, id`,
		user...,
	)
	r.h.Answers = readHeld(r, func(row scanner, a *subject.Answer) error {
		var index []byte
		opened := s.unseals(&a.Value, func() seal.Place { return sealedAnswerPlace(who.ID, index, a.Content) })
		return row.Scan(&index, &a.Content, opened, &a.At)
	}, `SELECT user_index, content_id, value, answered_at FROM content_answer
		WHERE partner_id = $1 AND user_index IN ($2, $3) ORDER BY answered_at, content_id`,
		user...,
	)
	r.h.Scores = readHeld(r, Advice(s).scanScoreDay(who.ID), `SELECT `+scoreColumns+` FROM score_day d
		WHERE d.partner_id = $1 AND d.user_index IN ($2, $3) ORDER BY d.day`,
		user...,
	)
	r.readEvents(append(user, events))
	return r.h, r.err
}

// readAssets reads the person's watched values, and their CPF where it is watched under another user hash.
func (r *heldReader) readAssets(args []any) {
	h := &r.h
	h.Assets = readHeld(r, func(row scanner, w *subject.Watched) error {
		w.Partner = r.x.partner
		var own bool
		opens := Monitoring(r.Subjects).opensAsset(&w.Asset)
		err := row.Scan(&w.ID, &w.Kind, opens, &w.Status, &w.AddedAt, &w.Waits, &own)
		if !own {
			h.Others = append(h.Others, w.User)
		}
		return err
	}, `SELECT id, kind, value, status, created_at, look <> 0, user_index IN ($2, $3) FROM asset
		WHERE `+assetsOfPerson+` ORDER BY created_at, id`,
		args...,
	)
	for i, w := range h.Assets {
		h.Assets[i].History = readHeld(
			r,
			func(row scanner, c *subject.Change) error { return row.Scan(&c.At, &c.Before, &c.Then) },
			`SELECT at, previous, status FROM asset_history WHERE partner_id = $1 AND asset_id = $2 ORDER BY seq`,
			w.Partner,
			w.ID,
		)
	}
}

// readCases reads the person's cases with their history.
func (r *heldReader) readCases(args []any) {
	for _, id := range readHeld(r, func(row scanner, id *cyber.CaseID) error { return row.Scan(id) },
		`SELECT id FROM support_case WHERE partner_id = $1 AND user_index IN ($2, $3) ORDER BY created_at, id`,
		args...,
	) {
		c, moves, err := Cases(r.Subjects).GetCase(r.ctx, id)
		r.h.Cases, r.err = append(r.h.Cases, subject.Case{Case: c, Moves: moves}), cmp.Or(r.err, err)
	}
}

// readEvents reads the newest of the person's events, oldest first.
func (r *heldReader) readEvents(args []any) {
	type event struct {
		subject.Event
		seq int64
	}
	for _, e := range slices.Backward(readHeld(r, func(row scanner, e *event) error {
		body := r.unseals(&e.Body, func() seal.Place { return eventPlace(r.x.partner, e.ID) })
		return row.Scan(&e.ID, &e.seq, &e.Type, body, &e.At)
	}, `SELECT id, seq, type, body, created_at FROM event WHERE partner_id = $1 AND person IN ($2, $3)
		ORDER BY `+byPerson+`seq DESC LIMIT $4`,
		args...,
	)) {
		e.Deliveries = readHeld(
			r,
			func(row scanner, d *subject.Delivery) error { return row.Scan(&d.Endpoint, &d.State, &d.At) },
			`SELECT d.endpoint_id, d.state, d.finished_at FROM delivery d
			WHERE d.partner_id = $1 AND d.seq = $2 AND `+atEndpoints+` ORDER BY 1`,
			r.x.partner,
			e.seq,
		)
		r.h.Events = append(r.h.Events, e.Event)
	}
}

// assetsOfPerson are the values under the person's own hashes, and their CPF under anybody's.
const assetsOfPerson = `partner_id = $1 AND id IN ` + assetIDsOfPerson

// assetIDsOfPerson asks each index by itself: with an OR between them, or a UNION that it would rather merge in the
// order of ids, SQLite reads all values of the partner.
const assetIDsOfPerson = `(SELECT id FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3)
	UNION ALL SELECT id FROM asset WHERE partner_id = $1 AND kind = $4 AND value_index = $5)`

// assetArguments returns the arguments of statements on a person's values.
func (x indexes) assetArguments() []any {
	return []any{x.partner, x.user512, x.user256, identifier.CPF, x.value}
}

// userArguments returns the arguments of statements on a person's user indexes.
func (x indexes) userArguments() []any { return []any{x.partner, x.user512, x.user256} }

// byPerson before the column that a person's rows are ordered by has their index used and the few of them sorted:
// SQLite would rather read all of the partner's in that order.
const byPerson = `0 + `

// namesOfHeld returns the names by which the audit trail may speak of what is held.
func namesOfHeld(h subject.Held) []string {
	var names []string
	for _, sub := range h.Subscriptions {
		names = append(names, string(h.Partner.ID)+"/"+strconv.FormatInt(sub.Seq, 10))
	}
	for _, a := range h.Assets {
		names = append(names, string(a.ID))
	}
	for _, f := range h.Findings {
		names = append(names, string(f.ID))
	}
	for _, c := range h.Cases {
		names = append(names, string(c.ID))
	}
	for _, d := range h.Devices {
		names = append(names, string(d.ID))
	}
	for _, e := range h.Events {
		names = append(names, e.ID)
	}
	return names
}

// countFound returns how many records an erasure finds: those that have names, without the events of the request for
// it. Of a person whom the partner never named before, the request finds none.
func countFound(h subject.Held) int {
	found := len(namesOfHeld(h))
	for _, e := range h.Events {
		if e.Type == string(alert.ErasureRequested) || e.Type == string(alert.ErasureCancelled) {
			found--
		}
	}
	return found
}

// ScrubErased takes what was deleted out of the database's files.
func (s Subjects) ScrubErased(ctx context.Context) error {
	return s.db.ScrubDeleted(ctx, erasedTables...)
}

func (s Subjects) DatabaseEngine() sqldb.Engine { return s.db.EngineName() }

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
	ctx context.Context,
	at []partner.ID,
	query string,
	conditions []string,
	key func(partner.ID) any,
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
	ctx context.Context,
	at []partner.ID,
	kind identifier.Kind,
	normal string,
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
	ctx context.Context,
	at []partner.ID,
	kind identifier.Kind,
	normal string,
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
	ctx context.Context,
	at []partner.ID,
	kind subject.HitKind,
	id string,
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

// FindUserByReference returns the user hash of a person by reference, as the partner spelt it last, or as the service
// would: see subject.Store.
func (s Subjects) FindUserByReference(ctx context.Context, id partner.ID, ref string) (partner.UserHash, error) {
	index, err := hex.DecodeString(strings.TrimPrefix(ref, userReference(nil)))
	if err != nil || len(index) == 0 || !strings.HasPrefix(ref, userReference(nil)) {
		return "", subject.ErrNobody
	}
	q := s.readQuerier()
	known, err := s.findPersons(ctx, q, id, [][]byte{index})
	if err != nil {
		return "", err
	}
	p := known[string(index)]
	if p.name != "" {
		return p.name, nil
	}
	if p.d512 == "" {
		return "", subject.ErrNobody
	}
	cpf, err := findValue[[]byte](
		ctx,
		q,
		subject.ErrNobody,
		`SELECT cpf FROM person WHERE partner_id = $1 AND user_512 = $2`,
		id,
		[]byte(p.d512),
	)
	if err != nil {
		return "", err
	}
	held, err := Subscriptions(s).readByCPF(ctx, q, id, cpf, ` DESC LIMIT 1`)
	if err != nil || len(held) == 0 {
		return "", cmp.Or(err, error(subject.ErrNobody))
	}
	salt, err := Partners(s).OpenSalt(ctx, id)
	return partner.LongUserHash(held[0].Beneficiary.CPF, salt), err
}

// AccessesOf returns the lines of the audit trail about a person. Lines name rows by ids; those of erased rows are kept
// with the erasure, so that it can still be told who saw what is gone.
func (s Subjects) AccessesOf(ctx context.Context, held []subject.Held, p subject.Person) ([]subject.Access, error) {
	names := []string{s.PersonReference(p)}
	for _, h := range held {
		x, err := s.computeIndexes(ctx, s.readQuerier(), h.Partner.ID, p)
		if err != nil {
			return nil, err
		}
		erased, err := s.erasedIDs(ctx, h.Partner.ID, p, x.user512)
		if err != nil {
			return nil, err
		}
		names = append(
			append(append(names, userReference(x.user256), userReference(x.user512)), namesOfHeld(h)...),
			erased...,
		)
	}
	var args []any
	accesses, err := collectRows(
		ctx,
		s.readQuerier(),
		func(row scanner, a *subject.Access) error { return Audit(s).scanEntry(row, &a.Entry) },
		`SELECT `+auditColumns+` FROM audit WHERE subject `+inList(s.db.EngineName(), &args, uniqueValues(names)),
		args...,
	)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(accesses, func(a, b subject.Access) int { return cmp.Compare(b.Seq, a.Seq) })
	return accesses, nil
}

// erasedIDs returns the ids of a partner's rows that were erased with a person, whichever of their names the erasure
// was asked for by.
func (s Subjects) erasedIDs(ctx context.Context, id partner.ID, p subject.Person, user []byte) ([]string, error) {
	kept, err := collectRows(ctx, s.readQuerier(), func(row scanner, kept *keptTrail) error {
		var erasure string
		return row.Scan(&erasure, s.unseals(kept, func() seal.Place { return trailPlace(id, erasure) }))
	}, `SELECT id, trail FROM erasure WHERE partner_id = $1 AND (person = $2 OR user_512 = $3)`,
		id,
		s.erasedReference(id, p),
		user,
	)
	var ids []string
	for _, k := range kept {
		ids = append(ids, k.IDs...)
	}
	return ids, err
}

// Affected calls found for each person with findings of an incident, in the order of partners.
func (s Subjects) Affected(ctx context.Context, of subject.Incident, found func(subject.Affected) error) error {
	c, order := conditions{}, `a.partner_id, a.user_index, f.id`
	if of.Breach != "" {
		if _, err := Breaches(s).BreachByName(ctx, of.Breach); err != nil {
			return err
		}
		c.addCondition(`f.breach = `, of.Breach)
	} else {
		c.addCondition(`f.found_at >= `, of.From)
		c.addCondition(`f.found_at < `, of.To)
	}
	if of.Partner != "" {
		c.addCondition(`a.partner_id = `, of.Partner)
	}
	var one affectedRows
	for after := (affectedMark{}); ; {
		rows, err := s.affectedPage(ctx, c, order, after)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if one.user != r.user || one.Partner != r.Partner {
				if err := one.tellPerson(found); err != nil {
					return err
				}
				one = affectedRows{
					user:     r.user,
					Affected: subject.Affected{Partner: r.Partner, Kinds: map[identifier.Kind]int{}, First: r.at},
				}
			}
			one.addRow(r)
		}
		if len(rows) < checkBatch {
			return one.tellPerson(found)
		}
		last := rows[len(rows)-1]
		after = affectedMark{last.Partner, []byte(last.user), last.id}
	}
}

// affectedMark is the place of the last row of a page.
type affectedMark struct {
	partner partner.ID
	user    []byte
	id      string
}

// affectedRow is one finding of an incident.
type affectedRow struct {
	subject.Watched
	user, id, breach string
	at               time.Time
}

// affectedPage reads the next page of findings of an incident. Findings of retracted breaches are left out.
func (s Subjects) affectedPage(
	ctx context.Context,
	c conditions,
	order string,
	after affectedMark,
) ([]affectedRow, error) {
	if after.id != "" {
		c.args = append(slices.Clone(c.args), after.partner, after.user, after.id)
		n := len(c.args)
		c.text += fmt.Sprintf(` AND (%s) > ($%d, $%d, $%d)`, order, n-2, n-1, n)
	}
	return collectRows(ctx, s.readQuerier(), func(row scanner, r *affectedRow) error {
		var index, sealed []byte
		if err := row.Scan(&r.Partner, &index, &r.id, &r.breach, &r.at, &r.ID, &r.Kind, &sealed); err != nil {
			return err
		}
		r.user = string(index)
		return Monitoring(s).openAssetValue(&r.Asset, sealed)
	}, `SELECT a.partner_id, a.user_index, f.id, f.breach, f.found_at, a.id, a.kind, a.value FROM finding f
		JOIN asset a ON a.partner_id = f.partner_id AND a.id = f.asset_id
		WHERE f.resolution <> 'retracted'`+c.text+` ORDER BY `+order+` LIMIT `+strconv.Itoa(checkBatch),
		c.args...,
	)
}

// affectedRows gathers the findings of one person.
type affectedRows struct {
	subject.Affected
	user   string
	assets map[string]bool
}

// addRow takes a row of the person that is being read.
func (a *affectedRows) addRow(r affectedRow) {
	if a.assets == nil {
		a.assets = map[string]bool{}
	}
	a.User = r.User
	if !a.assets[string(r.ID)] {
		a.assets[string(r.ID)] = true
		a.Kinds[r.Kind]++
		a.Values = append(a.Values, r.Kind.String()+": "+r.Value)
	}
	if !slices.Contains(a.Breaches, r.breach) {
		a.Breaches = append(a.Breaches, r.breach)
	}
	if r.at.Before(a.First) {
		a.First = r.at
	}
	if r.at.After(a.Last) {
		a.Last = r.at
	}
}

// tellPerson calls found for the person that was read.
func (a *affectedRows) tellPerson(found func(subject.Affected) error) error {
	if a.Partner == "" {
		return nil
	}
	return found(a.Affected)
}

// Showings counts the lines of the trail in a window, by who and what; what only keeps house is left out.
func (s Subjects) Showings(ctx context.Context, from, to time.Time) ([]subject.Showing, error) {
	list, err := collectRows(
		ctx,
		s.readQuerier(),
		func(row scanner, v *subject.Showing) error { return row.Scan(&v.Actor, &v.Action, &v.Count) },
		`SELECT actor, action, count(*) FROM audit WHERE at >= $1 AND at < $2 GROUP BY actor, action
		ORDER BY 3 DESC, 1, 2`,
		from,
		to,
	)
	return slices.DeleteFunc(list, func(v subject.Showing) bool { return !showsPeople(v.Action) }), err
}

// showsPeople reports whether an action shows or changes a person's data, unlike actions of housekeeping.
func showsPeople(action string) bool {
	noun, verb, _ := strings.Cut(action, ".")
	switch noun {
	case "subject", "subscription", "asset", "case", "epp", "score", "finding", "report":
		return true
	case "event":
		return verb != "report"
	case "backup", "restore":
		return true
	}
	return strings.HasSuffix(verb, "reveal")
}

// mentions are the texts by which a kept answer may speak of a person.
type mentions struct {
	// naming identify the person: an answer that holds one of them is about the person.
	naming []string
	// more are only taken out of answers that are: others may share them, such as a name.
	more []string
	// all stands for every text.
	all bool
}

// mentionsOf gathers them from what is held and from the ways of spelling a user hash.
func (s Subjects) mentionsOf(ctx context.Context, h subject.Held, p subject.Person) (mentions, error) {
	var m mentions
	name := func(texts ...string) { m.naming = append(m.naming, texts...) }
	if p.CPF != "" {
		salt, err := Partners(s).OpenSalt(ctx, h.Partner.ID)
		if err != nil {
			return m, err
		}
		d256, d512 := partner.PersonDigests(p.CPF, salt)
		name(digestSpellings(d256[1:])...)
		name(digestSpellings(d512[1:])...)
		name(p.CPF, p.CPF[:3]+"."+p.CPF[3:6]+"."+p.CPF[6:9]+"-"+p.CPF[9:])
	}
	name(string(p.User))
	name(namesOfHeld(h)...)
	for _, a := range h.Assets {
		name(a.Value)
	}
	for _, sub := range h.Subscriptions {
		b := sub.Beneficiary
		name(b.CPF, b.Email, b.Phone, b.PrimaryCard, b.UserCard)
		m.more = append(m.more, b.Name, b.BirthDate, b.Address.Street, b.Address.Zipcode, sub.InternalID)
	}
	for _, d := range h.Devices {
		name(d.Key)
		m.more = append(m.more, d.Name)
	}
	m.naming, m.more = longEnough(m.naming), longEnough(m.more)
	return m, nil
}

// longEnough leaves out texts so short that they would be found anywhere.
func longEnough(texts []string) []string {
	return slices.DeleteFunc(uniqueValues(texts), func(t string) bool { return len(t) < 4 })
}

// digestSpellings returns the ways in which a digest may be written: see partner.UserHash.
func digestSpellings(digest []byte) []string {
	text := hex.EncodeToString(digest)
	return []string{
		text,
		strings.ToUpper(text),
		base64.RawStdEncoding.EncodeToString(digest),
		base64.RawURLEncoding.EncodeToString(digest),
	}
}

// keptRow is a kept answer as it stands.
type keptRow struct {
	claim, sealed []byte
}

// answersAbout calls fn with the kept answers to requests about the person that mention anything of them. They are
// looked up by the person: answers to requests about many people hold nothing of anybody.
func (s Subjects) answersAbout(
	ctx context.Context,
	h subject.Held,
	p subject.Person,
	fn func(keptRow, keptAnswer, mentions) error,
) error {
	m, err := s.mentionsOf(ctx, h, p)
	if err != nil {
		return err
	}
	var needles [][]byte
	for _, text := range m.naming {
		quoted, err := json.Marshal(text)
		if err != nil {
			return err
		}
		needles = append(needles, []byte(text), quoted[1:len(quoted)-1])
	}
	x, err := s.computeIndexes(ctx, s.readQuerier(), h.Partner.ID, p)
	if err != nil {
		return err
	}
	return s.eachKeptAnswer(ctx, x, func(r keptRow, a keptAnswer) error {
		if !a.holdsAny(needles) {
			return nil
		}
		return fn(r, a, m)
	})
}

// eachKeptAnswer calls fn with the kept answers to requests about the person.
func (s Subjects) eachKeptAnswer(ctx context.Context, x indexes, fn func(keptRow, keptAnswer) error) error {
	for after := []byte{}; ; {
		rows, err := collectRows(
			ctx,
			s.readQuerier(),
			func(row scanner, r *keptRow) error { return row.Scan(&r.claim, &r.sealed) },
			`SELECT claim, answer FROM idempotency WHERE partner_id = $1 AND person IN ($4, $5) AND length(person) > 0
			AND claim > $2 AND answer IS NOT NULL ORDER BY claim LIMIT $3`,
			x.partner,
			after,
			checkBatch,
			x.user256,
			x.user512,
		)
		if err != nil {
			return err
		}
		for _, r := range rows {
			after = r.claim
			var a keptAnswer
			if err := s.openSealed(answerPlace(x.partner, r.claim), r.sealed, &a); err != nil {
				return err
			}
			if err := fn(r, a); err != nil {
				return err
			}
		}
		if len(rows) < checkBatch {
			return nil
		}
	}
}

// holdsAny reports whether a header or the body contains one of the texts, byte for byte.
func (a keptAnswer) holdsAny(needles [][]byte) bool {
	texts := [][]byte{a.Body}
	for _, value := range a.Headers {
		texts = append(texts, []byte(value))
	}
	return slices.ContainsFunc(texts, func(text []byte) bool {
		return slices.ContainsFunc(needles, func(n []byte) bool { return bytes.Contains(text, n) })
	})
}

// countAnswers returns how many stored answers mention the person; it changes none.
func (s Subjects) countAnswers(ctx context.Context, h subject.Held, p subject.Person) (n int, err error) {
	err = s.answersAbout(ctx, h, p, func(keptRow, keptAnswer, mentions) error { n++; return nil })
	return n, err
}

// RedactAnswers takes the person out of the partner's kept answers. The claims stay, so that a request which is
// repeated is not carried out a second time: that would bring the person back.
func (s Subjects) RedactAnswers(ctx context.Context, h subject.Held, p subject.Person) (int64, error) {
	var total int64
	err := s.answersAbout(ctx, h, p, func(r keptRow, a keptAnswer, m mentions) error {
		n, err := s.rewriteAnswer(ctx, h.Partner.ID, r, a, m)
		total += n
		return err
	})
	if err != nil {
		return total, err
	}
	x, err := s.computeIndexes(ctx, s.readQuerier(), h.Partner.ID, p)
	if err == nil {
		err = s.forgetAskedAbout(ctx, x)
	}
	return total, err
}

// forgetAskedAbout removes the person from stored answers, once the answers no longer say anything about the person.
func (s Subjects) forgetAskedAbout(ctx context.Context, x indexes) error {
	_, err := s.runInBatches(ctx, func(tx *sqldb.Tx, limit int64) (int64, error) {
		return execCounting(ctx, tx, `UPDATE idempotency SET person = $4 WHERE partner_id = $1 AND claim IN (
			SELECT claim FROM idempotency WHERE partner_id = $1 AND person IN ($2, $3) AND length(person) > 0
			LIMIT $5)`,
			x.partner,
			x.user256,
			x.user512,
			[]byte{},
			limit,
		)
	})
	return err
}

// emptyAnswers takes every text out of the kept answers to requests about a person.
func (s Subjects) emptyAnswers(ctx context.Context, x indexes) error {
	err := s.eachKeptAnswer(ctx, x, func(r keptRow, a keptAnswer) error {
		_, err := s.rewriteAnswer(ctx, x.partner, r, a, mentions{all: true})
		return err
	})
	if err != nil {
		return err
	}
	return s.forgetAskedAbout(ctx, x)
}

// rewriteAnswer keeps an answer without what is mentioned, unless it has changed.
func (s Subjects) rewriteAnswer(
	ctx context.Context,
	id partner.ID,
	r keptRow,
	a keptAnswer,
	m mentions,
) (n int64, err error) {
	a.Body = m.redactBody(a.Body)
	for name, value := range a.Headers {
		a.Headers[name] = m.redactText(value)
	}
	sealed, err := s.sealValue(answerPlace(id, r.claim), a)
	if err != nil {
		return 0, err
	}
	return s.countAlone(
		ctx,
		`UPDATE idempotency SET answer = $4 WHERE partner_id = $1 AND claim = $2 AND answer = $3`,
		id,
		r.claim,
		r.sealed,
		sealed,
	)
}

// redacted stands where something of the person stood.
const redacted = "***"

// redactText replaces what names the person.
func (m mentions) redactText(text string) string {
	if m.all {
		return redacted
	}
	for _, list := range [][]string{m.naming, m.more} {
		for _, t := range list {
			text = strings.ReplaceAll(text, t, redacted)
		}
	}
	return text
}

// redactBody replaces texts inside JSON strings, so that the answer keeps its shape. A body that is no JSON is replaced
// whole.
func (m mentions) redactBody(body []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return []byte(`{}`)
	}
	out, err := json.Marshal(m.redactValue(v))
	if err != nil {
		return []byte(`{}`)
	}
	return out
}

// redactValue redacts strings at any depth, and keys of objects too, since a key may name the person. With all set keys
// stay: field names are the service's own.
func (m mentions) redactValue(v any) any {
	switch v := v.(type) {
	case string:
		return m.redactText(v)
	case []any:
		for i := range v {
			v[i] = m.redactValue(v[i])
		}
	case map[string]any:
		for k, item := range v {
			if !m.all { // names of fields are the service's own
				delete(v, k)
				k = m.redactText(k)
			}
			v[k] = m.redactValue(item)
		}
	}
	return v
}
