package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

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
	var list []sqldb.Statement
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
func restatingStatements(engine sqldb.Engine, id partner.ID, restated []leak.Restated) []sqldb.Statement {
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
	list := make([]sqldb.Statement, len(order))
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
func closingStatements(id partner.ID, closed []cyber.Finding) (list []sqldb.Statement) {
	for _, f := range closed {
		list = append(
			list,
			sqldb.NewStatement(
				`UPDATE finding SET resolution = $3, resolved_at = $4, remind_at = 0 WHERE partner_id = $1 AND id = $2`,
				id,
				f.ID,
				f.Resolution,
				f.ResolvedAt,
			),
		)
	}
	return list
}

// sealTrace gives the columns that say what stood beside a value. Sites are sealed: they tell where a person is a
// customer; and so is which passwords were beside it.
func (s Monitoring) sealTrace(id partner.ID, f cyber.Finding) (classes sql.NullInt64, logins []byte, err error) {
	classes = sql.NullInt64{Int64: int64(f.Trace.Classes), Valid: f.Trace.Told}
	if len(f.Trace.Sites) > 0 || f.Trace.Day != 0 || len(f.Trace.Passwords) > 0 || f.Trace.Spellings != 0 {
		logins, err = s.sealValue(loginsPlace(id, f.ID), leak.AppendTrace(nil, f.Trace))
	}
	return classes, logins, err
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

// ownFindingColumns are those of a finding's own row; findingColumns are followed by what its value and its breach say.
const (
	ownFindingColumns = `f.id, f.partner_id, f.asset_id, f.found_at, f.resolution, f.resolved_at, f.classes,
		f.logins, f.own_site, f.watched_site, f.quiet, f.renewed_at`
	findingColumns = ownFindingColumns + `, a.kind, ` + breachColumns
)

// scanFinding reads findingColumns.
func (s Monitoring) scanFinding(row scanner, f *cyber.Finding) error {
	more := append([]any{&f.Kind}, s.breachTargets(&f.Breach, new(bool))...)
	err := s.scanOwnFinding(longer{row, more}, f)
	attachBreach(f, f.Breach)
	return err
}

// scanOwnFinding reads ownFindingColumns.
func (s Monitoring) scanOwnFinding(row scanner, f *cyber.Finding) error {
	var classes sql.NullInt64
	var logins []byte
	err := row.Scan(
		&f.ID,
		&f.Partner,
		&f.Asset,
		&f.FoundAt,
		&f.Resolution,
		&f.ResolvedAt,
		&classes,
		&logins,
		&f.OwnSite,
		&f.WatchedSite,
		&f.Quiet,
		&f.RenewedAt,
	)
	if err == nil && len(logins) > 0 {
		f.Trace, err = s.openLogins(*f, logins)
	}
	f.Trace.Told, f.Trace.Classes = classes.Valid, cyber.Classes(classes.Int64)
	return err
}

// attachBreach says of a finding what its breach, and with it the severity, is as it stands now, not as it was when
// found: an operator may have learned more.
func attachBreach(f *cyber.Finding, b cyber.Breach) {
	breach := b.ForPeople()
	f.Breach = breach.ForTrace(f.Trace)
	f.Severity = cyber.SeverityOf(*f)
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
	err = eachRow(ctx, q, func(row scanner) error {
		var first cyber.AssetID
		var added time.Time
		var f cyber.Finding
		err := s.scanFinding(longer{row, []any{&first, &added}}, &f)
		w := byAsset[f.Asset]
		if w == nil {
			w = &leak.Watched{Asset: cyber.Asset{ID: f.Asset, AddedAt: added}, Same: string(first)}
			byAsset[f.Asset], values = w, append(values, w)
		}
		w.Findings, shown[f.Asset] = append(w.Findings, f), first
		return err
	}, `SELECT `+findingColumns+`, a.first, a.created_at FROM (SELECT partner_id, id, kind, created_at,
		first_value(id) OVER (PARTITION BY kind, value_index ORDER BY created_at, id) AS first
			FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3)) a
			JOIN finding f ON f.partner_id = a.partner_id AND f.asset_id = a.id
		LEFT JOIN breach b ON b.name = f.breach ORDER BY `+byPerson+`f.found_at, f.id`,
		id,
		u.write,
		u.other,
	)
	if err != nil {
		return nil, err
	}
	stay, _ := s.judge.UniteValues(values)
	findings := []cyber.Finding{}
	for _, w := range stay {
		for _, f := range w.Findings {
			f.Asset = shown[w.ID]
			findings = append(findings, f)
		}
	}
	slices.SortFunc(
		findings,
		func(a, b cyber.Finding) int { return cmp.Or(b.FoundAt.Compare(a.FoundAt), cmp.Compare(b.ID, a.ID)) },
	)
	return findings, nil
}

// ResolveFinding closes a finding: see cyber.MonitoringStore. One of a value that another has taken over closes what
// that one knows of the same breach.
func (s Monitoring) ResolveFinding(
	ctx context.Context,
	id partner.ID,
	hash partner.UserHash,
	finding cyber.FindingID,
	why cyber.Resolution,
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
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	u user,
	finding cyber.FindingID,
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
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	ids []cyber.AssetID,
	breach string,
	why cyber.Resolution,
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

// RejudgeSites judges the sites of a partner's findings again: see leak.Store. Only what a stealer took names sites.
func (s Breaches) RejudgeSites(
	ctx context.Context,
	id partner.ID,
	after cyber.FindingID,
	limit int,
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
func (s Monitoring) judgingStatements(id partner.ID, f cyber.Finding) ([]sqldb.Statement, error) {
	classes, logins, err := s.sealTrace(id, f)
	list := []sqldb.Statement{
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
		list = append(
			list,
			sqldb.NewStatement(
				`DELETE FROM finding_step WHERE partner_id = $1 AND finding_id = $2 AND marked_at <= $3`,
				id,
				f.ID,
				f.RenewedAt,
			),
		)
	}
	return list, err
}

// lockAssets locks the rows of values: other transactions that change their findings wait, and then see ours. Values
// that no longer exist are left out. Values that were added under both digests of a person are merged here; into maps a
// merged value to the one that replaced it. So no finding, status or event is ever written for a value that no listing
// shows.
func (s Monitoring) lockAssets(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	ids []cyber.AssetID,
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
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	ids []cyber.AssetID,
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

// findTwins finds the same values of the same people under their other digest, as far as they are not among rows.
func findTwins(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	rows []lockedRow,
	people map[string]person,
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
	findings, err := collectRows(
		ctx,
		tx,
		func(row scanner, f *cyber.Finding) error {
			return s.scanOwnFinding(longer{row, []any{&f.Breach.Name}}, f)
		},
		`SELECT `+ownFindingColumns+`, f.breach FROM finding f
		WHERE f.partner_id = $1 AND f.asset_id `+inList(s.db.EngineName(), &args, ids)+` ORDER BY f.found_at, f.id`,
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

// mergeAssets lets one value take the place of another; what hangs on that one and does not change over goes with it.
func mergeAssets(ctx context.Context, tx *sqldb.Tx, id partner.ID, u leak.Union) error {
	var list []sqldb.Statement
	for _, f := range u.Moved {
		list = append(
			list,
			sqldb.NewStatement(`UPDATE finding SET asset_id = $3 WHERE partner_id = $1 AND id = $2`, id, f.ID, u.Into),
		)
	}
	list = append(list, closingStatements(id, u.Closed)...)
	for _, t := range u.Twins {
		list = append(
			list,
			sqldb.NewStatement(`INSERT INTO finding_step (partner_id, finding_id, step, state, marked_at)
			SELECT partner_id, CAST($3 AS TEXT), step, state, marked_at FROM finding_step
			WHERE partner_id = $1 AND finding_id = $2
			ON CONFLICT (partner_id, finding_id, step) DO NOTHING`,
				id,
				t.Gone,
				t.Into,
			),
		)
	}
	list = append(
		list,
		sqldb.NewStatement(
			`UPDATE asset SET source = source | (SELECT g.source FROM asset g WHERE g.partner_id = $1 AND g.id = $3)
			WHERE partner_id = $1 AND id = $2`,
			id,
			u.Into,
			u.Gone,
		),
		sqldb.NewStatement(`DELETE FROM asset WHERE partner_id = $1 AND id = $2`, id, u.Gone),
	)
	return tx.RunStatements(ctx, list)
}

// markColumns are those that scanning a mark on a step expects, in its order.
const markColumns = `m.finding_id, m.step, m.state, m.marked_at`

// scanStepMark reads what was said of a step.
func scanStepMark(row scanner, m *cyber.StepMark) error {
	return row.Scan(&m.Finding, &m.Step, &m.State, &m.At)
}

// ListStepMarks returns all that was said of the steps of a person's findings.
func (s Monitoring) ListStepMarks(ctx context.Context, id partner.ID, hash partner.UserHash) ([]cyber.StepMark, error) {
	// CROSS JOIN has SQLite begin with the person's values: it would rather read all steps of the partner in their
	// order.
	return collectOfUser(
		ctx,
		s.core,
		id,
		hash,
		scanStepMark,
		`SELECT `+markColumns+` FROM asset a CROSS JOIN finding f CROSS JOIN finding_step m
		WHERE a.partner_id = $1 AND a.user_index IN ($2, $3) AND f.partner_id = a.partner_id AND f.asset_id = a.id
			AND m.partner_id = f.partner_id AND m.finding_id = f.id ORDER BY m.finding_id, m.step`,
	)
}

// ChangePlan changes a finding's plan under the lock of its value: see cyber.PlanStore. As with ResolveFinding, one of
// a value that another has taken over is what that one knows of the same breach.
func (s Monitoring) ChangePlan(ctx context.Context, id partner.ID, hash partner.UserHash, finding cyber.FindingID,
	change func(cyber.Plan) (cyber.PlanChange, error),
) (after cyber.Rechecked, err error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (after cyber.Rechecked, err error) {
		u, err := s.findAndNameUser(ctx, tx, id, hash)
		if err != nil {
			return after, err
		}
		asset, breach, err := findingPlace(ctx, tx, id, u, finding)
		if err != nil {
			return after, err
		}
		values, _, err := s.lockAssets(ctx, tx, id, []cyber.AssetID{asset})
		if err != nil {
			return after, err
		}
		w, f := findBreachFinding(values, breach)
		if f == nil {
			return after, cyber.ErrFindingNotFound
		}
		marks, err := readStepMarks(ctx, tx, id, []cyber.FindingID{f.ID})
		if err != nil {
			return after, err
		}
		decided, err := change(cyber.NewFindingPlan(*f, marks))
		if err != nil {
			return after, err
		}
		if m := decided.Mark; m != nil {
			if err := saveStepMark(ctx, tx, id, *m); err != nil {
				return after, err
			}
			marks = append(marks, *m) // the last that is said of a step counts
		}
		switch {
		case decided.Close != "":
			err = s.keepVerdict(
				ctx,
				tx,
				id,
				s.judge.CloseFindings(
					values,
					func(f cyber.Finding) bool { return f.Breach.Name == breach },
					decided.Close,
					s.now(),
				),
			)
		case decided.Restate:
			err = s.keepVerdict(ctx, tx, id, s.judge.RestateValues(values))
		}
		after = cyber.Rechecked{Plan: cyber.NewFindingPlan(*f, marks), Status: w.Status}
		return after, err
	})
}

// findBreachFinding returns what values know of a breach; nil when they do not.
func findBreachFinding(values []*leak.Watched, breach string) (*leak.Watched, *cyber.Finding) {
	for _, w := range values {
		for i := range w.Findings {
			if w.Findings[i].Breach.Name == breach {
				return w, &w.Findings[i]
			}
		}
	}
	return nil, nil
}

// readStepMarks returns what was said of the steps of findings.
func readStepMarks(
	ctx context.Context,
	q querier,
	id partner.ID,
	findings []cyber.FindingID,
) ([]cyber.StepMark, error) {
	args := []any{id}
	return collectRows(
		ctx,
		q,
		scanStepMark,
		`SELECT `+markColumns+` FROM finding_step m WHERE m.partner_id = $1 AND m.finding_id IN (`+appendMarks(
			&args,
			findings,
		)+`)`,
		args...,
	)
}

// saveStepMark stores what was said of a step over what was said before; a step that is to be done again has no row.
func saveStepMark(ctx context.Context, tx *sqldb.Tx, id partner.ID, m cyber.StepMark) (err error) {
	if m.State == cyber.StepTodo {
		err = execStatement(
			ctx,
			tx,
			`DELETE FROM finding_step WHERE partner_id = $1 AND finding_id = $2 AND step = $3`,
			id,
			m.Finding,
			m.Step,
		)
	} else {
		err = execStatement(
			ctx,
			tx,
			`INSERT INTO finding_step (partner_id, finding_id, step, state, marked_at) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (partner_id, finding_id, step) DO UPDATE SET state = excluded.state,
			marked_at = excluded.marked_at`,
			id,
			m.Finding,
			m.Step,
			m.State,
			m.At,
		)
	}
	return err
}

// RemindSteps writes the events of steps that are due soon: see cyber.PlanStore. A few of a partner's reminders and
// their events are one transaction, and a row that another replica holds is passed over, so each is given once.
func (s Monitoring) RemindSteps(
	ctx context.Context,
	decide func(p cyber.Plan, since, now time.Time) cyber.Reminder,
) (int, error) {
	return workOffDue(
		ctx,
		s.core,
		func(tx *sqldb.Tx, id partner.ID, part []cyber.FindingID) (locked, told int, err error) {
			return s.remindFindings(ctx, tx, id, part, decide)
		},
		`SELECT partner_id, id FROM finding WHERE remind_at > 0 AND remind_at <= $1 ORDER BY remind_at LIMIT $2`,
	)
}

// reminded is a finding whose time has come.
type reminded struct {
	cyber.Finding
	since time.Time
	user  partner.UserHash
}

// remindFindings decides about those of a partner's findings that are still due and not locked by another worker.
func (s Monitoring) remindFindings(ctx context.Context, tx *sqldb.Tx, id partner.ID, findings []cyber.FindingID,
	decide func(p cyber.Plan, since, now time.Time) cyber.Reminder,
) (locked, told int, err error) {
	now := s.now()
	due, err := s.lockReminders(ctx, tx, id, findings, now)
	if err != nil || len(due) == 0 {
		return 0, 0, err
	}
	ids := make([]cyber.FindingID, len(due))
	for i, r := range due {
		ids[i] = r.ID
	}
	marks, err := readStepMarks(ctx, tx, id, ids)
	if err != nil {
		return 0, 0, err
	}
	var people []partner.UserHash
	steps := map[partner.UserHash][]cyber.Plan{}
	next := make([]sqldb.Statement, len(due))
	for i, f := range due {
		plan := cyber.NewFindingPlan(f.Finding, marks)
		r := decide(plan, f.since, now)
		next[i] = sqldb.NewStatement(
			`UPDATE finding SET remind_at = $3 WHERE partner_id = $1 AND id = $2`,
			id,
			f.ID,
			r.Next,
		)
		if len(r.Due) == 0 {
			continue
		}
		if steps[f.user] == nil {
			people = append(people, f.user)
		}
		plan.Steps = r.Due
		steps[f.user] = append(steps[f.user], plan)
	}
	if err := tx.RunStatements(ctx, next); err != nil {
		return 0, 0, err
	}
	events := make([]alert.Event, len(people))
	for i, user := range people {
		events[i] = alert.NewStepsDueEvent(id, user, steps[user], now)
	}
	return len(due), len(events), Alerts(s).addPartnerEvents(ctx, tx, id, events...)
}

// lockReminders locks findings first and reads them then, so that neither values nor breaches are locked with them.
func (s Monitoring) lockReminders(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	findings []cyber.FindingID,
	now time.Time,
) ([]reminded, error) {
	args := []any{id, now}
	locked, err := collectValues[cyber.FindingID](
		ctx,
		tx,
		`SELECT id FROM finding WHERE partner_id = $1 AND id IN (`+appendMarks(
			&args,
			findings,
		)+`) AND remind_at > 0 AND remind_at <= $2 ORDER BY id`+s.db.SkipLocked(),
		args...,
	)
	if err != nil || len(locked) == 0 {
		return nil, err
	}
	args = []any{id}
	return collectRows(ctx, tx, func(row scanner, r *reminded) error {
		a := cyber.Asset{Partner: id}
		err := s.scanFinding(longer{row, []any{&r.since, &a.ID, s.opensAsset(&a)}}, &r.Finding)
		r.user = a.User
		return err
	}, `SELECT `+findingColumns+`, f.remind_at, a.id, a.value FROM finding f
		JOIN asset a ON a.partner_id = f.partner_id AND a.id = f.asset_id
		JOIN breach b ON b.name = f.breach WHERE f.partner_id = $1
		AND f.id `+inList(tx.EngineName(), &args, locked)+` ORDER BY f.id`,
		args...,
	)
}
