package container

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"unicode/utf16"
)

var errSevenZip = errors.New("7z: the table of contents is not in order")

// sevenZipTable reads the table of contents of a 7z. A hostile one claims as many files, folders and bytes of window as
// it likes without having them, so every claim is held against the bytes that are there.
func sevenZipTable(w *walker, at io.ReaderAt, size int64) (*sevenZipHeader, error) {
	limits := w.limits
	var start [32]byte
	if _, err := at.ReadAt(start[:], 0); err != nil {
		return nil, errSevenZip
	}
	offset, length := binary.LittleEndian.Uint64(start[12:]), binary.LittleEndian.Uint64(start[20:])
	if length == 0 || length > uint64(limits.Directory) || offset > uint64(size) || 32+offset+length > uint64(size) ||
		crc32.ChecksumIEEE(start[12:]) != binary.LittleEndian.Uint32(start[8:]) {
		return nil, errSevenZip
	}
	text := make([]byte, length)
	if _, err := at.ReadAt(text, int64(32+offset)); err != nil || crc32.ChecksumIEEE(text) != binary.LittleEndian.Uint32(start[28:]) {
		return nil, errSevenZip
	}
	h := &sevenZipHeader{text: text, limits: limits}
	for range 4 { // packed tables of contents may lie inside each other; no program makes more than one
		if len(h.text) == 0 || h.text[0] != szEncodedHeader {
			break
		}
		h.next()
		h.streams()
		if h.bad {
			return nil, errSevenZip
		}
		inner, err := h.unpack(w, at, size)
		if err != nil {
			return nil, err
		}
		h = &sevenZipHeader{text: inner, limits: limits}
	}
	h.memory = int64(len(h.text))
	if len(h.text) == 0 {
		return h, nil
	}
	h.header()
	if h.bad || !h.assign(size) {
		return nil, errSevenZip
	}
	return h, nil
}

// The marks of a 7z table of contents that are met here.
const (
	szEnd = iota
	szHeader
	szArchiveProperties
	szAdditionalStreams
	szMainStreams
	szFiles
	szPackInfo
	szUnpackInfo
	szSubStreams
	szSize
	szCRC
	szFolder
	szUnpackSize
	szNumUnpackStream
	szEmptyStream
	szEmptyFile
	szAnti
	szNames
	szAttributes    = 0x15
	szEncodedHeader = 0x17
)

// sevenZipHeader is a table of contents, and what is left of its text. After the first thing that is wrong, bad is set
// and everything reads as zero.
type sevenZipHeader struct {
	text   []byte
	limits Limits
	bad    bool
	memory int64 // that reading the archive takes

	packedAt int64
	packed   []int64 // sizes
	folders  []sevenZipFolder
	files    []sevenZipEntry
}

// sevenZipFolder is a chain of coders that files went through one after the other.
type sevenZipFolder struct {
	coders  []sevenZipCoder
	bound   map[int]int // from an input of a coder to the output that it reads
	inputs  []int       // those that read packed streams, in their order
	sizes   []int64     // of outputs
	streams []sevenZipStream
	first   int // its first packed stream
}

type sevenZipCoder struct {
	id, properties []byte
	ins, outs      int
}

// sevenZipStream is the content of one file.
type sevenZipStream struct {
	size   int64
	sum    uint32
	summed bool
	file   *sevenZipEntry
}

type sevenZipEntry struct {
	name         string
	empty, plain bool // has no stream; is neither folder nor link
}

func (h *sevenZipHeader) next() byte {
	if len(h.text) == 0 {
		h.bad = true
		return szEnd
	}
	c := h.text[0]
	h.text = h.text[1:]
	return c
}

func (h *sevenZipHeader) bytes(n int) []byte {
	if n < 0 || n > len(h.text) {
		h.bad = true
		return nil
	}
	b := h.text[:n]
	h.text = h.text[n:]
	return b
}

// number reads a number of one to nine bytes: the leading ones of the first byte say how many follow.
func (h *sevenZipHeader) number() int64 {
	first := h.next()
	var v uint64
	for i := range 8 {
		if first&(0x80>>i) == 0 {
			v |= uint64(first&(0x80>>i-1)) << (8 * i)
			break
		}
		v |= uint64(h.next()) << (8 * i)
	}
	if v > 1<<62 {
		h.bad = true
		return 0
	}
	return int64(v)
}

// count reads how many of something follow, each of which takes at least one byte.
func (h *sevenZipHeader) count() int {
	n := h.number()
	if n > int64(len(h.text)) {
		h.bad = true
		return 0
	}
	return int(n)
}

// flags reads n bits, the highest of a byte first.
func (h *sevenZipHeader) flags(n int) []bool {
	raw := h.bytes((n + 7) / 8)
	if h.bad {
		return nil
	}
	set := make([]bool, n)
	for i := range set {
		set[i] = raw[i/8]&(0x80>>(i%8)) != 0
	}
	return set
}

// optional reads which of n things follow: all, or those with a flag.
func (h *sevenZipHeader) optional(n int) []bool {
	if h.next() == 0 {
		return h.flags(n)
	}
	if n > len(h.text) { // each takes four bytes
		h.bad = true
		return nil
	}
	set := make([]bool, n)
	for i := range set {
		set[i] = true
	}
	return set
}

// digests reads optional check sums.
func (h *sevenZipHeader) digests(n int, take func(i int, sum uint32)) {
	for i, defined := range h.optional(n) {
		if raw := h.bytes(4 * int(b2i(defined))); len(raw) == 4 {
			take(i, binary.LittleEndian.Uint32(raw))
		}
	}
}

func b2i(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func (h *sevenZipHeader) header() {
	if h.next() != szHeader {
		h.bad = true
		return
	}
	mark := h.next()
	if mark == szMainStreams {
		h.streams()
		mark = h.next()
	}
	if mark == szFiles {
		h.readFiles()
	} else if mark != szEnd {
		h.bad = true
	}
}

// sevenZipFileCost is about what is held in memory for each file, beside its name.
const sevenZipFileCost = 128

// readFiles reads what the files are called and which of them have a content.
func (h *sevenZipHeader) readFiles() {
	n := h.number()
	if n > int64(len(h.text))/2 { // every file has a name of at least two bytes
		h.bad = true
		return
	}
	if h.memory += n * sevenZipFileCost; h.memory > h.limits.Memory {
		h.bad = true
		return
	}
	h.files = make([]sevenZipEntry, n)
	for i := range h.files {
		h.files[i].plain = true
	}
	for !h.bad {
		kind := h.next()
		if kind == szEnd {
			return
		}
		inner := &sevenZipHeader{text: h.bytes(h.count())}
		switch kind {
		case szEmptyStream:
			for i, empty := range inner.flags(len(h.files)) {
				h.files[i].empty = empty
			}
		case szNames:
			inner.names(h.files)
		case szAttributes:
			inner.attributes(h.files)
		default: // times, and which empty ones are folders
		}
		h.bad = h.bad || inner.bad
	}
}

func (h *sevenZipHeader) names(files []sevenZipEntry) {
	if h.next() != 0 { // kept elsewhere: no program does that
		h.bad = true
	}
	for i := range files {
		var name []uint16
		for !h.bad {
			c := h.bytes(2)
			if h.bad || c[0] == 0 && c[1] == 0 {
				break
			}
			name = append(name, binary.LittleEndian.Uint16(c))
		}
		files[i].name = string(utf16.Decode(name))
	}
}

// attributes tells files from folders and links, as Windows and Unix write them.
func (h *sevenZipHeader) attributes(files []sevenZipEntry) {
	defined := h.optional(len(files))
	if h.next() != 0 {
		h.bad = true
	}
	for i, has := range defined {
		if raw := h.bytes(4 * int(b2i(has))); len(raw) == 4 {
			a := binary.LittleEndian.Uint32(raw)
			const folder, unix, kind, file = 0x10, 0x8000, 0xf0000000, 0x80000000
			files[i].plain = a&folder == 0 && (a&unix == 0 || a&kind == file)
		}
	}
}

// assign gives each stream its file and makes sure that all packed streams are there.
func (h *sevenZipHeader) assign(size int64) bool {
	end := 32 + h.packedAt
	for _, n := range h.packed {
		if end += n; n > size || end > size {
			return false
		}
	}
	next := 0
	for i := range h.folders {
		f := &h.folders[i]
		if f.first+len(f.inputs) > len(h.packed) || f.output() < 0 {
			return false
		}
		for j := range f.streams {
			for next < len(h.files) && h.files[next].empty {
				next++
			}
			if next == len(h.files) {
				return false
			}
			f.streams[j].file = &h.files[next]
			next++
		}
	}
	return true
}

// unpack decodes a packed table of contents, which programs pack with LZMA alone.
func (h *sevenZipHeader) unpack(w *walker, at io.ReaderAt, size int64) ([]byte, error) {
	if len(h.folders) != 1 || len(h.packed) < 1 || 32+h.packedAt > size || h.packed[0] > size-h.packedAt-32 {
		return nil, errSevenZip
	}
	f := &h.folders[0]
	want := f.size()
	if want > h.limits.Directory {
		return nil, fmt.Errorf("7z: a table of contents of %d bytes is too large", want)
	}
	grow, release := w.growing()
	defer release()
	r, _, err := h.open(w, at, f, grow)
	if err != nil {
		return nil, err
	}
	inner := make([]byte, want)
	if _, err := io.ReadFull(r, inner); err != nil {
		return nil, err
	}
	if s := f.streams[0]; s.summed && crc32.ChecksumIEEE(inner) != s.sum {
		return nil, errSevenZip
	}
	return inner, nil
}
