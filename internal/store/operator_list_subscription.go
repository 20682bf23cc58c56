package store

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

func (s Overview) SubscriptionBySeq(ctx context.Context, id partner.ID, seq int64) (subscription.Subscription, error) {
	return readRow(ctx, s.readQuerier(), Subscriptions(s).scanSubscription(id), subscription.ErrNotFound,
		`SELECT `+subscriptionColumns+` FROM subscription WHERE partner_id = $1 AND seq = $2`,
		id,
		seq,
	)
}

// SubscriptionsOfCPF returns a person's subscriptions of one partner, those that have not ended first.
func (s Overview) SubscriptionsOfCPF(
	ctx context.Context, id partner.ID, cpf string,
) ([]subscription.Subscription, error) {
	return Subscriptions(s).readByCPF(ctx, s.readQuerier(), id, s.blindCPFIndex(id, cpf), ` DESC LIMIT 100`)
}

// SubscriptionsOfUser returns a person's subscriptions by user hash; none when the partner has not enrolled the person.
func (s Overview) SubscriptionsOfUser(
	ctx context.Context, id partner.ID, user partner.UserHash,
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
	ctx context.Context, id partner.ID, users []partner.UserHash,
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

// SubscriptionList returns a page of a partner's subscriptions that fit, by their numbers, and the one that the next
// goes on from; 0 at the end. States have indexes; plan and first day are sifted before anything is opened.
func (s Overview) SubscriptionList(
	ctx context.Context, id partner.ID, f subscription.ListFilter,
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
	ctx context.Context, id partner.ID, f subscription.ListFilter,
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
