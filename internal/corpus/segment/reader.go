package segment

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"math/bits"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"unsafe"
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
	if r.mapped.Load() == nil {
		return dst, ErrClosed
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
				if _, ok := pageFind(p, head, probes[n]-first); ok {
					dst = append(dst, probes[n])
				}
			}
			return true
		})
		if err != nil {
			return dst, err
		}
		probes = probes[n:]
	}
	return dst, nil
}

// lastKeyOf returns the largest key that page i can hold.
func (r *Reader) lastKeyOf(i int) uint64 {
	if i+1 < len(r.dir.first) {
		return r.dir.first[i+1] - 1
	}
	return r.foot.last
}

// KeysInRange walks the keys from first to last, both included, in rising order. After an error, which comes with a
// zero key, it ends.
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

// decodePage appends the keys of page i to dst. Labels, where there are any, are not looked at. No foreign code runs
// while the guard is up: a panic of the caller's is its own.
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

// mapping is the file in memory: mapped, or read where a system would not let a mapped file be removed. It is unmapped
// by the garbage collector once no look-up and no Reader refers to it: closing a Reader can therefore never pull the
// memory away under a look-up, and look-ups pay nothing for that.
type mapping struct {
	data []byte
}

func (m *mapping) dataPage(i int) *page {
	return (*page)(m.data[(1+i)*pageSize:])
}

// isIntact reports whether the page still has its mark. It is asked after the page was read, hence the atomic load: the
// order counts.
func isIntact(p *page) bool {
	return atomic.LoadUint64((*uint64)(unsafe.Pointer(&p[pageContent]))) == markInMemory
}

// markInMemory is pageMark as this machine's byte order reads it.
var markInMemory = binary.NativeEndian.Uint64([]byte(pageMark))

// guardRead ends a stretch of code that reads mapped memory. A page that cannot be read (the file was cut, the disk
// failed) or that holds nonsense after all becomes ErrCorrupt instead of the end of the process. Use:
//
//	defer m.guard(debug.SetPanicOnFault(true), &err)
func (m *mapping) guardRead(before bool, err *error) {
	debug.SetPanicOnFault(before)
	if p := recover(); p != nil {
		var re runtime.Error
		if e, ok := p.(error); !ok || !errors.As(e, &re) {
			panic(p)
		}
		*err = ErrCorrupt.Because(re).Note("a page cannot be read: the file was cut or changed while open")
	}
	runtime.KeepAlive(m)
}

// VerifyAll reads the whole file and checks everything: the checksum and the structure of each page, that keys rise
// from page to page, that there are as many as the footer says, and the digest of the file. It reads, rather than maps,
// so that it sees what is on the disk now and not what was right at first touch.
func (r *Reader) VerifyAll(ctx context.Context) error {
	if r.mapped.Load() == nil {
		return ErrClosed
	}
	if err := r.Unchanged(); err != nil {
		return err
	}
	sum := sha256.New()
	body := io.NewSectionReader(r.file, 0, r.foot.fileSize()-footerLen(r.foot.labelled))
	in := bufio.NewReaderSize(io.TeeReader(body, sum), writeBuffer)
	if _, err := io.CopyN(io.Discard, in, pageSize); err != nil {
		return unexpectedEnd(err)
	}
	if err := r.verifyPages(ctx, in); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	if Digest(sum.Sum(nil)) != r.foot.digest {
		return ErrCorrupt.Note("file: wrong digest")
	}
	return r.Unchanged()
}

// verifyPages reads all pages and checks their sums, that each decodes to rising keys within its range, and that the
// number of keys and the last one are those of the footer.
func (r *Reader) verifyPages(ctx context.Context, in io.Reader) error {
	var (
		p     page
		keys  []uint64
		count uint64
		last  uint64
	)
	for i, first := range r.dir.first {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := io.ReadFull(in, p[:]); err != nil {
			return unexpectedEnd(err)
		}
		if checksum(p[:]) != r.dir.sum[i] {
			return ErrCorrupt.Note("page %d: wrong checksum", i)
		}
		if keys = r.verifyPage(keys[:0], &p, first); len(keys) == 0 {
			return ErrCorrupt.Note("page %d: does not decode", i)
		}
		count += uint64(len(keys))
		if last = keys[len(keys)-1]; last > r.lastKeyOf(i) {
			return ErrCorrupt.Note("page %d: reaches into the next", i)
		}
	}
	if count != r.foot.count || last != r.foot.last {
		return ErrCorrupt.Note("footer: %d keys, found %d, or another last key", r.foot.count, count)
	}
	return nil
}

// verifyPage decodes all of a page, labels included, and returns no keys when it does not decode.
func (r *Reader) verifyPage(keys []uint64, p *page, first uint64) []uint64 {
	keys, end, ok := decodeKeys(keys, p, first)
	if ok && r.code != nil {
		_, end, ok = r.code.decodePlaces(nil, p, end, uint(len(keys)))
	}
	if !ok || !zeroFrom(p, end) {
		return nil
	}
	return keys
}

// Unchanged compares the length and modification time of the file with those at Open and fails if they differ. This
// package never changes a segment in place; a caller that keeps a Reader open for long can find out with one system
// call that another program did.
func (r *Reader) Unchanged() error {
	now, err := r.file.Stat()
	if err != nil {
		return err
	}
	if now.Size() != r.stat.Size() || !now.ModTime().Equal(r.stat.ModTime()) {
		return ErrCorrupt.Note("the file was changed while open")
	}
	return nil
}

// unexpectedEnd returns ErrCorrupt for a file that ends too early, and any other error as it is.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrCorrupt.Note("the file was cut while open")
	}
	return err
}

// Overlap is what a segment has in common with others.
type Overlap struct {
	Any  uint64   // keys that at least one of the others has
	Each []uint64 // keys that each of the others has, in their order
}

// CompareWith counts exactly how many keys of r are in each of the others and in any of them. It reads r page by page
// and looks the keys up in the others.
func (r *Reader) CompareWith(ctx context.Context, others []*Reader) (Overlap, error) {
	result := Overlap{Each: make([]uint64, len(others))}
	if slices.ContainsFunc(others, func(o *Reader) bool { return o.width != r.width }) {
		return result, ErrOption.Note("a segment of keys of another width")
	}
	if len(others) == 0 {
		return result, ctx.Err() // of the first breach nothing has to be read
	}
	var keys, common, known []uint64
	for page := range r.dir.first {
		err := ctx.Err()
		if err == nil {
			keys, err = r.decodePage(keys[:0], page)
		}
		known = known[:0]
		for i := 0; err == nil && i < len(others); i++ {
			common, err = others[i].Intersect(common[:0], keys)
			result.Each[i] += uint64(len(common))
			known = append(known, common...)
		}
		if err != nil {
			return result, err
		}
		slices.Sort(known)
		result.Any += uint64(len(slices.Compact(known)))
	}
	return result, nil
}
