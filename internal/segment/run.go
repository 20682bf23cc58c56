package segment

import (
	"bufio"
	"crypto/sha256"
	"hash"
	"io"
	"os"
)

// writeBuffer is what a run collects before it calls the system.
const writeBuffer = 256 << 10

// run is a file being filled with sorted keys: header page and data pages, the same bytes as the front of a segment. A run that
// stays alone is finished into the segment itself; several are merged.
type run struct {
	file    *os.File
	out     *bufio.Writer
	sum     hash.Hash
	dir     directory
	pending []uint64 // sorted, distinct, not yet in a page
	count   uint64
	last    uint64
	low     uint // low bits of the page before: the first guess for the next
	page    page
}

func newRun(file *os.File, w Width) (*run, error) {
	r := &run{file: file, sum: sha256.New(), pending: make([]uint64, 0, 2*pageKeys)}
	r.out = bufio.NewWriterSize(io.MultiWriter(file, r.sum), writeBuffer)
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
	if err := r.out.Flush(); err != nil {
		return err
	}
	r.pending, r.out, r.sum = nil, nil, nil // many spilled runs live at once
	return nil
}

// finish completes the file to a segment and syncs it.
func (r *run) finish(label []byte) (Summary, error) {
	if err := r.emit(0); err != nil {
		return Summary{}, err
	}
	tail := append(r.dir.encode(), label...)
	if _, err := r.out.Write(tail); err != nil {
		return Summary{}, err
	}
	if err := r.out.Flush(); err != nil {
		return Summary{}, err
	}
	f := footer{
		count: r.count, pages: uint64(len(r.dir.first)), last: r.last, labelLen: uint32(len(label)), dirSum: checksum(tail),
	}
	r.sum.Sum(f.digest[:0])
	if _, err := r.file.Write(f.encode()); err != nil {
		return Summary{}, err
	}
	return Summary{Count: f.count, Size: f.size(), Digest: f.digest}, r.file.Sync()
}

// runReader walks the keys of a finished run.
type runReader struct {
	in   *bufio.Reader
	dir  directory
	next int // page to read next
	page page
	keys []uint64 // decoded, not yet taken
	buf  []uint64
}

// readBuffer is small because a merge opens one for every run.
const readBuffer = 32 << 10

func newRunReader(r *run) (*runReader, error) {
	if _, err := r.file.Seek(pageSize, io.SeekStart); err != nil {
		return nil, err
	}
	return &runReader{in: bufio.NewReaderSize(r.file, readBuffer), dir: r.dir}, nil
}

// fill makes keys non-empty, or reports false at the end. A spill file is checked like a segment: a disk that loses bits
// under a merge must not lose them silently.
func (r *runReader) fill() (bool, error) {
	if len(r.keys) > 0 {
		return true, nil
	}
	if r.next == len(r.dir.first) {
		return false, nil
	}
	if _, err := io.ReadFull(r.in, r.page[:]); err != nil {
		return false, err
	}
	if checksum(r.page[:]) != r.dir.sum[r.next] {
		return false, ErrCorrupt.With("spill file: wrong checksum")
	}
	var ok bool
	if r.buf, ok = decodePage(r.buf[:0], &r.page, r.dir.first[r.next]); !ok {
		return false, ErrCorrupt.With("spill file: page %d does not decode", r.next)
	}
	r.keys = r.buf
	r.next++
	return true, nil
}
