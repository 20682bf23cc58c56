package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// RenewBreach puts other content in the place of a published breach's and hands over to the match, which holds findings
// against it. Renewing with what is there changes nothing.
func (s Breaches) RenewBreach(ctx context.Context, name string, n leak.Renewal) error {
	text, err := json.Marshal(n.Tally)
	if err != nil {
		return fmt.Errorf("renew breach: %w", err)
	}
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		if err := lockBreach(ctx, tx, name); err != nil {
			return err
		}
		r, err := s.breachByName(ctx, tx, name)
		if err != nil {
			return err
		}
		if changes, err := r.ApplyRenewal(n); err != nil || !changes {
			return err
		}
		former := r.Former
		for _, f := range r.ListFiles() {
			former = append(former, f.Name)
		}
		r.Exposes = leak.SettleExposes(n.Exposes, &n.Tally)
		if err := execStatement(ctx, tx, "renew breach", `UPDATE breach SET segment = $2, digest = $3, tally = $4, pairs = $5, pairs_digest = $6, exposes = $7,
			renewals = renewals + 1, renewed_at = $8, former = $9, mac = $10 WHERE name = $1`, name, n.File, n.Digest, string(text), n.Pairs, n.PairsDigest,
			exposesText(r.Exposes), toMicros(s.now()), strings.Join(former, " "), s.grantMAC("breach", breachGrant(r.Breach))); err != nil {
			return err
		}
		if err := moveCorporaEpoch(ctx, tx); err != nil {
			return err
		}
		return s.addStageJob(ctx, tx, leak.KindMatch, name)
	})
}

// KeepTally replaces what is counted of a published breach, as long as its content is the one that was counted.
func (s Breaches) KeepTally(ctx context.Context, name, digest string, t leak.Tally) error {
	text, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("keep tally: %w", err)
	}
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		return execStatement(ctx, tx, "keep tally", `UPDATE breach SET tally = $2 WHERE name = $1 AND state = 'published' AND digest = $3`,
			name, string(text), digest)
	})
}

// ForgetFormer notes that the files of a breach's former contents are removed, unless there are more of them now.
func (s Breaches) ForgetFormer(ctx context.Context, r leak.Record) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		return execStatement(ctx, tx, "forget former files", `UPDATE breach SET former = '' WHERE name = $1 AND former = $2`, r.Name, strings.Join(r.Former, " "))
	})
}

// RejudgeFindings holds findings of a breach against what it holds now: see leak.Store.
func (s Breaches) RejudgeFindings(ctx context.Context, breach string, since time.Time, after cyber.FindingID, limit int, trace leak.Tracer) (leak.Rejudged, error) {
	var r leak.Rejudged
	err := s.runInTx(ctx, func(tx *sqldb.Tx) error {
		r = leak.Rejudged{}
		found, err := collectRows(ctx, tx, scanFoundIn, `SELECT id, partner_id, asset_id FROM finding WHERE breach = $1 AND id > $2 AND found_at >= $4
			ORDER BY id LIMIT $3`, breach, string(after), int64(limit), toMicros(since))
		if err != nil {
			return fmt.Errorf("judge findings again: %w", err)
		}
		published, err := s.publishedBreaches(ctx, tx, []string{breach})
		if err != nil {
			return err
		}
		b, ok := published[breach]
		if len(found) == 0 || !ok { // retracted meanwhile: they are withdrawn
			return nil
		}
		r.Last, r.Checked = found[len(found)-1].id, int64(len(found))
		return eachPartner(found, func(id partner.ID, assets []cyber.AssetID) error {
			v, err := s.monitoring().rejudgeFindings(ctx, tx, id, assets, b, trace)
			r.Withdrawn, r.Changed = r.Withdrawn+int64(len(v.Closed)), r.Changed+int64(len(v.Judged))
			return err
		})
	})
	return r, err
}

// rejudgeFindings judges the findings that values have of a breach.
func (s Monitoring) rejudgeFindings(ctx context.Context, tx *sqldb.Tx, id partner.ID, ids []cyber.AssetID, b cyber.Breach, trace leak.Tracer) (leak.Verdict, error) {
	args := []any{partnerNumber(id)}
	held := map[cyber.AssetID]leak.Held{}
	_, err := collectRows(ctx, tx, func(row scanner) (struct{}, error) {
		var asset cyber.AssetID
		var fingerprint int64
		err := row.Scan(&asset, &fingerprint)
		if err == nil {
			held[asset], err = trace(s.unveilFingerprint(id, fingerprint))
		}
		return struct{}{}, err
	}, `SELECT id, fingerprint FROM asset WHERE partner_id = $1 AND fingerprint IS NOT NULL AND id IN (`+appendListMarks(&args, ids)+`)`, args...)
	if err != nil {
		return leak.Verdict{}, fmt.Errorf("judge findings again: %w", err)
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
	v := leak.RejudgeFindings(values, b, held, s.now())
	return v, s.keepVerdict(ctx, tx, id, v)
}
