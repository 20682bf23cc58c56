package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/platform/seal"
)

// Keys are the keys that seal personal data.
type Keys interface {
	// State names the key that seals, all that open, and the file that holds them.
	State() (primary uint32, all []uint32, file string)
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
	File    string
	// Counted says that Current and Old were counted just now.
	Counted      bool
	Current, Old int64
}

// loadKeysPage returns a partner's keys as their page shows them.
func (c *Console) loadKeysPage(r *request) (page keysPage) {
	page.Primary, page.All, page.File = c.Rules.Keys.State()
	page.Jobs = c.latestJobs(r, shownJobs, seal.KindRewrite)
	return page
}

// showKeysPage shows a partner's keys.
func showKeysPage(c *Console, r *request) (answer, error) {
	return view{"keys", "Chaves de cifra", c.loadKeysPage(r)}, nil
}

// countKeys counts the values under the present key and under old ones. It reads the whole database, so it runs only
// on demand.
func countKeys(c *Console, r *request) (answer, error) {
	c.recordAction(r, "keys.status", "", "")
	page := c.loadKeysPage(r)
	page.Counted = true
	page.Current, page.Old = callRulePair(
		r,
		func(ctx context.Context, _ struct{}) (int64, int64, error) { return c.Rules.Keys.Count(ctx) },
		struct{}{},
	)
	return view{"keys", "Chaves de cifra", page}, nil
}

// rotateKeys writes the key file, which no transaction holds: the line comes first.
func rotateKeys(c *Console, r *request) (answer, error) {
	return c.recordAndRun(
		r,
		"keys.rotate",
		"",
		"",
		redirect{"/keys", "keys.rotated"},
		func() error { return c.Rules.Keys.Rotate(r.Context()) },
	)
}
