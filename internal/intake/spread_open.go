package intake

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/vigiahq/vigia/internal/fault"
)

// passwords returns the archive passwords that were given with the import.
func (s *Spreader) passwords(ctx context.Context, breach string, args partArgs) ([]string, error) {
	if args.Passwords == 0 {
		return nil, nil
	}
	secrets, err := s.Importer.Store.SpreadAddresses(ctx, breach)
	if err == nil && len(secrets) < args.Passwords {
		err = ErrInput.With("password", fault.PasswordsGone)
	}
	if err != nil {
		return nil, err
	}
	return secrets[len(secrets)-args.Passwords:], nil
}

// withLimits returns the importer with the limits that a part was given.
func (im *Importer) withLimits(args partArgs) *Importer {
	limited := *im
	limited.Limits.Ratio, limited.Limits.Bytes = cmp.Or(args.Ratio, im.Limits.Ratio), cmp.Or(args.Limit, im.Limits.Bytes)
	return &limited
}

// openOne opens one file that a source names.
func (s *Spreader) openOne(ctx context.Context, p partInput) (Input, error) {
	switch {
	case p.URL != "":
		return AddressInput(s.Client, p.URL), nil
	case p.Bucket != "":
		found, err := openAndList(ctx, s.Client, p.Bucket, p.Key)
		if err != nil {
			return Input{}, fmt.Errorf("%s%s: %w", ShownAddress(p.Bucket), p.Key, err)
		}
		for _, e := range found {
			if e.Key == p.Key {
				return bucketInput(s.Client, p.Bucket, e), nil
			}
		}
		return Input{}, fmt.Errorf("%s%s: %w", ShownAddress(p.Bucket), p.Key, fs.ErrNotExist)
	}
	info, err := os.Stat(p.Path)
	if err != nil {
		return Input{}, err // names the file
	}
	return fileInput(p.Path, info), nil
}
