package client

import (
	"context"
	"iter"
)

const (
	largestPage  = 100
	eventsAtOnce = 500
)

// Subscriptions walks through all subscriptions that have not ended, oldest first, and ends after the first error. It
// is no snapshot: a subscription that ends meanwhile moves the later ones, so one of them may be missed.
func (c *Client) Subscriptions(ctx context.Context, opts ...Option) iter.Seq2[ListedSubscription, error] {
	return walkPages(func(page int) ([]ListedSubscription, bool, error) {
		p, err := c.ListSubscriptions(ctx, append(opts, WithPage(page), WithPageSize(largestPage))...)
		return p.Data, p.Pagination.HasNext, err
	})
}

// Breaches walks through the catalogue of published breaches, newest first, and ends after the first error.
func (c *Client) Breaches(ctx context.Context, opts ...Option) iter.Seq2[BreachFacts, error] {
	return walkPages(func(page int) ([]BreachFacts, bool, error) {
		p, err := c.ListBreaches(ctx, append(opts, WithPage(page), WithPageSize(largestPage))...)
		return p.Breaches, p.HasNext, err
	})
}

// walkPages goes from page to page.
func walkPages[T any](read func(page int) ([]T, bool, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page, more := 1, true; more; page++ {
			items, next, err := read(page)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			more = next
		}
	}
}

// EventPages walks from a cursor to the newest event, page by page: handle the events of a page, keep its Next, go on.
// Coming back with a cursor counts as having what is before. The walk ends when nothing is waiting, or after the first
// error.
func (c *Client) EventPages(ctx context.Context, after string, opts ...Option) iter.Seq2[EventPage, error] {
	return func(yield func(EventPage, error) bool) {
		for {
			options := append(opts, WithLimit(eventsAtOnce))
			if after != "" {
				options = append(options, WithAfter(after))
			}
			p, err := c.ListEvents(ctx, options...)
			if !yield(p, err) || err != nil || !p.HasMore {
				return
			}
			after = p.Next
		}
	}
}
