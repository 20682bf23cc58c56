package stored_test

import (
	"context"
	"sync/atomic"

	"github.com/vigiahq/vigia/internal/partner"
)

// countingStore counts what a gate asks of the database.
type countingStore struct {
	partner.Store
	polls, lookups atomic.Int64
	// meanwhile, once set, runs when the database has answered a look-up and the gate does not know yet.
	meanwhile func()
}

func (c *countingStore) AccessEpoch(ctx context.Context) (int64, error) {
	defer c.polls.Add(1)
	return c.Store.AccessEpoch(ctx)
}

func (c *countingStore) KeyByDigest(ctx context.Context, digest []byte) (partner.Key, partner.Partner, error) {
	c.lookups.Add(1)
	key, p, err := c.Store.KeyByDigest(ctx, digest)
	if c.meanwhile != nil {
		c.meanwhile()
	}
	return key, p, err
}
