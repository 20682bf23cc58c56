package segment

import (
	"bufio"
	"crypto/sha256"
	"hash"
	"io"
	"os"
	"slices"
)

// writeBuffer is what is collected before the system is called.
const writeBuffer = 256 << 10

// run is a file being filled with sorted keys: header page and data pages, the same bytes as the front of a segment. It
// is finished into the segment itself, or merged with what was spilled.
type run struct {
	file    *os.File
	out     *bufio.Writer // to the file and to sum
	sum     hash.Hash
	dir     directory
	code    *labelCode // nil where there are no labels
	pending []uint64   // sorted, distinct, not yet in a page
	labels  []uint32   // of the pending keys, by their places in the table
	count   uint64
	last    uint64
	low     uint // low bits of the page before: the first guess for the next
	page    page
}

// newSegmentRun begins a run of pages in a file.
func newSegmentRun(file *os.File, w Width, c *labelCode) (*run, error) {
	sum := sha256.New()
	r := &run{
		file:    file,
		out:     bufio.NewWriterSize(io.MultiWriter(sum, file), writeBuffer),
		sum:     sum,
		code:    c,
		pending: make([]uint64, 0, 2*pageKeys),
	}
	_, err := r.out.Write(encodeHeader(w, c != nil))
	return r, err
}

// bareRun is a run as the output of keys alone.
type bareRun struct{ *run }

// addRecords appends records, which must be in rising order, to the pages of the run.
func (r bareRun) addRecords(records []bare) error { return r.run.addKeys(asKeys(records)) }

// addLastRecords appends the last records. Pages need no other treatment for them.
func (r bareRun) addLastRecords(records []bare) error { return r.addRecords(records) }

// reopenAsSource finishes the pages and returns a reader over them, with the file to close after the merge.
func (r bareRun) reopenAsSource() (source[bare], *os.File, error) {
	if err := r.finishPages(); err != nil {
		return nil, nil, err
	}
	_, err := r.file.Seek(pageSize, io.SeekStart)
	return &runReader{file: r.file, in: bufio.NewReaderSize(r.file, writeBuffer), dir: r.dir}, r.file, err
}

// acceptsKey reports whether keys that start with first can be appended.
func (r *run) acceptsKey(first uint64) bool { return r.count == 0 || first >= r.last }

// addKeys appends sorted keys and drops repeated ones.
func (r *run) addKeys(keys []uint64) error {
	for len(keys) > 0 {
		n := min(len(keys), cap(r.pending)-len(r.pending))
		r.takeKeys(keys[:n])
		keys = keys[n:]
		if len(r.pending) == cap(r.pending) {
			if err := r.emitPages(pageKeys); err != nil {
				return err
			}
		}
	}
	return nil
}

// addLabelled appends keys that rise, and their labels.
func (r *run) addLabelled(records []labelled, places []uint32) error {
	if n := len(records); n > 0 {
		r.count, r.last = r.count+uint64(n), records[n-1][0]
	}
	for len(records) > 0 {
		n, had := min(len(records), cap(r.pending)-len(r.pending)), len(r.labels)
		keys := r.pending[len(r.pending):][:n]
		r.labels = slices.Grow(r.labels, n)
		labels := r.labels[had:][:n]
		for i, r := range records[:n] {
			keys[i], labels[i] = r[0], places[r[1]]
		}
		r.pending, r.labels = r.pending[:len(r.pending)+n], r.labels[:had+n]
		records = records[n:]
		if len(r.pending) == cap(r.pending) {
			if err := r.emitPages(pageKeys); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeKeys appends keys, for which there is room, to the pending ones.
func (r *run) takeKeys(keys []uint64) {
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

// emitPages writes pages until at most keep keys are pending. Fewer than pageKeys pending keys may not fill a page.
func (r *run) emitPages(keep int) error {
	rest, labels := r.pending, r.labels
	for len(rest) > keep {
		n, l := planPage(rest, r.code.bitsPerKey(), r.low)
		end := encodePage(&r.page, rest[:n], l)
		if r.code != nil {
			r.code.putPlaces(&r.page, end, labels[:n])
			labels = labels[n:]
		}
		if len(r.dir.first) >= maxPages {
			return ErrOption.Note("too many keys for one segment")
		}
		r.dir.first, r.dir.sum = append(r.dir.first, rest[0]), append(r.dir.sum, checksum(r.page[:]))
		if _, err := r.out.Write(r.page[:]); err != nil {
			return err
		}
		rest, r.low = rest[n:], l
	}
	r.pending = r.pending[:copy(r.pending, rest)]
	r.labels = r.labels[:copy(r.labels, labels)]
	return nil
}

// finishPages writes what is pending, so that the file holds all keys.
func (r *run) finishPages() error {
	if err := r.emitPages(0); err != nil {
		return err
	}
	return r.out.Flush()
}

// finishSegment completes the file to a segment. seal, where there are labels, is given what their table is bound to
// and returns it as it stands in the file.
func (r *run) finishSegment(note []byte, seal func(context Digest) ([]byte, error)) (Summary, error) {
	if err := r.emitPages(0); err != nil {
		return Summary{}, err
	}
	f := footer{
		count:    r.count,
		pages:    uint64(len(r.dir.first)),
		last:     r.last,
		noteLen:  uint32(len(note)),
		labelled: r.code != nil,
	}
	tail := append(r.dir.encodeDirectory(), note...)
	if r.code != nil {
		before := len(tail)
		tail = append(tail, r.code.encodeCode()...)
		table, err := seal(sha256.Sum256(tail))
		if err != nil {
			return Summary{}, err
		}
		tail = append(tail, table...)
		if f.labelsLen = uint64(len(tail) - before); f.labelsLen > maxTable {
			return Summary{}, ErrOption.Note("labels: the table is too long")
		}
	}
	if _, err := r.out.Write(tail); err != nil {
		return Summary{}, err
	}
	if err := r.out.Flush(); err != nil {
		return Summary{}, err
	}
	f.dirSum = checksum(tail)
	r.sum.Sum(f.digest[:0])
	if _, err := r.file.Write(f.encodeFooter()); err != nil {
		return Summary{}, err
	}
	return Summary{Count: f.count, Size: f.fileSize(), Digest: f.digest}, nil
}
