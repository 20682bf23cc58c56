package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// cpfIndex is how a CPF is found again.
func (s *Store) cpfIndex(id partner.ID, cpf string) []byte {
	return s.keys.BlindIndex("cpf", string(id), []byte(cpf))
}

// userIndex is how a user hash is found again, in whichever spelling it comes; empty for no user.
func (s *Store) userIndex(id partner.ID, u partner.UserHash) []byte {
	if u == "" {
		return []byte{}
	}
	return s.keys.BlindIndex("user", string(id), u.Canonical())
}

// personRow gives the columns of a person's row.
func (s *Store) personRow(id partner.ID, cpf, salt string) (cpfIndex, user256, user512 []byte) {
	d256, d512 := partner.Digests(cpf, salt)
	return s.cpfIndex(id, cpf), s.keys.BlindIndex("user", string(id), d256), s.keys.BlindIndex("user", string(id), d512)
}

// user is the indexes under which one person's rows in the cyber area may stand.
type user struct {
	// write is where new rows go: the 512-bit form once the person is known, the form as sent before that.
	write []byte
	// other is the second form, or the same as write.
	other []byte
	// cpf is the index of the person's CPF; nil while nobody told us whose hash this is.
	cpf []byte
}

// userOf joins the forms of a user hash through the person they belong to.
func (s *Store) userOf(ctx context.Context, q querier, id partner.ID, u partner.UserHash) (user, error) {
	sent := s.userIndex(id, u)
	var cpf, d256, d512 []byte
	err := q.QueryRowContext(ctx, `SELECT cpf, user_256, user_512 FROM person WHERE partner_id = $1 AND user_512 = $2
		UNION ALL SELECT cpf, user_256, user_512 FROM person WHERE partner_id = $1 AND user_256 = $2 LIMIT 1`,
		string(id), sent).Scan(&cpf, &d256, &d512)
	if errors.Is(err, sql.ErrNoRows) {
		return user{write: sent, other: sent}, nil
	}
	if err != nil {
		return user{}, classify(fmt.Errorf("find person: %w", err))
	}
	return user{write: d512, other: d256, cpf: cpf}, nil
}

// SamePerson tells whether two user hashes name one person: spellings of one digest, or both digests of somebody who is known.
func (s *Store) SamePerson(ctx context.Context, id partner.ID, a, b partner.UserHash) (bool, error) {
	q := s.reader(ctx)
	one, err := s.userOf(ctx, q, id, a)
	if err != nil {
		return false, err
	}
	two, err := s.userOf(ctx, q, id, b)
	return bytes.Equal(one.write, two.write), err
}

// linkPerson makes both digests of a CPF known as one person.
func (s *Store) linkPerson(ctx context.Context, tx *sqldb.Tx, id partner.ID, cpf, salt string) error {
	index, d256, d512 := s.personRow(id, cpf, salt)
	_, err := tx.ExecContext(ctx, `INSERT INTO person (partner_id, cpf, user_256, user_512, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (partner_id, cpf) DO NOTHING`, string(id), index, d256, d512, micros(s.now()))
	if err != nil {
		return fmt.Errorf("link person: %w", err)
	}
	return nil
}
