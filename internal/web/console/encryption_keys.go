package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/platform/seal"
)

// Keys are the keys that seal personal data.
type Keys interface {
	// State names the key that seals, all that open, and where the root is that opens them.
	State() (primary uint32, all []uint32, root string)
	// Count reads every sealed value, so it takes a while.
	Count(ctx context.Context) (current, old int64, err error)
	Rotate(ctx context.Context) error
}

// keysPage is the data of the page about the encryption keys: which key seals new values, and which others are still
// needed.
type keysPage struct {
	recentJobs
	Primary uint32
	All     []uint32
	Root    string
	// Counted says that Current and Old were counted just now.
	Counted      bool
	Current, Old int64
}

func showKeysPage(c *Console, r *request) (answer, error) {
	page, err := c.gatherKeys(r.Context())
	return newView("keys", "Chaves de cifra", page, err)
}

// countKeys counts the values under the present key and under old ones. It reads the whole database, so it runs only on
// demand.
func countKeys(c *Console, r *request) (answer, error) {
	if err := c.recordAction(r, "keys.status", "", ""); err != nil {
		return nil, err
	}
	page, err := c.gatherKeys(r.Context())
	if err != nil {
		return nil, err
	}
	page.Current, page.Old, err = c.Rules.Keys.Count(r.Context())
	page.Counted = true
	return newView("keys", "Chaves de cifra", page, err)
}

// rotateKeys makes a new key: the line comes first.
func rotateKeys(c *Console, r *request) (answer, error) {
	next := redirect{"/keys", "keys.rotated"}
	return c.recordAndRun(r, "keys.rotate", "", "", next, func() error { return c.Rules.Keys.Rotate(r.Context()) })
}

// gatherKeys returns the encryption keys as their page shows them.
func (c *Console) gatherKeys(ctx context.Context) (keysPage, error) {
	var page keysPage
	page.Primary, page.All, page.Root = c.Rules.Keys.State()
	var err error
	page.Jobs, err = c.latestJobs(ctx, shownJobs, seal.KindRewrite)
	return page, err
}
