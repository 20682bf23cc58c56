package store

import "context"

// everywhere are the tables that have no partner in their key and that rows of partners refer to, or that say whose a
// row is: each machine has a copy. All other tables without a partner stay on the coordinator.
var everywhere = []string{"partner", "breach", "service", "case_slot", "api_key", "case_booking"}

// Distribute spreads the partners' tables over the machines of a PostgreSQL with Citus, each partner's rows on one, and
// returns how many tables it has spread.
func (s *Store) Distribute(ctx context.Context) (int, error) {
	return s.db.Distribute(ctx, "partner_id", everywhere)
}
