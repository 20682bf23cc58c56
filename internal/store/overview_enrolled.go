package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// SubscriptionList returns a page of a partner's subscriptions that fit, by their numbers, and the one that the next goes on
// from; 0 at the end. States have indexes; plan and first day are sifted before anything is opened.
func (s Overview) SubscriptionList(ctx context.Context, id partner.ID, f subscription.ListFilter) ([]subscription.Subscription, int64, error) {
	if f.User != "" {
		list, err := s.subscriptionsOfPerson(ctx, id, f)
		return list, 0, err
	}
	c, today := conditions{args: []any{partnerNumber(id)}}, subscription.DayInBrazil(s.now())
	switch f.State {
	case subscription.ListSuspended:
		c.text += ` AND ended_at = 0 AND suspended_at > 0`
	case subscription.ListEnded:
	case subscription.ListRunning:
		c.text += ` AND ended_at = 0`
		c.addCondition(lastDay+` >= `, int64(today))
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
	look := f.Limit
	if f.Plan != "" || f.From != 0 || f.To != 0 || f.State == subscription.ListEnded {
		look = max(f.Limit, looks)
	}
	type row struct {
		subscription.Subscription
		cpf, sealed []byte
	}
	fits := func(r row) bool { return f.FitsFilter(r.Subscription, today) }
	kept, last, more, err := collectPage(ctx, s.readQuerier(), f.Limit, look, fits, func(sc scanner) (row, error) {
		var r row
		var created, suspended, ended int64
		err := sc.Scan(&r.Seq, &r.cpf, &r.Plan, &r.Start, &r.Expiry, &r.sealed, &created, &suspended, &ended)
		r.CreatedAt, r.SuspendedAt, r.EndedAt = fromMicros(created), fromMicros(suspended), fromMicros(ended)
		return r, err
	}, `SELECT `+subscriptionColumns+` FROM subscription WHERE partner_id = $1`+c.text+order+c.addLimit(look+1), c.args...)
	if err != nil {
		return nil, 0, fmt.Errorf("list subscriptions: %w", err)
	}
	list := make([]subscription.Subscription, len(kept))
	for i, r := range kept {
		list[i] = r.Subscription
		if err := s.subscriptions().unsealBody(id, r.cpf, r.sealed, &list[i]); err != nil {
			return nil, 0, err
		}
	}
	if !more {
		return list, 0, nil
	}
	return list, last.Seq, nil
}

// subscriptionsOfPerson are few: they stand on one page.
func (s Overview) subscriptionsOfPerson(ctx context.Context, id partner.ID, f subscription.ListFilter) ([]subscription.Subscription, error) {
	all, err := s.SubscriptionsOfUser(ctx, id, f.User)
	if err != nil {
		return nil, err
	}
	today := subscription.DayInBrazil(s.now())
	kept := slices.DeleteFunc(all, func(one subscription.Subscription) bool {
		return !f.FitsFilter(one, today) || f.NewestFirst && f.After > 0 && one.Seq >= f.After || !f.NewestFirst && one.Seq <= f.After
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
func (s Overview) DeviceList(ctx context.Context, id partner.ID, f cyber.DeviceFilter) ([]cyber.Device, cyber.Mark, error) {
	c, at := conditions{text: ` AND ended_at = 0`, args: []any{partnerNumber(id)}}, `issued_at`
	c.addCondition(`valid_until > `, toMicros(s.now()))
	if f.User != "" {
		u, err := s.findUser(ctx, s.readQuerier(), id, f.User)
		if err != nil {
			return nil, cyber.Mark{}, err
		}
		c.addEither(`user_index`, u.write, u.other)
		at = byPerson + at
	}
	c.addPeriod(`issued_at`, f.From, f.To)
	look := f.Limit
	if f.System != "" {
		look = max(f.Limit, looks)
	}
	fits := func(d cyber.Device) bool { return f.System == "" || d.System == f.System }
	kept, last, more, err := collectPage(ctx, s.readQuerier(), f.Limit, look, fits, s.devicesArea().scanDevice, `SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1`+c.text+
		c.addOrder(at, `id`, f.Before, f.OldestFirst)+c.addLimit(look+1), c.args...)
	if err != nil {
		return nil, cyber.Mark{}, fmt.Errorf("list devices: %w", err)
	}
	if !more {
		return kept, cyber.Mark{}, nil
	}
	return kept, cyber.Mark{At: last.IssuedAt, ID: string(last.ID)}, nil
}
