package store

import (
	"context"
	"slices"
	"strconv"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// inList appends texts to args as one list and returns the condition that a column is one of them. For lists of any
// length; those of a handful of values are as well written by appendMarks.
func inList[T ~string](e sqldb.Engine, args *[]any, values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return e.TextsCondition(args, texts)
}

// inIndexes is inList for indexes, which columns hold as bytes.
func (c core) inIndexes(args *[]any, indexes []string) string {
	return c.db.EngineName().BytesCondition(args, indexes)
}

// appendMarks appends values to args and returns their marks for an IN list: "$5, $6".
func appendMarks[T any](args *[]any, values []T) string {
	marks := make([]byte, 0, 6*len(values))
	for i, v := range values {
		*args = append(*args, v)
		if i > 0 {
			marks = append(marks, ", "...)
		}
		marks = strconv.AppendInt(append(marks, '$'), int64(len(*args)), 10)
	}
	return string(marks)
}

// appendLimit appends how many rows are wanted at most.
func appendLimit(args *[]any, limit int64) string {
	*args = append(*args, limit)
	return ` LIMIT $` + strconv.Itoa(len(*args))
}

// rowsOf returns what feeds the rows of a list to a bulk insert.
func rowsOf[T any](list []T, row func(i int, v T) ([]any, error)) func() ([]any, error) {
	next := 0
	return func() ([]any, error) {
		if next == len(list) {
			return nil, nil
		}
		next++
		return row(next-1, list[next-1])
	}
}

// uniqueValues returns values without repetitions, in their order.
func uniqueValues[T comparable](values []T) []T {
	out, seen := make([]T, 0, len(values)), make(map[T]bool, len(values))
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// uniqueIndexes returns each index once, in a fixed order.
func uniqueIndexes(indexes [][]byte) []string {
	list := make([]string, len(indexes))
	for i, index := range indexes {
		list[i] = string(index)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// convertTexts returns texts as another type.
func convertTexts[To, From ~string](texts []From) []To {
	converted := make([]To, len(texts))
	for i, t := range texts {
		converted[i] = To(t)
	}
	return converted
}

// runInParts does something with all of a list in transactions of a few of them each, never more than largest.
func runInParts[T any](
	ctx context.Context, c core, all []T, largest int, fn func(tx *sqldb.Tx, part []T) error,
) (int64, error) {
	return c.runInBatches(ctx, int64(largest), func(tx *sqldb.Tx, done, limit int64) (int64, error) {
		part := all[done:min(int64(len(all)), done+limit)]
		if len(part) == 0 {
			return 0, nil
		}
		return int64(len(part)), fn(tx, part)
	})
}
