package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/vigiahq/vigia/internal/sqldb"
)

// query runs a SELECT whose text is a constant of the program and long enough that reading it again at each call would
// cost more than running it. On SQLite it is prepared once, and once more on each new connection by database/sql; the
// statements live as long as the database. On PostgreSQL the driver remembers statements by itself.
func (s core) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if s.tx != nil || s.db.Engine() != sqldb.SQLite {
		return s.reader().QueryContext(ctx, text, args...)
	}
	kept, ok := s.statements.Load(text)
	if !ok {
		stmt, err := s.db.Reader().PrepareContext(context.WithoutCancel(ctx), text)
		if err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
		var twin bool
		if kept, twin = s.statements.LoadOrStore(text, stmt); twin {
			if err := stmt.Close(); err != nil { //nolint:sqlclosecheck // only the twin is closed; the one that is kept lives as long as the store
				return nil, fmt.Errorf("prepare: %w", err)
			}
		}
	}
	return kept.(*sql.Stmt).QueryContext(ctx, args...) //nolint:errcheck // nothing else is put into the map, and only here
}
