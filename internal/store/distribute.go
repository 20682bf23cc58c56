package store

import (
	"context"
)

// CopiedTables returns the tables of which each machine has a copy: they have no partner in their key, and rows of
// partners refer to them, or requests of partners read them and they seldom change. Their changes need every machine.
// All other tables without a partner stay on the coordinator.
func CopiedTables() []string {
	return []string{
		"partner",
		"breach",
		"service",
		"case_slot",
		"api_key",
		"case_booking",
		"case_question",
		"case_target",
		"content",
		"epoch",
		"epp_install",
		"key_ring",
		"meta",
		"schema_migration",
	}
}

// Distribute spreads the partners' tables over the machines of a PostgreSQL with Citus, each partner's rows on one, and
// returns how many tables it has spread.
func (s *Store) Distribute(ctx context.Context) (int, error) {
	return s.db.Distribute(ctx, "partner_id", CopiedTables())
}
