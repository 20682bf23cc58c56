package store

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// KeepScore keeps the score of a day, over an earlier one of the same day.
func (s *Store) KeepScore(ctx context.Context, id partner.ID, sent partner.UserHash, d cyber.ScoreDay) error {
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
		u, err := s.userOf(ctx, tx, id, sent)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO score_day (partner_id, user_index, day, breach, assessment, kept_at)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (partner_id, user_index, day)
			DO UPDATE SET breach = excluded.breach, assessment = excluded.assessment, kept_at = excluded.kept_at`,
			string(id), u.write, d.Day, d.Breach, d.Assessment, micros(s.now()))
		if err != nil {
			return fmt.Errorf("keep score: %w", err)
		}
		return nil
	})
}

// ScoreDays returns the days on which a person's score changed, oldest first. A day kept under both digests counts as it was
// kept once the person was known.
func (s *Store) ScoreDays(ctx context.Context, id partner.ID, sent partner.UserHash) ([]cyber.ScoreDay, error) {
	q := s.reader(ctx)
	u, err := s.userOf(ctx, q, id, sent)
	if err != nil {
		return nil, err
	}
	return collect(ctx, q, func(row scanner) (cyber.ScoreDay, error) {
		var d cyber.ScoreDay
		err := row.Scan(&d.Day, &d.Breach, &d.Assessment)
		return d, err
	}, `SELECT d.day, d.breach, d.assessment FROM score_day d WHERE d.partner_id = $1 AND (d.user_index = $2
			OR d.user_index = $3 AND NOT EXISTS (SELECT 1 FROM score_day w WHERE w.partner_id = $1 AND w.user_index = $2 AND w.day = d.day))
		ORDER BY d.day`, string(id), u.write, u.other)
}
