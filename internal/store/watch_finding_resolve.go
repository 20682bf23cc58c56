package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// ResolveFinding closes a finding: see cyber.MonitoringStore. One of a value that another has taken over closes what
// that one knows of the same breach.
func (s Monitoring) ResolveFinding(
	ctx context.Context, id partner.ID, hash partner.UserHash, finding cyber.FindingID, why cyber.Resolution,
) error {
	return s.runAsUser(ctx, id, hash, func(tx *sqldb.Tx, u user) error {
		asset, breach, err := findingPlace(ctx, tx, id, u, finding)
		if err != nil {
			return err
		}
		return s.closeFindings(ctx, tx, id, []cyber.AssetID{asset}, breach, why)
	})
}

// findingPlace returns which value of a person a finding is about, and in which breach it was found.
func findingPlace(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, u user, finding cyber.FindingID,
) (asset cyber.AssetID, breach string, err error) {
	err = readColumns(
		ctx,
		tx,
		[]any{&asset, &breach},
		`SELECT a.id, f.breach FROM finding f JOIN asset a ON a.partner_id = f.partner_id AND a.id = f.asset_id
		WHERE f.partner_id = $1 AND a.user_index IN ($2, $3) AND f.id = $4`,
		id,
		u.write,
		u.other,
		finding,
	)
	if errors.Is(err, sql.ErrNoRows) {
		err = cyber.ErrFindingNotFound
	}
	return asset, breach, err
}

// closeFindings resolves the open findings of a breach among those of the values, and recomputes their statuses.
func (s Monitoring) closeFindings(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, ids []cyber.AssetID, breach string, why cyber.Resolution,
) error {
	values, _, err := s.lockAssets(ctx, tx, id, ids)
	if err != nil {
		return err
	}
	return s.keepVerdict(
		ctx,
		tx,
		id,
		s.judge.CloseFindings(values, func(f cyber.Finding) bool { return f.Breach.Name == breach }, why, s.now()),
	)
}

// recomputeStatuses computes the statuses of values again.
func (s Monitoring) recomputeStatuses(ctx context.Context, tx *sqldb.Tx, id partner.ID, ids []cyber.AssetID) error {
	values, _, err := s.lockAssets(ctx, tx, id, ids)
	if err != nil {
		return err
	}
	return s.keepVerdict(ctx, tx, id, s.judge.RestateValues(values))
}
