package store

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
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

// computeIndexes computes a person's keys. By a CPF it needs no row to be there; by a user hash it learns the rest from the
// person's row.
func (s Subjects) computeIndexes(ctx context.Context, q querier, id partner.ID, p subject.Person) (indexes, error) {
	if p.CPF == "" {
		u, err := s.findUser(ctx, q, id, p.User)
		return indexes{partner: id, cpf: orEmptyBytes(u.cpf), user256: u.other, user512: u.write, value: []byte{}}, err
	}
	salt, err := s.partnersArea().OpenSalt(ctx, id)
	if err != nil {
		return indexes{}, err
	}
	x := indexes{partner: id, value: s.monitoring().valueIndex(id, identifier.CPF, p.CPF)}
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
	return s.heldUnlessErased(ctx, who, p, func(in Subjects) (subject.Held, error) { return in.readAllHeld(ctx, who, p) })
}

// newestEvents is how many events a page is given.
const newestEvents = 200

// ReadHeldRows is Held but for kept answers and all but the newest events, which take longer to look through than a page may.
func (s Subjects) ReadHeldRows(ctx context.Context, who partner.Partner, p subject.Person) (h subject.Held, err error) {
	return s.heldUnlessErased(ctx, who, p, func(in Subjects) (subject.Held, error) { return in.readRowsHeld(ctx, who, p, newestEvents) })
}

// heldUnlessErased reads in one snapshot. It returns nothing for a person whose erasure has begun, even if rows remain.
func (s Subjects) heldUnlessErased(ctx context.Context, who partner.Partner, p subject.Person, read func(Subjects) (subject.Held, error)) (
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

// readAllHeld is ReadHeld within a snapshot.
func (s Subjects) readAllHeld(ctx context.Context, who partner.Partner, p subject.Person) (subject.Held, error) {
	h, err := s.readRowsHeld(ctx, who, p, math.MaxInt64)
	if err == nil {
		h.StoredAnswers, err = s.countAnswers(ctx, h, p)
	}
	return h, err
}

// readRowsHeld is ReadHeldRows within a snapshot.
func (s Subjects) readRowsHeld(ctx context.Context, who partner.Partner, p subject.Person, events int64) (subject.Held, error) {
	h := subject.Held{Partner: who}
	q := s.readQuerier()
	x, err := s.computeIndexes(ctx, q, who.ID, p)
	if err != nil {
		return h, err
	}
	for _, read := range []func(context.Context, querier, indexes, *subject.Held) error{
		s.heldSubscriptions, s.heldAssets, s.heldFindings, s.readHeldCases, s.heldDevices, s.heldAnswers,
	} {
		if err := read(ctx, q, x, &h); err != nil {
			return h, err
		}
	}
	err = s.heldEvents(ctx, q, x, &h, events)
	return h, err
}

// heldSubscriptions reads all subscriptions of the CPF, live and ended, in the order of their creation.
func (s Subjects) heldSubscriptions(ctx context.Context, q querier, x indexes, h *subject.Held) (err error) {
	h.Subscriptions, err = s.subscriptions().readByCPF(ctx, q, x.partner, x.cpf, ``)
	slices.SortFunc(h.Subscriptions, func(a, b subscription.Subscription) int { return cmp.Compare(a.Seq, b.Seq) })
	return err
}

// heldAssets reads the person's watched values, and their CPF where it is watched under another user hash.
func (s Subjects) heldAssets(ctx context.Context, q querier, x indexes, h *subject.Held) error {
	type row struct {
		subject.Watched
		own bool
	}
	rows, err := collectRows(ctx, q, func(sc scanner) (row, error) {
		r := row{Watched: subject.Watched{Asset: cyber.Asset{Partner: x.partner}}}
		var created int64
		var sealed []byte
		if err := sc.Scan(&r.ID, &r.Kind, &sealed, &r.Status, &created, &r.own); err != nil {
			return r, err
		}
		r.AddedAt = fromMicros(created)
		return r, s.monitoring().openAssetValue(&r.Asset, sealed)
	}, `SELECT id, kind, value, status, created_at, user_index IN ($2, $3) FROM asset WHERE `+assetsOfPerson+` ORDER BY created_at, id`,
		x.assetArguments()...)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if !r.own {
			h.Others = append(h.Others, r.User)
		}
		r.History, err = collectRows(ctx, q, func(sc scanner) (subject.Change, error) {
			var c subject.Change
			var at int64
			err := sc.Scan(&at, &c.Before, &c.Then)
			c.At = fromMicros(at)
			return c, err
		}, `SELECT at, previous, status FROM asset_history WHERE partner_id = $1 AND asset_id = $2 ORDER BY seq`, partnerNumber(x.partner), string(r.ID))
		if err != nil {
			return err
		}
		h.Assets = append(h.Assets, r.Watched)
	}
	return nil
}

// assetsOfPerson are the values under the person's own hashes, and their CPF under anybody's.
const assetsOfPerson = `partner_id = $1 AND id IN ` + assetIDsOfPerson

// assetIDsOfPerson asks each index by itself: with an OR between them, or a UNION that it would rather merge in the order of
// ids, SQLite reads all values of the partner.
const assetIDsOfPerson = `(SELECT id FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3)
	UNION ALL SELECT id FROM asset WHERE partner_id = $1 AND kind = $4 AND value_index = $5)`

// assetArguments returns the arguments of statements on a person's values.
func (x indexes) assetArguments() []any {
	return []any{partnerNumber(x.partner), x.user512, x.user256, int64(identifier.CPF), x.value}
}

// heldFindings reads the findings of the person's watched values, and which steps of advice the person marked as done.
func (s Subjects) heldFindings(ctx context.Context, q querier, x indexes, h *subject.Held) (err error) {
	h.Findings, err = collectRows(ctx, q, s.monitoring().scanFinding, `SELECT `+findingColumns+` FROM asset a JOIN finding f ON f.partner_id = a.partner_id AND f.asset_id = a.id
		LEFT JOIN breach b ON b.name = f.breach WHERE a.partner_id = $1 AND f.partner_id = $1 AND f.asset_id IN `+assetIDsOfPerson+`
		ORDER BY `+byPerson+`f.found_at, f.id`, x.assetArguments()...)
	if err != nil {
		return err
	}
	h.Steps, err = collectRows(ctx, q, scanStepMark, `SELECT `+markColumns+` FROM finding f CROSS JOIN finding_step m WHERE f.partner_id = $1 AND f.asset_id IN `+assetIDsOfPerson+`
		AND m.partner_id = f.partner_id AND m.finding_id = f.id ORDER BY m.marked_at, m.finding_id, m.step`, x.assetArguments()...)
	return err
}

// userArguments returns the arguments of statements on a person's user indexes.
func (x indexes) userArguments() []any { return []any{partnerNumber(x.partner), x.user512, x.user256} }

// readHeldCases adds a person's cases with their history.
func (s Subjects) readHeldCases(ctx context.Context, q querier, x indexes, h *subject.Held) error {
	ids, err := collectRows(ctx, q, func(sc scanner) (id cyber.CaseID, err error) { return id, sc.Scan(&id) },
		`SELECT id FROM support_case WHERE partner_id = $1 AND user_index IN ($2, $3) ORDER BY created_at, id`, x.userArguments()...)
	if err != nil {
		return err
	}
	for _, id := range ids {
		c, moves, err := s.casesArea().GetCase(ctx, id)
		if err != nil {
			return err
		}
		h.Cases = append(h.Cases, subject.Case{Case: c, Moves: moves})
	}
	return nil
}

// heldDevices reads the person's protection keys, live and ended.
func (s Subjects) heldDevices(ctx context.Context, q querier, x indexes, h *subject.Held) (err error) {
	h.Devices, err = collectRows(ctx, q, s.devicesArea().scanDevice, `SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3)
		ORDER BY issued_at, id`, x.userArguments()...)
	return err
}

// heldAnswers reads what the person answered to content, and the scores of each day.
func (s Subjects) heldAnswers(ctx context.Context, q querier, x indexes, h *subject.Held) (err error) {
	h.Answers, err = collectRows(ctx, q, func(sc scanner) (subject.Answer, error) {
		var a subject.Answer
		var at int64
		var user, sealed []byte
		err := sc.Scan(&user, &a.Content, &sealed, &at)
		if err == nil {
			a.At = fromMicros(at)
			a.Value, err = s.adviceArea().openAnswer(x.partner, user, a.Content, sealed)
		}
		return a, err
	}, `SELECT user_index, content_id, value, answered_at FROM content_answer WHERE partner_id = $1 AND user_index IN ($2, $3) ORDER BY answered_at, content_id`,
		x.userArguments()...)
	if err != nil {
		return err
	}
	h.Scores, err = collectRows(ctx, q, s.adviceArea().scanScoreDay(x.partner), `SELECT `+scoreColumns+` FROM score_day d
		WHERE d.partner_id = $1 AND d.user_index IN ($2, $3) ORDER BY d.day`, x.userArguments()...)
	return err
}

// byPerson before the column that a person's rows are ordered by has their index used and the few of them sorted: SQLite would
// rather read all of the partner's in that order.
const byPerson = `0 + `

// heldEvents reads the newest of a person's events, oldest first.
func (s Subjects) heldEvents(ctx context.Context, q querier, x indexes, h *subject.Held, newest int64) error {
	type row struct {
		subject.Event
		seq int64
	}
	rows, err := collectRows(ctx, q, func(sc scanner) (row, error) {
		var r row
		var at int64
		var sealed []byte
		if err := sc.Scan(&r.ID, &r.seq, &r.Type, &sealed, &at); err != nil {
			return r, err
		}
		r.At = fromMicros(at)
		var err error
		r.Body, err = s.keys.Unseal(eventPlace(x.partner, r.ID), sealed)
		return r, err
	}, `SELECT id, seq, type, body, created_at FROM event WHERE partner_id = $1 AND person IN ($2, $3) ORDER BY `+byPerson+`seq DESC LIMIT $4`,
		append(x.userArguments(), newest)...)
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	for _, r := range slices.Backward(rows) {
		r.Deliveries, err = collectRows(ctx, q, func(sc scanner) (subject.Delivery, error) {
			var d subject.Delivery
			var finished int64
			err := sc.Scan(&d.Endpoint, &d.State, &finished)
			d.At = fromMicros(finished)
			return d, err
		}, `SELECT d.endpoint_id, d.state, d.finished_at FROM delivery d WHERE d.partner_id = $1 AND d.seq = $2 AND `+atEndpoints+`
			ORDER BY 1`, partnerNumber(x.partner), r.seq)
		if err != nil {
			return fmt.Errorf("read deliveries: %w", err)
		}
		h.Events = append(h.Events, r.Event)
	}
	return nil
}

// heldIDs returns the names by which the audit trail may speak of what is held.
func heldIDs(h subject.Held) []string {
	var ids []string
	for _, sub := range h.Subscriptions {
		ids = append(ids, string(h.Partner.ID)+"/"+strconv.FormatInt(sub.Seq, 10))
	}
	for _, a := range h.Assets {
		ids = append(ids, string(a.ID))
	}
	for _, f := range h.Findings {
		ids = append(ids, string(f.ID))
	}
	for _, c := range h.Cases {
		ids = append(ids, string(c.ID))
	}
	for _, d := range h.Devices {
		ids = append(ids, string(d.ID))
	}
	for _, e := range h.Events {
		ids = append(ids, e.ID)
	}
	return ids
}

// ScrubErased takes what was deleted out of the database's files.
func (s Subjects) ScrubErased(ctx context.Context) error {
	return s.db.ScrubDeleted(ctx, erasedTables...)
}

// DatabaseEngine returns the engine of the database.
func (s Subjects) DatabaseEngine() sqldb.Engine { return s.db.EngineName() }
