package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// scorePlace returns where a day's score is sealed. A person's risk is sensitive: a copy of the table must not reveal
// it.
func scorePlace(id partner.ID, user []byte, day int64) seal.Place {
	return seal.Place{Table: "score_day", Column: "sealed", Partner: string(id), Row: string(user) + "/" + strconv.FormatInt(day, 10)}
}

// sealDayScore has the same length for every score.
func (s Advice) sealDayScore(id partner.ID, user []byte, d cyber.ScoreDay) ([]byte, error) {
	plain := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(d.Breach)), uint64(d.Assessment))
	sealed, err := s.keys.Seal(scorePlace(id, user, d.Day), plain)
	return sealed, wrapError("seal score", err)
}

// openDayScore fills in the score of a day.
func (s Advice) openDayScore(id partner.ID, user []byte, d *cyber.ScoreDay, sealed []byte) error {
	plain, err := s.keys.Unseal(scorePlace(id, user, d.Day), sealed)
	if err != nil {
		return fmt.Errorf("open score: %w", err)
	}
	if len(plain) != 16 {
		return fmt.Errorf("open score: %d bytes", len(plain))
	}
	d.Breach, d.Assessment = int64(binary.BigEndian.Uint64(plain)), int64(binary.BigEndian.Uint64(plain[8:]))
	return nil
}

// KeepScore stores the score of a day, over an earlier one of the same day.
func (s Advice) KeepScore(ctx context.Context, id partner.ID, sent partner.UserHash, d cyber.ScoreDay) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		u, err := s.findUser(ctx, tx, id, sent)
		if err != nil {
			return err
		}
		sealed, err := s.sealDayScore(id, u.write, d)
		if err != nil {
			return err
		}
		return execStatement(ctx, tx, "keep score", `INSERT INTO score_day (partner_id, user_index, day, kept_at, sealed)
			VALUES ($1, $2, $3, $4, $5) ON CONFLICT (partner_id, user_index, day)
			DO UPDATE SET kept_at = excluded.kept_at, sealed = excluded.sealed`,
			partnerNumber(id), u.write, d.Day, toMicros(s.now()), sealed)
	})
}

// ScoreDays returns the days on which a person's score changed, oldest first. A day kept under both digests counts as
// it was kept once the person was known.
func (s Advice) ScoreDays(ctx context.Context, id partner.ID, sent partner.UserHash) ([]cyber.ScoreDay, error) {
	q := s.readQuerier()
	u, err := s.findUser(ctx, q, id, sent)
	if err != nil {
		return nil, err
	}
	return collectRows(ctx, q, s.scanScoreDay(id), `SELECT `+scoreColumns+` FROM score_day d WHERE d.partner_id = $1 AND (d.user_index = $2
			OR d.user_index = $3 AND NOT EXISTS (SELECT 1 FROM score_day w WHERE w.partner_id = $1 AND w.user_index = $2 AND w.day = d.day))
		ORDER BY d.day`, partnerNumber(id), u.write, u.other)
}

// scoreColumns are what scoreDay reads; the table goes by d.
const scoreColumns = `d.day, d.user_index, d.sealed`

// scanScoreDay returns what reads a day of a partner's person.
func (s Advice) scanScoreDay(id partner.ID) func(row scanner) (cyber.ScoreDay, error) {
	return func(row scanner) (cyber.ScoreDay, error) {
		var d cyber.ScoreDay
		var user, sealed []byte
		if err := row.Scan(&d.Day, &user, &sealed); err != nil {
			return d, err
		}
		return d, s.openDayScore(id, user, &d, sealed)
	}
}
