package store

import (
	"context"
	"maps"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// sealedAnswerPlace binds a sealed answer to its row.
func sealedAnswerPlace(id partner.ID, user []byte, item cyber.ContentID) seal.Place {
	return seal.Place{
		Table:   "content_answer",
		Column:  "value",
		Partner: string(id),
		Row:     string(user) + "/" + string(item),
	}
}

// KeepAnswer stores a person's answer to a validation question.
func (s Advice) KeepAnswer(
	ctx context.Context, id partner.ID, sent partner.UserHash, item cyber.ContentID, value string,
) error {
	return s.runAsUser(ctx, id, sent, func(tx *sqldb.Tx, u user) error {
		sealed, err := s.sealValue(sealedAnswerPlace(id, u.write, item), value)
		if err != nil {
			return err
		}
		return execStatement(
			ctx,
			tx,
			`INSERT INTO content_answer (partner_id, user_index, content_id, value, answered_at)
			VALUES ($1, $2, $3, $4, $5) ON CONFLICT (partner_id, user_index, content_id)
			DO UPDATE SET value = excluded.value, answered_at = excluded.answered_at`,
			id,
			u.write,
			item,
			sealed,
			s.now(),
		)
	})
}

func (s Advice) BreachesByName(ctx context.Context, names []string) ([]cyber.Breach, error) {
	found, err := s.breachesByName(ctx, s.readQuerier(), names)
	return slices.Collect(maps.Values(found)), err
}
