package container

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/vigiahq/vigia/internal/dump/scan"
)

// writeXLS writes the cells of a workbook of Excel 97 to 2003: records of a kind and a length.
func writeXLS(r io.Reader, out *text) error {
	x := &xls{out: out}
	for {
		var head [4]byte
		n, err := scan.FillBuffer(r, head[:])
		if n < len(head) {
			if errors.Is(err, io.EOF) {
				return x.endXLSRow()
			}
			return cutShort(err)
		}
		body := make([]byte, binary.LittleEndian.Uint16(head[2:]))
		n, err = scan.FillBuffer(r, body)
		if werr := x.readRecord(binary.LittleEndian.Uint16(head[:]), body[:n]); werr != nil {
			return werr
		}
		if n < len(body) {
			return cutShort(err)
		}
	}
}

// xls writes the cells of a workbook in BIFF8, record by record, in the order of rows and columns.
type xls struct {
	out    *text
	texts  []string // shared by cells
	raw    []byte   // the record of texts and those that continue it
	breaks []int    // where a record ends in raw
	inText bool
	row    int
	column int
}

const (
	xlsTexts    = 0x00fc
	xlsContinue = 0x003c
	xlsText     = 0x00fd // a cell that points to a text
	xlsLabel    = 0x0204 // a cell with a text of its own
	xlsNumber   = 0x0203
	xlsShort    = 0x027e // a number in four bytes
	xlsShorts   = 0x00bd
	xlsFormula  = 0x0006
	xlsString   = 0x0207 // what a formula gives
	xlsLocked   = 0x002f
	xlsMost     = 64 << 20
)

func (x *xls) readRecord(kind uint16, b []byte) error {
	u := binary.LittleEndian
	if kind == xlsContinue && x.inText {
		if len(x.raw)+len(b) > xlsMost {
			return errTooLarge
		}
		x.breaks = append(x.breaks, len(x.raw))
		x.raw = append(x.raw, b...)
		return nil
	}
	if x.inText {
		x.endTexts()
	}
	switch {
	case kind == xlsLocked:
		return errEncrypted
	case kind == xlsTexts && len(b) > 8:
		x.raw, x.inText = append([]byte{}, b[8:]...), true
	case kind == xlsText && len(b) >= 10:
		if i := int(u.Uint32(b[6:])); i < len(x.texts) {
			return x.writeCell(b, func() { x.out.writeCell([]byte(x.texts[i])) })
		}
	case kind == xlsLabel && len(b) > 9:
		s, _, _ := xlsUnicode(b[6:], nil, 0)
		return x.writeCell(b, func() { x.out.writeCell([]byte(s)) })
	case kind == xlsNumber && len(b) >= 14, kind == xlsFormula && len(b) >= 14 && u.Uint16(b[12:]) != 0xffff:
		return x.writeCell(b, func() { x.out.writeNumber(math.Float64frombits(u.Uint64(b[6:]))) })
	case kind == xlsShort && len(b) >= 10:
		return x.writeCell(b, func() { x.out.writeNumber(xlsShortNumber(u.Uint32(b[6:]))) })
	case kind == xlsShorts && len(b) >= 6:
		for i := 4; i+6 <= len(b)-2; i += 6 {
			cell := append([]byte{b[0], b[1]}, 0, 0)
			u.PutUint16(cell[2:], u.Uint16(b[2:])+uint16((i-4)/6))
			if err := x.writeCell(cell, func() { x.out.writeNumber(xlsShortNumber(u.Uint32(b[i+2:]))) }); err != nil {
				return err
			}
		}
	case kind == xlsString && len(b) > 3:
		s, _, _ := xlsUnicode(b, nil, 0)
		x.out.writeCell([]byte(s))
	}
	return nil
}

// writeCell begins a row where the number of the row changes, and leaves out the columns between.
func (x *xls) writeCell(b []byte, write func()) error {
	row, column := int(binary.LittleEndian.Uint16(b)), int(binary.LittleEndian.Uint16(b[2:]))
	if row != x.row || column < x.column {
		if err := x.endXLSRow(); err != nil {
			return err
		}
		x.row = row
	}
	for ; x.column < min(column, 256); x.column++ {
		x.out.writeCell(nil)
	}
	x.column++
	write()
	return x.out.firstError()
}

// endXLSRow ends the row that is being written.
func (x *xls) endXLSRow() error {
	x.column = 0
	return x.out.endRow()
}

// xlsShortNumber decodes an RK number: an integer or the upper half of a float, multiplied by 100 if a flag says so.
func xlsShortNumber(v uint32) float64 {
	f := float64(int32(v) >> 2)
	if v&2 == 0 {
		f = math.Float64frombits(uint64(v&^3) << 32)
	}
	if v&1 != 0 {
		f /= 100
	}
	return f
}

// endTexts takes the shared texts apart, which go on over the ends of records.
func (x *xls) endTexts() {
	x.inText = false
	for at := 0; at+3 <= len(x.raw); {
		s, next, ok := xlsUnicode(x.raw, x.breaks, at)
		x.texts = append(x.texts, s)
		if !ok {
			break
		}
		at = next
	}
	x.raw, x.breaks = nil, nil
}

// xlsUnicode reads the text at b[at]: how many characters it has, flags, and these. Where a record ends within it, its
// flags come again.
func xlsUnicode(b []byte, breaks []int, at int) (s string, next int, ok bool) {
	count := int(binary.LittleEndian.Uint16(b[at:]))
	at += 2
	if at >= len(b) {
		return "", at, false
	}
	flags := b[at]
	at++
	extra := 0
	if flags&8 != 0 && at+2 <= len(b) {
		extra += 4 * int(binary.LittleEndian.Uint16(b[at:]))
		at += 2
	}
	if flags&4 != 0 && at+4 <= len(b) {
		extra += int(binary.LittleEndian.Uint32(b[at:]) & 0xffffff)
		at += 4
	}
	var runes []rune
	for ; count > 0; count-- {
		for len(breaks) > 0 && breaks[0] < at {
			breaks = breaks[1:]
		}
		if len(breaks) > 0 && breaks[0] == at && at < len(b) {
			flags = flags&^1 | b[at]&1
			at++
			breaks = breaks[1:]
		}
		width := 1 + int(flags&1)
		if at+width > len(b) {
			return string(runes), at, false
		}
		c := rune(b[at])
		if width == 2 {
			c |= rune(b[at+1]) << 8
		}
		runes = append(runes, c)
		at += width
	}
	return string(runes), at + extra, true
}
