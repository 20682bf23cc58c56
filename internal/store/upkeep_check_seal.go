package store

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/seal"
)

// checkSeals opens every sealed value where it stands. Values whose key is not in the ring are counted by column.
func (s Upkeep) checkSeals(ctx context.Context, found func(Problem), seen func(int64)) error {
	if _, err := s.FollowRing(ctx); err != nil {
		return fmt.Errorf("check seals: %w", err)
	}
	var looked int64
	for _, c := range sealedColumns {
		lacking := map[uint32]int{}
		var after []any
		for most := c.rowsAtOnce(checkBatch); ; {
			rows, err := s.sealedRows(ctx, c, after, most, false)
			if err != nil {
				return err
			}
			for _, row := range rows {
				what := s.sealProblem(c, row)
				if id, lacks := s.keys.LacksKeyOf(row.sealed); what != "" && lacks {
					lacking[id]++
				} else if what != "" {
					found(Problem{"seals", c.table + "." + c.column + " " + showRowKey(row.key), what})
				}
			}
			looked += int64(len(rows))
			seen(looked)
			if len(rows) < most {
				break
			}
			after = rows[len(rows)-1].key
		}
		for id, n := range lacking {
			found(Problem{"seals", c.table + "." + c.column, fmt.Sprintf(
				"%d values are sealed under key %08x, which the ring does not hold: nobody can open them", n, id)})
		}
	}
	return nil
}

// sealProblem returns why a sealed value cannot be opened, in words for the operator; empty when it opens.
func (s Upkeep) sealProblem(c sealedColumn, row oldRow) string {
	if _, err := s.keys.Unseal(c.place(row.key), row.sealed); err == nil {
		return ""
	}
	if _, ok := seal.SealedWith(row.sealed); !ok {
		return "is no sealed value"
	}
	return "does not open: altered, or moved here from elsewhere"
}

// showRowKey shows a primary key; keyed indexes and digests in hexadecimal.
func showRowKey(key []any) string {
	parts := make([]string, len(key))
	for i, v := range key {
		if b, ok := v.([]byte); ok {
			parts[i] = hex.EncodeToString(b)
		} else {
			parts[i] = formatKeyPart(v)
		}
	}
	return strings.Join(parts, "/")
}
