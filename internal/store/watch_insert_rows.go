package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
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
		if len(part) == 0 {
			continue
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
			return err
		}
	}
	return nil
}
