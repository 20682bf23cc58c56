package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// EnrolledValues returns what a person's subscriptions in force name: see cyber.MonitoringStore.
func (s Monitoring) EnrolledValues(ctx context.Context, id partner.ID, hash partner.UserHash) ([]cyber.EnrolledValue, error) {
	q := s.readQuerier()
	u, err := s.findUser(ctx, q, id, hash)
	if err != nil || u.cpf == nil {
		return nil, err
	}
	list, err := s.subscriptions().readByCPF(ctx, q, id, u.cpf, "")
	if err != nil {
		return nil, err
	}
	var values []cyber.EnrolledValue
	for _, sub := range list {
		if sub.Over(subscription.DayInBrazil(s.now())) {
			continue
		}
		b := sub.Beneficiary
		values = append(values, cyber.EnrolledValue{Kind: identifier.Email, Value: b.Email}, cyber.EnrolledValue{Kind: identifier.Phone, Value: b.Phone},
			cyber.EnrolledValue{Kind: identifier.CPF, Value: b.CPF}, cyber.EnrolledValue{Kind: identifier.Card, Value: b.PrimaryCard},
			cyber.EnrolledValue{Kind: identifier.Card, Value: b.UserCard})
	}
	return values, nil
}

// TakeGuesses counts questions about values: see cyber.MonitoringStore. A row belongs to no partner and no person; it goes
// with its day.
func (s Monitoring) TakeGuesses(ctx context.Context, fingerprints []uint64, limit int64) (allowed []uint64, err error) {
	today := partner.DayNumber(s.now())
	err = s.runInTx(ctx, func(tx *sqldb.Tx) error {
		allowed = nil
		if _, err := tx.ExecContext(ctx, `DELETE FROM credential_guess WHERE day < $1`, today); err != nil {
			return fmt.Errorf("forget guesses: %w", err)
		}
		// In one order, so that two requests about the same values do not wait for each other.
		for _, f := range slices.Compact(slices.Sorted(slices.Values(fingerprints))) {
			n, err := rowsAffected(tx.ExecContext(ctx, `INSERT INTO credential_guess (day, value, asked) VALUES ($1, $2, 1)
				ON CONFLICT (day, value) DO UPDATE SET asked = credential_guess.asked + 1 WHERE credential_guess.asked < $3`,
				today, s.keys.BlindIndex("guess", "", binary.BigEndian.AppendUint64(nil, f)), limit))
			if err != nil {
				return fmt.Errorf("count guesses: %w", err)
			}
			if n == 1 {
				allowed = append(allowed, f)
			}
		}
		return nil
	})
	return allowed, err
}
