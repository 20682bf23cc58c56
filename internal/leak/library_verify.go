package leak

import (
	"context"
	"errors"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// VerifyBreach checks the segments of a published breach from the first byte to the last and returns how many
// identifiers it has.
func (l *Library) VerifyBreach(ctx context.Context, name string) (uint64, error) {
	r, err := l.publishedBreach(ctx, name)
	if err != nil {
		return 0, err
	}
	var identifiers uint64
	for i, f := range r.ListFiles() {
		keys, err := l.VerifyFile(ctx, f)
		if err != nil {
			return 0, err
		}
		if i == 0 { // the other files hold pairs
			identifiers = keys
		}
	}
	return identifiers, nil
}

// VerifyFile checks one file of a breach from the first byte to the last and returns how many keys it has.
func (l *Library) VerifyFile(ctx context.Context, f File) (keys uint64, err error) {
	reader, err := l.files.Open(ctx, f.Name, f.Digest)
	if err != nil {
		return 0, err
	}
	return reader.Count(), errors.Join(reader.VerifyAll(ctx), reader.Close())
}

// publishedBreach returns a breach whose segment can be asked.
func (l *Library) publishedBreach(ctx context.Context, name string) (Record, error) {
	r, err := l.store.BreachByName(ctx, name)
	if err != nil {
		return r, err
	}
	if r.State != Published || r.Segment == "" {
		return r, ErrBreachNotFound.With("name", fault.NoSegment)
	}
	return r, nil
}
