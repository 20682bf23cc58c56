package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// themePlace: a theme says in whose pages a person's may stand, so it is sealed like what grants power.
func themePlace(id partner.ID) seal.Place {
	return seal.Place{Table: "partner_theme", Column: "body", Partner: string(id), Row: string(id)}
}

// GetTheme returns a partner's theme; its zero value when there is none, or one that this program did not seal.
func (s Partners) GetTheme(ctx context.Context, id partner.ID) (partner.Theme, error) {
	return s.readTheme(ctx, s.readQuerier(), id)
}

// readTheme is GetTheme for a querier.
func (s Partners) readTheme(ctx context.Context, q querier, id partner.ID) (partner.Theme, error) {
	var t partner.Theme
	body, err := readValue[[]byte](ctx, q, `SELECT body FROM partner_theme WHERE partner_id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) || err == nil && s.openSealed(themePlace(id), body, &t) != nil {
		return partner.Theme{}, nil // forged: the page falls back to the default look, and vigia check names the row
	}
	return t, err
}

func (s Partners) UpdateTheme(
	ctx context.Context, id partner.ID, change func(*partner.Theme) error,
) (partner.Theme, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (t partner.Theme, err error) {
		if err := moveAccessEpoch(ctx, tx); err != nil { // it orders concurrent changes, as it does those of partners
			return t, err
		}
		if _, err := s.partnerByID(ctx, tx, id); err != nil {
			return t, err
		}
		if t, err = s.readTheme(ctx, tx, id); err != nil {
			return t, err
		}
		if err := change(&t); err != nil {
			return t, err
		}
		sealed, err := s.sealValue(themePlace(id), t)
		if err != nil {
			return t, err
		}
		return t, execStatement(ctx, tx, `INSERT INTO partner_theme (partner_id, body) VALUES ($1, $2)
			ON CONFLICT (partner_id) DO UPDATE SET body = excluded.body`,
			id,
			sealed,
		)
	})
}
