package store

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// addFindings turns the hits of one partner's values into findings, statuses and events, in the caller's transaction:
// see leak.DiscoverFindings. It returns how many findings are new.
func (s Monitoring) addFindings(ctx context.Context, tx *sqldb.Tx, id partner.ID, hits []leak.Hit) (int, error) {
	if len(hits) == 0 {
		return 0, nil
	}
	ids, names := make([]cyber.AssetID, len(hits)), make([]string, len(hits))
	for i, h := range hits {
		ids[i], names[i] = h.Asset, h.Breach
	}
	breaches, err := s.publishedBreaches(ctx, tx, uniqueValues(names))
	if err != nil {
		return 0, err
	}
	values, into, err := s.lockAssets(ctx, tx, id, ids)
	if err != nil {
		return 0, err
	}
	hits = slices.Clone(hits)
	for i, h := range hits {
		if other, gone := into[h.Asset]; gone {
			hits[i].Asset = other
		}
	}
	if err := s.loadOwnSites(ctx, tx, id, values); err != nil {
		return 0, err
	}
	verdict, err := s.judge.DiscoverFindings(values, hits, breaches, newFindingID, s.now())
	if err != nil {
		return 0, err
	}
	return len(verdict.Found), s.keepVerdict(ctx, tx, id, verdict)
}

// newFindingID returns a time-ordered ID, so that new findings go to the end of the index.
func newFindingID() (cyber.FindingID, error) {
	return cyber.FindingID("fd_" + uuid.Must(uuid.NewV7()).String()), nil
}

// keepVerdict writes what a rule has decided on values that this transaction holds, and the events of it: what was
// found first, then what the values say of themselves.
func (s Monitoring) keepVerdict(ctx context.Context, tx *sqldb.Tx, id partner.ID, v leak.Verdict) error {
	now := s.now()
	if err := s.insertFindings(ctx, tx, id, v.Found); err != nil {
		return err
	}
	var list sqldb.Statements
	list = append(list, closingStatements(id, v.Closed)...)
	for _, f := range v.Judged {
		judged, err := s.judgingStatements(id, f)
		if err != nil {
			return err
		}
		list = append(list, judged...)
	}
	events := make([]alert.Event, len(v.News))
	for i, n := range v.News {
		events[i] = alert.NewLeakEvent(n, now)
	}
	var moved []leak.Restated
	list = append(list, restatingStatements(tx.EngineName(), id, v.Restated)...)
	for _, r := range v.Restated {
		if !r.HasMoved() {
			continue
		}
		moved = append(moved, r)
		events = append(events, alert.NewStatusEvent(r.Asset, r.Before, now))
	}
	if err := tx.RunStatements(ctx, list); err != nil {
		return err
	}
	if err := s.insertHistory(ctx, tx, id, moved); err != nil {
		return err
	}
	return Alerts(s).addPartnerEvents(ctx, tx, id, events...)
}

// restatingStatements returns the statements that keep what values say of themselves now: one for all that say the
// same, as most of a batch do.
func restatingStatements(engine sqldb.Engine, id partner.ID, restated []leak.Restated) sqldb.Statements {
	type said struct {
		status       cyber.Status
		openBreaches string
	}
	alike := map[said][]cyber.AssetID{}
	var order []said
	for _, r := range restated {
		says := said{r.Status, r.OpenBreaches}
		if alike[says] == nil {
			order = append(order, says)
		}
		alike[says] = append(alike[says], r.ID)
	}
	list := make(sqldb.Statements, len(order))
	for i, says := range order {
		args := []any{id, says.status, says.openBreaches}
		list[i] = sqldb.NewStatement(
			`UPDATE asset SET status = $2, open_breaches = $3 WHERE partner_id = $1 AND id `+
				inList(engine, &args, alike[says]),
			args...,
		)
	}
	return list
}

// findingRow are the columns of a new finding, as bulk inserts write them.
var findingRow = []string{
	"id",
	"partner_id",
	"asset_id",
	"breach",
	"quiet",
	"found_at",
	"resolution",
	"resolved_at",
	"logins",
	"own_site",
	"watched_site",
	"remind_at",
	"classes",
}

// insertFindings keeps what was found.
func (s Monitoring) insertFindings(ctx context.Context, tx *sqldb.Tx, id partner.ID, found []cyber.Finding) error {
	return tx.InsertRows(ctx, "finding", findingRow, rowsOf(found, func(_ int, f cyber.Finding) ([]any, error) {
		classes, logins, err := s.sealTrace(id, f)
		return []any{
			f.ID,
			id,
			f.Asset,
			f.Breach.Name,
			f.Quiet,
			f.FoundAt,
			"",
			0,
			logins,
			f.OwnSite,
			f.WatchedSite,
			cyber.FirstReminder(f),
			classes,
		}, err
	}))
}

// historyRow are the columns of a change of status, as bulk inserts write them.
var historyRow = []string{"asset_id", "partner_id", "at", "seq", "previous", "status"}

// insertHistory keeps the changes of statuses of values that this transaction holds.
func (s Monitoring) insertHistory(ctx context.Context, tx *sqldb.Tx, id partner.ID, moved []leak.Restated) error {
	if len(moved) == 0 {
		return nil
	}
	ids := make([]cyber.AssetID, len(moved))
	for i, r := range moved {
		ids[i] = r.ID
	}
	args := []any{id}
	last := make(map[cyber.AssetID]int64, len(moved))
	err := eachRow(ctx, tx, func(row scanner) error {
		var asset cyber.AssetID
		var seq int64
		err := row.Scan(&asset, &seq)
		last[asset] = seq
		return err
	}, `SELECT asset_id, max(seq) FROM asset_history WHERE partner_id = $1
		AND asset_id `+inList(s.db.EngineName(), &args, ids)+` GROUP BY asset_id`,
		args...,
	)
	if err != nil {
		return err
	}
	now := s.now()
	return tx.InsertRows(ctx, "asset_history", historyRow, rowsOf(moved, func(_ int, r leak.Restated) ([]any, error) {
		return []any{r.ID, id, now, last[r.ID] + 1, r.Before, r.Status}, nil
	}))
}

// closingStatements store the resolution of findings and cancel their reminders.
func closingStatements(id partner.ID, closed []cyber.Finding) (list sqldb.Statements) {
	for _, f := range closed {
		list.Add(
			`UPDATE finding SET resolution = $3, resolved_at = $4, remind_at = 0 WHERE partner_id = $1 AND id = $2`,
			id,
			f.ID,
			f.Resolution,
			f.ResolvedAt,
		)
	}
	return list
}
