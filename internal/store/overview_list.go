package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
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

// addOrder appends where a list goes on, and returns its order by two columns, a time and an id.
func (c *conditions) addOrder(at, id string, m cyber.Mark, oldestFirst bool) string {
	past, way := ` < `, ` DESC`
	if oldestFirst {
		past, way = ` > `, ``
	}
	if m.ID != "" {
		c.args = append(c.args, toMicros(m.At), m.ID)
		n := len(c.args)
		c.text += ` AND (` + at + `, ` + id + `)` + past + `($` + strconv.Itoa(n-1) + `, $` + strconv.Itoa(n) + `)`
	}
	return ` ORDER BY ` + at + way + `, ` + id + way
}

// addPeriod appends bounds of a time; a zero one does not bound.
func (c *conditions) addPeriod(column string, from, to time.Time) {
	if !from.IsZero() {
		c.addCondition(column+` >= `, toMicros(from))
	}
	if !to.IsZero() {
		c.addCondition(column+` < `, toMicros(to))
	}
}

// looks is how many rows one page looks at for those that fit, where no index knows which do. A page that found fewer than it
// wanted says so, and its next goes on from there: so no filter makes a page slow.
const looks = 1000

// errPageFull ends the reading of a page.
var errPageFull = errors.New("page full")

// collectPage runs a query for look rows and one more, and keeps the rows that fit, up to limit; more tells that there is
// something behind last. It stops reading there: where an index has the order, no row behind the page is looked up.
func collectPage[T any](ctx context.Context, q querier, limit, look int, fits func(T) bool, scan func(scanner) (T, error), query string, args ...any) (
	kept []T, last T, more bool, err error,
) {
	read := 0
	err = eachQueryRow(ctx, q, func(rows *sql.Rows) (err error) {
		if more = len(kept) == limit || read == look; more {
			return errPageFull
		}
		if last, err = scan(rows); err == nil && fits(last) {
			kept = append(kept, last)
		}
		read++
		return err
	}, query, args)
	if more {
		err = nil
	}
	return kept, last, more, err
}

// addEither appends that a column holds one of two values.
func (c *conditions) addEither(column string, one, other []byte) {
	c.args = append(c.args, one, other)
	n := len(c.args)
	c.text += ` AND ` + column + ` IN ($` + strconv.Itoa(n-1) + `, $` + strconv.Itoa(n) + `)`
}

// addPast appends that columns lie past values, all of them together.
func (c *conditions) addPast(columns, way string, values ...any) {
	marks := ""
	for _, v := range values {
		c.args = append(c.args, v)
		marks += `, $` + strconv.Itoa(len(c.args))
	}
	c.text += ` AND (` + columns + `) ` + way + ` (` + marks[2:] + `)`
}

// addLimit appends how many rows are wanted.
func (c *conditions) addLimit(n int) string {
	c.args = append(c.args, int64(max(n, 1)))
	return ` LIMIT $` + strconv.Itoa(len(c.args))
}

// FindingByID returns one finding and its value.
func (s Overview) FindingByID(ctx context.Context, id partner.ID, finding cyber.FindingID) (cyber.Found, error) {
	list, err := collectRows(ctx, s.readQuerier(), s.scanFound, selectFound+` AND f.partner_id = $1 AND f.id = $2`, partnerNumber(id), string(finding))
	if err == nil && len(list) == 0 {
		return cyber.Found{}, cyber.ErrFindingNotFound
	}
	if err != nil {
		return cyber.Found{}, fmt.Errorf("read finding: %w", err)
	}
	return list[0], nil
}

// selectFound reads findings with the values and breaches they are about. Each has its breach: the outer join keeps SQLite
// from beginning with the breaches where they are few, and sorting all findings of each.
const selectFound = `SELECT ` + findingColumns + `, a.status, a.created_at, a.value
	FROM finding f JOIN asset a ON a.partner_id = f.partner_id AND a.id = f.asset_id LEFT JOIN breach b ON b.name = f.breach WHERE true`

// scanFound reads a row of selectFound.
func (s Overview) scanFound(row scanner) (cyber.Found, error) {
	var created int64
	var sealed []byte
	var a cyber.Asset
	f, err := s.monitoring().scanFinding(longer{row, []any{&a.Status, &created, &sealed}})
	if err != nil {
		return cyber.Found{}, err
	}
	a.ID, a.Partner, a.Kind, a.AddedAt = f.Asset, f.Partner, f.Kind, fromMicros(created)
	err = s.monitoring().openAssetValue(&a, sealed)
	return cyber.Found{Finding: f, Asset: a}, err
}

// GetAsset returns one watched value.
func (s Overview) GetAsset(ctx context.Context, id partner.ID, asset cyber.AssetID) (cyber.Asset, error) {
	list, err := s.readAssets(ctx, ` AND partner_id = $1 AND id = $2`, partnerNumber(id), string(asset))
	if err == nil && len(list) == 0 {
		return cyber.Asset{}, cyber.ErrAssetNotFound
	}
	if err != nil {
		return cyber.Asset{}, err
	}
	return list[0], nil
}

// readAssets returns watched values.
func (s Overview) readAssets(ctx context.Context, rest string, args ...any) ([]cyber.Asset, error) {
	list, err := collectRows(ctx, s.readQuerier(), func(row scanner) (cyber.Asset, error) {
		var a cyber.Asset
		var created int64
		var sealed []byte
		if err := row.Scan(&a.ID, scanPartnerID(&a.Partner), &a.Kind, &a.Status, &created, &sealed); err != nil {
			return a, err
		}
		a.AddedAt = fromMicros(created)
		return a, s.monitoring().openAssetValue(&a, sealed)
	}, `SELECT id, partner_id, kind, status, created_at, value FROM asset WHERE true`+rest, args...)
	return list, wrapError("list assets", err)
}

// GetEvent returns one event.
func (s Overview) GetEvent(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error) {
	list, err := s.keptEvents(ctx, id, ` AND partner_id = $1 AND id = $2`, partnerNumber(id), string(event))
	if err == nil && len(list) == 0 {
		return alert.Kept{}, alert.ErrEventNotFound
	}
	if err != nil {
		return alert.Kept{}, err
	}
	return list[0], nil
}

// keptEvents returns stored events with their bodies. rest is appended to the WHERE clause and must limit to the
// partner.
func (s Overview) keptEvents(ctx context.Context, id partner.ID, rest string, args ...any) ([]alert.Kept, error) {
	list, err := collectRows(ctx, s.readQuerier(), s.alertsArea().scanKeptEvent(id), `SELECT `+keptColumns+` FROM event WHERE true`+rest, args...)
	return list, wrapError("list events", err)
}

// SubscriptionBySeq returns one subscription by its number.
func (s Overview) SubscriptionBySeq(ctx context.Context, id partner.ID, seq int64) (subscription.Subscription, error) {
	sub, err := s.subscriptions().scanSubscription(id, s.readQuerier().QueryRowContext(ctx,
		`SELECT `+subscriptionColumns+` FROM subscription WHERE partner_id = $1 AND seq = $2`, partnerNumber(id), seq))
	return sub, readError("read subscription", err, subscription.ErrNotFound)
}

// SubscriptionsOfCPF returns a person's subscriptions of one partner, those that have not ended first.
func (s Overview) SubscriptionsOfCPF(ctx context.Context, id partner.ID, cpf string) ([]subscription.Subscription, error) {
	return s.subscriptions().readByCPF(ctx, s.readQuerier(), id, s.blindCPFIndex(id, cpf), ` DESC LIMIT 100`)
}

// SubscriptionsOfUser returns a person's subscriptions by user hash; none when the partner has not enrolled the person.
func (s Overview) SubscriptionsOfUser(ctx context.Context, id partner.ID, user partner.UserHash) ([]subscription.Subscription, error) {
	u, err := s.findUser(ctx, s.readQuerier(), id, user)
	if err != nil || u.cpf == nil {
		return nil, err
	}
	return s.subscriptions().readByCPF(ctx, s.readQuerier(), id, u.cpf, ` DESC LIMIT 100`)
}

// NamesOfUsers returns the names of those of a partner's people who have a subscription, by user hash: in force, or else the
// latest that ended. A page of cases needs two statements instead of two for each case.
func (s Overview) NamesOfUsers(ctx context.Context, id partner.ID, users []partner.UserHash) (map[partner.UserHash]string, error) {
	byIndex := make(map[string]partner.UserHash, len(users))
	for _, u := range users {
		byIndex[string(s.blindUserIndex(id, u))] = u
	}
	args := []any{partnerNumber(id)}
	marks := appendByteMarks(&args, slices.Collect(maps.Keys(byIndex)))
	owners := map[string]partner.UserHash{}
	cpfs, err := collectRows(ctx, s.readQuerier(), func(row scanner) (string, error) {
		var cpf, short, long []byte
		err := row.Scan(&cpf, &short, &long)
		owners[string(cpf)] = cmp.Or(byIndex[string(short)], byIndex[string(long)])
		return string(cpf), err
	}, `SELECT cpf, user_256, user_512 FROM person WHERE partner_id = $1 AND (user_256 IN (`+marks+`) OR user_512 IN (`+marks+`))`, args...)
	names := make(map[partner.UserHash]string, len(cpfs))
	if err != nil || len(cpfs) == 0 {
		return names, err
	}
	args = []any{partnerNumber(id)}
	marks = appendByteMarks(&args, cpfs)
	for _, half := range []string{`ended_at = 0`, `ended_at <> 0`} { // each half has an index of its own
		list, err := collectRows(ctx, s.readQuerier(), func(row scanner) (subscription.Subscription, error) {
			return s.subscriptions().scanSubscription(id, row)
		},
			`SELECT `+subscriptionColumns+` FROM subscription WHERE partner_id = $1 AND cpf IN (`+marks+`) AND `+half+` ORDER BY seq DESC`, args...)
		if err != nil {
			return nil, fmt.Errorf("find names: %w", err)
		}
		for _, one := range list {
			if u := owners[string(s.blindCPFIndex(id, one.Beneficiary.CPF))]; names[u] == "" {
				names[u] = one.Beneficiary.Name
			}
		}
	}
	return names, nil
}
