package store

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
)

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
	ctx context.Context, who partner.Partner, p subject.Person, read func(Subjects) (subject.Held, error),
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
	ctx context.Context, who partner.Partner, p subject.Person, events int64,
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
