package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// SealedUnder counts the sealed values by whether the primary key sealed them.
func (s Upkeep) SealedUnder(ctx context.Context) (current, old int64, err error) {
	for _, c := range sealedColumns {
		var n, o int64
		err := readColumns(ctx, s.readQuerier(), []any{&n, &o},
			`SELECT count(*), count(*) FILTER (WHERE substr(`+c.column+`, 1, 5) <> $1) FROM `+c.table+
				` WHERE `+c.column+` IS NOT NULL`,
			s.keys.PrimaryPrefix())
		if err != nil {
			return 0, 0, err
		}
		current, old = current+n-o, old+o
	}
	return current, old, nil
}

// SealedByOlder names the columns that hold values under other keys than the primary one, each with how many.
func (s Upkeep) SealedByOlder(ctx context.Context) (columns []string, err error) {
	for _, c := range sealedColumns {
		n, err := readValue[int64](
			ctx,
			s.readQuerier(),
			`SELECT count(*) FROM `+c.table+` WHERE `+c.column+` IS NOT NULL AND substr(`+c.column+`, 1, 5) <> $1`,
			s.keys.PrimaryPrefix(),
		)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			columns = append(columns, fmt.Sprintf("%s.%s %d", c.table, c.column, n))
		}
	}
	return columns, nil
}

// RewriteProgress says how far a rewrite has come; it is kept in the job's row.
type RewriteProgress struct {
	Column    int   `json:"column"`
	Columns   int   `json:"columns"` // of them there are so many
	Rewritten int64 `json:"rewritten"`
	// Before is how many were rewritten before this pass.
	Before int64 `json:"before"`
	// after is the primary key of the last row looked at. A job that is resumed begins its column anew.
	after []any
}

// BeginAgain begins another pass, unless the last one has found nothing: a process that had not heard of the new key
// may have written under an old one where the pass had been already.
func (p *RewriteProgress) BeginAgain() bool {
	if p.Rewritten == p.Before {
		return false
	}
	p.Column, p.after, p.Before = 0, nil, p.Rewritten
	return true
}

// RewriteSealed seals up to limit values that an old key sealed under the primary key, going on from p, and reports
// whether everything has been looked at. It may be repeated from any earlier progress.
func (s Upkeep) RewriteSealed(ctx context.Context, p *RewriteProgress, limit int) (done bool, err error) {
	if p.Column >= len(sealedColumns) {
		return true, nil
	}
	c := sealedColumns[p.Column]
	limit = c.rowsAtOnce(limit)
	rows, err := s.sealedRows(ctx, c, p.after, limit, true)
	if err != nil {
		return false, err
	}
	list := make(sqldb.Statements, len(rows)) // sealed before anybody has to wait
	for i, row := range rows {
		if list[i], err = s.rewriteRow(c, row); err != nil {
			return false, fmt.Errorf("rewrite %s: %w", c.table, err)
		}
	}
	_, err = runInParts(ctx, s.core, list, limit,
		func(tx *sqldb.Tx, part []sqldb.Statement) error { return tx.RunStatements(ctx, part) })
	if err != nil {
		return false, err
	}
	p.Rewritten, p.Columns = p.Rewritten+int64(len(rows)), len(sealedColumns)
	if len(rows) < limit {
		p.Column, p.after = p.Column+1, nil
		return p.Column == len(sealedColumns), nil
	}
	p.after = rows[len(rows)-1].key
	return false, nil
}

// oldRow is a row whose value is sealed under an old key, with its primary key.
type oldRow struct {
	key    []any
	sealed []byte
}

// sealedRows reads sealed values in the order of their keys, from behind a key; if old says so, only those that an old
// key sealed.
func (s Upkeep) sealedRows(ctx context.Context, c sealedColumn, after []any, limit int, old bool) ([]oldRow, error) {
	keys := strings.Join(c.key, ", ")
	var which conditions
	if old {
		which.addCondition(`substr(`+c.column+`, 1, 5) <> `, s.keys.PrimaryPrefix())
	}
	if after != nil {
		which.addPastCondition(keys, `>`, after...)
	}
	return collectRows(
		ctx,
		s.readQuerier(),
		func(row scanner, r *oldRow) error { return scanKey(row, &r.key, len(c.key), &r.sealed) },
		`SELECT `+keys+`, `+c.column+` FROM `+c.table+
			` WHERE `+c.column+` IS NOT NULL`+which.text+` ORDER BY `+keys+which.addLimit(limit),
		which.args...,
	)
}

// sealedNonce is how many leading bytes of a sealed value tell it from every other: its key and its random nonce.
const sealedNonce = seal.PrefixSize + 24

// rewriteRow returns the statement that seals the value under the primary key. The statement does nothing if the row
// changed since it was read: the writer of that change has used the primary key already, or the next pass finds it.
func (s Upkeep) rewriteRow(c sealedColumn, row oldRow) (write sqldb.Statement, err error) {
	var plain []byte
	if err := s.openSealed(c.place(row.key), row.sealed, &plain); err != nil {
		return write, err
	}
	sealed, err := s.sealValue(c.place(row.key), plain)
	where := conditions{args: []any{sealed, row.sealed[:sealedNonce]}}
	for i, k := range c.key {
		where.addCondition(k+` = `, row.key[i])
	}
	return sqldb.NewStatement(
		`UPDATE `+c.table+` SET `+c.column+` = $1 WHERE substr(`+c.column+`, 1, 29) = $2`+where.text,
		where.args...), err
}
