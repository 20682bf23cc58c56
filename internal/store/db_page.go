package store

import (
	"context"
	"errors"
)

// looks is how many rows one page looks at for those that fit, where no index knows which do. A page that found fewer
// than it wanted says so, and its next goes on from there: so no filter makes a page slow.
const looks = 1000

// rowsToLook returns how many rows a page looks at.
func rowsToLook(limit int, sifts bool) int {
	if sifts {
		return max(limit, looks)
	}
	return limit
}

// errPageFull ends the reading of a page.
var errPageFull = errors.New("page full")

// collectPage runs a query for look rows and one more, and keeps the rows that fit, up to limit. Where there is
// something behind the last row, it returns the mark of that row. It stops reading there: where an index has the order,
// no row behind the page is looked up.
func collectPage[T, M any](
	ctx context.Context,
	q querier,
	limit, look int,
	fits func(T) bool,
	mark func(T) M,
	scan func(scanner, *T) error,
	query string,
	args ...any,
) (kept []T, next M, err error) {
	read := 0
	var last T
	err = eachRow(ctx, q, func(row scanner) error {
		if len(kept) == limit || read == look {
			return errPageFull
		}
		var v T
		err := scan(row, &v)
		if last = v; err == nil && fits(v) {
			kept = append(kept, v)
		}
		read++
		return err
	}, query, args...)
	if errors.Is(err, errPageFull) {
		return kept, mark(last), nil
	}
	return kept, next, err
}
