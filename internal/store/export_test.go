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

// WaitingBulk is how many bulk requests of a partner wait for another.
func (s *Store) WaitingBulk(id partner.ID) int {
	s.bulk.mu.Lock()
	defer s.bulk.mu.Unlock()
	return len(s.bulk.lead[id])
}

// LeadingBulk tells whether a bulk request of the partner is being kept.
func (s *Store) LeadingBulk(id partner.ID) bool {
	s.bulk.mu.Lock()
	defer s.bulk.mu.Unlock()
	_, busy := s.bulk.lead[id]
	return busy
}
