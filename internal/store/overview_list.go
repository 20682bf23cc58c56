package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

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

// add appends a condition whose text ends where the mark of its argument goes.
func (c *conditions) add(text string, arg any) {
	c.args = append(c.args, arg)
	c.text += ` AND ` + text + `$` + strconv.Itoa(len(c.args))
}

// before appends the place where a list that is read newest first goes on.
func (c *conditions) before(columns string, m cyber.Mark) {
	if m.ID == "" {
		return
	}
	c.args = append(c.args, micros(m.At), m.ID)
	n := len(c.args)
	c.text += ` AND (` + columns + `) < ($` + strconv.Itoa(n-1) + `, $` + strconv.Itoa(n) + `)`
}

func (c *conditions) limit(n int) string {
	c.args = append(c.args, int64(max(n, 1)))
	return ` LIMIT $` + strconv.Itoa(len(c.args))
}

// FindingList returns the newest findings of all partners that fit.
func (s Overview) FindingList(ctx context.Context, f cyber.FindingFilter) ([]cyber.Found, error) {
	var c conditions
	if f.OpenOnly {
		c.add(`f.resolution = `, "")
	}
	if f.Breach != "" { // ids grow with time, so the breach's own index has the order; by time a million rows would be sorted
		c.add(`f.breach = `, f.Breach)
		if f.Before.ID != "" {
			c.add(`f.id < `, f.Before.ID)
		}
		return s.findings(ctx, c.text+` ORDER BY f.id DESC`+c.limit(f.Limit), c.args...)
	}
	c.before(`f.found_at, f.id`, f.Before)
	return s.findings(ctx, c.text+` ORDER BY f.found_at DESC, f.id DESC`+c.limit(f.Limit), c.args...)
}

// FindingByID returns one finding and its value.
func (s Overview) FindingByID(ctx context.Context, id partner.ID, finding cyber.FindingID) (cyber.Found, error) {
	list, err := s.findings(ctx, ` AND f.partner_id = $1 AND f.id = $2`, number(id), string(finding))
	if err == nil && len(list) == 0 {
		return cyber.Found{}, cyber.ErrFindingNotFound
	}
	if err != nil {
		return cyber.Found{}, err
	}
	return list[0], nil
}

func (s Overview) findings(ctx context.Context, rest string, args ...any) ([]cyber.Found, error) {
	list, err := collect(ctx, s.reader(), func(row scanner) (cyber.Found, error) {
		var created int64
		var sealed []byte
		var a cyber.Asset
		f, err := s.monitoring().scanFinding(longer{row, []any{&a.Status, &created, &sealed}})
		if err != nil {
			return cyber.Found{}, err
		}
		a.ID, a.Partner, a.Kind, a.AddedAt = f.Asset, f.Partner, f.Kind, fromMicros(created)
		err = s.monitoring().openAsset(&a, sealed)
		return cyber.Found{Finding: f, Asset: a}, err
	}, `SELECT `+findingColumns+`, a.status, a.created_at, a.value FROM finding f JOIN asset a ON a.partner_id = f.partner_id AND a.id = f.asset_id
		JOIN breach b ON b.name = f.breach WHERE true`+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("list findings: %w", err)
	}
	return list, nil
}

// AssetList returns the newest watched values of all partners in a status.
func (s Overview) AssetList(ctx context.Context, f cyber.AssetFilter) ([]cyber.Asset, error) {
	var c conditions
	c.add(`status = `, string(f.Status))
	c.before(`created_at, id`, f.Before)
	return s.assets(ctx, c.text+` ORDER BY created_at DESC, id DESC`+c.limit(f.Limit), c.args...)
}

// AssetByID returns one watched value.
func (s Overview) AssetByID(ctx context.Context, id partner.ID, asset cyber.AssetID) (cyber.Asset, error) {
	list, err := s.assets(ctx, ` AND partner_id = $1 AND id = $2`, number(id), string(asset))
	if err == nil && len(list) == 0 {
		return cyber.Asset{}, cyber.ErrAssetNotFound
	}
	if err != nil {
		return cyber.Asset{}, err
	}
	return list[0], nil
}

func (s Overview) assets(ctx context.Context, rest string, args ...any) ([]cyber.Asset, error) {
	list, err := collect(ctx, s.reader(), func(row scanner) (cyber.Asset, error) {
		var a cyber.Asset
		var created int64
		var sealed []byte
		if err := row.Scan(&a.ID, numbered(&a.Partner), &a.Kind, &a.Status, &created, &sealed); err != nil {
			return a, err
		}
		a.AddedAt = fromMicros(created)
		return a, s.monitoring().openAsset(&a, sealed)
	}, `SELECT id, partner_id, kind, status, created_at, value FROM asset WHERE true`+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("list assets: %w", err)
	}
	return list, nil
}

// DeliveryList returns deliveries of all partners in a state: finished ones latest first, others oldest first.
func (s Overview) DeliveryList(ctx context.Context, f alert.DeliveryFilter) ([]alert.Listed, error) {
	var c conditions
	c.add(`d.state = `, string(f.State))
	order := ` ORDER BY d.endpoint_id, d.seq`
	if f.State == alert.Delivered || f.State == alert.DeliveryFailed {
		c.text += ` AND d.finished_at > 0`
		order = ` ORDER BY d.finished_at DESC`
		if !f.Before.IsZero() {
			c.add(`d.finished_at < `, micros(f.Before))
		}
	}
	list, err := collect(ctx, s.reader(), func(row scanner) (alert.Listed, error) {
		var l alert.Listed
		var attempts, next, finished, created int64
		err := row.Scan(numbered(&l.Partner), &l.Endpoint, &l.Event, &l.Seq, &l.State, &attempts, &next, &finished, &created, &l.Type)
		l.Attempts, l.NextAt, l.FinishedAt, l.CreatedAt = int(attempts), fromMicros(next), fromMicros(finished), fromMicros(created)
		return l, err
	}, `SELECT d.partner_id, d.endpoint_id, d.event_id, d.seq, d.state, d.attempts, d.next_at, d.finished_at, d.created_at,
		coalesce((SELECT e.type FROM event e WHERE e.partner_id = d.partner_id AND e.seq = d.seq), '')
		FROM delivery d WHERE true`+c.text+order+c.limit(f.Limit), c.args...)
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	return list, nil
}

// NewestEvents returns events of a partner, newest first, that come before a number; 0 means from the newest.
func (s Overview) NewestEvents(ctx context.Context, id partner.ID, before int64, limit int) ([]alert.Kept, error) {
	c := conditions{text: ` AND partner_id = $1`, args: []any{number(id)}}
	if before > 0 {
		c.add(`seq < `, before)
	}
	return s.keptEvents(ctx, id, c.text+` ORDER BY seq DESC`+c.limit(limit), c.args...)
}

// EventByID returns one event.
func (s Overview) EventByID(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error) {
	list, err := s.keptEvents(ctx, id, ` AND partner_id = $1 AND id = $2`, number(id), string(event))
	if err == nil && len(list) == 0 {
		return alert.Kept{}, alert.ErrEventNotFound
	}
	if err != nil {
		return alert.Kept{}, err
	}
	return list[0], nil
}

func (s Overview) keptEvents(ctx context.Context, id partner.ID, rest string, args ...any) ([]alert.Kept, error) {
	list, err := collect(ctx, s.reader(), s.alerts().scanKept(id), `SELECT `+keptColumns+` FROM event WHERE true`+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	return list, nil
}

// SubscriptionBySeq returns one subscription by its number.
func (s Overview) SubscriptionBySeq(ctx context.Context, id partner.ID, seq int64) (subscription.Subscription, error) {
	sub, err := s.subscriptions().scanSubscription(id, s.reader().QueryRowContext(ctx,
		`SELECT `+subscriptionColumns+` FROM subscription WHERE partner_id = $1 AND seq = $2`, number(id), seq))
	if errors.Is(err, sql.ErrNoRows) {
		return sub, subscription.ErrNotFound
	}
	if err != nil {
		return sub, classify(fmt.Errorf("read subscription: %w", err))
	}
	return sub, nil
}

// SubscriptionsOfCPF returns a person's subscriptions of one partner, those that have not ended first.
func (s Overview) SubscriptionsOfCPF(ctx context.Context, id partner.ID, cpf string) ([]subscription.Subscription, error) {
	return s.subscriptionsOf(ctx, id, s.cpfIndex(id, cpf))
}

// SubscriptionsOfUser returns those of a person by the user hash; none when the partner enrolled nobody of that name.
func (s Overview) SubscriptionsOfUser(ctx context.Context, id partner.ID, user partner.UserHash) ([]subscription.Subscription, error) {
	u, err := s.userOf(ctx, s.reader(), id, user)
	if err != nil || u.cpf == nil {
		return nil, err
	}
	return s.subscriptionsOf(ctx, id, u.cpf)
}

// subscriptionsOf reads a person's subscriptions by the keyed index of the CPF.
func (s Overview) subscriptionsOf(ctx context.Context, id partner.ID, index []byte) ([]subscription.Subscription, error) {
	var all []subscription.Subscription
	for _, which := range []string{`ended_at = 0`, `ended_at <> 0`} {
		list, err := collect(ctx, s.reader(), func(row scanner) (subscription.Subscription, error) {
			return s.subscriptions().scanSubscription(id, row)
		},
			`SELECT `+subscriptionColumns+` FROM subscription WHERE partner_id = $1 AND cpf = $2 AND `+which+` ORDER BY seq DESC LIMIT 100`,
			number(id), index)
		if err != nil {
			return nil, fmt.Errorf("find subscriptions: %w", err)
		}
		all = append(all, list...)
	}
	return all, nil
}
