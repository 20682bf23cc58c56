package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// blindCPFIndex returns the keyed index by which a CPF is found; the CPF itself is stored only sealed.
func (s core) blindCPFIndex(id partner.ID, cpf string) []byte {
	return s.keys.BlindIndex("cpf", string(id), []byte(cpf))
}

// blindUserIndex returns the keyed index of a user hash, the same for every spelling; empty for no user.
func (s core) blindUserIndex(id partner.ID, u partner.UserHash) []byte {
	if u == "" {
		return []byte{}
	}
	return s.keys.BlindIndex("user", string(id), u.Canonical())
}

// personColumns gives the columns of a person's row.
func (s core) personColumns(id partner.ID, cpf, salt string) (cpfIndex, user256, user512 []byte) {
	d256, d512 := partner.PersonDigests(cpf, salt)
	user256 = s.keys.BlindIndex("user", string(id), d256)
	user512 = s.keys.BlindIndex("user", string(id), d512)
	return s.blindCPFIndex(id, cpf), user256, user512
}

// user is the indexes under which one person's rows in the cyber area may stand.
type user struct {
	// write is where new rows go: the 512-bit form once the person is known, the form as sent before that.
	write []byte
	// other is the second form, or the same as write.
	other []byte
	// cpf is the index of the person's CPF; nil while no request has said which CPF the hash belongs to.
	cpf []byte
}

// findUser joins the forms of a user hash through the person they belong to.
func (s core) findUser(ctx context.Context, q querier, id partner.ID, u partner.UserHash) (user, error) {
	sent := s.blindUserIndex(id, u)
	column := ""
	switch len(u.Digest()) {
	case 32:
		column = "user_256"
	case 64:
		column = "user_512"
	default: // a name that the partner made up
		return user{write: sent, other: sent}, nil
	}
	var found user
	err := readColumns(ctx, q, []any{&found.cpf, &found.other, &found.write},
		`SELECT cpf, user_256, user_512 FROM person WHERE partner_id = $1 AND `+column+` = $2`,
		id,
		sent,
	)
	if errors.Is(err, sql.ErrNoRows) {
		return user{write: sent, other: sent}, nil
	}
	return found, err
}

// collectOfUser runs a query for rows of a person: $1 is the partner, $2 and $3 are the person's indexes, and more
// follow.
func collectOfUser[T any](
	ctx context.Context,
	c core,
	id partner.ID,
	hash partner.UserHash,
	scan func(scanner, *T) error,
	query string,
	more ...any,
) ([]T, error) {
	q := c.readQuerier()
	u, err := c.findUser(ctx, q, id, hash)
	if err != nil {
		return nil, err
	}
	return collectRows(ctx, q, scan, query, append([]any{id, u.write, u.other}, more...)...)
}

// runAsUser runs fn in a transaction about a person whom a request that writes names: see findAndNameUser.
func (s core) runAsUser(
	ctx context.Context, id partner.ID, hash partner.UserHash, fn func(tx *sqldb.Tx, u user) error,
) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		u, err := s.findAndNameUser(ctx, tx, id, hash)
		if err != nil {
			return err
		}
		return fn(tx, u)
	})
}

// IsSamePerson reports whether two user hashes name one person: two spellings of one digest, or both digests of a known
// person.
func (s core) IsSamePerson(ctx context.Context, id partner.ID, a, b partner.UserHash) (bool, error) {
	q := s.readQuerier()
	one, err := s.findUser(ctx, q, id, a)
	if err != nil {
		return false, err
	}
	two, err := s.findUser(ctx, q, id, b)
	return bytes.Equal(one.write, two.write), err
}

// person is who stands behind an index.
type person struct {
	// key is the one index by which all that belongs to a person is told apart: that of the longer digest once both are
	// known.
	key []byte
	// d256 and d512 are empty while only one index is known.
	d256, d512 string
	// name is how the partner spelt the user hash last; empty when it never did.
	name    partner.UserHash
	namedAt int64
}

// otherIndex returns the second index of the person; empty when there is none.
func (p person) otherIndex(index string) string {
	if index == p.d512 {
		return p.d256
	}
	return p.d512
}

// findPersons finds out who stands behind indexes; each of them has its entry.
func (s core) findPersons(ctx context.Context, q querier, id partner.ID, indexes [][]byte) (map[string]person, error) {
	people := make(map[string]person, len(indexes))
	wanted := make([]string, 0, len(indexes))
	for _, index := range indexes {
		if _, seen := people[string(index)]; !seen && len(index) > 0 {
			people[string(index)] = person{key: index}
			wanted = append(wanted, string(index))
		}
	}
	const batch = 300
	for part := range slices.Chunk(wanted, batch) {
		args := []any{id}
		isAsked := s.inIndexes(&args, part)
		const joined = `SELECT p.user_256, p.user_512, n.user_index, n.name, n.named_at FROM person p
			LEFT JOIN person_name n ON n.partner_id = p.partner_id AND n.user_index IN (p.user_256, p.user_512)
			WHERE p.partner_id = $1 AND `
		err := eachRow(ctx, q, func(row scanner) error { return s.addPersonRow(id, people, row) },
			joined+`p.user_512 `+isAsked+` UNION ALL `+joined+`p.user_256 `+isAsked+`
			UNION ALL SELECT NULL, NULL, user_index, name, named_at FROM person_name
			WHERE partner_id = $1 AND user_index `+isAsked,
			args...,
		)
		if err != nil {
			return nil, err
		}
	}
	return people, nil
}

// addPersonRow takes a row of findPersons into what is known of the people asked for.
func (s core) addPersonRow(id partner.ID, people map[string]person, row scanner) error {
	var d256, d512, index, sealed []byte
	var at sql.NullInt64
	if err := row.Scan(&d256, &d512, &index, &sealed, &at); err != nil {
		return err
	}
	var name []byte
	if sealed != nil {
		var err error
		if name, err = s.keys.Unseal(sealedNamePlace(id, index), sealed); err != nil {
			return fmt.Errorf("open name: %w", err)
		}
	}
	about := []string{string(d256), string(d512)}
	if d512 == nil {
		about = []string{string(index)}
	}
	for _, one := range about {
		p, asked := people[one]
		if !asked {
			continue
		}
		if d512 != nil {
			p.key, p.d256, p.d512 = d512, string(d256), string(d512)
		}
		if len(name) > 0 && (p.name == "" || at.Int64 > p.namedAt) {
			p.name, p.namedAt = partner.UserHash(name), at.Int64
		}
		people[one] = p
	}
	return nil
}
