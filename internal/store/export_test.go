package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// SealedColumnNames names every sealed column that a rotation rewrites.
func SealedColumnNames() []string {
	var names []string
	for _, c := range sealedColumns {
		names = append(names, c.table+"."+c.column)
	}
	return names
}

// ExecForTest runs a statement in the transaction.
func (t Tx) ExecForTest(ctx context.Context, statement string) error {
	_, err := t.Audit.tx.ExecContext(ctx, statement)
	return err
}

// AddEventsForTest adds events in a transaction of the test.
func (s *Store) AddEventsForTest(ctx context.Context, tx *sqldb.Tx, id partner.ID, events ...alert.Event) error {
	return s.Alerts.addPartnerEvents(ctx, tx, id, events...)
}
