package sqldb

import (
	"context"
	"database/sql"
	"strings"
	"sync"
)

// maxPrepared bounds how many statements are kept: each holds some kilobytes of the engine's memory, and texts that are
// put together from lists of any length would fill it for ever.
const maxPrepared = 256

// prepared keeps statements of SQLite, where reading a text again at each call costs about as much as a small write, or
// more than a page of a list. (On PostgreSQL the driver does this by itself.) A text is prepared after it was used
// twice; those of the one writing connection between transactions: inside one it is taken.
type prepared struct {
	mu     sync.Mutex
	used   map[string]int
	kept   map[string]*sql.Stmt
	wanted []string
}

// newPrepared returns an empty cache of statements.
func newPrepared() *prepared {
	return &prepared{used: map[string]int{}, kept: map[string]*sql.Stmt{}}
}

// findStatement returns the statement of a text, or nil.
func (p *prepared) findStatement(text string) *sql.Stmt {
	p.mu.Lock()
	defer p.mu.Unlock()
	if stmt := p.kept[text]; stmt != nil {
		return stmt
	}
	if len(p.kept)+len(p.wanted) >= maxPrepared || len(p.used) >= 16*maxPrepared || !worthKeeping(text) {
		return nil
	}
	if p.used[text]++; p.used[text] == 2 {
		p.wanted = append(p.wanted, text)
	}
	return nil
}

// worthKeeping reports whether a text is one that services ask again and again. Others, like changes of the schema, run
// once.
func worthKeeping(text string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch word {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH":
		return true
	}
	return false
}

// prepareWanted prepares what was asked for. A text that cannot be prepared is left to fail where it is used.
func (p *prepared) prepareWanted(ctx context.Context, db *sql.DB) {
	p.mu.Lock()
	wanted := p.wanted
	p.wanted = nil
	p.mu.Unlock()
	for _, text := range wanted {
		//nolint:sqlclosecheck // a constant of the store, kept for as long as the database is open
		stmt, err := db.PrepareContext(ctx, text)
		p.mu.Lock()
		switch {
		case err == nil:
			p.kept[text] = stmt
		case ctx.Err() != nil: // the caller's time is up, not the text's fault
			p.used[text] = 1
		}
		p.mu.Unlock()
	}
}

// ExecContext runs a statement that returns nothing.
func (t *Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	convertArguments(args)
	t.noteMarks(args)
	defer t.engine.startStatement(ctx, query).End()
	if stmt := t.keptStatement(ctx, query); stmt != nil { //nolint:sqlclosecheck // the transaction closes it
		return stmt.ExecContext(ctx, args...)
	}
	return t.Tx.ExecContext(ctx, query, args...)
}

// QueryContext runs a statement that returns rows. They must be read and closed before the same text is run again.
func (t *Tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	convertArguments(args)
	t.noteMarks(args)
	defer t.engine.startStatement(ctx, query).End()
	if stmt := t.keptStatement(ctx, query); stmt != nil { //nolint:sqlclosecheck // the transaction closes it
		return stmt.QueryContext(ctx, args...) //nolint:sqlclosecheck // the caller closes the rows
	}
	return t.Tx.QueryContext(ctx, query, args...) //nolint:sqlclosecheck // the caller closes the rows
}

// QueryRowContext runs a statement that returns one row.
func (t *Tx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	convertArguments(args)
	t.noteMarks(args)
	defer t.engine.startStatement(ctx, query).End()
	if stmt := t.keptStatement(ctx, query); stmt != nil { //nolint:sqlclosecheck // the transaction closes it
		return stmt.QueryRowContext(ctx, args...)
	}
	return t.Tx.QueryRowContext(ctx, query, args...)
}

// PrepareContext returns a statement for this transaction.
func (t *Tx) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt := t.keptStatement(ctx, query); stmt != nil {
		return stmt, nil
	}
	return t.Tx.PrepareContext(ctx, query)
}

// keptStatement returns the kept statement of a text, bound to this transaction, or nil.
func (t *Tx) keptStatement(ctx context.Context, query string) *sql.Stmt {
	if t.texts == nil {
		return nil
	}
	kept := t.texts.findStatement(query)
	if kept == nil {
		return nil
	}
	return t.StmtContext(ctx, kept)
}
