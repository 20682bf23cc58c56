package store

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// guessCount is a row of credential_guess: how often a value was asked about on a day, by one partner or, under the
// empty ID, by all of them. It belongs to no person and goes with its day.
type guessCount struct {
	partner partner.ID
	day     int64
	value   []byte
	asked   int64
}

// TakeGuesses counts questions about values: see cyber.MonitoringStore.
func (s Monitoring) TakeGuesses(
	ctx context.Context, id partner.ID, fingerprints []uint64, limits cyber.GuessLimits,
) (allowed []uint64, err error) {
	today := partner.DayNumber(s.now())
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		allowed = nil
		if err := execStatement(ctx, tx, `DELETE FROM credential_guess WHERE day < $1`, today); err != nil {
			return err
		}
		// In one order, so that two requests about the same values do not wait for each other.
		for _, f := range slices.Compact(slices.Sorted(slices.Values(fingerprints))) {
			taken, err := s.takeGuess(ctx, tx, id, today, f, limits)
			if err != nil {
				return err
			}
			if taken {
				allowed = append(allowed, f)
			}
		}
		return nil
	})
	return allowed, err
}

// takeGuess counts one question, unless the partner or all partners together have asked often enough today.
func (s Monitoring) takeGuess(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, today int64, fingerprint uint64, limits cyber.GuessLimits,
) (bool, error) {
	ofAll, err := s.lockGuesses(ctx, tx, "", today, fingerprint)
	if err != nil || ofAll.asked >= limits.OfAll {
		return false, err
	}
	ofPartner, err := s.lockGuesses(ctx, tx, id, today, fingerprint)
	if err != nil || ofPartner.asked >= limits.OfPartner {
		return false, err
	}
	if err := s.addGuess(ctx, tx, ofAll); err != nil {
		return false, err
	}
	return true, s.addGuess(ctx, tx, ofPartner)
}

// lockGuesses returns the count of a value and day, locked until the transaction ends. A row that this program did not
// write is refused: a lower count would allow more questions.
func (s Monitoring) lockGuesses(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, day int64, fingerprint uint64,
) (guessCount, error) {
	c := guessCount{partner: id, day: day}
	c.value = s.keys.BlindIndex("guess", string(id), binary.BigEndian.AppendUint64(nil, fingerprint))
	var mac []byte
	err := readColumns(
		ctx,
		tx,
		[]any{&c.asked, &mac},
		`INSERT INTO credential_guess (day, partner_id, value, asked, mac)
		VALUES ($1, $2, $3, 0, $4)
		ON CONFLICT (day, partner_id, value) DO UPDATE SET asked = credential_guess.asked RETURNING asked, mac`,
		c.day,
		c.partner,
		c.value,
		s.grantMAC("credential_guess", guessGrant(c)),
	)
	if err == nil && !s.isGenuine("credential_guess", guessGrant(c), mac) {
		err = forgedRowError("credential_guess", "of today")
	}
	return c, err
}

// addGuess counts one question more.
func (s Monitoring) addGuess(ctx context.Context, tx *sqldb.Tx, c guessCount) error {
	c.asked++
	return execStatement(ctx, tx, `UPDATE credential_guess SET asked = $4, mac = $5
		WHERE day = $1 AND partner_id = $2 AND value = $3`,
		c.day,
		c.partner,
		c.value,
		c.asked,
		s.grantMAC("credential_guess", guessGrant(c)),
	)
}

// guessGrant covers whose count it is, of which day and value.
func guessGrant(c guessCount) *grant {
	return new(grant).addTexts(string(c.partner)).addNumbers(c.day).addBytes(c.value).addNumbers(c.asked)
}
