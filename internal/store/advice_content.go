package store

import (
	"bytes"
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ cyber.ContentStore = Advice{}

// contentColumns are those that scanning an item of the catalogue expects, in its order.
const contentColumns = `id, item, retired, mac`

// scanContent reads one content item. The text of a forged row is not even parsed.
func (c core) scanContent(row scanner, into *checked[cyber.Item]) error {
	var id, text string
	var retired bool
	var mac []byte
	if err := row.Scan(&id, &text, &retired, &mac); err != nil {
		return err
	}
	into.row = "content " + id
	if into.forged = !c.isGenuine("content", contentGrant(id, text, retired), mac); into.forged {
		return nil
	}
	items, err := cyber.ReadContent(bytes.NewReader([]byte(text)))
	if err != nil || len(items) != 1 {
		return fmt.Errorf("read kept content: %w", err)
	}
	into.value, into.value.Retired = items[0], retired
	return nil
}

// contentGrant is that of an item as it is kept.
func contentGrant(id, item string, retired bool) *grant {
	return new(grant).addTexts(id, item).addBools(retired)
}

// ContentChanges returns what the operator changed in the catalogue. A forged change is left out: the built-in item
// stands.
func (s Advice) ContentChanges(ctx context.Context) ([]cyber.Item, error) {
	return collectGenuine(ctx, s.readQuerier(), s.scanContent, `SELECT `+contentColumns+` FROM content ORDER BY id`)
}

// KeepContent stores items over what was there.
func (s Advice) KeepContent(ctx context.Context, items []cyber.Item) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		for _, it := range items {
			var text bytes.Buffer
			if err := cyber.WriteContent(&text, []cyber.Item{it}); err != nil {
				return err
			}
			err := execStatement(ctx, tx,
				`INSERT INTO content (id, item, retired, changed_at, mac) VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (id) DO UPDATE SET item = excluded.item, retired = excluded.retired,
				changed_at = excluded.changed_at, mac = excluded.mac`,
				it.ID, text.String(), it.Retired, s.now(),
				s.grantMAC("content", contentGrant(string(it.ID), text.String(), it.Retired)))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// DropContent deletes the operator's change of an item.
func (s Advice) DropContent(ctx context.Context, id cyber.ContentID) error {
	return s.expectAlone(
		ctx,
		cyber.ErrContentNotFound.With("content", fault.WasNotChanged),
		`DELETE FROM content WHERE id = $1`,
		id,
	)
}
