package store

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
)

var _ cyber.BreachStore = Breaches{}

// PublishedPage returns published breaches, newest first: see cyber.BreachStore.
func (s Breaches) PublishedPage(ctx context.Context, without string, offset int64, limit int) ([]cyber.Breach, int64, error) {
	var total int64
	q := s.readQuerier()
	err := q.QueryRowContext(ctx, `SELECT count(*) FROM breach WHERE state = 'published' AND name <> $1`, without).Scan(&total)
	if err != nil {
		return nil, 0, classifyError(fmt.Errorf("count breaches: %w", err))
	}
	page, err := collectRows(ctx, q, s.scanBreach, `SELECT `+breachColumns+` FROM breach b WHERE b.state = 'published' AND b.name <> $1
		ORDER BY b.added_at DESC, b.name DESC LIMIT $2 OFFSET $3`, without, int64(limit), offset)
	return page, total, wrapError("list breaches", err)
}

// PublishedBreach returns one published breach: see cyber.BreachStore.
func (s Breaches) PublishedBreach(ctx context.Context, name string) (cyber.Breach, error) {
	b, err := s.scanBreach(s.readQuerier().QueryRowContext(ctx, `SELECT `+breachColumns+` FROM breach b WHERE b.name = $1 AND b.state = 'published'`, name))
	return b, readError("read breach", err, cyber.ErrBreachUnknown.With("name", fault.BreachNotPublishedByName))
}
