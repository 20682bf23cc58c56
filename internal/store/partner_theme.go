package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
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
	var sealed []byte
	var t partner.Theme
	err := q.QueryRowContext(ctx, `SELECT body FROM partner_theme WHERE partner_id = $1`, partnerNumber(id)).Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return t, nil
	}
	if err != nil {
		return t, classifyError(fmt.Errorf("read theme: %w", err))
	}
	plain, err := s.keys.Unseal(themePlace(id), sealed)
	if err != nil {
		return t, nil //nolint:nilerr // forged: the page falls back to the default look, and vigia check names the row
	}
	err = json.Unmarshal(plain, &t)
	return t, wrapError("read theme", err)
}

// UpdateTheme changes a partner's theme.
func (s Partners) UpdateTheme(ctx context.Context, id partner.ID, change func(*partner.Theme) error) (partner.Theme, error) {
	var t partner.Theme
	err := s.runInTx(ctx, func(tx *sqldb.Tx) error {
		if err := moveAccessEpoch(ctx, tx); err != nil { // it orders concurrent changes, as it does those of partners
			return err
		}
		if _, err := s.partnerByID(ctx, tx, id); err != nil {
			return err
		}
		var err error
		if t, err = s.readTheme(ctx, tx, id); err != nil {
			return err
		}
		if err := change(&t); err != nil {
			return err
		}
		plain, err := json.Marshal(t, json.Deterministic(true))
		if err != nil {
			return fmt.Errorf("write theme: %w", err)
		}
		sealed, err := s.keys.Seal(themePlace(id), plain)
		if err != nil {
			return fmt.Errorf("seal theme: %w", err)
		}
		return execStatement(ctx, tx, "keep theme", `INSERT INTO partner_theme (partner_id, body) VALUES ($1, $2)
			ON CONFLICT (partner_id) DO UPDATE SET body = excluded.body`, partnerNumber(id), sealed)
	})
	return t, err
}
