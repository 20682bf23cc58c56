package segment

import (
	"iter"
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
