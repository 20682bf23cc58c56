package store

import (
	"context"
	"maps"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// personsValue is a value of a person, by the indexes of both.
type personsValue struct {
	person string
	kind   identifier.Kind
	index  string
}

// heldValue is a value that a person has already, and the index that its row stands under.
type heldValue struct {
	id     cyber.AssetID
	user   string
	source cyber.AssetSource
	look   int64
}

// heldValues are the values that people have already.
type heldValues struct {
	values map[personsValue]heldValue
	// count is how many values a person has. The limit is a quota: two requests at the same instant may pass it.
	count map[string]int
}

// add notes a value, one more unless it was counted before.
func (h heldValues) add(v personsValue, held heldValue, isCounted bool) {
	h.values[v] = held
	if !isCounted {
		h.count[v.person]++
	}
}

// personsByIndex returns the index under which a person's rows are written, by each of the person's indexes.
func personsByIndex(users map[partner.UserHash]user) map[string]string {
	personOf := make(map[string]string, len(users))
	for _, u := range users {
		personOf[string(u.write)] = string(u.write)
		personOf[string(u.other)] = string(u.write)
	}
	return personOf
}

// heldValues reads the values of the people of some rows; those that were added under the other digest of a person
// count as the person's.
func (s Monitoring) heldValues(ctx context.Context, tx *sqldb.Tx, id partner.ID, rows []assetRow) (heldValues, error) {
	held := heldValues{values: map[personsValue]heldValue{}, count: map[string]int{}}
	personOf := make(map[string]string, len(rows))
	for _, r := range rows {
		personOf[string(r.user.write)] = string(r.user.write)
		personOf[string(r.user.other)] = string(r.user.write)
	}
	args := []any{id}
	err := eachRow(ctx, tx, func(row scanner) error {
		var v personsValue
		var known heldValue
		var user, index []byte
		if err := row.Scan(&known.id, &user, &v.kind, &index, &known.source, &known.look); err != nil {
			return err
		}
		known.user = string(user)
		v.person = personOf[known.user]
		v.index = string(index)
		if _, isTwin := held.values[v]; isTwin && known.user != v.person {
			held.count[v.person]++ // the row under the person's own index is the one to change
			return nil
		}
		held.add(v, known, false)
		return nil
	}, `SELECT id, user_index, kind, value_index, source, look FROM asset
		WHERE partner_id = $1 AND user_index `+s.inIndexes(&args, slices.Sorted(maps.Keys(personOf))),
		args...,
	)
	return held, err
}

// linkPersons makes both digests of each CPF of a list known as one person. It writes also when they are, so that the
// row is locked and no sweep deletes it before the transaction is committed; in one order, so that two lists do not
// wait for each other.
func (s Monitoring) linkPersons(ctx context.Context, tx *sqldb.Tx, id partner.ID, list []cyber.NewAsset) error {
	salts := map[string]string{}
	for _, a := range list {
		if a.OwnCPF != "" {
			salts[a.OwnCPF] = a.Salt
		}
	}
	if len(salts) == 0 {
		return nil
	}
	number, now := id.Number(), s.now()
	columns := []string{"partner_id", "cpf", "user_256", "user_512", "created_at"}
	return tx.InsertOrUpdate(ctx, "person", columns, `(partner_id, cpf) DO UPDATE SET created_at = person.created_at`,
		rowsOf(slices.Sorted(maps.Keys(salts)), func(_ int, cpf string) ([]any, error) {
			index, d256, d512 := s.personColumns(id, cpf, salts[cpf])
			return []any{number, index, d256, d512, now}, nil
		}))
}
