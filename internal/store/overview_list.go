package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// conditions gathers the parts of a WHERE and their arguments.
type conditions struct {
	text string
	args []any
}

// addCondition appends a condition whose text ends where the mark of its argument goes.
func (c *conditions) addCondition(text string, arg any) {
	c.args = append(c.args, arg)
	c.text += ` AND ` + text + `$` + strconv.Itoa(len(c.args))
}

// addFilter appends a condition unless its value is the zero one, which leaves the filter open.
func addFilter[T comparable](c *conditions, text string, value T) {
	var open T
	if value != open {
		c.addCondition(text, value)
	}
}

// livePartner is the condition that a column holds a partner that is no sandbox: what is made up there belongs in no
// figure of the service and in no list of all partners.
func livePartner(column string) string {
	return column + ` IN (SELECT live.id FROM partner live WHERE live.mode = '` + string(partner.Live) + `')`
}

// addLiveOnly appends that a column holds a live partner, when that is asked for.
func (c *conditions) addLiveOnly(column string, wanted bool) {
	if wanted {
		c.text += ` AND ` + livePartner(column)
	}
}

// addPerson appends that a column holds one of a person's indexes, unless the filter names no person.
func (c core) addPerson(
	ctx context.Context,
	to *conditions,
	column string,
	id partner.ID,
	hash partner.UserHash,
) error {
	if hash == "" {
		return nil
	}
	u, err := c.findUser(ctx, c.readQuerier(), id, hash)
	to.addEither(column, u.write, u.other)
	return err
}

// addOrder appends where a list goes on, and returns its order by two columns, a time and an id.
func (c *conditions) addOrder(at, id string, m cyber.Mark, oldestFirst bool) string {
	past, way := ` < `, ` DESC`
	if oldestFirst {
		past, way = ` > `, ``
	}
	if m.ID != "" {
		c.args = append(c.args, m.At, m.ID)
		n := len(c.args)
		c.text += ` AND (` + at + `, ` + id + `)` + past + `($` + strconv.Itoa(n-1) + `, $` + strconv.Itoa(n) + `)`
	}
	return ` ORDER BY ` + at + way + `, ` + id + way
}

// addPeriod appends bounds of a time; a zero one does not bound.
func (c *conditions) addPeriod(column string, from, to time.Time) {
	if !from.IsZero() {
		c.addCondition(column+` >= `, from)
	}
	if !to.IsZero() {
		c.addCondition(column+` < `, to)
	}
}

// looks is how many rows one page looks at for those that fit, where no index knows which do. A page that found fewer
// than it wanted says so, and its next goes on from there: so no filter makes a page slow.
const looks = 1000

// rowsToLook returns how many rows a page looks at.
func rowsToLook(limit int, sifts bool) int {
	if sifts {
		return max(limit, looks)
	}
	return limit
}

// errPageFull ends the reading of a page.
var errPageFull = errors.New("page full")

// collectPage runs a query for look rows and one more, and keeps the rows that fit, up to limit. Where there is
// something behind the last row, it returns the mark of that row. It stops reading there: where an index has the order,
// no row behind the page is looked up.
func collectPage[T, M any](
	ctx context.Context,
	q querier,
	limit, look int,
	fits func(T) bool,
	mark func(T) M,
	scan func(scanner, *T) error,
	query string,
	args ...any,
) (kept []T, next M, err error) {
	read := 0
	var last T
	err = eachRow(ctx, q, func(row scanner) error {
		if len(kept) == limit || read == look {
			return errPageFull
		}
		var v T
		err := scan(row, &v)
		if last = v; err == nil && fits(v) {
			kept = append(kept, v)
		}
		read++
		return err
	}, query, args...)
	if errors.Is(err, errPageFull) {
		return kept, mark(last), nil
	}
	return kept, next, err
}

// addEither appends that a column holds one of two values.
func (c *conditions) addEither(column string, one, other []byte) {
	c.args = append(c.args, one, other)
	n := len(c.args)
	c.text += ` AND ` + column + ` IN ($` + strconv.Itoa(n-1) + `, $` + strconv.Itoa(n) + `)`
}

// addPastCondition appends that columns lie past values, all of them together.
func (c *conditions) addPastCondition(columns, way string, values ...any) {
	marks := ""
	for _, v := range values {
		c.args = append(c.args, v)
		marks += `, $` + strconv.Itoa(len(c.args))
	}
	c.text += ` AND (` + columns + `) ` + way + ` (` + marks[2:] + `)`
}

// addLimit appends how many rows are wanted.
func (c *conditions) addLimit(n int) string {
	c.args = append(c.args, max(n, 1))
	return ` LIMIT $` + strconv.Itoa(len(c.args))
}

// FindingByID returns one finding and its value.
func (s Overview) FindingByID(ctx context.Context, id partner.ID, finding cyber.FindingID) (cyber.Found, error) {
	return readRow(
		ctx,
		s.readQuerier(),
		s.scanFound,
		cyber.ErrFindingNotFound,
		selectFound+` AND f.partner_id = $1 AND f.id = $2`,
		id,
		finding,
	)
}

// selectFound reads findings with the values and breaches they are about. Each has its breach: the outer join keeps
// SQLite from beginning with the breaches where they are few, and sorting all findings of each.
const selectFound = `SELECT ` + findingColumns + `,
		a.id, a.partner_id, a.kind, a.status, a.created_at, a.look <> 0, a.value
	FROM finding f JOIN asset a ON a.partner_id = f.partner_id AND a.id = f.asset_id
	LEFT JOIN breach b ON b.name = f.breach WHERE true`

// scanFound reads a row of selectFound.
func (s Overview) scanFound(row scanner, into *cyber.Found) error {
	a := &into.Asset
	more := []any{
		&a.ID, &a.Partner, &a.Kind, &a.Status, &a.AddedAt, &a.Waits, Monitoring(s).opensAsset(a),
	}
	return Monitoring(s).scanFinding(longer{row, more}, &into.Finding)
}

// GetAsset returns one watched value.
func (s Overview) GetAsset(ctx context.Context, id partner.ID, asset cyber.AssetID) (cyber.Asset, error) {
	return readRow(ctx, s.readQuerier(), func(row scanner, a *cyber.Asset) error {
		return row.Scan(&a.ID, &a.Partner, &a.Kind, &a.Status, &a.AddedAt, &a.Waits, Monitoring(s).opensAsset(a))
	}, cyber.ErrAssetNotFound, `SELECT id, partner_id, kind, status, created_at, look <> 0, value FROM asset
		WHERE partner_id = $1 AND id = $2`,
		id,
		asset,
	)
}

func (s Overview) GetEvent(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error) {
	return Alerts(s).GetEvent(ctx, id, event)
}

func (s Overview) SubscriptionBySeq(ctx context.Context, id partner.ID, seq int64) (subscription.Subscription, error) {
	return readRow(ctx, s.readQuerier(), Subscriptions(s).scanSubscription(id), subscription.ErrNotFound,
		`SELECT `+subscriptionColumns+` FROM subscription WHERE partner_id = $1 AND seq = $2`,
		id,
		seq,
	)
}

// SubscriptionsOfCPF returns a person's subscriptions of one partner, those that have not ended first.
func (s Overview) SubscriptionsOfCPF(
	ctx context.Context,
	id partner.ID,
	cpf string,
) ([]subscription.Subscription, error) {
	return Subscriptions(s).readByCPF(ctx, s.readQuerier(), id, s.blindCPFIndex(id, cpf), ` DESC LIMIT 100`)
}

// SubscriptionsOfUser returns a person's subscriptions by user hash; none when the partner has not enrolled the person.
func (s Overview) SubscriptionsOfUser(
	ctx context.Context,
	id partner.ID,
	user partner.UserHash,
) ([]subscription.Subscription, error) {
	u, err := s.findUser(ctx, s.readQuerier(), id, user)
	if err != nil || u.cpf == nil {
		return nil, err
	}
	return Subscriptions(s).readByCPF(ctx, s.readQuerier(), id, u.cpf, ` DESC LIMIT 100`)
}

// NamesOfUsers returns the names of those of a partner's people who have a subscription, by user hash: in force, or
// else the latest that ended. A page of cases needs two statements instead of two for each case.
func (s Overview) NamesOfUsers(
	ctx context.Context,
	id partner.ID,
	users []partner.UserHash,
) (map[partner.UserHash]string, error) {
	byIndex := make(map[string]partner.UserHash, len(users))
	for _, u := range users {
		byIndex[string(s.blindUserIndex(id, u))] = u
	}
	args := []any{id}
	isAsked := s.inIndexes(&args, slices.Collect(maps.Keys(byIndex)))
	owners := map[string]partner.UserHash{}
	cpfs, err := collectRows(ctx, s.readQuerier(), func(row scanner, into *string) error {
		var cpf, short, long []byte
		err := row.Scan(&cpf, &short, &long)
		owners[string(cpf)] = cmp.Or(byIndex[string(short)], byIndex[string(long)])
		*into = string(cpf)
		return err
	}, `SELECT cpf, user_256, user_512 FROM person WHERE partner_id = $1
		AND (user_256 `+isAsked+` OR user_512 `+isAsked+`)`,
		args...,
	)
	names := make(map[partner.UserHash]string, len(cpfs))
	if err != nil || len(cpfs) == 0 {
		return names, err
	}
	args = []any{id}
	isTheirs := s.inIndexes(&args, cpfs)
	for _, half := range []string{`ended_at = 0`, `ended_at <> 0`} { // each half has an index of its own
		list, err := collectRows(
			ctx,
			s.readQuerier(),
			Subscriptions(s).scanSubscription(id),
			`SELECT `+subscriptionColumns+` FROM subscription WHERE partner_id = $1
			AND cpf `+isTheirs+` AND `+half+` ORDER BY seq DESC`,
			args...,
		)
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			if u := owners[string(s.blindCPFIndex(id, one.Beneficiary.CPF))]; names[u] == "" {
				names[u] = one.Beneficiary.Name
			}
		}
	}
	return names, nil
}

// DeliveryList returns a page of the deliveries in a state that fit: finished ones latest first, others by endpoint,
// oldest first. The index knows state and end; the partner of a delivered one and types are sifted.
func (s Overview) DeliveryList(
	ctx context.Context,
	f alert.DeliveryFilter,
) ([]alert.Listed, alert.DeliveryMark, error) {
	var c conditions
	c.text = ` AND d.state = '` + string(f.State) + `'` // a constant of ours: the indexes are for one state each
	order, over := ` ORDER BY d.partner_id, d.endpoint_id, d.seq`, f.State == alert.Delivered ||
		f.State == alert.DeliveryFailed
	if over {
		c.text += ` AND d.finished_at > 0`
		c.addPeriod(`d.finished_at`, f.From, f.To)
		order = ` ORDER BY d.finished_at DESC, d.partner_id DESC, d.endpoint_id DESC, d.seq DESC`
	}
	if f.Partner != "" && f.State != alert.Delivered {
		c.addCondition(`d.partner_id = `, f.Partner)
	}
	c.addLiveOnly(`d.partner_id`, f.LiveOnly)
	if f.User != "" {
		if err := s.deliveriesOf(ctx, &c, f); err != nil {
			return nil, alert.DeliveryMark{}, err
		}
		order = strings.Replace(
			order,
			`d.finished_at`,
			`d.finished_at + 0`,
			1,
		) // a person has few: no index is walked for its order
	}
	if m := f.Before; m.Endpoint != "" {
		switch {
		case over:
			c.addPastCondition(
				`d.finished_at, d.partner_id, d.endpoint_id, d.seq`,
				`<`,
				m.At,
				m.Partner,
				m.Endpoint,
				m.Seq,
			)
		case f.Partner != "": // or SQLite begins at the partner's first
			c.addPastCondition(`d.endpoint_id, d.seq`, `>`, m.Endpoint, m.Seq)
		default:
			c.addPastCondition(`d.partner_id, d.endpoint_id, d.seq`, `>`, m.Partner, m.Endpoint, m.Seq)
		}
	}
	look := rowsToLook(
		f.Limit,
		f.User == "" && (f.Partner != "" && f.State == alert.Delivered || f.Type != "" || f.Endpoint != ""),
	)
	return collectPage(ctx, s.readQuerier(), f.Limit, look, func(l alert.Listed) bool {
		return (f.Partner == "" || l.Partner == f.Partner) && (f.Type == "" || l.Type == f.Type) &&
			(f.Endpoint == "" || l.Endpoint == f.Endpoint)
	}, func(l alert.Listed) alert.DeliveryMark {
		return alert.DeliveryMark{At: l.FinishedAt, Partner: l.Partner, Endpoint: l.Endpoint, Seq: l.Seq}
	}, func(row scanner, l *alert.Listed) error {
		return row.Scan(
			&l.Partner,
			&l.Endpoint,
			&l.Event,
			&l.Seq,
			&l.State,
			&l.Attempts,
			&l.NextAt,
			&l.FinishedAt,
			&l.CreatedAt,
			&l.Type,
		)
	}, `SELECT d.partner_id, d.endpoint_id, d.event_id, d.seq, d.state, d.attempts, d.next_at, d.finished_at,
		d.created_at,
		coalesce((SELECT e.type FROM event e WHERE e.partner_id = d.partner_id AND e.seq = d.seq), '')
		FROM delivery d WHERE true`+c.text+order+c.addLimit(look+1),
		c.args...,
	)
}

// deliveriesOf leaves those of events about a person: the events by their index, and their deliveries by the key.
func (s Overview) deliveriesOf(ctx context.Context, c *conditions, f alert.DeliveryFilter) error {
	u, err := s.findUser(ctx, s.readQuerier(), f.Partner, f.User)
	if err != nil {
		return err
	}
	c.args = append(c.args, f.Partner, u.write, u.other)
	n := len(c.args)
	at := func(back int) string { return `$` + strconv.Itoa(n-back) }
	c.text += ` AND d.partner_id = ` + at(2) + ` AND d.endpoint_id IN (SELECT p.id FROM endpoint p
		WHERE p.partner_id = ` + at(2) + `)
		AND d.seq IN (SELECT v.seq FROM event v
		WHERE v.partner_id = ` + at(2) + ` AND v.person IN (` + at(1) + `, ` + at(0) + `))`
	return nil
}

// ListEvents returns a page of a partner's events that fit, without their bodies, and the number that the next goes on
// from; 0 at the end. Types are sifted, and times within the numbers between which they lie.
func (s Overview) ListEvents(ctx context.Context, id partner.ID, f alert.EventFilter) ([]alert.Kept, int64, error) {
	c := conditions{args: []any{id}}
	if err := s.addPerson(ctx, &c, `person`, id, f.User); err != nil {
		return nil, 0, err
	}
	column := `seq`
	if f.User != "" {
		column = byPerson + column
	}
	order := ` ORDER BY ` + column + ` DESC`
	switch {
	case f.OldestFirst:
		order = ` ORDER BY ` + column
		c.addCondition(`seq > `, f.After)
	case f.After > 0:
		c.addCondition(`seq < `, f.After)
	}
	if f.User == "" && !(f.From.IsZero() && f.To.IsZero()) {
		first, last, err := s.seqRange(ctx, s.readQuerier(), id, f.From, f.To)
		if err != nil {
			return nil, 0, err
		}
		c.addCondition(`seq >= `, first)
		c.addCondition(`seq <= `, last)
	}
	look := rowsToLook(f.Limit, f.Type != "" || !f.From.IsZero() || !f.To.IsZero())
	fits := func(e alert.Kept) bool {
		return (f.Type == "" || e.Type == f.Type) && !e.At.Before(f.From) && (f.To.IsZero() || e.At.Before(f.To))
	}
	mark := func(e alert.Kept) int64 { return e.Seq }
	scan := func(row scanner, e *alert.Kept) error { return row.Scan(&e.ID, &e.Seq, &e.Type, &e.At) }
	return collectPage(ctx, s.readQuerier(), f.Limit, look, fits, mark, scan,
		`SELECT id, seq, type, created_at FROM event WHERE partner_id = $1`+c.text+order+c.addLimit(look+1),
		c.args...,
	)
}

// FindingList returns a page of the findings that fit, and where the next begins. Severity and kind are no columns of
// the table, so they are sifted: see looks.
func (s Overview) FindingList(ctx context.Context, f cyber.FindingFilter) ([]cyber.Found, cyber.Mark, error) {
	c, err := s.findingsThatFit(ctx, f)
	if err != nil {
		return nil, cyber.Mark{}, err
	}
	look := rowsToLook(f.Limit, f.Kind != "" || len(f.Severities)+len(f.Classes) > 0)
	order := ` ORDER BY f.id DESC`
	// Ids grow with time, so the breach's own index has the order; by time a million rows would be sorted.
	if f.Breach != "" {
		addFilter(&c, `f.id < `, f.Before.ID)
	} else {
		at := `f.found_at`
		if f.User != "" {
			at = byPerson + at
		}
		order = c.addOrder(at, `f.id`, f.Before, f.OldestFirst)
	}
	return collectPage(ctx, s.readQuerier(), f.Limit, look, func(one cyber.Found) bool {
		return (f.Kind == "" || one.Asset.Kind.String() == f.Kind) &&
			f.FitsGravity(one.Finding.Severity, one.Finding.Breach.Exposes)
	}, func(one cyber.Found) cyber.Mark {
		return cyber.Mark{At: one.Finding.FoundAt, ID: string(one.Finding.ID)}
	}, s.scanFound, selectFound+c.text+order+c.addLimit(look+1), c.args...)
}

// retracted is a resolution as it stands in a statement: a constant of ours.
const retracted = `'` + string(cyber.ResolvedRetracted) + `'`

// findingsInState returns the condition that a finding is in a state.
func findingsInState(state cyber.FindingState) string {
	switch state {
	case cyber.FindingOpen:
		return ` AND f.resolution = ''`
	case cyber.FindingResolved:
		return ` AND f.resolution <> '' AND f.resolution <> ` + retracted
	case cyber.FindingStanding:
		return ` AND f.resolution <> ` + retracted
	case cyber.FindingRetracted:
		return ` AND f.resolution = ` + retracted
	default:
		return ``
	}
}

// GroupFindings counts the findings that fit, parted by all that figures tell apart. It is the one count of findings
// that pages show: a page adds up the groups that it means. Not more than most are looked at; 0 means all.
func (s Overview) GroupFindings(ctx context.Context, f cyber.FindingFilter, most int) ([]cyber.FindingGroup, error) {
	c, err := s.findingsThatFit(ctx, f)
	if err != nil {
		return nil, err
	}
	from := `finding f`
	if f.Kind != "" {
		kind, err := identifier.ParseKind(f.Kind)
		if err != nil {
			return nil, err
		}
		from += ` JOIN asset a ON a.partner_id = f.partner_id AND a.id = f.asset_id`
		c.addCondition(`a.kind = `, kind)
	}
	c.args = append(c.args, zoneMicros, dayMicros)
	n := len(c.args)
	day := `(f.found_at + $` + strconv.Itoa(n-1) + `) / $` + strconv.Itoa(n)
	limit := ``
	if most > 0 {
		limit = c.addLimit(most)
	}
	groups, err := collectRows(ctx, s.readQuerier(), func(row scanner, g *cyber.FindingGroup) error {
		var classes sql.NullInt64
		var one cyber.Finding
		err := row.Scan(append(
			[]any{&g.Partner, &g.Breach, &classes, &one.OwnSite, &g.Alerted, &one.Resolution, &g.Day, &g.Count},
			s.breachTargets(&one.Breach, new(bool))...)...)
		one.Breach = one.Breach.ForTrace(cyber.Trace{Told: classes.Valid, Classes: cyber.Classes(classes.Int64)})
		g.State, g.Severity, g.Exposes = one.State(), cyber.SeverityOf(one), one.Breach.Exposes
		return err
	}, `SELECT d.partner_id, d.breach, d.classes, d.own, d.alerted, d.state, d.day, d.n, `+breachColumns+`
		FROM (SELECT l.partner_id, l.breach, l.classes, l.own, l.alerted, l.state, l.day, count(*) AS n
			FROM (SELECT f.partner_id, f.breach, f.classes, f.own_site OR f.watched_site AS own,
				NOT f.quiet AS alerted,
				CASE WHEN f.resolution IN ('', `+retracted+`) THEN f.resolution
					ELSE '`+string(cyber.ResolvedOther)+`' END AS state, `+day+` AS day
				FROM `+from+` WHERE true`+c.text+limit+`) l
			GROUP BY l.partner_id, l.breach, l.classes, l.own, l.alerted, l.state, l.day) d
		JOIN breach b ON b.name = d.breach ORDER BY d.day, d.partner_id, d.breach`,
		c.args...,
	)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(groups, func(g cyber.FindingGroup) bool { return !g.Fits(f) }), nil
}

// StepMarks returns what was said of the steps of findings.
func (s Overview) StepMarks(
	ctx context.Context,
	id partner.ID,
	findings []cyber.FindingID,
) ([]cyber.StepMark, error) {
	return readStepMarks(ctx, s.readQuerier(), id, findings)
}

// affectedGroups are the people with findings that fit, each with the last value that was found.
const affectedGroups = `SELECT f.partner_id, a.user_index, max(a.id) AS asset_id, count(*) AS n,
	count(*) FILTER (WHERE f.resolution = '') AS open, max(f.found_at) AS newest
	FROM finding f JOIN asset a ON a.partner_id = f.partner_id AND a.id = f.asset_id WHERE true`

// CountAffected returns how many people of each partner have findings that fit; severity, class and kind do not
// narrow it.
func (s Overview) CountAffected(ctx context.Context, f cyber.FindingFilter) (map[partner.ID]int64, error) {
	c, err := s.findingsThatFit(ctx, f)
	if err != nil {
		return nil, err
	}
	return collectPairs[partner.ID, int64](ctx, s.readQuerier(), `SELECT p.partner_id, count(*) FROM (`+
		affectedGroups+c.text+` GROUP BY f.partner_id, a.user_index) p GROUP BY p.partner_id`, c.args...)
}

// ListAffected returns a page of the people with findings that fit, those with the newest first, and where the next
// begins; severity, class and kind do not narrow it.
func (s Overview) ListAffected(ctx context.Context, f cyber.FindingFilter) ([]cyber.Affected, cyber.Mark, error) {
	c, err := s.findingsThatFit(ctx, f)
	if err != nil {
		return nil, cyber.Mark{}, err
	}
	having := conditions{args: c.args}
	if f.Before.ID != "" {
		having.addPastCondition(`p.newest, p.asset_id`, `<`, f.Before.At, f.Before.ID)
	}
	all := func(cyber.Affected) bool { return true }
	mark := func(p cyber.Affected) cyber.Mark { return cyber.Mark{At: p.Newest, ID: string(p.Asset.ID)} }
	return collectPage(ctx, s.readQuerier(), f.Limit, f.Limit, all, mark, func(row scanner, p *cyber.Affected) error {
		a := &p.Asset
		return row.Scan(
			&p.Findings, &p.Open, &p.Newest,
			&a.ID, &a.Partner, &a.Kind, &a.Status, &a.AddedAt, Monitoring(s).opensAsset(a),
		)
	}, `SELECT p.n, p.open, p.newest, a.id, a.partner_id, a.kind, a.status, a.created_at, a.value
		FROM (`+affectedGroups+c.text+` GROUP BY f.partner_id, a.user_index) p
		JOIN asset a ON a.partner_id = p.partner_id AND a.id = p.asset_id
		WHERE true`+having.text+` ORDER BY p.newest DESC, p.asset_id DESC`+having.addLimit(f.Limit+1),
		having.args...,
	)
}

// findingsThatFit returns the conditions of a filter; lists and counts both use them, so that they agree.
func (s Overview) findingsThatFit(ctx context.Context, f cyber.FindingFilter) (c conditions, err error) {
	addFilter(&c, `f.partner_id = `, f.Partner)
	if f.User != "" {
		c.addCondition(`f.asset_id IN (SELECT id FROM asset WHERE partner_id = `, f.Partner)
		if err := s.addPerson(ctx, &c, `user_index`, f.Partner, f.User); err != nil {
			return c, err
		}
		c.text += `)` // joined to them, SQLite reads all findings of the partner
	}
	c.addLiveOnly(`f.partner_id`, f.LiveOnly)
	c.text += findingsInState(f.State)
	if f.AlertedOnly {
		c.text += ` AND NOT f.quiet`
	}
	addFilter(&c, `f.breach = `, f.Breach)
	c.addPeriod(`f.found_at`, f.From, f.To)
	return c, nil
}

// ListAssets returns a page of the watched values in a status that fit, and where the next begins: those without
// findings are those that were looked for. The index knows
// status and time, and of what was found the partner; the rest is sifted before anything is opened.
func (s Overview) ListAssets(ctx context.Context, f cyber.AssetFilter) ([]cyber.Asset, cyber.Mark, error) {
	var c conditions
	addFilter(&c, `status = `, f.Status)
	if f.WaitsOnly {
		c.text += ` AND (look = 1 OR look = 2)` // of each there is an index
	}
	c.addLiveOnly(`partner_id`, f.LiveOnly)
	c.addPeriod(`created_at`, f.From, f.To)
	look := f.Limit
	switch {
	case f.User != "":
		c.addCondition(`partner_id = `, f.Partner)
		if err := s.addPerson(ctx, &c, `user_index`, f.Partner, f.User); err != nil {
			return nil, cyber.Mark{}, err
		}
	case f.Partner != "" && f.WaitsOnly:
		c.addCondition(`partner_id = `, f.Partner)
		look = rowsToLook(f.Limit, f.Kind != "")
	case f.Partner != "" && f.Status != cyber.StatusMonitored && f.Status != "":
		c.text += ` AND status <> '` + string(cyber.StatusMonitored) + `'` // a constant of ours: the index is for these
		c.addCondition(`partner_id = `, f.Partner)
		look = rowsToLook(f.Limit, f.Kind != "")
	default:
		look = rowsToLook(f.Limit, f.Partner != "" || f.Kind != "" || f.Status == cyber.StatusMonitored)
	}
	fits := func(a cyber.Asset) bool {
		return (f.Partner == "" || a.Partner == f.Partner) && (f.Kind == "" || a.Kind.String() == f.Kind) &&
			!(f.Status == cyber.StatusMonitored && a.Waits)
	}
	mark := func(a cyber.Asset) cyber.Mark { return cyber.Mark{At: a.AddedAt, ID: string(a.ID)} }
	return collectPage(ctx, s.readQuerier(), f.Limit, look, fits, mark, func(row scanner, a *cyber.Asset) error {
		opens := scanFunc(func(sealed []byte) error {
			if !fits(*a) {
				return nil
			}
			return Monitoring(s).openAssetValue(a, sealed)
		})
		return row.Scan(&a.ID, &a.Partner, &a.Kind, &a.Status, &a.AddedAt, &a.Waits, opens)
	}, `SELECT id, partner_id, kind, status, created_at, look <> 0, value FROM asset
		WHERE true`+c.text+c.addOrder(`created_at`, `id`, f.Before, f.OldestFirst)+
		c.addLimit(look+1),
		c.args...,
	)
}

// SubscriptionList returns a page of a partner's subscriptions that fit, by their numbers, and the one that the next
// goes on from; 0 at the end. States have indexes; plan and first day are sifted before anything is opened.
func (s Overview) SubscriptionList(
	ctx context.Context,
	id partner.ID,
	f subscription.ListFilter,
) ([]subscription.Subscription, int64, error) {
	if f.User != "" {
		list, err := s.subscriptionsOfPerson(ctx, id, f)
		return list, 0, err
	}
	c, today := conditions{args: []any{id}}, subscription.DayInBrazil(s.now())
	switch f.State {
	case subscription.ListSuspended:
		c.text += ` AND ended_at = 0 AND suspended_at > 0`
	case subscription.ListEnded:
	case subscription.ListRunning:
		c.text += ` AND ended_at = 0`
		c.addCondition(lastDay+` >= `, today)
	}
	order := ` ORDER BY seq`
	switch {
	case !f.NewestFirst:
		c.addCondition(`seq > `, f.After)
	case f.After > 0:
		c.addCondition(`seq < `, f.After)
	}
	if f.NewestFirst {
		order += ` DESC`
	}
	look := rowsToLook(f.Limit, f.Plan != "" || f.From != 0 || f.To != 0 || f.State == subscription.ListEnded)
	fits := func(sub subscription.Subscription) bool { return f.FitsFilter(sub, today) }
	mark := func(sub subscription.Subscription) int64 { return sub.Seq }
	return collectPage(
		ctx,
		s.readQuerier(),
		f.Limit,
		look,
		fits,
		mark,
		Subscriptions(s).scanSifted(id, fits),
		`SELECT `+subscriptionColumns+` FROM subscription WHERE partner_id = $1`+c.text+order+c.addLimit(look+1),
		c.args...,
	)
}

// subscriptionsOfPerson are few: they stand on one page.
func (s Overview) subscriptionsOfPerson(
	ctx context.Context,
	id partner.ID,
	f subscription.ListFilter,
) ([]subscription.Subscription, error) {
	all, err := s.SubscriptionsOfUser(ctx, id, f.User)
	if err != nil {
		return nil, err
	}
	today := subscription.DayInBrazil(s.now())
	kept := slices.DeleteFunc(all, func(one subscription.Subscription) bool {
		return !f.FitsFilter(one, today) || f.NewestFirst && f.After > 0 && one.Seq >= f.After ||
			!f.NewestFirst && one.Seq <= f.After
	})
	slices.SortFunc(kept, func(a, b subscription.Subscription) int {
		if f.NewestFirst {
			a, b = b, a
		}
		return cmp.Compare(a.Seq, b.Seq)
	})
	return kept, nil
}

// DeviceList returns a page of a partner's live devices that fit, and where the next begins.
func (s Overview) DeviceList(
	ctx context.Context,
	id partner.ID,
	f cyber.DeviceFilter,
) ([]cyber.Device, cyber.Mark, error) {
	c, at := conditions{text: ` AND ended_at = 0`, args: []any{id}}, `issued_at`
	c.addCondition(`valid_until > `, s.now())
	if f.User != "" {
		at = byPerson + at
	}
	if err := s.addPerson(ctx, &c, `user_index`, id, f.User); err != nil {
		return nil, cyber.Mark{}, err
	}
	if f.ProtectedOnly {
		c.text += ` AND activated_at > 0`
	}
	c.addPeriod(`issued_at`, f.From, f.To)
	look := rowsToLook(f.Limit, f.System != "")
	fits := func(d cyber.Device) bool { return f.System == "" || d.System == f.System }
	mark := func(d cyber.Device) cyber.Mark { return cyber.Mark{At: d.IssuedAt, ID: string(d.ID)} }
	return collectPage(
		ctx,
		s.readQuerier(),
		f.Limit,
		look,
		fits,
		mark,
		Devices(s).scanDevice,
		`SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1`+
			c.text+c.addOrder(at, `id`, f.Before, f.OldestFirst)+c.addLimit(look+1),
		c.args...,
	)
}
