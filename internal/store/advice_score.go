package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// scorePlace returns where a day's score is sealed. A person's risk is sensitive: a copy of the table must not reveal
// it.
func scorePlace(id partner.ID, user []byte, day int64) seal.Place {
	return seal.Place{
		Table:   "score_day",
		Column:  "sealed",
		Partner: string(id),
		Row:     string(user) + "/" + strconv.FormatInt(day, 10),
	}
}

// sealDayScore has the same length for every score.
func (s Advice) sealDayScore(id partner.ID, user []byte, d cyber.ScoreDay) ([]byte, error) {
	plain := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(d.Breach)), uint64(d.Assessment))
	return s.sealValue(scorePlace(id, user, d.Day), plain)
}

// openDayScore fills in the score of a day.
func (s Advice) openDayScore(id partner.ID, user []byte, d *cyber.ScoreDay, sealed []byte) error {
	var plain []byte
	if err := s.openSealed(scorePlace(id, user, d.Day), sealed, &plain); err != nil {
		return err
	}
	if len(plain) != 16 {
		return fmt.Errorf("open score: %d bytes", len(plain))
	}
	d.Breach, d.Assessment = int64(binary.BigEndian.Uint64(plain)), int64(binary.BigEndian.Uint64(plain[8:]))
	return nil
}

// KeepScore stores the score of a day, over an earlier one of the same day.
func (s Advice) KeepScore(ctx context.Context, id partner.ID, sent partner.UserHash, d cyber.ScoreDay) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		u, err := s.keepUser(ctx, tx, id, sent)
		if err != nil {
			return err
		}
		sealed, err := s.sealDayScore(id, u.write, d)
		if err != nil {
			return err
		}
		return execStatement(ctx, tx, `INSERT INTO score_day (partner_id, user_index, day, kept_at, sealed)
			VALUES ($1, $2, $3, $4, $5) ON CONFLICT (partner_id, user_index, day)
			DO UPDATE SET kept_at = excluded.kept_at, sealed = excluded.sealed`,
			id,
			u.write,
			d.Day,
			s.now(),
			sealed,
		)
	})
}

// ScoreDays returns the days on which a person's score changed, oldest first. A day kept under both digests counts as
// it was kept once the person was known.
func (s Advice) ScoreDays(ctx context.Context, id partner.ID, sent partner.UserHash) ([]cyber.ScoreDay, error) {
	return collectOfUser(
		ctx,
		s.core,
		id,
		sent,
		s.scanScoreDay(id),
		`SELECT `+scoreColumns+` FROM score_day d WHERE d.partner_id = $1 AND (d.user_index = $2
			OR d.user_index = $3 AND NOT EXISTS (SELECT 1 FROM score_day w
			WHERE w.partner_id = $1 AND w.user_index = $2 AND w.day = d.day))
		ORDER BY d.day`,
	)
}

// scoreColumns are what scanScoreDay reads; the table goes by d.
const scoreColumns = `d.day, d.user_index, d.sealed`

// scanScoreDay returns what reads a day of a partner's person.
func (s Advice) scanScoreDay(id partner.ID) func(scanner, *cyber.ScoreDay) error {
	return func(row scanner, d *cyber.ScoreDay) error {
		var user []byte
		return row.Scan(
			&d.Day,
			&user,
			scanFunc(func(sealed []byte) error { return s.openDayScore(id, user, d, sealed) }),
		)
	}
}
