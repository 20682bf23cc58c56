package store

import (
	"context"
	"database/sql"
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

// ListWatchers returns the values of a partner that have one of the fingerprints: see leak.Store.
func (s Breaches) ListWatchers(ctx context.Context, asked leak.Probes) ([]leak.Watcher, error) {
	veiled := make([]int64, len(asked.Fingerprints))
	for i, f := range asked.Fingerprints {
		veiled[i] = s.veilFingerprint(asked.Partner, f)
	}
	args := []any{asked.Partner}
	return collectRows(
		ctx,
		s.readQuerier(),
		func(row scanner, w *leak.Watcher) error {
			var user []byte
			err := row.Scan(&w.Asset, &user)
			w.User = string(user)
			return err
		},
		`SELECT id, user_index FROM asset
			WHERE partner_id = $1 AND fingerprint `+s.db.EngineName().NumbersCondition(&args, veiled),
		args...,
	)
}

// ListUntold returns what a breach may hold of some people and has not told them: see leak.Store.
func (s Breaches) ListUntold(
	ctx context.Context,
	breach string,
	id partner.ID,
	watchers []leak.Watcher,
) ([]leak.Candidate, error) {
	q := s.readQuerier()
	indexes := make([][]byte, len(watchers))
	for i, w := range watchers {
		indexes[i] = []byte(w.User)
	}
	people, err := s.findPersons(ctx, q, id, indexes)
	if err != nil {
		return nil, err
	}
	users := make([]string, 0, len(watchers))
	for _, w := range watchers {
		users = append(users, w.User)
		if other := people[w.User].otherIndex(w.User); other != "" {
			users = append(users, other)
		}
	}
	var list []leak.Candidate
	args := []any{id, breach}
	err = eachRow(
		ctx,
		q,
		func(row scanner) error {
			var c leak.Candidate
			var veiled sql.NullInt64
			if err := row.Scan(&c.Asset, &veiled); err != nil || !veiled.Valid { // no match may meet it
				return err
			}
			c.Fingerprint = s.unveilFingerprint(id, veiled.Int64)
			list = append(list, c)
			return nil
		},
		// Nothing is asked that another index than that of people answers: SQLite would read all that the partner has.
		// Findings are counted, and not asked for by NOT EXISTS, so that PostgreSQL looks each value up: its statistics
		// of a table that was empty a moment ago have it compare every value with every finding.
		`SELECT id, fingerprint FROM asset WHERE partner_id = $1
			AND user_index `+s.inIndexes(&args, uniqueValues(users))+`
			AND (SELECT count(*) FROM finding f
				WHERE f.partner_id = $1 AND f.asset_id = asset.id AND f.breach = $2) = 0`,
		args...,
	)
	return list, err
}

// TellHits makes findings, statuses and events of hits: see leak.Store.
func (s Breaches) TellHits(ctx context.Context, id partner.ID, hits []leak.Hit) (int, error) {
	if len(hits) == 0 {
		return 0, nil
	}
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (int, error) {
		return Monitoring(s).addFindings(ctx, tx, id, hits)
	})
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

// WithdrawFindings closes up to limit open findings of a breach as retracted.
func (s Breaches) WithdrawFindings(ctx context.Context, breach string, limit int) (int, error) {
	n := 0
	err := s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
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
func (s Breaches) ListDueLooks(ctx context.Context, after leak.DuePlace, limit int) ([]leak.DueLook, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, p *leak.DueLook) error {
		var f int64
		err := row.Scan(&p.Partner, &p.Asset, &f, &p.Since)
		p.Fingerprint = s.unveilFingerprint(p.Partner, f)
		return err
	}, `SELECT partner_id, id, fingerprint, due_at FROM asset
		WHERE look = 1 AND fingerprint IS NOT NULL AND (due_at, id) > ($1, $2)
		ORDER BY due_at, id LIMIT $3`,
		after.Since,
		after.Asset,
		limit,
	)
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
