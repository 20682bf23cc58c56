package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
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
	ctx context.Context, id partner.ID, list []cyber.NewAsset, limit int,
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
		kept, err := s.keepAssetRows(ctx, tx, id, rows, limit)
		refused, waiting = make([]error, len(kept)), 0
		for i, k := range kept {
			if refused[i] = k.refused; k.look == lookWaiting {
				waiting++
			}
		}
		return err
	})
	return refused, waiting, err
}

// keptAsset is what became of a value that was to be stored.
type keptAsset struct {
	// refused is why it was not.
	refused error
	// look is the state of its first look, also where the person had the value before.
	look int64
}

// keepAssetRows stores each value that its person does not have yet, and notes for one that the person has why it is
// watched from now on. Values of people who have limit values are refused; those that a subscription names never are.
func (s Monitoring) keepAssetRows(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, rows []assetRow, limit int,
) ([]keptAsset, error) {
	held, err := s.heldValues(ctx, tx, id, rows)
	if err != nil {
		return nil, err
	}
	epoch, err := corporaEpoch(ctx, tx)
	if err != nil {
		return nil, err
	}
	kept := make([]keptAsset, len(rows))
	var inserts []insertedAsset
	var twins []sqldb.Statement
	var hits []leak.Hit
	for i, r := range rows {
		value := personsValue{person: string(r.user.write), kind: r.Kind, index: string(r.index)}
		known, isHeld := held.values[value]
		kept[i].look = known.look
		switch {
		case isHeld && known.source&r.Source == r.Source:
			continue
		case isHeld && known.user != value.person:
			twins = append(twins, addSource(id, known.id, r.Source))
			continue
		case !isHeld && r.Source == cyber.AddedByItself && held.count[value.person] >= limit:
			kept[i].refused = cyber.ErrAssetLimit.With("userHash", fault.ValuesOfPerson, limit)
			continue
		}
		// One that is held is inserted as well: its row may be gone by the time that this transaction reaches it.
		fingerprint, look := s.decideFirstLook(id, r.NewAsset, epoch)
		now := heldValue{id: r.ID, user: value.person, source: r.Source | known.source, look: look}
		held.add(value, now, isHeld)
		if !isHeld {
			kept[i].look = look
		}
		inserts = append(inserts, insertedAsset{r, fingerprint, look, s.lookDueAt(look)})
		for _, seen := range r.Seen.Breaches {
			hits = append(hits, leak.Hit{Asset: r.ID, Seen: seen})
		}
	}
	if err := tx.RunStatements(ctx, twins); err != nil {
		return nil, err
	}
	if err := insertAssetRows(ctx, tx, id, inserts); err != nil {
		return nil, err
	}
	_, err = s.addFindings(ctx, tx, id, hits)
	return kept, err
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
