package store

import (
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

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
	ctx context.Context, breach string, after cyber.FindingID, limit int,
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

// RejudgeFindings holds findings of a breach against what it holds now: see leak.Store.
func (s Breaches) RejudgeFindings(
	ctx context.Context, breach string, since time.Time, after cyber.FindingID, limit int, trace leak.Tracer,
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
	ctx context.Context, tx *sqldb.Tx, id partner.ID, ids []cyber.AssetID, b cyber.Breach, trace leak.Tracer,
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
