package sqldb

import (
	"context"
	"slices"
)

// WriteGuard has the last word on a transaction that wrote values under marks, such as values sealed under keys.
type WriteGuard interface {
	// FindMark returns the mark of a value of bytes that is about to be written, if it has one.
	FindMark(value []byte) (mark uint32, has bool)
	// CheckMarks is asked in the transaction, before it commits: with an error nothing of it is kept.
	CheckMarks(ctx context.Context, in Querier, marks []uint32) error
	// RenewAfter is asked outside of the transaction what to do about an error. It returns true once the transaction
	// may succeed when it is repeated.
	RenewAfter(ctx context.Context, err error) bool
}

// GuardWrites sets who has the last word. Before use.
func (d *DB) GuardWrites(g WriteGuard) { d.guard = g }

// noteMarks collects the marks of what a statement writes.
func (t *Tx) noteMarks(args []any) {
	if t.guard == nil {
		return
	}
	for _, arg := range args {
		switch v := arg.(type) {
		case []byte:
			t.noteMark(v)
		case [][]byte:
			for _, each := range v {
				t.noteMark(each)
			}
		}
	}
}

// noteMark collects the mark of one value.
func (t *Tx) noteMark(value []byte) {
	if mark, has := t.guard.FindMark(value); has && !slices.Contains(t.marks, mark) {
		t.marks = append(t.marks, mark)
	}
}

// checkMarks asks the guard about a transaction that is about to commit.
func (t *Tx) checkMarks(ctx context.Context) error {
	if len(t.marks) == 0 {
		return nil
	}
	return t.guard.CheckMarks(ctx, t, t.marks)
}
