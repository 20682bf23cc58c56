package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// indexes are all keys under which one person's rows of one partner may stand.
type indexes struct {
	partner partner.ID
	cpf     []byte // empty when it is not known
	user256 []byte // the same as user512 when the hash is no digest of a known person
	user512 []byte
	// value is the index of the person's CPF as a watched value, under whichever user; empty without a CPF.
	value []byte
}

// computeIndexes computes a person's keys. By a CPF it needs no row to be there; by a user hash it learns the rest from
// the person's row.
func (s Subjects) computeIndexes(ctx context.Context, q querier, id partner.ID, p subject.Person) (indexes, error) {
	if p.CPF == "" {
		u, err := s.findUser(ctx, q, id, p.User)
		return indexes{partner: id, cpf: orEmptyBytes(u.cpf), user256: u.other, user512: u.write, value: []byte{}}, err
	}
	salt, err := Partners(s).OpenSalt(ctx, id)
	if err != nil {
		return indexes{}, err
	}
	x := indexes{partner: id, value: Monitoring(s).valueIndex(id, identifier.CPF, p.CPF)}
	x.cpf, x.user256, x.user512 = s.personColumns(id, p.CPF, salt)
	return x, nil
}

// userArguments returns the arguments of statements on a person's user indexes.
func (x indexes) userArguments() []any { return []any{x.partner, x.user512, x.user256} }

// assetArguments returns the arguments of statements on a person's values.
func (x indexes) assetArguments() []any {
	return []any{x.partner, x.user512, x.user256, identifier.CPF, x.value}
}

// byPerson before the column that a person's rows are ordered by has their index used and the few of them sorted:
// SQLite would rather read all of the partner's in that order.
const byPerson = `0 + `
