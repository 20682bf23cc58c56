package store

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

var _ cyber.PortalStore = Subjects{}

// IsStillHeld reports whether anything is held about a person, and nothing was erased of them since a time.
func (s Subjects) IsStillHeld(ctx context.Context, id partner.ID, u partner.UserHash, since time.Time) (bool, error) {
	q := s.readQuerier()
	who, err := s.findUser(ctx, q, id, u)
	if err != nil {
		return false, err
	}
	var held, erased bool
	err = q.QueryRowContext(ctx, `SELECT
		EXISTS (SELECT 1 FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3))
			OR EXISTS (SELECT 1 FROM support_case WHERE partner_id = $1 AND user_index IN ($2, $3))
			OR EXISTS (SELECT 1 FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3)),
		EXISTS (SELECT 1 FROM erasure WHERE partner_id = $1 AND erased_at >= $4 AND (user_512 IN ($2, $3) OR user_256 IN ($2, $3)))`,
		partnerNumber(id), who.write, who.other, toMicros(since)).Scan(&held, &erased)
	if err != nil {
		return false, classifyError(fmt.Errorf("find what is held: %w", err))
	}
	return (held || who.cpf != nil) && !erased, nil
}
