package segment

import (
	"bufio"
	"io"
	"os"
)

// runReader walks the keys of a run whose pages are finished.
type runReader struct {
	file *os.File
	in   *bufio.Reader
	dir  directory
	next int // page to read next
	page page
	keys []uint64
}

// nextRecords returns the keys of the next page. It is checked like that of a segment.
func (r *runReader) nextRecords() ([]bare, error) {
	if r.next == len(r.dir.first) {
		return nil, nil
	}
	if _, err := io.ReadFull(r.in, r.page[:]); err != nil {
		return nil, err
	}
	if checksum(r.page[:]) != r.dir.sum[r.next] {
		return nil, ErrCorrupt.Note("spill file: wrong checksum")
	}
	var ok bool
	if r.keys, ok = decodePage(r.keys[:0], &r.page, r.dir.first[r.next]); !ok {
		return nil, ErrCorrupt.Note("spill file: page %d does not decode", r.next)
	}
	r.next++
	return asRecords(r.keys), nil
}

// segmentReader walks the keys of a whole segment.
type segmentReader struct {
	*Reader
	next int
	keys []uint64
}

// nextRecords returns the keys of the next page; nil at the end. They are valid until the next call.
func (r *segmentReader) nextRecords() (_ []bare, err error) {
	if r.next == len(r.dir.first) {
		return nil, nil
	}
	r.keys, err = r.decodePage(r.keys[:0], r.next)
	r.next++
	return asRecords(r.keys), err
}
