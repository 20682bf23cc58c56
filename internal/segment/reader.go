package segment

import (
	"errors"
	"io"
	"iter"
	"math/bits"
	"os"
	"runtime/debug"
	"slices"
	"sync/atomic"
)

// Reader answers from a segment. It is safe for many goroutines.
//
// Open checks header, directory, note and footer, and that the file has exactly the length these call for. The data
// pages are checked one by one, each when a look-up first needs it: opening takes milliseconds whatever the size, and
// no answer comes from an unchecked page. Verify checks everything at once.
type Reader struct {
	mapped atomic.Pointer[mapping] // nil once closed
	file   *os.File
	stat   os.FileInfo
	width  Width
	foot   footer
	note   []byte
	dir    directory
	// Of a segment with labels: how they are coded, their sealed table, and, once opened, the table.
	code   *labelCode
	sealed []byte
	table  atomic.Pointer[[][]byte]
	// jump[t] is the number of pages whose first key, less the first of all, is below t<<shift: it narrows the search
	// in dir.first to a page or two when keys are spread evenly.
	jump  []uint32
	shift uint
	heads []atomic.Uint64 // the pageHead of each page whose checksum was found right, else zero
}

// Open opens the segment at path. Its error is ErrCorrupt when the file is there but is not a whole segment.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{file: f}
	if err := r.loadIndex(); err != nil {
		_ = f.Close()
		return nil, err
	}
	return r, nil
}

// loadIndex reads everything but the data pages. It uses plain reads: a file that shrinks meanwhile is an error, not a
// fault.
func (r *Reader) loadIndex() (err error) {
	if r.stat, err = r.file.Stat(); err != nil {
		return err
	}
	size := r.stat.Size()
	if !r.stat.Mode().IsRegular() || size < pageSize+footerSize {
		return ErrCorrupt.Note("not a segment file: too short")
	}
	head, err := r.readAt(0, pageSize)
	if err != nil {
		return err
	}
	var withLabels bool
	if r.width, withLabels, err = decodeHeader(head); err != nil {
		return err
	}
	length := footerLen(withLabels)
	if size < pageSize+length {
		return ErrCorrupt.Note("not a segment file: too short")
	}
	foot, err := r.readAt(size-length, int(length))
	if err != nil {
		return err
	}
	if r.foot, err = decodeFooter(foot, withLabels); err != nil {
		return err
	}
	if r.foot.fileSize() != size {
		return ErrCorrupt.Note("file has %d bytes, its footer calls for %d", size, r.foot.fileSize())
	}
	if r.foot.last > r.width.MaxKey() {
		return ErrCorrupt.Note("footer: last key wider than the keys")
	}
	if err := r.loadDirectory(); err != nil {
		return err
	}
	m, err := newMapping(r.file, size)
	if err != nil {
		return err
	}
	r.mapped.Store(m)
	return nil
}

// loadDirectory reads the first key and checksum of every page, the note and the label table, which are kept in memory.
// The pages themselves are read when a key is looked up.
func (r *Reader) loadDirectory() error {
	n := int(r.foot.pages)
	tail, err := r.readAt(r.foot.dirOffset(), n*dirEntry+int(r.foot.noteLen)+int(r.foot.labelsLen))
	if err != nil {
		return err
	}
	if checksum(tail) != r.foot.dirSum {
		return ErrCorrupt.Note("directory: wrong checksum")
	}
	if r.dir, err = decodeDirectory(tail, n, r.foot.last); err != nil {
		return err
	}
	rest := slices.Clone(tail[n*dirEntry:])
	r.note, rest = rest[:r.foot.noteLen], rest[r.foot.noteLen:]
	if r.foot.labelled {
		if r.code, r.sealed, err = decodeLabelCode(rest); err != nil {
			return err
		}
	}
	r.heads = make([]atomic.Uint64, n)
	r.buildJumpTable()
	return nil
}

// buildJumpTable builds the jump table: two to four entries for each page.
func (r *Reader) buildJumpTable() {
	n := len(r.dir.first)
	if n == 0 {
		return
	}
	span := r.dir.first[n-1] - r.dir.first[0]
	r.shift = uint(max(0, bits.Len64(span)-bits.Len(uint(2*n))))
	r.jump = make([]uint32, span>>r.shift+2)
	for _, first := range r.dir.first {
		r.jump[(first-r.dir.first[0])>>r.shift+1]++
	}
	for t := 1; t < len(r.jump); t++ {
		r.jump[t] += r.jump[t-1]
	}
}

// readAt reads n bytes at a place of the file.
func (r *Reader) readAt(at int64, n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := r.file.ReadAt(b, at); err != nil {
		if errors.Is(err, io.EOF) {
			err = ErrCorrupt.Note("the file was cut while it was opened")
		}
		return nil, err
	}
	return b, nil
}

// Close releases the file. Look-ups under way finish; later ones get ErrClosed. The memory goes back to the system at
// the next garbage collection.
func (r *Reader) Close() error {
	if r.mapped.Swap(nil) == nil {
		return ErrClosed
	}
	return r.file.Close()
}

// Width returns the size of the keys.
func (r *Reader) Width() Width { return r.width }

// Count returns the number of keys.
func (r *Reader) Count() uint64 { return r.foot.count }

// Size returns the length of the file in bytes.
func (r *Reader) Size() int64 { return r.stat.Size() }

// Digest identifies the content.
func (r *Reader) Digest() Digest { return r.foot.digest }

// Note returns what the writer put in.
func (r *Reader) Note() []byte { return slices.Clone(r.note) }

// locatePage returns the page that holds key if any page does, or -1.
func (r *Reader) locatePage(key uint64) int {
	if len(r.jump) == 0 || key < r.dir.first[0] || key > r.foot.last {
		return -1
	}
	t := min((key-r.dir.first[0])>>r.shift, uint64(len(r.jump)-2))
	// Pages before lo start at or below key; pages from hi on start above it.
	lo, hi := int(r.jump[t]), int(r.jump[t+1])
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if r.dir.first[mid] <= key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// Contains reports whether key is in the set. It does not allocate. An error means that the question could not be
// answered, never that the key is absent.
func (r *Reader) Contains(key uint64) (bool, error) {
	_, found, err := r.LookUp(key)
	return found, err
}

// readPage calls read with page i, whose checksum was right. It returns an error where read says that the page does not
// decode, and where the page was cut or changed meanwhile: then nothing that was read counts.
func (r *Reader) readPage(i int, read func(p *page, head pageHead) bool) (err error) {
	m := r.mapped.Load()
	if m == nil {
		return ErrClosed
	}
	defer m.guardRead(debug.SetPanicOnFault(true), &err)
	p := m.dataPage(i)
	head, err := r.checkPage(p, i)
	switch {
	case err != nil:
		return err
	case !read(p, head):
		return ErrCorrupt.Note("page %d: does not decode", i)
	case !isIntact(p):
		return ErrCorrupt.Note("page %d: the file was cut while open", i)
	}
	return nil
}

// checkPage compares the page with its checksum the first time it is asked about it. Its head is then kept beside the
// directory: a look-up that knows it does not wait for the first line of the page before it asks for the next one.
func (r *Reader) checkPage(p *page, i int) (pageHead, error) {
	if head := r.heads[i].Load(); head != 0 {
		return pageHead(head), nil
	}
	if checksum(p[:]) != r.dir.sum[i] {
		return 0, ErrCorrupt.Note("page %d: wrong checksum", i)
	}
	head := readPageHead(p)
	r.heads[i].Store(uint64(head))
	return head, nil
}

// Intersect appends to dst those of probes that are in the set, in the order of probes. Probes should be sorted: each
// page is then visited once, which makes millions of probes many times faster than as many calls of Contains. On an
// error the result is not complete.
func (r *Reader) Intersect(dst, probes []uint64) ([]uint64, error) {
	err := r.findAll(probes, func(key uint64, _ *page, _ pageHead, _ uint) { dst = append(dst, key) })
	return dst, err
}

// findAll calls found with those of probes that are in the set, and where in a page each stands.
func (r *Reader) findAll(probes []uint64, found func(key uint64, p *page, head pageHead, at uint)) error {
	if r.mapped.Load() == nil {
		return ErrClosed
	}
	for len(probes) > 0 {
		i := r.locatePage(probes[0])
		if i < 0 {
			probes = probes[1:]
			continue
		}
		first, last, n := r.dir.first[i], r.lastKeyOf(i), 0
		err := r.readPage(i, func(p *page, head pageHead) bool {
			for ; n < len(probes) && probes[n] >= first && probes[n] <= last; n++ {
				if at, ok := pageFind(p, head, probes[n]-first); ok {
					found(probes[n], p, head, at)
				}
			}
			return true
		})
		if err != nil {
			return err
		}
		probes = probes[n:]
	}
	return nil
}

// lastKeyOf returns the largest key that page i can hold.
func (r *Reader) lastKeyOf(i int) uint64 {
	if i+1 < len(r.dir.first) {
		return r.dir.first[i+1] - 1
	}
	return r.foot.last
}

// AllKeys walks the keys in rising order. After an error, which comes with a zero key, it ends.
func (r *Reader) AllKeys() iter.Seq2[uint64, error] { return r.KeysInRange(0, r.width.MaxKey()) }

// KeysInRange walks the keys from first to last, both included, in rising order. After an error, which comes with a zero key,
// it ends.
func (r *Reader) KeysInRange(first, last uint64) iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		var keys []uint64
		for i := max(0, r.locatePage(min(first, r.foot.last))); i < len(r.dir.first) && r.dir.first[i] <= last; i++ {
			var err error
			if keys, err = r.decodePage(keys[:0], i); err != nil {
				yield(0, err)
				return
			}
			for _, k := range keys {
				if k < first {
					continue
				}
				if k > last || !yield(k, nil) {
					return
				}
			}
		}
	}
}

// decodePage appends the keys of page i to dst. Labels, where there are any, are not looked at. No foreign code runs while
// the guard is up: a panic of the caller's is its own.
func (r *Reader) decodePage(dst []uint64, i int) ([]uint64, error) {
	err := r.readPage(i, func(p *page, _ pageHead) (ok bool) {
		if r.code == nil {
			dst, ok = decodePage(dst, p, r.dir.first[i])
		} else {
			dst, _, ok = decodeKeys(dst, p, r.dir.first[i])
		}
		return ok
	})
	return dst, err
}
