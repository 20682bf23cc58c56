package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// RejudgeSites judges the sites of a partner's findings again: see leak.Store. Only what a stealer took names sites.
func (s Breaches) RejudgeSites(
	ctx context.Context, id partner.ID, after cyber.FindingID, limit int,
) (last cyber.FindingID, err error) {
	return s.judgeAgain(
		ctx,
		Monitoring(s).rejudgeSites,
		`SELECT id, partner_id, asset_id FROM finding WHERE partner_id = $1 AND id > $2
		AND logins IS NOT NULL ORDER BY id LIMIT $3`,
		id,
		after,
		limit,
	)
}

// rejudgeSites locks the values and stores what follows from the partner's sites as they are set now.
func (s Monitoring) rejudgeSites(ctx context.Context, tx *sqldb.Tx, id partner.ID, ids []cyber.AssetID) error {
	values, _, err := s.lockAssets(ctx, tx, id, ids)
	if err != nil {
		return err
	}
	if err := s.loadOwnSites(ctx, tx, id, values); err != nil {
		return err
	}
	return s.keepVerdict(ctx, tx, id, s.judge.RejudgeSites(values))
}

// loadOwnSites tells values which sites count for their partner.
func (c core) loadOwnSites(ctx context.Context, tx *sqldb.Tx, id partner.ID, values []*leak.Watched) error {
	owner, err := c.partnerByID(ctx, tx, id)
	if err != nil {
		return err
	}
	for _, w := range values {
		w.Sites, w.WatchedSites = owner.Settings.ListSites(), owner.Settings.WatchedList()
	}
	return nil
}

// judgingStatements keep what is said of a finding now.
func (s Monitoring) judgingStatements(id partner.ID, f cyber.Finding) (sqldb.Statements, error) {
	classes, logins, err := s.sealTrace(id, f)
	list := sqldb.Statements{
		sqldb.NewStatement(
			`UPDATE finding SET own_site = $3, watched_site = $4, classes = $5, logins = $6, quiet = $7,
			resolution = $8,
		resolved_at = $9, renewed_at = $10, remind_at = CASE WHEN renewed_at = $10 THEN remind_at ELSE $11 END
		WHERE partner_id = $1 AND id = $2`,
			id,
			f.ID,
			f.OwnSite,
			f.WatchedSite,
			classes,
			logins,
			f.Quiet,
			f.Resolution,
			f.ResolvedAt,
			f.RenewedAt,
			cyber.FirstReminder(f),
		),
	}
	if !f.RenewedAt.IsZero() { // what was done about less than is known now is not done any more
		list.Add(
			`DELETE FROM finding_step WHERE partner_id = $1 AND finding_id = $2 AND marked_at <= $3`,
			id,
			f.ID,
			f.RenewedAt,
		)
	}
	return list, err
}
