package sqldb

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// ToMicros returns how a time is kept: UTC microseconds, 0 for the zero time.
func ToMicros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// FromMicros is the inverse of ToMicros: 0 stands for the zero time.
func FromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// convertArguments puts, in place, what columns hold where an argument is something else: microseconds for times and
// durations, the value of a driver.Valuer, and the plain kind of every named type. So callers pass what they have, and
// both drivers get the same five kinds.
func convertArguments(args []any) []any {
	for i, arg := range args {
		switch v := arg.(type) {
		case nil, int64, string, []byte, bool, sql.NullInt64:
		case time.Time:
			args[i] = ToMicros(v)
		case time.Duration:
			args[i] = v.Microseconds()
		case driver.Valuer:
			if kept, err := v.Value(); err == nil { // otherwise the driver says so
				args[i] = kept
			}
		default:
			switch r := reflect.ValueOf(arg); r.Kind() { //nolint:exhaustive // the rest is the driver's business
			case reflect.String:
				args[i] = r.String()
			case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
				args[i] = r.Int()
			case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32:
				args[i] = int64(r.Uint())
			}
		}
	}
	return args
}

// Row is what *sql.Row and *sql.Rows have in common.
type Row interface{ Scan(dest ...any) error }

// KeptRow is a row whose times and durations are read from the microseconds in its columns; NULL is their zero value.
type KeptRow struct{ Row }

// Enumerated is a type that has few values. What is read into one is refused unless it is one of them: whoever can
// write to the database but not through this program must not be able to invent a state, which no rule expects.
type Enumerated interface{ IsKnown() bool }

// ErrUnknownValue means that a column holds none of the values that it may hold.
var ErrUnknownValue = errors.New("the database holds a value that this program does not know")

// Scan is that of the row, takes pointers to times and durations too, and refuses unknown values of enumerated types.
func (r KeptRow) Scan(dest ...any) error {
	for i, d := range dest {
		switch into := d.(type) {
		case *time.Time:
			dest[i] = timeScanner{into}
		case *time.Duration:
			dest[i] = durationScanner{into}
		}
	}
	if err := r.Row.Scan(dest...); err != nil {
		return err
	}
	for _, d := range dest {
		if v, ok := d.(Enumerated); ok && !v.IsKnown() {
			return fmt.Errorf("%w: %T", ErrUnknownValue, d) // not the value, which anybody may have written
		}
	}
	return nil
}

// timeScanner reads a time from microseconds.
type timeScanner struct{ into *time.Time }

// Scan takes a number, or NULL for the zero time.
func (s timeScanner) Scan(value any) error {
	us, err := scanMicros(value)
	*s.into = FromMicros(us)
	return err
}

// durationScanner reads a duration from microseconds.
type durationScanner struct{ into *time.Duration }

// Scan takes a number, or NULL for none.
func (s durationScanner) Scan(value any) error {
	us, err := scanMicros(value)
	*s.into = time.Duration(us) * time.Microsecond
	return err
}

// scanMicros returns the number that a driver read.
func scanMicros(value any) (int64, error) {
	us, ok := value.(int64)
	if !ok && value != nil {
		return 0, fmt.Errorf("microseconds are a %T", value)
	}
	return us, nil
}
