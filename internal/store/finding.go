package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// hit is a watched value that a breach holds, before it is a finding.
type hit struct {
	asset  cyber.AssetID
	breach string
}

func hitsOf(asset cyber.AssetID, breaches []string) []hit {
	hits := make([]hit, len(breaches))
	for i, b := range breaches {
		hits[i] = hit{asset, b}
	}
	return hits
}

// watched is a watched value whose row this transaction holds.
type watched struct {
	cyber.Asset
	userIndex string
	// openBreaches is what the row says of the open findings: see openBreaches.
	openBreaches string
	// findings are all of the value's, oldest first; those added by this transaction come last and are fresh.
	findings []cyber.Finding
	fresh    []freshFinding
}

type freshFinding struct {
	cyber.Finding
	quiet bool
}

// lockAssets takes the rows of values, so that whoever else changes their findings waits and then sees ours. Values that are
// gone are left out.
func (s *Store) lockAssets(ctx context.Context, tx *sqldb.Tx, id partner.ID, ids []cyber.AssetID) ([]*watched, error) {
	args := []any{string(id)}
	marks := list(&args, ids)
	assets, err := collect(ctx, tx, func(row scanner) (*watched, error) {
		w := &watched{Asset: cyber.Asset{Partner: id}}
		var index, sealed []byte
		if err := row.Scan(&w.ID, &w.Kind, &index, &sealed, &w.Status, &w.openBreaches); err != nil {
			return nil, err
		}
		w.userIndex = string(index)
		return w, s.openAsset(&w.Asset, sealed)
	}, `UPDATE asset SET status = status WHERE partner_id = $1 AND id IN (`+marks+`) 
		RETURNING id, kind, user_index, value, status, open_breaches`, args...)
	if err != nil {
		return nil, fmt.Errorf("lock assets: %w", err)
	}
	byID := make(map[cyber.AssetID]*watched, len(assets))
	for _, w := range assets {
		byID[w.ID] = w
	}
	findings, err := collect(ctx, tx, scanFinding, `SELECT `+findingColumns+` FROM finding f JOIN asset a ON a.id = f.asset_id
		JOIN breach b ON b.name = f.breach WHERE f.partner_id = $1 AND f.asset_id IN (`+marks+`) ORDER BY f.found_at, f.id`, args...)
	if err != nil {
		return nil, fmt.Errorf("read findings: %w", err)
	}
	for _, f := range findings {
		if w := byID[f.Asset]; w != nil {
			w.findings = append(w.findings, f)
		}
	}
	ordered := make([]*watched, 0, len(assets))
	for _, asset := range ids { // the caller's order, once each
		if w := byID[asset]; w != nil {
			ordered = append(ordered, w)
			delete(byID, asset)
		}
	}
	return ordered, nil
}

// addFindings turns the hits of one partner's values into findings, statuses and events, in the caller's transaction. Hits that
// are findings already, and hits in breaches that are not published any more, count for nothing.
func (s *Store) addFindings(ctx context.Context, tx *sqldb.Tx, id partner.ID, hits []hit) error {
	if len(hits) == 0 {
		return nil
	}
	ids, names := make([]cyber.AssetID, len(hits)), make([]string, len(hits))
	for i, h := range hits {
		ids[i], names[i] = h.asset, h.breach
	}
	breaches, err := publishedBreaches(ctx, tx, unique(names))
	if err != nil {
		return err
	}
	assets, err := s.lockAssets(ctx, tx, id, unique(ids))
	if err != nil {
		return err
	}
	byAsset := make(map[cyber.AssetID]*watched, len(assets))
	for _, w := range assets {
		byAsset[w.ID] = w
	}
	for _, h := range hits {
		b, published := breaches[h.breach]
		if w := byAsset[h.asset]; w != nil && published {
			if err := s.addFinding(ctx, tx, w, b); err != nil {
				return err
			}
		}
	}
	changes, err := s.restate(ctx, tx, assets)
	if err != nil {
		return err
	}
	leaks, err := s.leakEvents(id, assets)
	if err != nil {
		return err
	}
	return s.addEvents(ctx, tx, id, append(leaks, changes...)...)
}

func unique[T comparable](values []T) []T {
	out, seen := make([]T, 0, len(values)), make(map[T]bool, len(values))
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// addFinding keeps a finding unless the value has one of that breach.
func (s *Store) addFinding(ctx context.Context, tx *sqldb.Tx, w *watched, b cyber.Breach) error {
	for _, f := range w.findings {
		if f.Breach.Name == b.Name {
			return nil
		}
	}
	made, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make finding id: %w", err)
	}
	f := cyber.Finding{
		ID: cyber.FindingID("fd_" + made.String()), Partner: w.Partner, Asset: w.ID, Kind: w.Kind, Breach: b,
		Severity: cyber.SeverityOf(b), FoundAt: s.now(),
	}
	quiet := cyber.Recycled(b, w.findings)
	_, err = tx.ExecContext(ctx, `INSERT INTO finding (id, partner_id, asset_id, breach, quiet, found_at, resolution, resolved_at)
		VALUES ($1, $2, $3, $4, $5, $6, '', 0)`, string(f.ID), string(f.Partner), string(f.Asset), b.Name, quiet, micros(f.FoundAt))
	if err != nil {
		return fmt.Errorf("insert finding: %w", err)
	}
	w.findings = append(w.findings, f)
	w.fresh = append(w.fresh, freshFinding{f, quiet})
	return nil
}

// openBreaches names the breaches of open findings with spaces between them: names of breaches hold none.
func openBreaches(findings []cyber.Finding) string {
	var names []string
	for i := range findings {
		if findings[i].Open() {
			names = append(names, findings[i].Breach.Name)
		}
	}
	return strings.Join(names, " ")
}

// restate computes what values say of themselves from their findings, keeps what changed and the history of the status, and returns
// the events of it.
func (s *Store) restate(ctx context.Context, tx *sqldb.Tx, assets []*watched) ([]alert.Event, error) {
	var events []alert.Event
	now := s.now()
	for _, w := range assets {
		before, after, open := w.Status, cyber.StatusOf(w.findings), openBreaches(w.findings)
		if before == after && open == w.openBreaches {
			continue
		}
		w.Status, w.openBreaches = after, open
		if _, err := tx.ExecContext(ctx, `UPDATE asset SET status = $3, open_breaches = $4 WHERE partner_id = $1 AND id = $2`,
			string(w.Partner), string(w.ID), string(after), open); err != nil {
			return nil, fmt.Errorf("set status: %w", err)
		}
		if before == after {
			continue
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO asset_history (asset_id, partner_id, at, seq, previous, status)
			SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS BIGINT), COALESCE(MAX(seq), 0) + 1, CAST($4 AS TEXT), CAST($5 AS TEXT)
			FROM asset_history WHERE asset_id = $1`,
			string(w.ID), string(w.Partner), micros(now), string(before), string(after)); err != nil {
			return nil, fmt.Errorf("keep status history: %w", err)
		}
		e, err := alert.Restated(w.Asset, before, now)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

// leakEvents makes one alert per person out of the fresh findings that are news.
func (s *Store) leakEvents(id partner.ID, assets []*watched) ([]alert.Event, error) {
	var order []string
	news := map[string]*cyber.News{}
	for _, w := range assets {
		for _, f := range w.fresh {
			if f.quiet {
				continue
			}
			n := news[w.userIndex]
			if n == nil {
				n = &cyber.News{Partner: id, User: w.User, Status: map[cyber.AssetID]cyber.Status{}}
				news[w.userIndex], order = n, append(order, w.userIndex)
			}
			n.Found, n.Status[w.ID] = append(n.Found, f.Finding), w.Status
		}
	}
	events := make([]alert.Event, 0, len(order))
	for _, u := range order {
		e, err := alert.Leaked(*news[u], s.now())
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

const findingColumns = `f.id, f.partner_id, f.asset_id, a.kind, f.found_at, f.resolution, f.resolved_at, ` + breachColumns

func scanFinding(row scanner) (cyber.Finding, error) {
	var f cyber.Finding
	var found, resolved int64
	var b breachRow
	err := row.Scan(append([]any{&f.ID, &f.Partner, &f.Asset, &f.Kind, &found, &f.Resolution, &resolved}, b.dest()...)...)
	f.FoundAt, f.ResolvedAt, f.Breach = fromMicros(found), fromMicros(resolved), b.breach()
	f.Severity = cyber.SeverityOf(f.Breach) // from the breach as it stands now: an operator may have learned more
	return f, err
}

// FindingsOfUser returns a person's findings, newest first.
func (s *Store) FindingsOfUser(ctx context.Context, id partner.ID, hash partner.UserHash) ([]cyber.Finding, error) {
	q := s.reader(ctx)
	u, err := s.userOf(ctx, q, id, hash)
	if err != nil {
		return nil, err
	}
	findings, err := collect(ctx, q, scanFinding, `SELECT `+findingColumns+` FROM asset a JOIN finding f ON f.asset_id = a.id
		JOIN breach b ON b.name = f.breach WHERE a.partner_id = $1 AND a.user_index IN ($2, $3) ORDER BY f.found_at DESC, f.id DESC`,
		string(id), u.write, u.other)
	if err != nil {
		return nil, fmt.Errorf("list findings: %w", err)
	}
	return findings, nil
}

// ResolveFinding closes a finding: see cyber.MonitoringStore.
func (s *Store) ResolveFinding(ctx context.Context, id partner.ID, hash partner.UserHash, finding cyber.FindingID, why cyber.Resolution) error {
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
		u, err := s.userOf(ctx, tx, id, hash)
		if err != nil {
			return err
		}
		var asset cyber.AssetID
		err = tx.QueryRowContext(ctx, `SELECT a.id FROM finding f JOIN asset a ON a.id = f.asset_id
			WHERE f.partner_id = $1 AND a.user_index IN ($2, $3) AND f.id = $4`, string(id), u.write, u.other, string(finding)).Scan(&asset)
		if errors.Is(err, sql.ErrNoRows) {
			return cyber.ErrFindingNotFound
		}
		if err != nil {
			return fmt.Errorf("resolve finding: %w", err)
		}
		return s.close(ctx, tx, id, []cyber.AssetID{asset}, func(f cyber.Finding) bool { return f.ID == finding }, why)
	})
}

// close resolves the open findings that which picks among those of the values, and recomputes their statuses.
func (s *Store) close(ctx context.Context, tx *sqldb.Tx, id partner.ID, ids []cyber.AssetID, which func(cyber.Finding) bool, why cyber.Resolution) error {
	assets, err := s.lockAssets(ctx, tx, id, ids)
	if err != nil {
		return err
	}
	now := s.now()
	for _, w := range assets {
		for i := range w.findings {
			f := &w.findings[i]
			if !f.Open() || !which(*f) {
				continue
			}
			f.Resolution, f.ResolvedAt = why, now
			_, err := tx.ExecContext(ctx, `UPDATE finding SET resolution = $3, resolved_at = $4 WHERE partner_id = $1 AND id = $2`,
				string(id), string(f.ID), string(why), micros(now))
			if err != nil {
				return fmt.Errorf("resolve finding: %w", err)
			}
		}
	}
	events, err := s.restate(ctx, tx, assets)
	if err != nil {
		return err
	}
	return s.addEvents(ctx, tx, id, events...)
}
