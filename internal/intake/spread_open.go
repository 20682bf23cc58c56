package intake

import (
	"cmp"
	"context"
)

// passwords are those that whoever asked for the import gave with it.
func (s *Spreader) passwords(ctx context.Context, breach string, args partArgs) ([]string, error) {
	if args.Passwords == 0 {
		return nil, nil
	}
	secrets, err := s.Importer.Store.SpreadAddresses(ctx, breach)
	if err == nil && len(secrets) < args.Passwords {
		err = ErrInput.With("password: those of this import are gone")
	}
	if err != nil {
		return nil, err
	}
	return secrets[len(secrets)-args.Passwords:], nil
}

// within is the importer with the limits that a part was given.
func (im *Importer) within(args partArgs) *Importer {
	limited := *im
	limited.Limits.Ratio, limited.Limits.Bytes = cmp.Or(args.Ratio, im.Limits.Ratio), cmp.Or(args.Limit, im.Limits.Bytes)
	return &limited
}
