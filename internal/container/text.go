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

// noteError remembers an error.
func (t *text) noteError(err error) {
	if t.err == nil {
		t.err = err
	}
}

// nextCell begins a cell.
func (t *text) nextCell() {
	if t.begun {
		t.noteError(t.w.WriteByte('\t'))
	}
	t.begun = true
}

// writeCell writes a text; what would end its row or itself becomes a blank.
func (t *text) writeCell(s []byte) {
	t.nextCell()
	from := 0
	for i, c := range s {
		if c == '\n' || c == '\t' || c == '\r' || c == 0 {
			_, err := t.w.Write(s[from:i])
			t.noteError(err)
			t.noteError(t.w.WriteByte(' '))
			from = i + 1
		}
	}
	_, err := t.w.Write(s[from:])
	t.noteError(err)
}

// writeInteger writes a whole number.
func (t *text) writeInteger(n int64) {
	t.nextCell()
	var b [20]byte
	_, err := t.w.Write(strconv.AppendInt(b[:0], n, 10))
	t.noteError(err)
}

// writeNumber writes a number as a person would: whole ones without a point, whatever their size.
func (t *text) writeNumber(f float64) {
	t.nextCell()
	var b [32]byte
	format := byte('f')
	if f > 1e21 || f < -1e21 {
		format = 'g'
	}
	_, err := t.w.Write(strconv.AppendFloat(b[:0], f, format, -1, 64))
	t.noteError(err)
}

// endRow ends a row, and tells whether it is worth going on.
func (t *text) endRow() error {
	t.noteError(t.w.WriteByte('\n'))
	t.begun = false
	return t.err
}

// writeLine writes a line of its own.
func (t *text) writeLine(s []byte) error {
	_, err := t.w.Write(s)
	t.noteError(err)
	return t.endRow()
}

// writeRaw writes a text as it is.
func (t *text) writeRaw(s []byte) {
	_, err := t.w.Write(s)
	t.noteError(err)
}
