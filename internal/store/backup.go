package store

import "context"

// CopyTo writes a copy of the embedded database, as it is at one moment, to a new file.
func (s *Store) CopyTo(ctx context.Context, path string) error { return s.db.CopyTo(ctx, path) }
