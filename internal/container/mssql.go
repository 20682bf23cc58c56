package container

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/vigiahq/vigia/internal/identifier"
)

// mssqlFormat reads backups and data files of SQL Server: pages of 8 KiB whose rows say where their columns of changing
// length end. What the others are stands elsewhere: of those only texts are taken, and numbers that are CPFs row by row.
var mssqlFormat = &format{name: "SQL Server", known: isMSSQL, open: func(w *walker, l layer) error {
	l.size = w.limits.Bytes // pages do not swell
	return w.written(l, func(out *text) error { return writeMSSQL(l.r, out) })
}}

const (
	mssqlPage     = 8192
	mssqlPageHead = 96
	// mssqlStep is how pages lie in a backup: those of a file one after the other, somewhere at a multiple of this.
	mssqlStep = 4
)

var (
	errMSSQLPages = errors.New("SQL Server: no pages with rows found")
	errMSSQLRows  = errors.New("SQL Server: compressed rows are not read")
)

// isMSSQL knows a backup by its tape's mark, and a data file by its first page.
func isMSSQL(b []byte) bool {
	if len(b) < mssqlPageHead {
		return false
	}
	first := b[0] == 1 && b[1] == 15 && binary.LittleEndian.Uint32(b[32:]) == 0 && binary.LittleEndian.Uint16(b[36:]) == 1
	return first || string(b[:4]) == "TAPE" && noText(b)
}

// mssqlReader writes the pages of one file.
type mssqlReader struct {
	out        *text
	pages      int
	compressed bool
	rows       []mssqlRow
	wide       []byte
}

// mssqlRow is a row of a page.
type mssqlRow struct {
	fixed []byte
	cells [][]byte
}

func writeMSSQL(r io.Reader, out *text) error {
	m := &mssqlReader{out: out}
	buf := make([]byte, 8*mssqlPage)
	kept, ended := 0, false
	for !ended {
		n, err := fill(r, buf[kept:])
		if ended = err != nil; ended && !errors.Is(err, io.EOF) {
			return err
		}
		kept = m.take(buf, kept+n, ended)
		if out.err != nil {
			return out.err
		}
	}
	switch {
	case m.compressed:
		return errMSSQLRows
	case m.pages == 0:
		return errMSSQLPages
	}
	return nil
}

// take reads b[:end], moves what it left to the front, and returns how much that is.
func (m *mssqlReader) take(b []byte, end int, ended bool) int {
	at, from := 0, 0 // from is where bytes that are no page begin
	for at+mssqlPage <= end {
		page := b[at:][:mssqlPage]
		if !isMSSQLPage(page) {
			at += mssqlStep
			continue
		}
		writeStrings(m.out, b[from:at])
		m.page(page)
		at += mssqlPage
		from = at
	}
	if ended {
		writeStrings(m.out, b[from:end])
		return 0
	}
	writeStrings(m.out, b[from:at])
	return copy(b, b[at:end])
}

// isMSSQLPage holds a page against its head: its kind, and where its rows begin.
func isMSSQLPage(p []byte) bool {
	const data, trees = 1, 4
	if p[0] != 1 || p[1] < data || p[1] > trees {
		return false
	}
	u := binary.LittleEndian
	slots, free := int(u.Uint16(p[22:])), int(u.Uint16(p[30:]))
	if slots == 0 || free < mssqlPageHead || free+2*slots > mssqlPage {
		return false
	}
	for i := range slots {
		if at := mssqlSlot(p, i); at != 0 && (at < mssqlPageHead || at+4 > free) {
			return false
		}
	}
	return true
}

func mssqlSlot(p []byte, i int) int { return int(binary.LittleEndian.Uint16(p[mssqlPage-2-2*i:])) }

// page writes the rows of a page.
func (m *mssqlReader) page(p []byte) {
	m.pages++
	const data = 1
	free := int(binary.LittleEndian.Uint16(p[30:]))
	if p[1] != data { // indexes and long texts
		writeStrings(m.out, p[mssqlPageHead:free])
		return
	}
	m.rows = m.rows[:0]
	for i := range int(binary.LittleEndian.Uint16(p[22:])) {
		if at := mssqlSlot(p, i); at > 0 {
			m.row(p[at:free])
		}
	}
	numbers := m.cpfColumns()
	for i := range m.rows {
		row := &m.rows[i]
		for _, at := range numbers {
			if at+8 <= len(row.fixed) {
				m.out.cell(fmt.Appendf(nil, "%011d", binary.LittleEndian.Uint64(row.fixed[at:])))
			}
		}
		for _, s := range stringsIn(row.fixed) {
			m.out.cell(s)
		}
		for _, c := range row.cells {
			m.cell(c)
		}
		m.out.note(m.out.row())
	}
}

// row takes a row apart.
func (m *mssqlReader) row(b []byte) {
	const kind, nulls, changing = 0x0e, 0x10, 0x20
	if b[0]&1 != 0 {
		m.compressed = true
		return
	}
	u := binary.LittleEndian
	end := int(u.Uint16(b[2:]))
	if b[0]&kind > 2 || end < 4 || end+2 > len(b) { // neither a row nor one that was moved
		return
	}
	row := mssqlRow{fixed: b[4:end]}
	at := end + 2 + (int(u.Uint16(b[end:]))+7)/8
	if b[0]&(nulls|changing) == nulls|changing && at+2 <= len(b) {
		row.cells = mssqlCells(b, at)
	}
	m.rows = append(m.rows, row)
}

// mssqlCells are the columns of changing length, whose count stands at b[at].
func mssqlCells(b []byte, at int) (cells [][]byte) {
	u := binary.LittleEndian
	n := int(u.Uint16(b[at:]))
	from := at + 2 + 2*n
	for i := range n {
		if at+4+2*i > len(b) {
			return cells
		}
		const elsewhere = 0x8000
		end := int(u.Uint16(b[at+2+2*i:]))
		if end &^= elsewhere; end < from || end > len(b) {
			return cells
		}
		cells = append(cells, b[from:end])
		from = end
	}
	return cells
}

// cell writes a value of changing length: a text of one or two bytes a character.
func (m *mssqlReader) cell(c []byte) {
	if m.wide = narrowed(m.wide[:0], c); len(m.wide) > 0 {
		m.out.cell(m.wide)
		return
	}
	if !printableBytes(c) {
		for _, s := range stringsIn(c) {
			m.out.cell(s)
		}
		return
	}
	m.out.cell(c)
}

// cpfColumns are the places in the rows of a page where numbers of eight bytes are CPFs, row by row.
func (m *mssqlReader) cpfColumns() (places []int) {
	const least = 3
	if len(m.rows) < least {
		return nil
	}
	for at := 0; at+8 <= len(m.rows[0].fixed); at++ {
		right, n := map[uint64]bool{}, 0
		for _, r := range m.rows {
			if at+8 > len(r.fixed) {
				continue
			}
			v := binary.LittleEndian.Uint64(r.fixed[at:])
			if v == 0 {
				continue
			}
			n++
			if v < 1e11 && identifier.ValidCPF(fmt.Sprintf("%011d", v)) {
				right[v] = true
			}
		}
		if len(right) >= least && len(right)*10 >= 7*n {
			places = append(places, at)
			at += 7
		}
	}
	return places
}
