package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// assetRow is a watched value on its way into the table, indexed and sealed before the transaction begins, so that the
// transaction is short.
type assetRow struct {
	cyber.NewAsset
	user   user
	index  []byte
	sealed []byte
}

// newAssetRow indexes and seals a value. The person is set later, inside the transaction.
func (s Monitoring) newAssetRow(id partner.ID, a cyber.NewAsset) (assetRow, error) {
	sealed, err := s.sealAssetValue(id, a.Asset)
	return assetRow{NewAsset: a, index: s.valueIndex(id, a.Kind, a.Normal), sealed: sealed}, err
}

// One transaction takes mostAssets values of a list. Where single writes would wait for it, which is on SQLite with its
// one writer, it takes fewerAssets: a value costs the writer a tenth of a millisecond, and a commit 2 ms.
const mostAssets, fewerAssets = 250, 40

// AssetsAtOnce returns how many values a list is to be stored by: see cyber.MonitoringStore.
func (s Monitoring) AssetsAtOnce() int {
	inOwnTransactions := s.tx == nil
	if inOwnTransactions && s.db.EngineName() == sqldb.SQLite && s.db.HasSingleWrites() {
		return fewerAssets
	}
	return mostAssets
}

// InsertAssets stores a list of new watched values in one transaction and few statements: see cyber.MonitoringStore.
func (s Monitoring) InsertAssets(
	ctx context.Context,
	id partner.ID,
	list []cyber.NewAsset,
	limit int,
) (refused []error, waiting int, err error) {
	rows := make([]assetRow, len(list))
	hashes := make([]partner.UserHash, len(list))
	for i, a := range list {
		hashes[i] = a.User
		if rows[i], err = s.newAssetRow(id, a); err != nil {
			return nil, 0, err
		}
	}
	err = s.runInBulkTx(ctx, len(list), func(tx *sqldb.Tx) error {
		if err := s.linkPersons(ctx, tx, id, list); err != nil {
			return err
		}
		users, err := s.findAndNameUsers(ctx, tx, id, hashes)
		if err != nil {
			return err
		}
		for i := range rows {
			rows[i].user = users[rows[i].User]
		}
		refused, waiting, err = s.keepAssetRows(ctx, tx, id, rows, limit)
		return err
	})
	return refused, waiting, err
}

// keepAssetRows stores each value that its person does not have yet, and notes for one that the person has why it is
// watched from now on. Values of people who have limit values are refused, each by an error at its place; those that a
// subscription names never are. It counts the values that wait for their first look, also those that were there before.
func (s Monitoring) keepAssetRows(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, rows []assetRow, limit int,
) (refused []error, waiting int, err error) {
	held, err := s.heldValues(ctx, tx, id, rows)
	if err != nil {
		return nil, 0, err
	}
	epoch, err := corporaEpoch(ctx, tx)
	if err != nil {
		return nil, 0, err
	}
	refused = make([]error, len(rows))
	var inserts []insertedAsset
	var twins []sqldb.Statement
	var hits []leak.Hit
	for i, r := range rows {
		value := personsValue{person: string(r.user.write), kind: r.Kind, index: string(r.index)}
		known, isHeld := held.values[value]
		if isHeld && known.look == lookWaiting {
			waiting++
		}
		switch {
		case isHeld && known.source&r.Source == r.Source:
			continue
		case isHeld && known.user != value.person:
			twins = append(twins, addSource(id, known.id, r.Source))
			continue
		case !isHeld && r.Source == cyber.AddedByItself && held.count[value.person] >= limit:
			refused[i] = cyber.ErrAssetLimit.With("userHash", fault.ValuesOfPerson, limit)
			continue
		}
		// One that is held is inserted as well: its row may be gone by the time that this transaction reaches it.
		fingerprint, look := s.decideFirstLook(id, r.NewAsset, epoch)
		now := heldValue{id: r.ID, user: value.person, source: r.Source | known.source, look: look}
		held.add(value, now, isHeld)
		if !isHeld && look == lookWaiting {
			waiting++
		}
		inserts = append(inserts, insertedAsset{r, fingerprint, look, s.lookDueAt(look)})
		for _, seen := range r.Seen.Breaches {
			hits = append(hits, leak.Hit{Asset: r.ID, Seen: seen})
		}
	}
	if err := tx.RunStatements(ctx, twins); err != nil {
		return nil, 0, err
	}
	if err := insertAssetRows(ctx, tx, id, inserts); err != nil {
		return nil, 0, err
	}
	_, err = s.addFindings(ctx, tx, id, hits)
	return refused, waiting, err
}

// addSource returns the statement that adds a reason to watch a value that is there.
func addSource(id partner.ID, asset cyber.AssetID, source cyber.AssetSource) sqldb.Statement {
	return sqldb.NewStatement(
		`UPDATE asset SET source = source | CAST($3 AS INTEGER) WHERE partner_id = $1 AND id = $2`,
		id,
		asset,
		source,
	)
}

// insertedAsset is a row with what its first look came to.
type insertedAsset struct {
	assetRow
	fingerprint sql.NullInt64
	look        int64
	dueAt       time.Time
}

// insertedColumns are those of a new value; the last one is left out for a value that no match may meet.
var insertedColumns = []string{
	"id",
	"partner_id",
	"user_index",
	"kind",
	"value_index",
	"source",
	"look",
	"value",
	"status",
	"created_at",
	"due_at",
	"fingerprint",
}

// insertAssetRows stores values with one statement for those that can be matched and one for the others. The same value
// may have been stored by another transaction meanwhile: then there is one more reason to watch it.
func insertAssetRows(ctx context.Context, tx *sqldb.Tx, id partner.ID, list []insertedAsset) error {
	// In the order of the index by person: neighbours share its pages, and two lists do not wait for each other.
	slices.SortFunc(list, func(a, b insertedAsset) int {
		return cmp.Or(
			bytes.Compare(a.user.write, b.user.write),
			cmp.Compare(a.Kind, b.Kind),
			bytes.Compare(a.index, b.index),
		)
	})
	number := id.Number()
	for _, isMatched := range []bool{true, false} {
		var part []insertedAsset
		for _, a := range list {
			if a.fingerprint.Valid == isMatched {
				part = append(part, a)
			}
		}
		columns := insertedColumns
		if !isMatched {
			columns = columns[:len(columns)-1]
		}
		err := tx.InsertOrUpdate(ctx, "asset", columns,
			`(partner_id, user_index, kind, value_index) DO UPDATE SET source = asset.source | excluded.source`,
			rowsOf(part, func(_ int, a insertedAsset) ([]any, error) {
				return []any{
					a.ID,
					number,
					a.user.write,
					a.Kind,
					a.index,
					a.Source,
					a.look,
					a.sealed,
					cyber.StatusMonitored,
					a.AddedAt,
					a.dueAt,
					a.fingerprint.Int64,
				}[:len(columns)], nil
			}))
		if err != nil {
			return classifyError(err)
		}
	}
	return nil
}

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

// linkPersons is linkPerson for the CPFs of a list, in one order, so that two lists do not wait for each other.
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
	err := tx.InsertOrUpdate(ctx, "person", columns, `(partner_id, cpf) DO UPDATE SET created_at = person.created_at`,
		rowsOf(slices.Sorted(maps.Keys(salts)), func(_ int, cpf string) ([]any, error) {
			index, d256, d512 := s.personColumns(id, cpf, salts[cpf])
			return []any{number, index, d256, d512, now}, nil
		}))
	return classifyError(err)
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
	var indexes []string
	var drops []sqldb.Statement
	// In one order, so that two lists do not wait for each other.
	for _, index := range slices.Sorted(maps.Keys(spelt)) {
		hash := spelt[index]
		u := users[hash]
		if u.cpf != nil && named.last[index] == hash {
			continue
		}
		indexes = append(indexes, index)
		if !bytes.Equal(u.write, u.other) && named.has[string(u.other)] {
			drops = append(drops, sqldb.NewStatement(dropPersonName, id, u.other))
		}
	}
	number, now := id.Number(), s.now()
	err = tx.InsertOrUpdate(ctx, "person_name", []string{"partner_id", "user_index", "name", "named_at"},
		`(partner_id, user_index) DO UPDATE SET name = excluded.name, named_at = excluded.named_at`,
		rowsOf(indexes, func(_ int, index string) ([]any, error) {
			sealed, err := s.sealValue(sealedNamePlace(id, []byte(index)), string(spelt[index]))
			return []any{number, []byte(index), sealed, now}, err
		}))
	if err != nil {
		return nil, classifyError(err)
	}
	return users, tx.RunStatements(ctx, drops)
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
