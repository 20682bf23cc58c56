package container

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// innodbFormat reads table files of MySQL and MariaDB: pages whose records are chained. What the columns are stands in
// the file only if MySQL 8 wrote it; else the places of texts are told by the rows of a page together.
//
// Records that were deleted and still stand in a page are read as well: whoever took the file has them.
var innodbFormat = document("InnoDB table file", isInnoDB, func(d *source, out *text) error {
	t, err := openInnoDB(d, out)
	if err != nil {
		return err
	}
	return t.pages()
})

const (
	innodbHead   = 38 // of a page
	innodbData   = 94 // where records of an index page begin
	innodbTail   = 8
	innodbLarge  = 64 << 10
	innodbFSP    = 8
	innodbBlob   = 10
	innodbIndex  = 17855
	innodbSDI    = 17853
	innodbShared = 1 << 11
	// innodbSums marks files of MariaDB with sums of whole pages, whose other flags lie elsewhere.
	innodbSums = 1 << 4
)

var (
	errInnoDBPacked = errors.New("InnoDB: compressed pages are not read")
	errInnoDBLocked = errors.New("InnoDB: encrypted")
	errInnoDBEmpty  = errors.New("InnoDB: no pages with rows found")
)

// isInnoDB knows the first page: its kind, its number, and the file's number, which stands in it twice.
func isInnoDB(b []byte) bool {
	u := binary.BigEndian
	return len(b) >= 128 && u.Uint16(b[24:]) == innodbFSP && u.Uint32(b[4:]) == 0 && u.Uint32(b[34:]) == u.Uint32(b[38:]) && u.Uint32(b[46:]) > 0 &&
		innodbPageSize(u.Uint32(b[54:])) > 0
}

// innodbPageSize is the size of pages by the flags of a file, or 0 if it is none.
func innodbPageSize(flags uint32) int {
	shift := flags >> 6 & 15
	if flags&innodbSums != 0 {
		shift = flags & 15
	} else if shift == 0 {
		shift = 5
	}
	if size := 512 << shift; size >= 4<<10 && size <= innodbLarge {
		return size
	}
	return 0
}

// innodbTable is a file under way.
type innodbTable struct {
	src     *source
	out     *text
	page    []byte
	flags   uint32
	number  uint32 // of the file: 0 holds the tables of a whole server
	primary uint64 // the index with the rows
	columns []innodbColumn
	rows    int // of pages with rows
	nulls   int // how many bytes say which columns are empty, as far as was guessed
	packed  bool
	locked  bool
	damaged bool // a page's records could not be followed to their end
}

func openInnoDB(d *source, out *text) (*innodbTable, error) {
	head := make([]byte, 128)
	if err := full(d, head, 0); err != nil {
		return nil, err
	}
	u := binary.BigEndian
	t := &innodbTable{src: d, out: out, flags: u.Uint32(head[54:]), number: u.Uint32(head[34:])}
	const zipped, encrypted = 15 << 1, 1 << 13
	if t.flags&innodbSums == 0 {
		if t.flags&zipped != 0 {
			return nil, errInnoDBPacked
		}
		if t.flags&encrypted != 0 {
			return nil, errInnoDBLocked
		}
	}
	if err := d.grow(2 * innodbLarge); err != nil {
		return nil, err
	}
	t.page = make([]byte, innodbPageSize(t.flags))
	return t, t.look()
}

// shared says whether the file has several tables.
func (t *innodbTable) shared() bool {
	return t.number == 0 || t.flags&innodbSums == 0 && t.flags&innodbShared != 0
}

// look finds the index with the rows, which was made before all others, and what MySQL 8 says of the columns.
func (t *innodbTable) look() error {
	t.primary = 1<<64 - 1
	head := make([]byte, innodbData)
	for at := int64(0); at+int64(len(t.page)) <= t.src.size; at += int64(len(t.page)) {
		if err := full(t.src, head, at); err != nil {
			return err
		}
		switch binary.BigEndian.Uint16(head[24:]) {
		case innodbIndex:
			t.primary = min(t.primary, binary.BigEndian.Uint64(head[66:]))
		case innodbSDI:
			if t.columns != nil || t.shared() {
				continue
			}
			if err := full(t.src, t.page, at); err != nil {
				return err
			}
			t.columns = t.described()
		}
	}
	return nil
}

// pages writes the pages one after the other.
func (t *innodbTable) pages() error {
	if t.columns != nil {
		for _, c := range t.columns {
			if c.kind != innodbHidden {
				t.out.cell([]byte(c.name))
			}
		}
		t.out.note(t.out.row())
	}
	at, size := int64(0), int64(len(t.page))
	for ; at+size <= t.src.size && t.out.err == nil; at += size {
		if err := full(t.src, t.page, at); err != nil {
			return err
		}
		t.write()
	}
	switch {
	case t.out.err != nil:
		return t.out.err
	case t.locked:
		return errInnoDBLocked
	case t.packed:
		return errInnoDBPacked
	case t.damaged:
		return errDamaged
	case at < t.src.size:
		return io.ErrUnexpectedEOF
	case t.rows == 0:
		return errInnoDBEmpty
	}
	return nil
}

// write writes one page by its kind.
func (t *innodbTable) write() {
	u := binary.BigEndian
	kind := u.Uint16(t.page[24:])
	if t.flags&innodbSums != 0 && kind != 0 {
		const packed = 1 << 15
		if u.Uint32(t.page) != 0 { // the key's version
			t.locked = true
			return
		}
		if kind&packed != 0 && kind != innodbIndex && kind != innodbSDI {
			t.packed = true
			return
		}
	}
	switch kind {
	case innodbIndex:
		if t.shared() || u.Uint64(t.page[66:]) == t.primary {
			t.index()
		}
	case innodbBlob: // the rest of a long text
		if n := int(u.Uint32(t.page[innodbHead:])); n >= 0 && n <= len(t.page)-innodbHead-innodbTail-8 {
			writeStrings(t.out, t.page[innodbHead+8:][:n])
		}
	case 22, 23, 24: // of MySQL 8
		writeStrings(t.out, t.page[innodbHead:len(t.page)-innodbTail])
	case 14, 34354:
		t.packed = true
	case 15, 16, 17, 37401:
		t.locked = true
	}
}

// index writes the records of a page of an index. Pages above the lowest level have only keys.
func (t *innodbTable) index() {
	p := t.page
	u := binary.BigEndian
	if u.Uint16(p[64:]) != 0 {
		return
	}
	t.rows++
	compact, first := true, 99
	if u.Uint16(p[42:])&0x8000 == 0 {
		compact, first = false, 101
	}
	records, whole := innodbChain(p, first, compact)
	if !whole {
		t.damaged = true
		writeStrings(t.out, p[innodbData:len(p)-innodbTail])
	}
	if !compact {
		for _, at := range records {
			t.redundant(at)
		}
		return
	}
	if t.columns == nil {
		t.guess(records)
		return
	}
	var odd []int
	for _, at := range records {
		const added = 0xc0 // columns came later: there is more before the record
		if p[at-5]&added != 0 || !t.record(at) {
			odd = append(odd, at)
		}
	}
	t.guess(odd)
}

// innodbChain are the places of a page's records, in order of place: those in use, and those that were freed. It reports
// false if the chain of those in use does not come to its end.
func innodbChain(p []byte, first int, compact bool) (places []int, whole bool) {
	u := binary.BigEndian
	end := len(p) - innodbTail
	seen := map[int]bool{}
	follow := func(at int) bool {
		for at > innodbData+6 && at < end && !seen[at] {
			seen[at] = true
			status := p[at-3] & 7
			if compact && (status == 2 || status == 3) || !compact && at == 116 { // the ends of the chain
				return true
			}
			places = append(places, at)
			next := int(u.Uint16(p[at-2:]))
			switch {
			case next == 0:
				return false
			case compact:
				at = (at + next) & 0xffff
			default:
				at = next
			}
		}
		return false
	}
	next := int(u.Uint16(p[first-2:]))
	if compact {
		next = (first + next) & 0xffff
	}
	whole = follow(next)
	follow(int(u.Uint16(p[44:])))
	slices.Sort(places)
	return places, whole
}

// redundant writes a record of the old kind, which says where each of its columns ends.
func (t *innodbTable) redundant(at int) {
	u := binary.BigEndian
	head := t.page[at-6 : at]
	n := int(u.Uint32(head[1:])>>9) & 1023 // head[1:5]: 13 bits of place, 10 of columns, one of width, then the next record
	width := 2 - int(head[3]&1)
	if at-6-n*width < innodbData {
		return
	}
	from := 0
	for i := range n {
		var end int
		null := false
		if width == 1 {
			b := t.page[at-7-i]
			end, null = int(b&0x7f), b&0x80 != 0
		} else {
			v := u.Uint16(t.page[at-8-2*i:])
			end, null = int(v&0x3fff), v&0x8000 != 0
		}
		if at+end > len(t.page)-innodbTail || end < from {
			break
		}
		if !null {
			t.value(t.page[at+from : at+end])
		}
		from = end
	}
	t.out.note(t.out.row())
}

// value writes a column of which nothing is known but its bytes.
func (t *innodbTable) value(b []byte) {
	switch {
	case len(b) > 0 && readable(b):
		t.out.cell(trimmed(b))
	case len(b) == 8:
		const most = 1_000_000_000_000 // as many digits as numbers of people have
		if n := binary.BigEndian.Uint64(b) &^ (1 << 63); isCPF(n) {
			t.out.cell(fmt.Appendf(nil, "%011d", n))
		} else if n < most {
			t.out.integer(int64(n))
		}
	default:
		for _, s := range stringsIn(b) {
			t.out.cell(s)
		}
	}
}

// trimmed is a text without the blanks that fill it up.
func trimmed(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}
