package container

import (
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf8"
)

// pgPageFormat reads the file of a table as PostgreSQL keeps it: pages of 8 KiB. What its columns are stands elsewhere,
// so texts and numbers are taken for what they look like.
var pgPageFormat = &format{name: "PostgreSQL table file", known: isPGPage, open: func(w *walker, l layer) error {
	l.size = w.limits.Bytes // pages do not swell
	return w.written(l, func(out *text) error { return writePGPages(l.r, out) })
}}

const (
	pgPage = 8192
	// shortMost is up to which length a text has a head of one byte: a longer head before less is a number.
	shortMost = 127
)

// isPGPage holds the first page against its head: size and version, and where its free room is.
func isPGPage(b []byte) bool {
	if len(b) < 24 || b[18] > 5 || b[18] < 3 || b[19] != pgPage>>8 {
		return false
	}
	u := binary.LittleEndian
	lower, upper, special := u.Uint16(b[12:]), u.Uint16(b[14:]), u.Uint16(b[16:])
	return lower >= 24 && lower <= upper && upper <= special && special == pgPage && (lower-24)%4 == 0 && lower > 24
}

func writePGPages(r io.Reader, out *text) error {
	page := make([]byte, pgPage)
	for {
		n, err := fill(r, page)
		if n == pgPage && isPGPage(page) {
			writePGTuples(page, out)
		}
		if errors.Is(err, io.EOF) {
			if n > 0 && n < pgPage {
				return io.ErrUnexpectedEOF
			}
			return out.err
		}
		if err != nil || out.err != nil {
			return errors.Join(err, out.err)
		}
	}
}

// writePGTuples goes through the rows of a page.
func writePGTuples(page []byte, out *text) {
	u := binary.LittleEndian
	for at := 24; at+4 <= int(u.Uint16(page[12:])); at += 4 {
		pointer := u.Uint32(page[at:])
		offset, state, length := int(pointer&0x7fff), pointer>>15&3, int(pointer>>17)
		const normal = 1
		if state != normal || length < 24 || offset+length > len(page) {
			continue
		}
		tuple := page[offset:][:length]
		if data := int(tuple[22]); data >= 23 && data < length {
			writePGValues(tuple, data, out)
			out.note(out.row())
		}
	}
}

// writePGValues finds the values of a row: texts, which say their length before them, and numbers of eight bytes.
func writePGValues(tuple []byte, at int, out *text) {
	u := binary.LittleEndian
	for at < len(tuple) {
		head := tuple[at]
		if n := int(head >> 1); head&1 == 1 && n > 1 && at+n <= len(tuple) && readable(tuple[at+1:at+n]) {
			out.cell(tuple[at+1 : at+n])
			at += n
			continue
		}
		if at%4 == 0 && at+4 <= len(tuple) && head&3 == 0 {
			if n := int(u.Uint32(tuple[at:]) >> 2); n > shortMost && n <= len(tuple)-at && readable(tuple[at+4:at+n]) {
				out.cell(tuple[at+4 : at+n])
				at += n
				continue
			}
		}
		if at%8 == 0 && at+8 <= len(tuple) {
			const least, most = 100_000_000, 1_000_000_000_000 // as many digits as numbers of people have
			if n := u.Uint64(tuple[at:]); n >= least && n < most {
				out.integer(int64(n))
				at += 8
				continue
			}
		}
		at++
	}
}

// readable says whether bytes are a text in UTF-8 without control characters.
func readable(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return true
}
