package store

import (
	"bytes"
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ cyber.ContentStore = Advice{}

// ContentChanges returns what the operator changed in the catalogue.
func (s Advice) ContentChanges(ctx context.Context) ([]cyber.Item, error) {
	return collect(ctx, s.reader(), func(row scanner) (cyber.Item, error) {
		var text string
		var retired bool
		if err := row.Scan(&text, &retired); err != nil {
			return cyber.Item{}, err
		}
		items, err := cyber.ReadContent(bytes.NewReader([]byte(text)))
		if err != nil || len(items) != 1 {
			return cyber.Item{}, fmt.Errorf("read kept content: %w", err)
		}
		items[0].Retired = retired
		return items[0], nil
	}, `SELECT item, retired FROM content ORDER BY id`)
}

// KeepContent keeps items over what was there.
func (s Advice) KeepContent(ctx context.Context, items []cyber.Item) error {
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
		for _, it := range items {
			var text bytes.Buffer
			if err := cyber.WriteContent(&text, []cyber.Item{it}); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, `INSERT INTO content (id, item, retired, changed_at) VALUES ($1, $2, $3, $4)
				ON CONFLICT (id) DO UPDATE SET item = excluded.item, retired = excluded.retired, changed_at = excluded.changed_at`,
				string(it.ID), text.String(), it.Retired, micros(s.now()))
			if err != nil {
				return fmt.Errorf("keep content: %w", err)
			}
		}
		return nil
	})
}

// DropContent forgets the operator's change of an item.
func (s Advice) DropContent(ctx context.Context, id cyber.ContentID) error {
	return s.cases().deleteOne(ctx, `DELETE FROM content WHERE id = $1`, string(id), cyber.ErrContentNotFound.With("content: was not changed"))
}
