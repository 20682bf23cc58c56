package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

var _ cyber.BreachStore = Breaches{}

// PublishedPage returns published breaches, newest first: see cyber.BreachStore.
func (s Breaches) PublishedPage(
	ctx context.Context, without string, offset int64, limit int,
) (page []cyber.Breach, total int64, err error) {
	err = s.readSnapshot(ctx, func(in core) error { // so that page and total are of one moment
		q := in.readQuerier()
		total, err = readValue[int64](
			ctx,
			q,
			`SELECT count(*) FROM breach WHERE state = 'published' AND name <> $1`,
			without,
		)
		if err != nil {
			return err
		}
		page, err = collectRows(
			ctx,
			q,
			s.scanBreach,
			`SELECT `+breachColumns+` FROM breach b WHERE b.state = 'published' AND b.name <> $1
			ORDER BY b.added_at DESC, b.name DESC LIMIT $2 OFFSET $3`,
			without,
			limit,
			offset,
		)
		return err
	})
	return page, total, err
}

// PublishedBreach returns one published breach: see cyber.BreachStore.
func (s Breaches) PublishedBreach(ctx context.Context, name string) (cyber.Breach, error) {
	return readRow(
		ctx,
		s.readQuerier(),
		s.scanBreach,
		cyber.ErrBreachUnknown.With("name", fault.BreachNotPublishedByName),
		`SELECT `+breachColumns+` FROM breach b WHERE b.name = $1 AND b.state = 'published'`,
		name,
	)
}
