package store

import (
	"context"
	"crypto/hmac"
	"database/sql"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// A row that gives power, or speaks to people in a partner's name, carries a keyed hash (MAC) of all that it says, so
// that write access to the database without the key file cannot make or change one. Columns that are sealed need none:
// a seal is bound to its row. What cannot be seen is an older state of the same row that was kept and put back.
//
// A forged row is never served. Where the program has a text of its own that text is served instead, as if there were
// no row; otherwise the request is refused with ErrForged.

// ErrForged is a row with a MAC that this program did not write.
var ErrForged = fault.New(fault.Internal, "grant.forged")

// forgedRowError returns the error of a row that this program did not write.
func forgedRowError(table, row string) error {
	return ErrForged.Note(
		"%s %s was changed by something that does not hold the key file; run: vigia check",
		table,
		row,
	)
}

// checked is what was read from a row with a MAC.
type checked[T any] struct {
	value T
	// row is its place: the table and the row's key.
	row    string
	forged bool
}

// forgedError is that of a row that cannot be served.
func (c checked[T]) forgedError() error {
	if c.forged {
		table, row, _ := strings.Cut(c.row, " ")
		return forgedRowError(table, row)
	}
	return nil
}

// collectGenuine returns the values of the rows that this program wrote.
func collectGenuine[T any](
	ctx context.Context, q querier, scan func(scanner, *checked[T]) error, query string, args ...any,
) ([]T, error) {
	rows, err := collectRows(ctx, q, scan, query, args...)
	return valuesOf(slices.DeleteFunc(rows, func(r checked[T]) bool { return r.forged })), err
}

// readGenuine is readRow for a row with a MAC; a forged one is an error.
func readGenuine[T any](
	ctx context.Context, q querier, scan func(scanner, *checked[T]) error, missing error, query string, args ...any,
) (T, error) {
	r, err := readRow(ctx, q, scan, missing, query, args...)
	return r.value, errors.Join(err, r.forgedError())
}

func valuesOf[T any](rows []checked[T]) []T {
	values := make([]T, len(rows))
	for i, r := range rows {
		values[i] = r.value
	}
	return values
}

// grant gathers what a row says; the order of what is added never changes.
type grant struct{ parts [][]byte }

func (g *grant) addTexts(values ...string) *grant {
	for _, v := range values {
		g.parts = append(g.parts, []byte(v))
	}
	return g
}

func (g *grant) addBytes(values ...[]byte) *grant {
	g.parts = append(g.parts, values...)
	return g
}

func (g *grant) addNumbers(values ...int64) *grant {
	for _, v := range values {
		g.parts = append(g.parts, binary.AppendVarint(nil, v))
	}
	return g
}

// addBools adds truth values to what is covered.
func (g *grant) addBools(values ...bool) *grant {
	for _, v := range values {
		if v {
			g.addNumbers(1)
		} else {
			g.addNumbers(0)
		}
	}
	return g
}

// grantMAC returns the keyed hash of a row of the table.
func (c core) grantMAC(table string, g *grant) []byte { return c.keys.MAC("grant."+table, g.parts...) }

// isGenuine reports whether this program wrote the row.
func (c core) isGenuine(table string, g *grant, mac []byte) bool {
	return hmac.Equal(c.grantMAC(table, g), mac)
}

// checksMAC returns a target of Scan for the MAC of a row, which comes behind all columns that it covers.
func (c core) checksMAC(forged *bool, table string, covered func() *grant) sql.Scanner {
	return scanFunc(func(mac []byte) error {
		*forged = !c.isGenuine(table, covered(), mac)
		return nil
	})
}

// keyedDigest returns what is stored of a secret that a caller presents: a digest under the key file. With write access
// to the database alone, an attacker cannot store the digest of a secret of their own.
func (c core) keyedDigest(use string, secret []byte) []byte { return c.keys.MAC("digest."+use, secret) }
