package store

import (
	"context"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// lockAssets locks the rows of values: other transactions that change their findings wait, and then see ours. Values
// that no longer exist are left out. Values that were added under both digests of a person are merged here; into maps a
// merged value to the one that replaced it. So no finding, status or event is ever written for a value that no listing
// shows.
func (s Monitoring) lockAssets(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, ids []cyber.AssetID,
) (values []*leak.Watched, into map[cyber.AssetID]cyber.AssetID, err error) {
	rows, err := s.lockAssetRows(ctx, tx, id, uniqueValues(ids))
	if err != nil {
		return nil, nil, err
	}
	indexes := make([][]byte, len(rows))
	for i, r := range rows {
		indexes[i] = []byte(r.user)
	}
	people, err := s.findPersons(ctx, tx, id, indexes)
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
	values, unions := s.judge.UniteValues(values)
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

// lockAssetRows takes rows and returns those that are there in the order of ids.
func (s Monitoring) lockAssetRows(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, ids []cyber.AssetID,
) ([]lockedRow, error) {
	args := []any{id}
	rows, err := collectRows(ctx, tx, func(row scanner, r *lockedRow) error {
		*r = lockedRow{Watched: &leak.Watched{Asset: cyber.Asset{Partner: id}, ExactSpelling: s.exactSpelling}}
		var user, same, sealed []byte
		if err := row.Scan(&r.ID, &r.Kind, &user, &same, &sealed, &r.Status, &r.OpenBreaches, &r.AddedAt); err != nil {
			return err
		}
		r.user, r.Same = string(user), string(same)
		return s.openAssetValue(&r.Asset, sealed)
	}, `SELECT id, kind, user_index, value_index, value, status, open_breaches, created_at FROM asset
		WHERE partner_id = $1 AND id `+inList(s.db.EngineName(), &args, ids)+` ORDER BY id`+s.db.HoldRows(),
		args...,
	)
	if err != nil {
		return nil, err
	}
	place := make(map[cyber.AssetID]int, len(ids))
	for i, asset := range ids {
		place[asset] = i
	}
	slices.SortFunc(rows, func(a, b lockedRow) int { return place[a.ID] - place[b.ID] })
	return rows, nil
}

// readFindings gives values all that was found of them. Breaches are read once, and not with each finding of them.
func (s Monitoring) readFindings(ctx context.Context, tx *sqldb.Tx, id partner.ID, values []*leak.Watched) error {
	byID, ids := make(map[cyber.AssetID]*leak.Watched, len(values)), make([]cyber.AssetID, len(values))
	for i, w := range values {
		byID[w.ID], ids[i] = w, w.ID
	}
	if len(ids) == 0 {
		return nil
	}
	args := []any{id}
	// The plus keeps SQLite from reading all findings of the partner by time: without statistics it takes that for
	// cheaper than to look a few values up and sort.
	findings, err := collectRows(ctx, tx,
		func(row scanner, f *cyber.Finding) error {
			return s.scanOwnFinding(longer{row, []any{&f.Breach.Name}}, f)
		},
		`SELECT `+ownFindingColumns+`, f.breach FROM finding f
		WHERE f.partner_id = $1 AND f.asset_id `+inList(s.db.EngineName(), &args, ids)+` ORDER BY +f.found_at, f.id`,
		args...,
	)
	if err != nil || len(findings) == 0 {
		return err
	}
	names := make([]string, len(findings))
	for i, f := range findings {
		names[i] = f.Breach.Name
	}
	breaches, err := s.breachesByName(ctx, tx, uniqueValues(names))
	if err != nil {
		return err
	}
	for _, f := range findings {
		w := byID[f.Asset]
		f.Kind = w.Kind
		attachBreach(&f, breaches[f.Breach.Name])
		w.Findings = append(w.Findings, f)
	}
	return nil
}
