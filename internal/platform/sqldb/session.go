package sqldb

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// What every PostgreSQL session is bound by, unless the address says otherwise (?lock_timeout=3000). A process that
// hangs or is cut off in the middle of a transaction keeps the rows that it has locked from all others until the server
// ends its session: idleTimeout and silenceTimeout are that long.
//
// lockTimeout is shorter than idleTimeout. Otherwise, when the session of a hanging process is ended, another session
// of the same process that waits for the row may get it next, and keeps it for as long again. A live process waits
// lockTries times, so that it gets the row and not an error.
const (
	idleTimeout    = 5 * time.Second
	lockTimeout    = 4 * time.Second
	lockTries      = 2
	silenceTimeout = 10 * time.Second
	connectTimeout = 5 * time.Second
)

// milliseconds returns a duration as PostgreSQL's timeouts take it.
func milliseconds(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }

// setSession gives every connection its settings. They are set by a statement and not in the startup packet, where
// connection poolers refuse what they do not know.
func setSession(cfg *pgx.ConnConfig, statementTimeout time.Duration) {
	settings := map[string]string{
		"statement_timeout": milliseconds(statementTimeout), "lock_timeout": milliseconds(lockTimeout),
		"idle_in_transaction_session_timeout": milliseconds(idleTimeout),
		// How the server finds out that this end is gone; below is how this end finds out about the server.
		"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3",
		"tcp_user_timeout": milliseconds(silenceTimeout),
	}
	startup := map[string]string{"application_name": "vigia", "timezone": "UTC"}
	for name, value := range cfg.RuntimeParams {
		switch name {
		case "application_name", "timezone":
		case "options", "client_encoding": // can only be said at the start, or is understood by every pooler
			startup[name] = value
		default:
			settings[name] = value
		}
	}
	cfg.RuntimeParams = startup
	var calls []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		calls = append(calls, "set_config("+quoteText(name)+", "+quoteText(settings[name])+", false)")
	}
	statement := "SELECT " + strings.Join(calls, ", ")
	next := cfg.AfterConnect
	cfg.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		setting, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		if _, err := conn.Exec(setting, statement).ReadAll(); err != nil {
			return fmt.Errorf("set up the session: %w", nameShortage(err))
		}
		if next != nil {
			return next(ctx, conn)
		}
		return nil
	}
	cfg.DialFunc = newDialer().DialContext
	// A connection that is not answered keeps its place in the pool, also when the network is back.
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTimeout
	}
}

// newDialer makes connections that notice when the other end is gone.
func newDialer() *net.Dialer {
	return &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3},
		Control: func(network, _ string, c syscall.RawConn) error {
			if !strings.HasPrefix(network, "tcp") {
				return nil
			}
			return setUserTimeout(c, silenceTimeout)
		},
	}
}

// quoteText returns a text as an SQL literal, for statements that take no arguments. Backslashes need
// standard_conforming_strings, which is the default.
func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
