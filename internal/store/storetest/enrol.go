package storetest

import (
	"context"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subscription"
)

// SealRows makes rows of subscriptions that are to be created; the place of each is that in the list.
func SealRows(
	ctx context.Context, s store.Subscriptions, id partner.ID, subs ...*subscription.Subscription,
) ([]subscription.Row, error) {
	seal, err := s.NewSealer(ctx, id)
	if err != nil {
		return nil, err
	}
	rows := make([]subscription.Row, len(subs))
	for i, sub := range subs {
		if rows[i], err = seal(i, sub, true); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// Enrol creates subscriptions in one request and returns the places of those that were there already.
func Enrol(
	ctx context.Context, s store.Subscriptions, id partner.ID, subs ...*subscription.Subscription,
) ([]int, error) {
	rows, err := SealRows(ctx, s, id, subs...)
	if err != nil {
		return nil, err
	}
	done, err := s.Enrol(ctx, id, rows, nil, false)
	return done.Duplicates, err
}
