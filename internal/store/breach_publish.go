package store

import (
	"context"
	"strings"

	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// PublishBreach makes an imported breach visible and hands over to the match.
func (s Breaches) PublishBreach(ctx context.Context, name string, p leak.Publication) error {
	_, err := s.changeBreach(ctx, name, leak.KindMatch, func(r *leak.Record) (sqldb.Statements, error) {
		if changes, err := r.Publishes(p.Digest); err != nil || !changes {
			return nil, err
		}
		r.Exposes = s.judge.SettleExposes(r.Exposes, &p.Tally)
		return sqldb.Statements{sqldb.NewStatement(`UPDATE breach SET state = 'published', segment = $2, digest = $3,
			tally = $4, published_at = $5,
			pairs = $6, pairs_digest = $7, exposes = $8, mac = $9 WHERE name = $1`,
			name,
			p.File,
			p.Digest,
			jsonArgument{p.Tally},
			s.now(),
			p.Pairs,
			p.PairsDigest,
			joinTexts(r.Exposes),
			s.grantMAC("breach", breachGrant(r.Breach)),
		), movesCorpora}, nil
	})
	return err
}

// RetractBreach takes a breach back: from this moment it is neither probed nor told.
func (s Breaches) RetractBreach(ctx context.Context, name string) (leak.Record, error) {
	return s.changeBreach(ctx, name, leak.KindWithdraw, func(r *leak.Record) (sqldb.Statements, error) {
		if r.State == leak.Retracted {
			return nil, nil
		}
		r.State, r.RetractedAt = leak.Retracted, s.now()
		return sqldb.Statements{
			sqldb.NewStatement(
				`UPDATE breach SET state = 'retracted', retracted_at = $2 WHERE name = $1`,
				name,
				r.RetractedAt,
			),
			sqldb.NewStatement(
				`UPDATE job SET cancel = $3 WHERE subject = $2 AND kind IN ($1, $4, $5)
				AND state IN ('ready', 'running')`,
				intake.KindImport,
				name,
				true,
				leak.KindMatch,
				intake.KindRenew,
			),
			movesCorpora,
		}, nil
	})
}

// movesCorpora marks that the published breaches changed. A first look that began before the change notices it: see
// decideFirstLook.
var movesCorpora = sqldb.NewStatement(`UPDATE epoch SET value = value + 1 WHERE name = 'corpora'`)

// corporaEpoch returns the number that grows with each change of the published breaches.
func corporaEpoch(ctx context.Context, q querier) (int64, error) {
	return readValue[int64](ctx, q, `SELECT value FROM epoch WHERE name = 'corpora'`)
}

// CorporaEpoch moves whenever a breach is published or retracted.
func (s Breaches) CorporaEpoch(ctx context.Context) (int64, error) {
	return corporaEpoch(ctx, s.readQuerier())
}

// ListSegments returns all published segments. The epoch is read first: whatever comes between is seen again at the
// next look.
func (s Breaches) ListSegments(ctx context.Context) ([]leak.Segment, int64, error) {
	epoch, err := s.CorporaEpoch(ctx)
	if err != nil {
		return nil, 0, err
	}
	segments, err := collectRows(ctx, s.readQuerier(), func(row scanner, g *leak.Segment) error {
		return row.Scan(&g.Breach, &g.File, &g.Digest, &g.Pairs, &g.PairsDigest)
	}, `SELECT name, segment, digest, pairs, pairs_digest FROM breach WHERE state = 'published' AND segment <> ''
		ORDER BY published_at, name`)
	return segments, epoch, err
}

// RenewBreach puts other content in the place of a published breach's and hands over to the match, which holds findings
// against it. Renewing with what is there changes nothing.
func (s Breaches) RenewBreach(ctx context.Context, name string, n leak.Renewal) error {
	_, err := s.changeBreach(ctx, name, leak.KindMatch, func(r *leak.Record) (sqldb.Statements, error) {
		if changes, err := r.ApplyRenewal(n); err != nil || !changes {
			return nil, err
		}
		former := r.Former
		for _, f := range r.ListFiles() {
			former = append(former, f.Name)
		}
		r.Exposes = s.judge.SettleExposes(n.Exposes, &n.Tally)
		return sqldb.Statements{sqldb.NewStatement(`UPDATE breach SET segment = $2, digest = $3, tally = $4,
			pairs = $5, pairs_digest = $6, exposes = $7,
			renewals = renewals + 1, renewed_at = $8, former = $9, mac = $10 WHERE name = $1`,
			name,
			n.File,
			n.Digest,
			jsonArgument{n.Tally},
			n.Pairs,
			n.PairsDigest,
			joinTexts(r.Exposes),
			s.now(),
			strings.Join(former, " "),
			s.grantMAC("breach", breachGrant(r.Breach)),
		), movesCorpora}, nil
	})
	return err
}

// KeepTally replaces what is counted of a published breach, as long as its content is the one that was counted.
func (s Breaches) KeepTally(ctx context.Context, name, digest string, t leak.Tally) error {
	return s.execAlone(
		ctx,
		`UPDATE breach SET tally = $2 WHERE name = $1 AND state = 'published' AND digest = $3`,
		name,
		jsonArgument{t},
		digest,
	)
}

// ForgetFormer notes that the files of a breach's former contents are removed, unless there are more of them now.
func (s Breaches) ForgetFormer(ctx context.Context, r leak.Record) error {
	return s.execAlone(
		ctx,
		`UPDATE breach SET former = '' WHERE name = $1 AND former = $2`,
		r.Name,
		strings.Join(r.Former, " "),
	)
}
