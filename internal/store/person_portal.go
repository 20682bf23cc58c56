package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
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
	err = readColumns(ctx, q, []any{&held, &erased}, `SELECT
		EXISTS (SELECT 1 FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3))
			OR EXISTS (SELECT 1 FROM support_case WHERE partner_id = $1 AND user_index IN ($2, $3))
			OR EXISTS (SELECT 1 FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3)),
		EXISTS (SELECT 1 FROM erasure WHERE partner_id = $1 AND erased_at >= $4 AND (user_512 IN ($2, $3)
		OR user_256 IN ($2, $3)))`,
		id,
		who.write,
		who.other,
		since,
	)
	return (held || who.cpf != nil) && !erased && err == nil, err
}

// EndPortalSession notes that a session on a person's page ended before its time, and forgets those whose time is over.
func (s Subjects) EndPortalSession(ctx context.Context, id partner.ID, session string, until time.Time) error {
	return s.runAll(
		ctx,
		sqldb.NewStatement(`DELETE FROM portal_ended WHERE partner_id = $1 AND until <= $2`, id, s.now()),
		sqldb.NewStatement(
			`INSERT INTO portal_ended (partner_id, session, until) VALUES ($1, $2, $3)
			ON CONFLICT (partner_id, session) DO NOTHING`,
			id,
			session,
			until,
		),
	)
}

// HasEnded reports whether a session on a person's page ended before its time.
func (s Subjects) HasEnded(ctx context.Context, id partner.ID, session string) (bool, error) {
	return readValue[bool](
		ctx,
		s.readQuerier(),
		`SELECT EXISTS (SELECT 1 FROM portal_ended WHERE partner_id = $1 AND session = $2)`,
		id,
		session,
	)
}
