package store

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// scanner is a row that is read: times, durations and partners are scanned as they are, see sqldb.KeptRow.
type scanner = sqldb.Row

// leading scans columns before those of a row's own scan.
type leading struct {
	scanner
	first []any
}

func (l leading) Scan(dest ...any) error { return l.scanner.Scan(append(l.first, dest...)...) }

// longer is a row with further columns behind those of the rest.
type longer struct {
	scanner
	more []any
}

func (l longer) Scan(dest ...any) error { return l.scanner.Scan(append(dest, l.more...)...) }

// jsonArgument is an argument that is kept as JSON text.
type jsonArgument struct{ value any }

// Value returns the text.
func (j jsonArgument) Value() (driver.Value, error) {
	text, err := json.Marshal(j.value)
	return string(text), err
}

// parsesJSON returns a target of Scan for a column that holds JSON.
func parsesJSON(into any) sql.Scanner {
	return scanFunc(func(text []byte) error { return json.Unmarshal(text, into) })
}

// scanFunc is a target of Scan for a column that needs more than a copy.
type scanFunc func(value []byte) error

// Scan takes bytes, which are valid until it returns, or a text; nil for NULL.
func (f scanFunc) Scan(value any) error {
	switch v := value.(type) {
	case []byte:
		return f(v)
	case string:
		return f([]byte(v))
	case nil:
		return f(nil)
	}
	return fmt.Errorf("bytes are a %T", value)
}

// joinTexts writes a list as a column keeps it, separated by commas.
func joinTexts[T ~string](list []T) string {
	return strings.Join(convertTexts[string](list), ",")
}

// splitsTexts returns a target of Scan that undoes joinTexts; the list of an empty text is nil.
func splitsTexts[T ~string](list *[]T) sql.Scanner {
	return scanFunc(func(text []byte) error {
		for name := range strings.SplitSeq(string(text), ",") {
			if name != "" {
				*list = append(*list, T(name))
			}
		}
		return nil
	})
}

// toMicros returns how a time is kept.
func toMicros(t time.Time) int64 { return sqldb.ToMicros(t) }

// fromMicros is the inverse of toMicros.
func fromMicros(us int64) time.Time { return sqldb.FromMicros(us) }

// numberOrNull returns a partner as an argument where there may be none: NULL then.
func numberOrNull(id partner.ID) any {
	if id == "" {
		return nil
	}
	return id
}

// orEmptyBytes returns b, or an empty slice in place of nil, which would be NULL.
func orEmptyBytes(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
