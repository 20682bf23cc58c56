package store

import (
	"context"
	"database/sql"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

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
	ctx context.Context, breach string, id partner.ID, watchers []leak.Watcher,
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

// BreachHits counts the people that a breach affected, for each partner: see leak.Store. Only the operator may ask, so
// it takes no partner. It counts what the list of findings lists, and as that does.
func (s Breaches) BreachHits(ctx context.Context, of cyber.Breach) ([]leak.Hits, error) {
	groups, err := Overview(s).GroupFindings(ctx, cyber.FindingFilter{Breach: of.Name}, 0)
	if err != nil {
		return nil, err
	}
	people, err := Overview(s).CountAffected(ctx, cyber.FindingFilter{Breach: of.Name, State: cyber.FindingStanding})
	if err != nil {
		return nil, err
	}
	return leak.NewHits(groups, people), nil
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
