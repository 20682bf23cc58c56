package store

import "context"

// SealedColumnNames names every sealed column that a rotation rewrites.
func SealedColumnNames() []string {
	var names []string
	for _, c := range sealedColumns {
		names = append(names, c.table+"."+c.column)
	}
	return names
}

// ExecForTest runs a statement in the transaction that ctx carries.
func (s *Store) ExecForTest(ctx context.Context, statement string) error {
	_, err := s.reader(ctx).ExecContext(ctx, statement)
	return err
}
