package store

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// sealedNamePlace binds a sealed spelling to its person.
func sealedNamePlace(id partner.ID, index []byte) seal.Place {
	return seal.Place{Table: "person_name", Column: "name", Partner: string(id), Row: string(index)}
}

// findAndNameUser is findAndNameUsers for one person.
func (s core) findAndNameUser(ctx context.Context, tx *sqldb.Tx, id partner.ID, hash partner.UserHash) (user, error) {
	users, err := s.findAndNameUsers(ctx, tx, id, []partner.UserHash{hash})
	return users[hash], err
}

// findAndNameUsers finds the people named by a request that writes; see keepUsers. It also remembers the spelling in
// which the partner names each of them, because events use that spelling. Most requests name a person as the previous
// one did, and write nothing here. For a person without a known CPF, who may turn out to be the same as another, the
// time is stored as well.
func (s core) findAndNameUsers(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, hashes []partner.UserHash,
) (map[partner.UserHash]user, error) {
	users, err := s.keepUsers(ctx, tx, id, hashes)
	if err != nil {
		return nil, err
	}
	named, err := s.lastNames(ctx, tx, id, users)
	if err != nil {
		return nil, err
	}
	// Several hashes of a list may name one person; the last one is how the partner spelt it.
	spelt := map[string]partner.UserHash{}
	for _, hash := range hashes {
		spelt[string(users[hash].write)] = hash
	}
	var indexes []string
	var drops sqldb.Statements
	// In one order, so that two lists do not wait for each other.
	for _, index := range slices.Sorted(maps.Keys(spelt)) {
		hash := spelt[index]
		u := users[hash]
		if u.cpf != nil && named.last[index] == hash {
			continue
		}
		indexes = append(indexes, index)
		if !bytes.Equal(u.write, u.other) && named.has[string(u.other)] {
			drops.Add(
				`DELETE FROM person_name WHERE partner_id = $1 AND user_index = $2`, id, u.other,
			)
		}
	}
	if len(indexes) == 0 {
		return users, nil
	}
	number, now := id.Number(), s.now()
	err = tx.InsertOrUpdate(ctx, "person_name", []string{"partner_id", "user_index", "name", "named_at"},
		`(partner_id, user_index) DO UPDATE SET name = excluded.name, named_at = excluded.named_at`,
		rowsOf(indexes, func(_ int, index string) ([]any, error) {
			sealed, err := s.sealValue(sealedNamePlace(id, []byte(index)), string(spelt[index]))
			return []any{number, []byte(index), sealed, now}, err
		}))
	if err != nil {
		return nil, err
	}
	return users, tx.RunStatements(ctx, drops)
}

// keepUser is keepUsers for one person.
func (s core) keepUser(ctx context.Context, tx *sqldb.Tx, id partner.ID, u partner.UserHash) (user, error) {
	users, err := s.keepUsers(ctx, tx, id, []partner.UserHash{u})
	return users[u], err
}

// keepUsers is findUser for a transaction that stores something under what it finds: the person's row, which joins both
// forms of a user hash, is not swept or erased before that is committed.
func (s core) keepUsers(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, hashes []partner.UserHash,
) (map[partner.UserHash]user, error) {
	users := make(map[partner.UserHash]user, len(hashes))
	digests := map[string]map[string][]partner.UserHash{"user_256": {}, "user_512": {}}
	for _, hash := range hashes {
		if _, seen := users[hash]; seen {
			continue
		}
		sent := s.blindUserIndex(id, hash)
		users[hash] = user{write: sent, other: sent}
		switch len(hash.Digest()) { // two spellings of one digest have one index
		case 32:
			digests["user_256"][string(sent)] = append(digests["user_256"][string(sent)], hash)
		case 64:
			digests["user_512"][string(sent)] = append(digests["user_512"][string(sent)], hash)
		}
	}
	for _, column := range []string{"user_256", "user_512"} {
		if len(digests[column]) == 0 {
			continue
		}
		args := []any{id}
		err := eachRow(ctx, tx, func(row scanner) error {
			var sent []byte
			var found user
			err := row.Scan(&sent, &found.cpf, &found.other, &found.write)
			for _, hash := range digests[column][string(sent)] {
				users[hash] = found
			}
			return err
		}, `SELECT `+column+`, cpf, user_256, user_512 FROM person WHERE partner_id = $1 AND `+column+` `+
			s.inIndexes(&args, slices.Sorted(maps.Keys(digests[column])))+` ORDER BY `+column+s.db.KeepRows(),
			args...,
		)
		if err != nil {
			return nil, err
		}
	}
	return users, nil
}

// lastNames are how a partner spelt people before.
type lastNames struct {
	// last is the last spelling, by the index under which the person's rows are written.
	last map[string]partner.UserHash
	// has are the indexes that there is a spelling under.
	has map[string]bool
}

// lastNames returns how the partner spelt people last.
func (s core) lastNames(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, users map[partner.UserHash]user,
) (lastNames, error) {
	personOf := personsByIndex(users)
	type name struct {
		index []byte
		hash  string
		at    int64
	}
	args := []any{id}
	names, err := collectRows(ctx, tx, func(row scanner, n *name) error {
		var sealed []byte
		if err := row.Scan(&n.index, &sealed, &n.at); err != nil {
			return err
		}
		return s.openSealed(sealedNamePlace(id, n.index), sealed, &n.hash)
	}, `SELECT user_index, name, named_at FROM person_name
		WHERE partner_id = $1 AND user_index `+s.inIndexes(&args, slices.Sorted(maps.Keys(personOf))),
		args...,
	)
	if err != nil {
		return lastNames{}, err
	}
	slices.SortFunc(names, func(a, b name) int { return cmp.Compare(a.at, b.at) })
	known := lastNames{last: make(map[string]partner.UserHash, len(names)), has: make(map[string]bool, len(names))}
	for _, n := range names {
		known.last[personOf[string(n.index)]] = partner.UserHash(n.hash)
		known.has[string(n.index)] = true
	}
	return known, nil
}
