package store

import "context"

// CopyDatabaseTo writes a copy of the embedded database, as it is at one moment, to a new file.
func (s *Store) CopyDatabaseTo(ctx context.Context, path string) error {
	return s.db.CopyFileTo(ctx, path)
}
