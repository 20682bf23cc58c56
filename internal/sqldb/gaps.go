package sqldb

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
)

// SQLite overwrites what it deletes, but not what it moves: when rows are spread anew over neighbouring pages, copies of
// them stay behind in the gap between a page's pointers and its rows until something else is written there. A row that
// is deleted later is then overwritten where it is, and not where it was. These gaps are wiped here, through SQLite's
// own view of its pages and inside transactions, so that its log and its cache know of it.

const (
	// gapBatch is how many pages are wiped in one transaction: others wait for it.
	gapBatch = 32
	// gapWindow is how many pages are read at once. While they are, the write-ahead log cannot begin anew.
	gapWindow = 4096
	// plainPages is how many pages a file may have, 137 GB of them, for those of trees to be known by their first byte: all
	// others begin with the number of another page.
	plainPages = 2 << 24
)

// The pages from $1 to $2, and in a larger file all those of trees, in one go.
const (
	pagesOfWindow = `WITH RECURSIVE n(page) AS (SELECT $1 UNION ALL SELECT page + 1 FROM n WHERE page < $2)
		SELECT p.pgno, p.data FROM n CROSS JOIN sqlite_dbpage p ON p.pgno = n.page`
	pagesOfTrees = `SELECT s.pageno, p.data FROM dbstat s JOIN sqlite_dbpage p ON p.pgno = s.pageno
		WHERE s.pagetype IN ('leaf', 'internal') AND s.pageno BETWEEN $1 AND $2`
)

// suspect is a page with something in its gap, and what it looked like.
type suspect struct {
	page int64
	sum  uint64
}

// wipeGaps overwrites what rows left behind where they once were. It reads every page of the file once, some megabytes
// at a time, so it takes as long as reading the file does; memory and the time that anybody waits do not grow with it.
func (d *DB) wipeGaps(ctx context.Context, own *sql.DB) error {
	var pages, vacuum int64
	err := own.QueryRowContext(ctx, `SELECT p.page_count, v.auto_vacuum FROM pragma_page_count p, pragma_auto_vacuum v`).Scan(&pages, &vacuum)
	query, window := pagesOfWindow, int64(gapWindow)
	if pages >= plainPages || vacuum != 0 { // a database that vacuums itself has pages that look like those of trees
		query, window = pagesOfTrees, pages
	}
	seed := maphash.MakeSeed()
	for first := int64(1); err == nil && first <= pages; first += window {
		var suspects []suspect
		if suspects, err = findSuspects(ctx, own, seed, query, first, min(pages, first+window-1)); err == nil {
			err = d.wipeSuspects(ctx, suspects, seed)
		}
	}
	if err != nil {
		return fmt.Errorf("wipe what rows left behind: %w", err)
	}
	return nil
}

func (d *DB) wipeSuspects(ctx context.Context, suspects []suspect, seed maphash.Seed) error {
	for batch := range slices.Chunk(suspects, gapBatch) {
		err := d.InTx(ctx, func(tx *Tx) error {
			for _, s := range batch {
				if err := tx.wipeGap(ctx, s, seed); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// findSuspects reads pages and looks into their gaps. A free page that looks like one of a tree may be wiped too.
func findSuspects(ctx context.Context, own *sql.DB, seed maphash.Seed, query string, first, last int64) (list []suspect, err error) {
	rows, err := own.QueryContext(ctx, query, first, last)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var page int64
		var data sql.RawBytes
		if err := rows.Scan(&page, &data); err != nil {
			return nil, err
		}
		if from, to := gapOf(page, data); !zero(data[from:to]) {
			list = append(list, suspect{page, maphash.Bytes(seed, data)})
		}
	}
	return list, rows.Err()
}

// wipeGap overwrites the gap of a page that is still as it was seen. One that has changed since was written meanwhile;
// whoever deletes next looks at it again.
func (t *Tx) wipeGap(ctx context.Context, s suspect, seed maphash.Seed) error {
	var data []byte
	err := t.Tx.QueryRowContext(ctx, `SELECT data FROM sqlite_dbpage WHERE pgno = $1`, s.page).Scan(&data)
	if err != nil || maphash.Bytes(seed, data) != s.sum {
		return err
	}
	from, to := gapOf(s.page, data)
	clear(data[from:to])
	_, err = t.Tx.ExecContext(ctx, `UPDATE sqlite_dbpage SET data = $2 WHERE pgno = $1`, s.page, data)
	return err
}

// gapOf finds the unused bytes between the pointers and the rows of a page of a tree; none in what does not look like
// one. The layout is fixed by SQLite's file format.
func gapOf(page int64, data []byte) (from, to int) {
	head, pointers := 0, 8
	if page == 1 {
		head = 100 // the file's own header comes first
	}
	if len(data) < head+12 {
		return 0, 0
	}
	switch data[head] {
	case 2, 5: // an inner page
		pointers = 12
	case 10, 13: // a leaf
	default:
		return 0, 0
	}
	from = head + pointers + 2*int(binary.BigEndian.Uint16(data[head+3:]))
	if to = int(binary.BigEndian.Uint16(data[head+5:])); to == 0 {
		to = 65536
	}
	if from > to || to > len(data) {
		return 0, 0
	}
	return from, to
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
