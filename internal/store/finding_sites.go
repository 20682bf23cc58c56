package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// RejudgeSites judges the sites of a partner's findings again: see leak.Store. Only what a stealer took names sites.
func (s Breaches) RejudgeSites(ctx context.Context, id partner.ID, after cyber.FindingID, limit int) (last cyber.FindingID, err error) {
	return s.judgeAgain(ctx, s.monitoring().rejudgeSites, `SELECT id, partner_id, asset_id FROM finding WHERE partner_id = $1 AND id > $2
		AND logins IS NOT NULL ORDER BY id LIMIT $3`, partnerNumber(id), string(after), int64(limit))
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
	return s.keepVerdict(ctx, tx, id, leak.RejudgeSites(values))
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

// judgeFindings keeps what is said of findings now.
func (s Monitoring) judgeFindings(ctx context.Context, tx *sqldb.Tx, id partner.ID, judged []cyber.Finding) error {
	for _, f := range judged {
		classes, logins, err := s.sealTrace(id, f)
		if err != nil {
			return err
		}
		if err := execStatement(ctx, tx, "judge finding", `UPDATE finding SET own_site = $3, watched_site = $4, classes = $5, logins = $6, quiet = $7, resolution = $8,
			resolved_at = $9, renewed_at = $10, remind_at = CASE WHEN renewed_at = $10 THEN remind_at ELSE $11 END WHERE partner_id = $1 AND id = $2`,
			partnerNumber(id), string(f.ID), f.OwnSite, f.WatchedSite, classes, logins, f.Quiet, string(f.Resolution), toMicros(f.ResolvedAt),
			toMicros(f.RenewedAt), toMicros(cyber.FirstReminder(f))); err != nil {
			return err
		}
		if f.RenewedAt.IsZero() {
			continue
		}
		// What was done about less than is known now is not done any more.
		if err := execStatement(ctx, tx, "begin plan anew", `DELETE FROM finding_step WHERE partner_id = $1 AND finding_id = $2 AND marked_at <= $3`,
			partnerNumber(id), string(f.ID), toMicros(f.RenewedAt)); err != nil {
			return err
		}
	}
	return nil
}
