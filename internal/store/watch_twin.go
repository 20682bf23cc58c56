package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// findTwins finds the same values of the same people under their other digest, as far as they are not among rows.
func findTwins(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, rows []lockedRow, people map[string]person,
) ([]cyber.AssetID, error) {
	type twin struct{ user, same string }
	wanted, have := map[twin]bool{}, map[cyber.AssetID]bool{}
	args, users, values := []any{id}, []string{}, []string{}
	for _, r := range rows {
		have[r.ID] = true
		if other := people[r.user].otherIndex(r.user); other != "" {
			wanted[twin{other, r.Same}] = true
			users, values = append(users, other), append(values, r.Same)
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	engine := tx.EngineName()
	isTwin := engine.BytesCondition(&args, uniqueValues(users))
	var ids []cyber.AssetID
	err := eachRow(ctx, tx, func(row scanner) error {
		var asset cyber.AssetID
		var user, same []byte
		err := row.Scan(&asset, &user, &same)
		if wanted[twin{string(user), string(same)}] && !have[asset] {
			ids = append(ids, asset)
		}
		return err
	}, `SELECT id, user_index, value_index FROM asset WHERE partner_id = $1 AND user_index `+isTwin+`
		AND value_index `+engine.BytesCondition(&args, uniqueValues(values))+` ORDER BY id`,
		args...,
	)
	return ids, err
}

// mergeAssets lets one value take the place of another; what hangs on that one and does not change over goes with it.
func mergeAssets(ctx context.Context, tx *sqldb.Tx, id partner.ID, u leak.Union) error {
	var list sqldb.Statements
	for _, f := range u.Moved {
		list.Add(`UPDATE finding SET asset_id = $3 WHERE partner_id = $1 AND id = $2`, id, f.ID, u.Into)
	}
	list = append(list, closingStatements(id, u.Closed)...)
	for _, t := range u.Twins {
		list.Add(`INSERT INTO finding_step (partner_id, finding_id, step, state, marked_at)
			SELECT partner_id, CAST($3 AS TEXT), step, state, marked_at FROM finding_step
			WHERE partner_id = $1 AND finding_id = $2
			ON CONFLICT (partner_id, finding_id, step) DO NOTHING`,
			id,
			t.Gone,
			t.Into,
		)
	}
	list.Add(
		`UPDATE asset SET source = source | (SELECT g.source FROM asset g WHERE g.partner_id = $1 AND g.id = $3)
			WHERE partner_id = $1 AND id = $2`,
		id,
		u.Into,
		u.Gone,
	)
	list.Add(`DELETE FROM asset WHERE partner_id = $1 AND id = $2`, id, u.Gone)
	return tx.RunStatements(ctx, list)
}
