package store

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// InsertAssets stores a list of new watched values in one transaction and few statements: see cyber.MonitoringStore.
func (s Monitoring) InsertAssets(
	ctx context.Context,
	id partner.ID,
	list []cyber.NewAsset,
	limit int,
) (refused []error, err error) {
	sealed := make([][]byte, len(list))
	for i, a := range list {
		if sealed[i], err = s.sealAssetValue(id, a.Asset); err != nil {
			return nil, err
		}
	}
	err = s.runInBulkTx(ctx, len(list), func(tx *sqldb.Tx) error {
		refused, err = s.insertAssets(ctx, tx, id, list, sealed, limit)
		return err
	})
	return refused, err
}

// insertAssets stores each value that its person does not have yet, and refuses those of people who have limit values.
func (s Monitoring) insertAssets(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, list []cyber.NewAsset, sealed [][]byte, limit int,
) ([]error, error) {
	if err := s.linkPersons(ctx, tx, id, list); err != nil {
		return nil, err
	}
	hashes := make([]partner.UserHash, len(list))
	for i, a := range list {
		hashes[i] = a.User
	}
	users, err := s.findAndNameUsers(ctx, tx, id, hashes)
	if err != nil {
		return nil, err
	}
	held, err := s.heldValues(ctx, tx, id, users)
	if err != nil {
		return nil, err
	}
	epoch, err := corporaEpoch(ctx, tx)
	if err != nil {
		return nil, err
	}
	refused := make([]error, len(list))
	var statements []sqldb.Statement
	var hits []leak.Hit
	for i, a := range list {
		u := users[a.User]
		value := personsValue{person: string(u.write), kind: a.Kind, index: string(s.valueIndex(id, a.Kind, a.Normal))}
		switch {
		case held.values[value]:
			continue
		case held.count[value.person] >= limit:
			refused[i] = cyber.ErrAssetLimit.With("userHash", fault.ValuesOfPerson, limit)
			continue
		}
		held.add(value)
		fingerprint, look := s.decideFirstLook(id, a, epoch)
		statements = append(statements, sqldb.NewStatement(insertAssetRow,
			a.ID,
			id,
			u.write,
			a.Kind,
			[]byte(value.index),
			fingerprint,
			look,
			sealed[i],
			cyber.StatusMonitored,
			a.AddedAt,
		))
		for _, seen := range a.Seen.Breaches {
			hits = append(hits, leak.Hit{Asset: a.ID, Seen: seen})
		}
	}
	if err := tx.RunStatements(ctx, statements); err != nil {
		return nil, err
	}
	if len(hits) == 0 {
		return refused, nil
	}
	return refused, s.addFindings(ctx, tx, id, hits)
}

// personsValue is a value of a person, by the indexes of both.
type personsValue struct {
	person string
	kind   identifier.Kind
	index  string
}

// heldValues are the values that people have already.
type heldValues struct {
	values map[personsValue]bool
	// count is how many values a person has. The limit is a quota: two requests at the same instant may pass it.
	count map[string]int
}

// add notes one value more.
func (h heldValues) add(v personsValue) {
	h.values[v] = true
	h.count[v.person]++
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

// heldValues reads the values of some people; those that were added under the other digest of a person count as the
// person's.
func (s Monitoring) heldValues(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, users map[partner.UserHash]user,
) (heldValues, error) {
	held := heldValues{values: map[personsValue]bool{}, count: map[string]int{}}
	personOf := personsByIndex(users)
	args := []any{id}
	err := eachRow(ctx, tx, func(row scanner) error {
		var v personsValue
		var person, index []byte
		if err := row.Scan(&person, &v.kind, &index); err != nil {
			return err
		}
		v.person = personOf[string(person)]
		v.index = string(index)
		held.add(v)
		return nil
	}, `SELECT user_index, kind, value_index FROM asset
		WHERE partner_id = $1 AND user_index IN (`+appendByteMarks(&args, slices.Sorted(maps.Keys(personOf)))+`)`,
		args...,
	)
	return held, err
}

// linkPersons is linkPerson for the CPFs of a list, in one order, so that two lists do not wait for each other.
func (s Monitoring) linkPersons(ctx context.Context, tx *sqldb.Tx, id partner.ID, list []cyber.NewAsset) error {
	salts := map[string]string{}
	for _, a := range list {
		if a.OwnCPF != "" {
			salts[a.OwnCPF] = a.Salt
		}
	}
	var statements []sqldb.Statement
	for _, cpf := range slices.Sorted(maps.Keys(salts)) {
		statements = append(statements, s.linkPersonStatement(id, cpf, salts[cpf]))
	}
	return tx.RunStatements(ctx, statements)
}

// findAndNameUsers is findAndNameUser for several people.
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
	var statements []sqldb.Statement
	// In one order, so that two lists do not wait for each other.
	for _, index := range slices.Sorted(maps.Keys(spelt)) {
		hash := spelt[index]
		u := users[hash]
		if u.cpf != nil && named[index] == hash {
			continue
		}
		sealed, err := s.sealValue(sealedNamePlace(id, u.write), string(hash))
		if err != nil {
			return nil, err
		}
		statements = append(statements, sqldb.NewStatement(keepPersonName, id, u.write, sealed, s.now()))
		if !bytes.Equal(u.write, u.other) {
			statements = append(statements, sqldb.NewStatement(dropPersonName, id, u.other))
		}
	}
	return users, tx.RunStatements(ctx, statements)
}

// keepUsers is keepUser for several people.
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
		}, `SELECT `+column+`, cpf, user_256, user_512 FROM person WHERE partner_id = $1 AND `+column+` IN (`+
			appendByteMarks(&args, slices.Sorted(maps.Keys(digests[column])))+`) ORDER BY cpf`+s.db.KeepRows(),
			args...,
		)
		if err != nil {
			return nil, err
		}
	}
	return users, nil
}

// lastNames returns how the partner spelt people last, by the index under which their rows are written.
func (s core) lastNames(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, users map[partner.UserHash]user,
) (map[string]partner.UserHash, error) {
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
		WHERE partner_id = $1 AND user_index IN (`+appendByteMarks(&args, slices.Sorted(maps.Keys(personOf)))+`)`,
		args...,
	)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(names, func(a, b name) int { return cmp.Compare(a.at, b.at) })
	last := make(map[string]partner.UserHash, len(names))
	for _, n := range names {
		last[personOf[string(n.index)]] = partner.UserHash(n.hash)
	}
	return last, nil
}
