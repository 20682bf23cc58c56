package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// IsLockTimeout reports whether err means that another transaction held what this one wanted for too long.
func IsLockTimeout(err error) bool {
	return hasSQLState(err, "55P03") || hasSQLiteCode(err, sqlite3.SQLITE_BUSY)
}

// IsUnavailable reports whether err means that the database cannot serve at the moment: it is gone, starting or
// stopping, only reads (a standby that is not yet promoted), its disk is full or fails, it has no connection left,
// transactions stand in each other's way, or the call's deadline has passed. The same statement may succeed later.
func IsUnavailable(err error) bool {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		switch pe.Code[:2] {
		case "08",
			"40",
			"53",
			"57": // connection, transaction rolled back, insufficient resources, operator intervention
			return true
		}
		// Citus gives no code of its own to a node that goes away under a transaction.
		if pe.Code == "XX000" &&
			(strings.HasPrefix(pe.Message, "postmaster was shut down") ||
				strings.HasPrefix(pe.Message, "failure on connection marked as essential") ||
				strings.HasPrefix(pe.Message, "could not commit transaction")) {
			return true
		}
		// Read-only transaction, idle in transaction for too long, lock timeout, failing disk.
		return pe.Code == "25006" || pe.Code == "25P03" || pe.Code == "55P03" || pe.Code == "58030"
	}
	return isConnectionLost(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrDistrusted) ||
		errors.Is(err, ErrNoConnection) ||
		hasSQLiteCode(err, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
			sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN) // the last one: out of file descriptors, mostly
}

// isConnectionLost reports whether the connection was not made or has broken.
func isConnectionLost(err error) bool {
	lost := []error{driver.ErrBadConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed}
	var connect *pgconn.ConnectError
	var network *net.OpError
	// SafeToRetry is also how pgx names a connection that it has closed itself.
	return slices.ContainsFunc(lost, func(is error) bool { return errors.Is(err, is) }) || errors.As(err, &connect) ||
		errors.As(err, &network) ||
		pgconn.SafeToRetry(err)
}

// beginError is a failure before anything was asked of the database.
type beginError struct{ error }

func (e beginError) Unwrap() error { return e.error }

// isRepeatable reports whether the transaction certainly had no effect and may succeed on another try: a conflict, a
// deadlock, a busy file, or a connection that was lost before BEGIN.
func isRepeatable(err error) bool {
	var begin beginError
	return errors.As(err, &begin) && isConnectionLost(err) || hasSQLState(err, "40001") || hasSQLState(err, "40P01") ||
		hasSQLiteCode(err, sqlite3.SQLITE_BUSY)
}

// hasSQLState reports whether PostgreSQL refused with a code.
func hasSQLState(err error, code string) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && pe.Code == code
}

// hasSQLiteCode reports whether SQLite failed with one of the codes.
func hasSQLiteCode(err error, codes ...int) bool {
	var se *sqlite.Error
	return errors.As(err, &se) &&
		slices.ContainsFunc(codes, func(c int) bool { return se.Code() == c || se.Code()&0xff == c })
}
