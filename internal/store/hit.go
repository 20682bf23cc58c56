package store

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// veilFingerprint returns how a partner's row keeps a fingerprint, and unveil what it stands for.
func (c core) veilFingerprint(id partner.ID, fingerprint uint64) int64 {
	return int64(c.keys.PartnerVeil(string(id)).HideFingerprint(fingerprint))
}

// unveilFingerprint undoes veilFingerprint.
func (c core) unveilFingerprint(id partner.ID, kept int64) uint64 {
	return c.keys.PartnerVeil(string(id)).ShowFingerprint(uint64(kept))
}

// ListProbes returns watched fingerprints behind a place, by partner.
func (s Breaches) ListProbes(ctx context.Context, after leak.Place, limit int) ([]leak.Probes, leak.Place, error) {
	return s.readProbes(ctx, after, limit, func(id partner.ID, at int64, limit int) ([]int64, error) {
		return s.fingerprints(ctx, `SELECT coalesce(string_agg(CAST(f.fingerprint AS TEXT), ','), '') FROM (
			SELECT fingerprint FROM asset WHERE partner_id = $1 AND fingerprint > $2 ORDER BY fingerprint LIMIT $3) f`,
			id,
			at,
			limit,
		)
	})
}

// ProbesSince returns those of values added at or after a time.
func (s Breaches) ProbesSince(
	ctx context.Context,
	since time.Time,
	after leak.Place,
	limit int,
) ([]leak.Probes, leak.Place, error) {
	return s.readProbes(ctx, after, limit, func(id partner.ID, at int64, limit int) ([]int64, error) {
		return s.fingerprints(ctx, `SELECT coalesce(string_agg(CAST(f.fingerprint AS TEXT), ','), '') FROM (
			SELECT fingerprint FROM asset WHERE partner_id = $1 AND fingerprint > $2 AND created_at >= $4
			ORDER BY fingerprint LIMIT $3) f`,
			id,
			at,
			limit,
			since,
		)
	})
}

// fingerprints reads a page of them as one text, because a row for each costs more than all else that a match does.
func (s Breaches) fingerprints(ctx context.Context, query string, args ...any) ([]int64, error) {
	text, err := readValue[string](ctx, s.readQuerier(), query, args...)
	if err != nil || text == "" {
		return nil, err
	}
	list := make([]int64, 0, probePage)
	for one := range strings.SplitSeq(text, ",") {
		f, err := strconv.ParseInt(one, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("fingerprint: %w", err)
		}
		list = append(list, f)
	}
	if !slices.IsSorted(list) { // no engine promises in which order it joins
		slices.Sort(list)
	}
	return list, nil
}

// probePage is how many fingerprints are read at a time: 160 KB of text.
const probePage = 8192

// readProbes reads from one partner after the other, which costs half of what one statement over all of them does.
func (s Breaches) readProbes(ctx context.Context, place leak.Place, limit int,
	page func(id partner.ID, at int64, limit int) ([]int64, error),
) (list []leak.Probes, last leak.Place, err error) {
	for left := limit; ; {
		of, err := s.readPartnerProbes(&place, left, page)
		if err != nil {
			return nil, place, fmt.Errorf("read fingerprints: %w", err)
		}
		if n := len(of); n > 0 {
			list, left = append(list, leak.Probes{Partner: place.Partner, Fingerprints: of}), left-n
		}
		if left == 0 {
			return list, place, nil
		}
		next, err := readValue[partner.ID](
			ctx,
			s.readQuerier(),
			`SELECT min(partner_id) FROM asset WHERE partner_id > $1 AND fingerprint IS NOT NULL`,
			place.Partner,
		)
		if err != nil || next == "" {
			return list, place, err
		}
		place = leak.Place{Partner: next, At: math.MinInt64}
	}
}

// readPartnerProbes reads those of the place's partner, and moves the place behind them.
func (s Breaches) readPartnerProbes(place *leak.Place, limit int,
	page func(id partner.ID, at int64, limit int) ([]int64, error),
) (list []uint64, err error) {
	veil := s.keys.PartnerVeil(string(place.Partner))
	for full := place.Partner != ""; full && len(list) < limit; {
		most := min(limit-len(list), probePage)
		kept, err := page(place.Partner, place.At, most)
		if err != nil {
			return nil, err
		}
		for _, f := range kept {
			if f != place.At { // two people of the partner watch one value
				list, place.At = append(list, veil.ShowFingerprint(uint64(f))), f
			}
		}
		full = len(kept) == most
	}
	return list, nil
}

// hitBatch bounds an IN list.
const hitBatch = 500

// KeepHits notes the watched values with these fingerprints.
func (s Breaches) KeepHits(ctx context.Context, breach string, hits []leak.Probes) (total int64, err error) {
	for _, of := range hits {
		for part := range slices.Chunk(of.Fingerprints, hitBatch) {
			kept, err := s.keepPartnerHits(ctx, of.Partner, breach, part)
			if total += kept; err != nil {
				return total, err
			}
		}
	}
	return total, nil
}

// keepPartnerHits notes those of one partner.
func (s Breaches) keepPartnerHits(
	ctx context.Context,
	id partner.ID,
	breach string,
	hits []uint64,
) (kept int64, err error) {
	veiled := make([]int64, len(hits))
	for i, h := range hits {
		veiled[i] = s.veilFingerprint(id, h)
	}
	// Any number of people may watch one value. Those that are read are locked: one that is being deleted is passed
	// over, and none is deleted between being read and being referred to. Citus locks by a SELECT alone, so the
	// hits are written by a statement of their own. What is noted or found already is counted, and not asked for by NOT
	// EXISTS, so that PostgreSQL looks each value up: its statistics of a table that was empty a moment ago have it
	// compare every value with every hit.
	return s.runInBatches(ctx, func(tx *sqldb.Tx, _ int64) (int64, error) {
		args := []any{id, breach, hitBatch}
		found, err := collectRows(ctx, tx, scanWatched, `SELECT user_index, id FROM asset
			WHERE partner_id = $1 AND fingerprint `+tx.EngineName().NumbersCondition(&args, veiled)+`
			AND (SELECT count(*) FROM finding f WHERE f.partner_id = $1 AND f.asset_id = asset.id
				AND f.breach = $2) = 0
			AND (SELECT count(*) FROM match_hit h WHERE h.breach = $2 AND h.partner_id = $1
				AND h.user_index = asset.user_index AND h.asset_id = asset.id) = 0
			LIMIT $3`+s.db.KeepRows(),
			args...,
		)
		if err != nil {
			return 0, err
		}
		return int64(len(found)), tx.InsertOrUpdate(ctx, "match_hit",
			[]string{"breach", "partner_id", "user_index", "asset_id"},
			"(breach, partner_id, user_index, asset_id) DO NOTHING",
			rowsOf(found, func(_ int, w watchedRow) ([]any, error) {
				return []any{breach, id, w.user, w.asset}, nil
			}))
	})
}

// watchedRow names a watched value of a partner.
type watchedRow struct {
	user  []byte
	asset cyber.AssetID
}

func scanWatched(row scanner, w *watchedRow) error { return row.Scan(&w.user, &w.asset) }

// keptHit is a stored match of a breach and a watched value that has not become a finding yet.
type keptHit struct {
	partner     partner.ID
	user        string
	asset       cyber.AssetID
	fingerprint uint64
}

// keptHitColumns are those of a hit that waits to become a finding.
const keptHitColumns = `m.partner_id, m.user_index, m.asset_id, a.fingerprint
	FROM match_hit m JOIN asset a ON a.partner_id = m.partner_id AND a.id = m.asset_id`

// scanKeptHit reads keptHitColumns. Fingerprints are stored veiled for each partner, and come back unveiled.
func (s Breaches) scanKeptHit(row scanner, h *keptHit) error {
	var user []byte
	var veiled int64
	err := row.Scan(&h.partner, &user, &h.asset, &veiled)
	h.user, h.fingerprint = string(user), s.unveilFingerprint(h.partner, veiled)
	return err
}

// TellHits turns noted hits into findings, statuses and events, whole persons at a time: a person hears once of a
// breach.
func (s Breaches) TellHits(
	ctx context.Context,
	breach string,
	after leak.HitPlace,
	limit int,
	trace leak.Tracer,
) (leak.Told, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (told leak.Told, err error) {
		kept, err := collectRows(ctx, tx, s.scanKeptHit, `SELECT `+keptHitColumns+` WHERE m.breach = $1
			AND (m.partner_id, m.user_index, m.asset_id) > ($2, $3, $4)
			ORDER BY m.partner_id, m.user_index, m.asset_id LIMIT $5`,
			breach,
			after.Partner,
			[]byte(after.User),
			after.Asset,
			limit,
		)
		if err != nil {
			return told, err
		}
		if len(kept) == limit {
			kept = wholePersons(kept)
		}
		for rest := kept; len(rest) > 0; {
			n := 1
			for n < len(rest) && rest[n].partner == rest[0].partner {
				n++
			}
			done, err := s.createFindings(ctx, tx, rest[0].partner, breach, rest[:n], trace)
			if err != nil {
				return told, err
			}
			last := rest[n-1]
			told.Count += done
			told.Last = leak.HitPlace{Partner: last.partner, User: last.user, Asset: last.asset}
			rest = rest[n:]
		}
		return told, nil
	})
}

// wholePersons drops the hits of the last person, because more of them may follow, unless there is no other person.
func wholePersons(kept []keptHit) []keptHit {
	last := kept[len(kept)-1]
	for n := len(kept); n > 0; n-- {
		if h := kept[n-1]; h.partner != last.partner || h.user != last.user {
			return kept[:n]
		}
	}
	return kept
}

// createFindings turns hits into findings. It includes hits stored under the other digest of the same person: a person
// who was enrolled after values had been added under both digests has hits under both.
func (s Breaches) createFindings(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	breach string,
	kept []keptHit,
	trace leak.Tracer,
) (int, error) {
	indexes := make([][]byte, len(kept))
	for i, h := range kept {
		indexes[i] = []byte(h.user)
	}
	people, err := s.findPersons(ctx, tx, id, indexes)
	if err != nil {
		return 0, err
	}
	var others []string
	for _, h := range kept {
		if other := people[h.user].otherIndex(h.user); other != "" {
			others = append(others, other)
		}
	}
	if len(others) > 0 {
		args := []any{breach, id}
		more, err := collectRows(
			ctx,
			tx,
			s.scanKeptHit,
			`SELECT `+keptHitColumns+` WHERE m.breach = $1 AND m.partner_id = $2
			AND m.user_index `+s.inIndexes(&args, uniqueValues(others))+` ORDER BY m.user_index, m.asset_id`,
			args...,
		)
		if err != nil {
			return 0, err
		}
		kept = uniqueValues(append(slices.Clip(kept), more...))
	}
	hits, told := make([]leak.Hit, 0, len(kept)), make([]sqldb.Statement, len(kept))
	for i, h := range kept {
		held, err := trace(h.fingerprint)
		if err != nil {
			return 0, err
		}
		if held.Found { // it was noted of content that is not the breach's any more if not
			hits = append(hits, leak.Hit{Asset: h.asset, Seen: cyber.Seen{Breach: breach, Trace: held.Trace}})
		}
		told[i] = sqldb.NewStatement(
			`DELETE FROM match_hit WHERE breach = $1 AND partner_id = $2 AND user_index = $3 AND asset_id = $4`,
			breach,
			id,
			[]byte(h.user),
			h.asset,
		)
	}
	if err := Monitoring(s).addFindings(ctx, tx, id, hits); err != nil {
		return 0, err
	}
	return len(kept), tx.RunStatements(ctx, told)
}

// foundIn names a finding and the watched value it is about.
type foundIn struct {
	id      cyber.FindingID
	partner partner.ID
	asset   cyber.AssetID
}

// scanFoundIn reads the finding's ID, its partner and its asset, in this order.
func scanFoundIn(row scanner, f *foundIn) error {
	return row.Scan(&f.id, &f.partner, &f.asset)
}

// eachPartner runs fn for the values of each partner.
func eachPartner(found []foundIn, fn func(id partner.ID, assets []cyber.AssetID) error) error {
	assets := map[partner.ID][]cyber.AssetID{}
	var order []partner.ID
	for _, f := range found {
		if assets[f.partner] == nil {
			order = append(order, f.partner)
		}
		assets[f.partner] = append(assets[f.partner], f.asset)
	}
	for _, id := range order {
		if err := fn(id, assets[id]); err != nil {
			return err
		}
	}
	return nil
}

// WithdrawFindings closes up to limit open findings of a breach as retracted, and forgets hits that were not told.
func (s Breaches) WithdrawFindings(ctx context.Context, breach string, limit int) (int, error) {
	n := 0
	_, err := s.sweepFound(ctx, found{
		table: "match_hit",
		key:   "partner_id, user_index, asset_id",
		first: []any{0, []byte{}, ""},
		args:  []any{breach},
		where: ` AND breach = $4`,
	})
	if err != nil {
		return 0, err
	}
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		found, err := collectRows(
			ctx,
			tx,
			scanFoundIn,
			`SELECT id, partner_id, asset_id FROM finding WHERE breach = $1 AND resolution = ''
			ORDER BY id LIMIT $2`,
			breach,
			limit,
		)
		if err != nil {
			return err
		}
		n = len(found)
		return eachPartner(found, func(id partner.ID, assets []cyber.AssetID) error {
			return Monitoring(s).closeFindings(ctx, tx, id, assets, breach, cyber.ResolvedRetracted)
		})
	})
	return n, err
}

// RestateFindings computes the statuses of values found in a breach again.
func (s Breaches) RestateFindings(
	ctx context.Context,
	breach string,
	after cyber.FindingID,
	limit int,
) (last cyber.FindingID, err error) {
	return s.judgeAgain(
		ctx,
		Monitoring(s).recomputeStatuses,
		`SELECT id, partner_id, asset_id FROM finding WHERE breach = $1 AND id > $2
		ORDER BY id LIMIT $3`,
		breach,
		after,
		limit,
	)
}

// judgeAgain judges the values of some findings again, in one transaction, and returns the last finding; none is empty.
func (s Breaches) judgeAgain(
	ctx context.Context,
	judge func(context.Context, *sqldb.Tx, partner.ID, []cyber.AssetID) error,
	query string,
	args ...any,
) (last cyber.FindingID, err error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (last cyber.FindingID, err error) {
		last = ""
		found, err := collectRows(ctx, tx, scanFoundIn, query, args...)
		if err != nil {
			return last, err
		}
		if len(found) > 0 {
			last = found[len(found)-1].id
		}
		return last, eachPartner(
			found,
			func(id partner.ID, assets []cyber.AssetID) error { return judge(ctx, tx, id, assets) },
		)
	})
}

// ListDueLooks returns values whose first look is due: see leak.Store.
func (s Breaches) ListDueLooks(ctx context.Context, limit int) ([]leak.DueLook, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, p *leak.DueLook) error {
		var f int64
		err := row.Scan(&p.Partner, &p.Asset, &f)
		p.Fingerprint = s.unveilFingerprint(p.Partner, f)
		return err
	}, `SELECT partner_id, id, fingerprint FROM asset WHERE look = 1 AND fingerprint IS NOT NULL
		ORDER BY created_at LIMIT $1`,
		limit,
	)
}

// SettleAssets keeps what a source outside told of some values of a partner. It says nothing of the corpora, which were
// not asked, and is no hit of a value that was just added.
func (s Breaches) SettleAssets(ctx context.Context, id partner.ID, hits []leak.Hit) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error { return Monitoring(s).addFindings(ctx, tx, id, hits) })
}

// RejudgeFindings holds findings of a breach against what it holds now: see leak.Store.
func (s Breaches) RejudgeFindings(
	ctx context.Context,
	breach string,
	since time.Time,
	after cyber.FindingID,
	limit int,
	trace leak.Tracer,
) (leak.Rejudged, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (r leak.Rejudged, err error) {
		found, err := collectRows(
			ctx,
			tx,
			scanFoundIn,
			`SELECT id, partner_id, asset_id FROM finding WHERE breach = $1 AND id > $2 AND found_at >= $4
			ORDER BY id LIMIT $3`,
			breach,
			after,
			limit,
			since,
		)
		if err != nil {
			return r, err
		}
		published, err := s.publishedBreaches(ctx, tx, []string{breach})
		if err != nil {
			return r, err
		}
		b, ok := published[breach]
		if len(found) == 0 || !ok { // retracted meanwhile: they are withdrawn
			return r, nil
		}
		r.Last, r.Checked = found[len(found)-1].id, int64(len(found))
		return r, eachPartner(found, func(id partner.ID, assets []cyber.AssetID) error {
			v, err := Monitoring(s).rejudgeFindings(ctx, tx, id, assets, b, trace)
			r.Withdrawn, r.Changed = r.Withdrawn+int64(len(v.Closed)), r.Changed+int64(len(v.Judged))
			return err
		})
	})
}

// rejudgeFindings judges the findings that values have of a breach.
func (s Monitoring) rejudgeFindings(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	ids []cyber.AssetID,
	b cyber.Breach,
	trace leak.Tracer,
) (leak.Verdict, error) {
	args := []any{id}
	held := map[cyber.AssetID]leak.Held{}
	err := eachRow(ctx, tx, func(row scanner) error {
		var asset cyber.AssetID
		var fingerprint int64
		err := row.Scan(&asset, &fingerprint)
		if err == nil {
			held[asset], err = trace(s.unveilFingerprint(id, fingerprint))
		}
		return err
	}, `SELECT id, fingerprint FROM asset WHERE partner_id = $1 AND fingerprint IS NOT NULL
		AND id `+inList(s.db.EngineName(), &args, ids),
		args...,
	)
	if err != nil {
		return leak.Verdict{}, err
	}
	values, into, err := s.lockAssets(ctx, tx, id, slices.Clone(ids))
	if err != nil {
		return leak.Verdict{}, err
	}
	for gone, other := range into {
		if h, ok := held[gone]; ok {
			held[other] = h
		}
	}
	if err := s.loadOwnSites(ctx, tx, id, values); err != nil {
		return leak.Verdict{}, err
	}
	v := s.judge.RejudgeFindings(values, b, held, s.now())
	return v, s.keepVerdict(ctx, tx, id, v)
}
