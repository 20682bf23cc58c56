package container

import (
	"bufio"
	"strconv"
)

// text is what a document says. Tables are rows of cells between tabs, the first row their columns' names.
type text struct {
	w     *bufio.Writer
	begun bool // a cell of this row was written
	err   error
}

func (t *text) note(err error) {
	if t.err == nil {
		t.err = err
	}
}

// next begins a cell.
func (t *text) next() {
	if t.begun {
		t.note(t.w.WriteByte('\t'))
	}
	t.begun = true
}

// cell writes a text; what would end its row or itself becomes a blank.
func (t *text) cell(s []byte) {
	t.next()
	from := 0
	for i, c := range s {
		if c == '\n' || c == '\t' || c == '\r' || c == 0 {
			_, err := t.w.Write(s[from:i])
			t.note(err)
			t.note(t.w.WriteByte(' '))
			from = i + 1
		}
	}
	_, err := t.w.Write(s[from:])
	t.note(err)
}

func (t *text) integer(n int64) {
	t.next()
	var b [20]byte
	_, err := t.w.Write(strconv.AppendInt(b[:0], n, 10))
	t.note(err)
}

// number writes a number as a person would: whole ones without a point, whatever their size.
func (t *text) number(f float64) {
	t.next()
	var b [32]byte
	format := byte('f')
	if f > 1e21 || f < -1e21 {
		format = 'g'
	}
	_, err := t.w.Write(strconv.AppendFloat(b[:0], f, format, -1, 64))
	t.note(err)
}

// row ends a row, and tells whether it is worth going on.
func (t *text) row() error {
	t.note(t.w.WriteByte('\n'))
	t.begun = false
	return t.err
}

// line writes a line of its own.
func (t *text) line(s []byte) error {
	_, err := t.w.Write(s)
	t.note(err)
	return t.row()
}

// raw writes a text as it is.
func (t *text) raw(s []byte) {
	_, err := t.w.Write(s)
	t.note(err)
}
