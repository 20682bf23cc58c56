package container

import (
	"bufio"
	"bytes"
	"math"
	"strconv"
)

// text is what a document says. Tables are rows of cells between tabs, the first row their columns' names.
type text struct {
	w     *bufio.Writer
	begun bool // a cell of this row was written
}

// firstError returns the error that ended writing, which the buffer keeps: what is written after it goes nowhere.
func (t *text) firstError() error {
	_, err := t.w.Write(nil)
	return err
}

func (t *text) nextCell() {
	if t.begun {
		t.writeRaw([]byte{'\t'})
	}
	t.begun = true
}

// writeCell writes a text; what would end its row or itself becomes a blank.
func (t *text) writeCell(s []byte) {
	t.nextCell()
	for at := bytes.IndexAny(s, "\n\t\r\x00"); at >= 0; at = bytes.IndexAny(s, "\n\t\r\x00") {
		t.writeRaw(s[:at])
		t.writeRaw([]byte{' '})
		s = s[at+1:]
	}
	t.writeRaw(s)
}

// writeInteger writes a whole number.
func (t *text) writeInteger(n int64) {
	t.nextCell()
	t.writeRaw(strconv.AppendInt(nil, n, 10))
}

// writeNumber writes a number as a person would: whole ones without a point, whatever their size.
func (t *text) writeNumber(f float64) {
	t.nextCell()
	format := byte('f')
	if math.Abs(f) > 1e21 {
		format = 'g'
	}
	t.writeRaw(strconv.AppendFloat(nil, f, format, -1, 64))
}

// endRow ends a row, and tells whether it is worth going on.
func (t *text) endRow() error {
	t.begun = false
	return t.w.WriteByte('\n')
}

// writeLine writes a line of its own.
func (t *text) writeLine(s []byte) error {
	t.writeRaw(s)
	return t.endRow()
}

func (t *text) writeRaw(s []byte) { _, _ = t.w.Write(s) } // see firstError
