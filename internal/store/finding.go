package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// newHits returns the hits of a value in breaches.
func newHits(asset cyber.AssetID, breaches []cyber.Seen) []leak.Hit {
	hits := make([]leak.Hit, len(breaches))
	for i, b := range breaches {
		hits[i] = leak.Hit{Asset: asset, Seen: b}
	}
	return hits
}

// uniqueValues returns values without repetitions, in their order.
func uniqueValues[T comparable](values []T) []T {
	out, seen := make([]T, 0, len(values)), make(map[T]bool, len(values))
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// addFindings turns the hits of one partner's values into findings, statuses and events, in the caller's transaction:
// see leak.Discover.
func (s Monitoring) addFindings(ctx context.Context, tx *sqldb.Tx, id partner.ID, hits []leak.Hit) error {
	if len(hits) == 0 {
		return nil
	}
	ids, names := make([]cyber.AssetID, len(hits)), make([]string, len(hits))
	for i, h := range hits {
		ids[i], names[i] = h.Asset, h.Breach
	}
	breaches, err := s.publishedBreaches(ctx, tx, uniqueValues(names))
	if err != nil {
		return err
	}
	values, into, err := s.lockAssets(ctx, tx, id, ids)
	if err != nil {
		return err
	}
	hits = slices.Clone(hits)
	for i, h := range hits {
		if other, gone := into[h.Asset]; gone {
			hits[i].Asset = other
		}
	}
	if err := s.loadOwnSites(ctx, tx, id, values); err != nil {
		return err
	}
	verdict, err := leak.DiscoverFindings(values, hits, breaches, newFindingID, s.now())
	if err != nil {
		return err
	}
	return s.keepVerdict(ctx, tx, id, verdict)
}

// newFindingID returns a time-ordered ID, so that new findings go to the end of the index.
func newFindingID() (cyber.FindingID, error) {
	made, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make finding id: %w", err)
	}
	return cyber.FindingID("fd_" + made.String()), nil
}

// keepVerdict writes what a rule has decided on values that this transaction holds, and the events of it: what was
// found first, then what the values say of themselves.
func (s Monitoring) keepVerdict(ctx context.Context, tx *sqldb.Tx, id partner.ID, v leak.Verdict) error {
	now := s.now()
	for _, f := range v.Found {
		classes, logins, err := s.sealTrace(id, f)
		if err != nil {
			return err
		}
		if err := execStatement(ctx, tx, "insert finding", `INSERT INTO finding
			(id, partner_id, asset_id, breach, quiet, found_at, resolution, resolved_at, classes, logins, own_site, watched_site, remind_at)
			VALUES ($1, $2, $3, $4, $5, $6, '', 0, $7, $8, $9, $10, $11)`, string(f.ID), partnerNumber(id), string(f.Asset), f.Breach.Name, f.Quiet,
			toMicros(f.FoundAt), classes, logins, f.OwnSite, f.WatchedSite, toMicros(cyber.FirstReminder(f))); err != nil {
			return err
		}
	}
	if err := closeFindings(ctx, tx, id, v.Closed); err != nil {
		return err
	}
	if err := s.judgeFindings(ctx, tx, id, v.Judged); err != nil {
		return err
	}
	var events []alert.Event
	for _, n := range v.News {
		e, err := alert.NewLeakEvent(n, now)
		if err != nil {
			return err
		}
		events = append(events, e)
	}
	for _, r := range v.Restated {
		if err := s.keepStatus(ctx, tx, id, r); err != nil {
			return err
		}
		if !r.HasMoved() {
			continue
		}
		e, err := alert.NewStatusEvent(r.Asset, r.Before, now)
		if err != nil {
			return err
		}
		events = append(events, e)
	}
	return s.alertsArea().addPartnerEvents(ctx, tx, id, events...)
}

// closeFindings stores the resolution of findings and cancels their reminders.
func closeFindings(ctx context.Context, tx *sqldb.Tx, id partner.ID, closed []cyber.Finding) error {
	for _, f := range closed {
		if err := execStatement(ctx, tx, "resolve finding", `UPDATE finding SET resolution = $3, resolved_at = $4, remind_at = 0 WHERE partner_id = $1 AND id = $2`,
			partnerNumber(id), string(f.ID), string(f.Resolution), toMicros(f.ResolvedAt)); err != nil {
			return err
		}
	}
	return nil
}

// keepStatus writes what a value says of itself, and the history of its status.
func (s Monitoring) keepStatus(ctx context.Context, tx *sqldb.Tx, id partner.ID, r leak.Restated) error {
	if _, err := tx.ExecContext(ctx, `UPDATE asset SET status = $3, open_breaches = $4 WHERE partner_id = $1 AND id = $2`,
		partnerNumber(id), string(r.ID), string(r.Status), r.OpenBreaches); err != nil {
		return fmt.Errorf("set status: %w", err)
	}
	if !r.HasMoved() {
		return nil
	}
	return execStatement(ctx, tx, "keep status history", `INSERT INTO asset_history (asset_id, partner_id, at, seq, previous, status)
		SELECT CAST($1 AS TEXT), CAST($2 AS INTEGER), CAST($3 AS BIGINT), COALESCE(MAX(seq), 0) + 1, CAST($4 AS TEXT), CAST($5 AS TEXT)
		FROM asset_history WHERE partner_id = $2 AND asset_id = $1`,
		string(r.ID), partnerNumber(id), toMicros(s.now()), string(r.Before), string(r.Status))
}

// sealTrace gives the columns that say what stood beside a value. Sites are sealed: they tell where a person is a
// customer; and so is which passwords were beside it.
func (s Monitoring) sealTrace(id partner.ID, f cyber.Finding) (classes sql.NullInt64, logins []byte, err error) {
	classes = sql.NullInt64{Int64: int64(f.Trace.Classes), Valid: f.Trace.Told}
	if len(f.Trace.Sites) > 0 || f.Trace.Day != 0 || len(f.Trace.Passwords) > 0 || f.Trace.Spellings != 0 {
		if logins, err = s.keys.Seal(loginsPlace(id, f.ID), leak.AppendTrace(nil, f.Trace)); err != nil {
			return classes, nil, fmt.Errorf("seal finding: %w", err)
		}
	}
	return classes, logins, nil
}

// loginsPlace binds what a stealer took to the finding it belongs to.
func loginsPlace(id partner.ID, finding cyber.FindingID) seal.Place {
	return seal.Place{Table: "finding", Column: "logins", Partner: string(id), Row: string(finding)}
}

// openLogins unseals the sites, the day and the passwords of a finding from a stealer log.
func (s Monitoring) openLogins(f cyber.Finding, sealed []byte) (cyber.Trace, error) {
	plain, err := s.keys.Unseal(loginsPlace(f.Partner, f.ID), sealed)
	if err != nil {
		return cyber.Trace{}, err
	}
	return leak.ParseTrace(plain)
}

const findingColumns = `f.id, f.partner_id, f.asset_id, a.kind, f.found_at, f.resolution, f.resolved_at, f.classes, f.logins, f.own_site, f.watched_site, f.quiet, f.renewed_at, ` + breachColumns

// scanFinding reads findingColumns. The breach, and with it the severity, is as it stands now, not as it was when
// found.
func (s Monitoring) scanFinding(row scanner) (cyber.Finding, error) {
	var f cyber.Finding
	var found, resolved, renewed int64
	var classes sql.NullInt64
	var logins []byte
	var b breachRow
	err := row.Scan(append([]any{&f.ID, scanPartnerID(&f.Partner), &f.Asset, &f.Kind, &found, &f.Resolution, &resolved, &classes, &logins, &f.OwnSite, &f.WatchedSite, &f.Quiet, &renewed}, b.scanTargets()...)...)
	if err != nil {
		return f, err
	}
	f.FoundAt, f.ResolvedAt, f.RenewedAt = fromMicros(found), fromMicros(resolved), fromMicros(renewed)
	f.Trace = cyber.Trace{Told: classes.Valid, Classes: cyber.Classes(classes.Int64)}
	if len(logins) > 0 {
		kept, err := s.openLogins(f, logins)
		if err != nil {
			return f, fmt.Errorf("open finding: %w", err)
		}
		f.Trace.Sites, f.Trace.Day, f.Trace.Passwords, f.Trace.Spellings = kept.Sites, kept.Day, kept.Passwords, kept.Spellings
	}
	opened, _ := s.openBreach(&b)
	breach := opened.ForPeople()
	f.Breach = breach.ForTrace(f.Trace)
	f.Severity = cyber.SeverityOf(f) // from the breach as it stands now: an operator may have learned more
	return f, nil
}

// longer is a row with further columns behind those of the rest.
type longer struct {
	scanner
	more []any
}

func (l longer) Scan(dest ...any) error { return l.scanner.Scan(append(dest, l.more...)...) }

// FindingsOfUser returns a person's findings, newest first, each under the id of a value that the listing shows: a
// value that was added under both digests counts once.
func (s Monitoring) FindingsOfUser(ctx context.Context, id partner.ID, hash partner.UserHash) ([]cyber.Finding, error) {
	q := s.readQuerier()
	u, err := s.findUser(ctx, q, id, hash)
	if err != nil {
		return nil, err
	}
	byAsset, shown := map[cyber.AssetID]*leak.Watched{}, map[cyber.AssetID]cyber.AssetID{}
	var values []*leak.Watched
	_, err = collectRows(ctx, q, func(row scanner) (struct{}, error) {
		var first cyber.AssetID
		var added int64
		f, err := s.scanFinding(longer{row, []any{&first, &added}})
		w := byAsset[f.Asset]
		if w == nil {
			w = &leak.Watched{Asset: cyber.Asset{ID: f.Asset, AddedAt: fromMicros(added)}, Same: string(first)}
			byAsset[f.Asset], values = w, append(values, w)
		}
		w.Findings, shown[f.Asset] = append(w.Findings, f), first
		return struct{}{}, err
	}, `SELECT `+findingColumns+`, a.first, a.created_at FROM (SELECT partner_id, id, kind, created_at, first_value(id) OVER (PARTITION BY kind, value_index ORDER BY created_at, id) AS first
			FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3)) a JOIN finding f ON f.partner_id = a.partner_id AND f.asset_id = a.id
		LEFT JOIN breach b ON b.name = f.breach ORDER BY `+byPerson+`f.found_at, f.id`, partnerNumber(id), u.write, u.other)
	if err != nil {
		return nil, fmt.Errorf("list findings: %w", err)
	}
	stay, _ := leak.UniteValues(values)
	findings := []cyber.Finding{}
	for _, w := range stay {
		for _, f := range w.Findings {
			f.Asset = shown[w.ID]
			findings = append(findings, f)
		}
	}
	slices.SortFunc(findings, func(a, b cyber.Finding) int { return cmp.Or(b.FoundAt.Compare(a.FoundAt), cmp.Compare(b.ID, a.ID)) })
	return findings, nil
}

// ResolveFinding closes a finding: see cyber.MonitoringStore. One of a value that another has taken over closes what
// that one knows of the same breach.
func (s Monitoring) ResolveFinding(ctx context.Context, id partner.ID, hash partner.UserHash, finding cyber.FindingID, why cyber.Resolution) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		u, err := s.findAndNameUser(ctx, tx, id, hash)
		if err != nil {
			return err
		}
		asset, breach, err := findingPlace(ctx, tx, id, u, finding)
		if err != nil {
			return err
		}
		return s.closeFindings(ctx, tx, id, []cyber.AssetID{asset}, breach, why)
	})
}

// findingPlace returns which value of a person a finding is about, and in which breach it was found.
func findingPlace(ctx context.Context, tx *sqldb.Tx, id partner.ID, u user, finding cyber.FindingID) (asset cyber.AssetID, breach string, err error) {
	err = tx.QueryRowContext(ctx, `SELECT a.id, f.breach FROM finding f JOIN asset a ON a.partner_id = f.partner_id AND a.id = f.asset_id
		WHERE f.partner_id = $1 AND a.user_index IN ($2, $3) AND f.id = $4`, partnerNumber(id), u.write, u.other, string(finding)).Scan(&asset, &breach)
	return asset, breach, readError("find finding", err, cyber.ErrFindingNotFound)
}

// closeFindings resolves the open findings of a breach among those of the values, and recomputes their statuses.
func (s Monitoring) closeFindings(ctx context.Context, tx *sqldb.Tx, id partner.ID, ids []cyber.AssetID, breach string, why cyber.Resolution) error {
	values, _, err := s.lockAssets(ctx, tx, id, ids)
	if err != nil {
		return err
	}
	return s.keepVerdict(ctx, tx, id, leak.CloseFindings(values, func(f cyber.Finding) bool { return f.Breach.Name == breach }, why, s.now()))
}

// recomputeStatuses computes the statuses of values again.
func (s Monitoring) recomputeStatuses(ctx context.Context, tx *sqldb.Tx, id partner.ID, ids []cyber.AssetID) error {
	values, _, err := s.lockAssets(ctx, tx, id, ids)
	if err != nil {
		return err
	}
	return s.keepVerdict(ctx, tx, id, leak.RestateValues(values))
}
