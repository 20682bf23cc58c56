package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// lockAssets locks the rows of values: other transactions that change their findings wait, and then see ours. Values
// that no longer exist are left out. Values that were added under both digests of a person are merged here; into maps a
// merged value to the one that replaced it. So no finding, status or event is ever written for a value that no listing
// shows.
func (s Monitoring) lockAssets(ctx context.Context, tx *sqldb.Tx, id partner.ID, ids []cyber.AssetID) (values []*leak.Watched, into map[cyber.AssetID]cyber.AssetID, err error) {
	rows, err := s.lockAssetRows(ctx, tx, id, uniqueValues(ids))
	if err != nil {
		return nil, nil, err
	}
	people, err := s.findPersons(ctx, tx, id, indexesOfRows(rows))
	if err != nil {
		return nil, nil, err
	}
	twins, err := findTwins(ctx, tx, id, rows, people)
	if err != nil {
		return nil, nil, err
	}
	if len(twins) > 0 {
		more, err := s.lockAssetRows(ctx, tx, id, twins)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range rows { // a twin stands under the other index of the same person
			if other := people[r.user].otherIndex(r.user); other != "" {
				people[other] = people[r.user]
			}
		}
		rows = append(rows, more...)
	}
	values = make([]*leak.Watched, len(rows))
	for i, r := range rows {
		values[i] = r.Watched
		r.Person = string(people[r.user].key)
	}
	if err := s.readFindings(ctx, tx, id, values); err != nil {
		return nil, nil, err
	}
	values, unions := leak.UniteValues(values)
	into = make(map[cyber.AssetID]cyber.AssetID, len(unions))
	for _, u := range unions {
		if into[u.Gone] = u.Into; err == nil {
			err = mergeAssets(ctx, tx, id, u)
		}
	}
	return values, into, err
}

// lockedRow is the row of a watched value and the index of the hash it stands under.
type lockedRow struct {
	*leak.Watched
	user string
}

// indexesOfRows returns the user index of each row, in the order of the rows.
func indexesOfRows(rows []lockedRow) [][]byte {
	indexes := make([][]byte, len(rows))
	for i, r := range rows {
		indexes[i] = []byte(r.user)
	}
	return indexes
}

// lockAssetRows takes rows and returns those that are there in the order of ids.
func (s Monitoring) lockAssetRows(ctx context.Context, tx *sqldb.Tx, id partner.ID, ids []cyber.AssetID) ([]lockedRow, error) {
	args := []any{partnerNumber(id)}
	rows, err := collectRows(ctx, tx, func(row scanner) (lockedRow, error) {
		r := lockedRow{Watched: &leak.Watched{Asset: cyber.Asset{Partner: id}, ExactSpelling: s.exactSpelling}}
		var user, same, sealed []byte
		var added int64
		if err := row.Scan(&r.ID, &r.Kind, &user, &same, &sealed, &r.Status, &r.OpenBreaches, &added); err != nil {
			return r, err
		}
		r.user, r.Same, r.AddedAt = string(user), string(same), fromMicros(added)
		return r, s.openAssetValue(&r.Asset, sealed)
	}, `UPDATE asset SET status = status WHERE partner_id = $1 AND id IN (`+appendListMarks(&args, ids)+`)
		RETURNING id, kind, user_index, value_index, value, status, open_breaches, created_at`, args...)
	if err != nil {
		return nil, fmt.Errorf("lock assets: %w", err)
	}
	place := make(map[cyber.AssetID]int, len(ids))
	for i, asset := range ids {
		place[asset] = i
	}
	slices.SortFunc(rows, func(a, b lockedRow) int { return place[a.ID] - place[b.ID] })
	return rows, nil
}

// findTwins finds the same values of the same people under their other digest, as far as they are not among rows.
func findTwins(ctx context.Context, tx *sqldb.Tx, id partner.ID, rows []lockedRow, people map[string]person) ([]cyber.AssetID, error) {
	type twin struct{ user, same string }
	wanted, have := map[twin]bool{}, map[cyber.AssetID]bool{}
	args, users, values := []any{partnerNumber(id)}, []string{}, []string{}
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
	marks := appendByteMarks(&args, uniqueValues(users))
	var ids []cyber.AssetID
	_, err := collectRows(ctx, tx, func(row scanner) (struct{}, error) {
		var asset cyber.AssetID
		var user, same []byte
		err := row.Scan(&asset, &user, &same)
		if wanted[twin{string(user), string(same)}] && !have[asset] {
			ids = append(ids, asset)
		}
		return struct{}{}, err
	}, `SELECT id, user_index, value_index FROM asset WHERE partner_id = $1 AND user_index IN (`+marks+`)
		AND value_index IN (`+appendByteMarks(&args, uniqueValues(values))+`) ORDER BY id`, args...)
	return ids, wrapError("find values added twice", err)
}

// readFindings gives values all that was found of them.
func (s Monitoring) readFindings(ctx context.Context, tx *sqldb.Tx, id partner.ID, values []*leak.Watched) error {
	byID, ids := make(map[cyber.AssetID]*leak.Watched, len(values)), make([]cyber.AssetID, len(values))
	for i, w := range values {
		byID[w.ID], ids[i] = w, w.ID
	}
	if len(ids) == 0 {
		return nil
	}
	args := []any{partnerNumber(id)}
	findings, err := collectRows(ctx, tx, s.scanFinding, `SELECT `+findingColumns+` FROM finding f JOIN asset a ON a.partner_id = f.partner_id AND a.id = f.asset_id
		JOIN breach b ON b.name = f.breach WHERE f.partner_id = $1 AND f.asset_id IN (`+appendListMarks(&args, ids)+`) ORDER BY f.found_at, f.id`, args...)
	if err != nil {
		return fmt.Errorf("read findings: %w", err)
	}
	for _, f := range findings {
		w := byID[f.Asset]
		w.Findings = append(w.Findings, f)
	}
	return nil
}

// mergeAssets lets one value take the place of another; what hangs on that one and does not change over goes with it.
func mergeAssets(ctx context.Context, tx *sqldb.Tx, id partner.ID, u leak.Union) error {
	for _, f := range u.Moved {
		if _, err := tx.ExecContext(ctx, `UPDATE finding SET asset_id = $3 WHERE partner_id = $1 AND id = $2`,
			partnerNumber(id), string(f.ID), string(u.Into)); err != nil {
			return fmt.Errorf("move finding: %w", err)
		}
	}
	if err := closeFindings(ctx, tx, id, u.Closed); err != nil {
		return err
	}
	for _, t := range u.Twins {
		if _, err := tx.ExecContext(ctx, `INSERT INTO finding_step (partner_id, finding_id, step, state, marked_at)
			SELECT partner_id, CAST($3 AS TEXT), step, state, marked_at FROM finding_step WHERE partner_id = $1 AND finding_id = $2
			ON CONFLICT (partner_id, finding_id, step) DO NOTHING`, partnerNumber(id), string(t.Gone), string(t.Into)); err != nil {
			return fmt.Errorf("take over steps: %w", err)
		}
	}
	return execStatement(ctx, tx, "unite values", `DELETE FROM asset WHERE partner_id = $1 AND id = $2`, partnerNumber(id), string(u.Gone))
}
