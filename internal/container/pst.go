package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sort"
	"strconv"
)

// pstFormat reads the folders of Outlook (.pst, .ost): the texts of all blocks, each value of a message by itself, and
// what is attached. Of which message they are is not asked.
var pstFormat = inPlace("Outlook folder", func(b []byte) bool {
	return len(b) >= 12 && string(b[:4]) == "!BDN" && (string(b[8:10]) == "SM" || string(b[8:10]) == "SO")
}, openPST)

var errPSTWide = errors.New("Outlook folder with pages of 4 KiB: not read") //nolint:staticcheck // a product's name

const (
	pstPage     = 512
	pstDeepest  = 8
	pstInternal = 2 // in the number of a block: it lists others
	// pstPiece is how much of a long text is looked at at once.
	pstPiece = 1 << 20
	pstBlock = 8192
)

// pstFile is a folder under way.
type pstFile struct {
	at     io.ReaderAt
	size   int64
	wide   bool // numbers of eight bytes
	hiding byte
	grow   func(int64) error
	pages  int64      // left to be read
	blocks []pstEntry // by number
	listed []bool     // a block is part of another one
	packed []pstEntry // what is an archive or a document by itself
	buf    []byte
}

// pstEntry is where a block lies.
type pstEntry struct {
	number, at uint64
	size       uint16
}

func openPST(w *walker, l layer) error {
	grow, release := w.growing()
	defer release()
	f := &pstFile{at: l.at, size: l.size, grow: grow, pages: l.size/pstPage + 1}
	if err := f.index(l.head); err != nil {
		return w.damaged(l.name, 0, err)
	}
	if err := w.written(l, f.write); err != nil {
		return err
	}
	for i, root := range f.packed {
		name := inside(l.name, "attachment "+strconv.Itoa(i+1))
		if err := w.file(name); err != nil {
			return err
		}
		leaves, err := f.leaves(root)
		if err != nil {
			if err := w.damaged(name, 0, err); err != nil {
				return err
			}
			continue
		}
		size := int64(len(leaves)) * pstBlock
		if err := w.open(layer{name: name, depth: l.depth + 1}, &meter{w: w, name: name, r: &pstReader{f: f, leaves: leaves}, in: func() int64 { return size }}); err != nil {
			return err
		}
	}
	return nil
}

// index reads the head and the table of blocks.
func (f *pstFile) index(head []byte) error {
	const ansi, lastANSI, unicode, large = 14, 15, 23, 36
	version := binary.LittleEndian.Uint16(head[10:])
	tree, hiding := 0xc4, 0x1cd
	switch {
	case version >= large:
		return errPSTWide
	case version >= unicode:
		f.wide, tree, hiding = true, 0xf0, 0x201
	case version < ansi || version > lastANSI:
		return errDamaged
	}
	if len(head) <= hiding {
		return io.ErrUnexpectedEOF
	}
	f.hiding = head[hiding]
	if err := f.page(f.number(head[tree:]), pstDeepest); err != nil {
		return err
	}
	sort.Slice(f.blocks, func(i, j int) bool { return f.blocks[i].number < f.blocks[j].number })
	f.listed = make([]bool, len(f.blocks))
	return nil
}

func (f *pstFile) number(b []byte) uint64 {
	if f.wide {
		return binary.LittleEndian.Uint64(b)
	}
	return uint64(binary.LittleEndian.Uint32(b))
}

// page reads a page of the table of blocks, and those under it.
func (f *pstFile) page(at uint64, depth int) error {
	if f.pages--; f.pages < 0 || depth == 0 {
		return errDamaged
	}
	var p [pstPage]byte
	if at > uint64(f.size) {
		return io.ErrUnexpectedEOF
	}
	if err := full(f.at, p[:], int64(at)); err != nil {
		return err
	}
	foot, word := 496, 4
	if f.wide {
		foot, word = 488, 8
	}
	count, entry, level := int(p[foot]), int(p[foot+2]), p[foot+3]
	if entry < 2*word+4 || count*entry > foot {
		return errDamaged
	}
	if err := f.grow(int64(count) * 32); err != nil {
		return err
	}
	var first error
	for i := range count {
		b := p[i*entry:]
		if level == 0 {
			f.blocks = append(f.blocks, pstEntry{f.number(b) &^ 1, f.number(b[word:]), binary.LittleEndian.Uint16(b[2*word:])})
		} else if err := f.page(f.number(b[2*word:]), depth-1); err != nil && first == nil {
			first = err // what the other pages have is read all the same
		}
	}
	if level > 0 && len(f.blocks) > 0 && depth == pstDeepest && first != nil {
		f.pages = -1 // told at the end
		return nil
	}
	return first
}

func (f *pstFile) find(number uint64) (int, bool) {
	return sort.Find(len(f.blocks), func(i int) int {
		switch n := f.blocks[i].number; {
		case number < n:
			return -1
		case number > n:
			return 1
		}
		return 0
	})
}

// load reads a block into f.buf.
func (f *pstFile) load(e pstEntry) ([]byte, error) {
	f.buf = slices.Grow(f.buf[:0], int(e.size))[:e.size]
	if e.at > uint64(f.size) {
		return nil, io.ErrUnexpectedEOF
	}
	if err := full(f.at, f.buf, int64(e.at)); err != nil {
		return nil, err
	}
	if e.number&pstInternal == 0 {
		pstPlain(f.buf, f.hiding, e.number)
	}
	return f.buf, nil
}

// children are the blocks that an internal one lists; none where it lists something else.
func (f *pstFile) children(e pstEntry) (found []int, err error) {
	b, err := f.load(e)
	if err != nil || len(b) < 8 || b[0] != 1 {
		return nil, err
	}
	word := 4
	if f.wide {
		word = 8
	}
	count := int(binary.LittleEndian.Uint16(b[2:]))
	for i := range min(count, (len(b)-8)/word) {
		if n, ok := f.find(f.number(b[8+i*word:]) &^ 1); ok {
			found = append(found, n)
		}
	}
	return found, nil
}

// leaves are the blocks with the bytes of a value, in order.
func (f *pstFile) leaves(root pstEntry) (all []pstEntry, err error) {
	if root.number&pstInternal == 0 {
		return []pstEntry{root}, nil
	}
	lists := []pstEntry{root}
	for range 2 { // a list, or a list of lists
		var next []pstEntry
		for _, l := range lists {
			below, err := f.children(l)
			if err != nil {
				return all, err
			}
			for _, n := range below {
				if e := f.blocks[n]; e.number&pstInternal == 0 {
					all = append(all, e)
				} else {
					next = append(next, e)
				}
			}
			if len(all)+len(next) > len(f.blocks) {
				return all, errDamaged
			}
		}
		lists = next
	}
	return all, nil
}

// write writes the texts of all values.
func (f *pstFile) write(out *text) error {
	var first error
	note := func(err error) {
		if err != nil && first == nil {
			first = err
		}
	}
	for _, e := range f.blocks {
		if e.number&pstInternal != 0 {
			below, err := f.children(e)
			note(err)
			for _, n := range below {
				f.listed[n] = true
			}
		}
	}
	for i, e := range f.blocks {
		if f.listed[i] {
			continue
		}
		leaves, err := f.leaves(e)
		note(err)
		if len(leaves) > 0 {
			note(f.value(e, leaves, out))
		}
		if out.err != nil {
			return out.err
		}
	}
	if first == nil && f.pages < 0 {
		first = io.ErrUnexpectedEOF
	}
	return first
}

// value writes the texts of one value: those of a message, each by itself, or a long one over several blocks.
func (f *pstFile) value(root pstEntry, leaves []pstEntry, out *text) error {
	var held []byte
	for i, leaf := range leaves {
		b, err := f.load(leaf)
		if err != nil {
			return err
		}
		const heap = 0xec
		if i == 0 && len(b) > 12 && b[2] == heap {
			return f.heap(leaves, out)
		}
		if i == 0 && sniff(b[:min(len(b), sniffed)]) != nil {
			f.packed = append(f.packed, root)
			return nil
		}
		held = append(held, b...)
		if i == len(leaves)-1 {
			break
		}
		if len(held) >= pstPiece {
			cut := max(bytes.LastIndexByte(held, '\n')&^1, 0)
			if cut < pstPiece/2 {
				cut = len(held) &^ 1
			}
			writeStrings(out, held[:cut])
			held = append(held[:0], held[cut:]...)
		}
	}
	if plain := rtfPlain(held); plain != nil {
		return out.line(plain)
	}
	writeStrings(out, held)
	return nil
}

// heap writes what is kept together in blocks with a table of where each begins.
func (f *pstFile) heap(leaves []pstEntry, out *text) error {
	for _, leaf := range leaves {
		b, err := f.load(leaf)
		if err != nil {
			return err
		}
		if len(b) < 4 {
			continue
		}
		u := binary.LittleEndian
		table := int(u.Uint16(b))
		if table+4 > len(b) {
			continue
		}
		from := -1
		for i := range int(u.Uint16(b[table:])) + 1 {
			if table+6+2*i > len(b) {
				break
			}
			at := int(u.Uint16(b[table+4+2*i:]))
			if at > table {
				break
			}
			if from >= 0 && at > from {
				heapValue(b[from:at], out)
			}
			from = at
		}
	}
	return out.err
}

func heapValue(b []byte, out *text) {
	if wide := narrowed(nil, b); len(wide) > 0 {
		out.note(out.line(wide))
	} else if plain := rtfPlain(b); plain != nil {
		out.note(out.line(plain))
	} else if printableBytes(b) && len(b) > 3 {
		out.note(out.line(b))
	} else {
		writeStrings(out, b)
	}
}

// pstReader reads a value as a stream.
type pstReader struct {
	f      *pstFile
	leaves []pstEntry
	rest   []byte
}

func (r *pstReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if len(r.leaves) == 0 {
			return 0, io.EOF
		}
		b, err := r.f.load(r.leaves[0])
		if err != nil {
			return 0, err
		}
		r.rest, r.leaves = bytes.Clone(b), r.leaves[1:]
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
