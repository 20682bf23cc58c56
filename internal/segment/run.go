package segment

import (
	"bufio"
	"io"
	"os"
)

// run is a file being filled with sorted keys: header page and data pages, the same bytes as the front of a segment. It
// is finished into the segment itself, or merged with what was spilled.
type run struct {
	file    *os.File
	out     *sink
	dir     directory
	pending []uint64 // sorted, distinct, not yet in a page
	count   uint64
	last    uint64
	low     uint // low bits of the page before: the first guess for the next
	page    page
}

func newRun(file *os.File, w Width) (*run, error) {
	r := &run{file: file, out: newSink(file), pending: make([]uint64, 0, 2*pageKeys)}
	_, err := r.out.Write(encodeHeader(w))
	return r, err
}

// accepts says whether keys that start with first can be appended.
func (r *run) accepts(first uint64) bool { return r.count == 0 || first >= r.last }

// add appends sorted keys and drops repeated ones.
func (r *run) add(keys []uint64) error {
	for len(keys) > 0 {
		n := min(len(keys), cap(r.pending)-len(r.pending))
		r.take(keys[:n])
		keys = keys[n:]
		if len(r.pending) == cap(r.pending) {
			if err := r.emit(pageKeys); err != nil {
				return err
			}
		}
	}
	return nil
}

// take appends keys, for which there is room, to the pending ones.
func (r *run) take(keys []uint64) {
	pending, had := r.pending, len(r.pending)
	if r.count == 0 && len(keys) > 0 {
		pending, r.last = append(pending, keys[0]), keys[0]
	}
	last := r.last
	for _, k := range keys {
		if k != last {
			pending = append(pending, k)
			last = k
		}
	}
	r.count += uint64(len(pending) - had)
	r.pending, r.last = pending, last
}

// emit writes pages until at most keep keys are pending. Fewer than pageKeys pending keys may not fill a page.
func (r *run) emit(keep int) error {
	rest := r.pending
	for len(rest) > keep {
		n, l := plan(rest, r.low)
		encodePage(&r.page, rest[:n], l)
		if len(r.dir.first) >= maxPages {
			return ErrOption.With("too many keys for one segment")
		}
		r.dir.add(rest[0], checksum(r.page[:]))
		if _, err := r.out.Write(r.page[:]); err != nil {
			return err
		}
		rest, r.low = rest[n:], l
	}
	r.pending = r.pending[:copy(r.pending, rest)]
	return nil
}

// finishPages writes what is pending, so that the file holds all keys.
func (r *run) finishPages() error {
	if err := r.emit(0); err != nil {
		return err
	}
	return r.out.flush()
}

// finish completes the file to a segment.
func (r *run) finish(label []byte) (Summary, error) {
	if err := r.emit(0); err != nil {
		return Summary{}, err
	}
	tail := append(r.dir.encode(), label...)
	if _, err := r.out.Write(tail); err != nil {
		return Summary{}, err
	}
	if err := r.out.flush(); err != nil {
		return Summary{}, err
	}
	f := footer{
		count: r.count, pages: uint64(len(r.dir.first)), last: r.last, labelLen: uint32(len(label)), dirSum: checksum(tail),
	}
	r.out.sum.Sum(f.digest[:0])
	if _, err := r.file.Write(f.encode()); err != nil {
		return Summary{}, err
	}
	return Summary{Count: f.count, Size: f.size(), Digest: f.digest}, nil
}

// runReader walks the keys of a run whose pages are finished.
type runReader struct {
	file *os.File
	in   *bufio.Reader
	dir  directory
	next int // page to read next
	page page
	keys []uint64
}

func newRunReader(r *run) (*runReader, error) {
	if _, err := r.file.Seek(pageSize, io.SeekStart); err != nil {
		return nil, err
	}
	return &runReader{file: r.file, in: bufio.NewReaderSize(r.file, writeBuffer), dir: r.dir}, nil
}

// more returns the keys of the next page. It is checked like that of a segment.
func (r *runReader) more() ([]uint64, error) {
	if r.next == len(r.dir.first) {
		return nil, nil
	}
	if _, err := io.ReadFull(r.in, r.page[:]); err != nil {
		return nil, err
	}
	if checksum(r.page[:]) != r.dir.sum[r.next] {
		return nil, ErrCorrupt.With("spill file: wrong checksum")
	}
	var ok bool
	if r.keys, ok = decodePage(r.keys[:0], &r.page, r.dir.first[r.next]); !ok {
		return nil, ErrCorrupt.With("spill file: page %d does not decode", r.next)
	}
	r.next++
	return r.keys, nil
}

// segmentReader walks the keys of a whole segment.
type segmentReader struct {
	*Reader
	next int
	keys []uint64
}

func (r *segmentReader) more() (_ []uint64, err error) {
	if r.next == len(r.dir.first) {
		return nil, nil
	}
	r.keys, err = r.decode(r.keys[:0], r.next)
	r.next++
	return r.keys, err
}
