package scan

import (
	"bytes"
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
func sevenZipTable(at io.ReaderAt, size int64, limits Limits) (*sevenZipHeader, error) {
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
		inner, err := h.unpack(at, size)
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
	memory  int64
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

// streams reads the description of the packed streams.
func (h *sevenZipHeader) streams() {
	for !h.bad {
		switch h.next() {
		case szEnd:
			return
		case szPackInfo:
			h.packInfo()
		case szUnpackInfo:
			h.unpackInfo()
		case szSubStreams:
			h.subStreams()
		default:
			h.bad = true
		}
	}
}

func (h *sevenZipHeader) packInfo() {
	h.packedAt = h.number()
	h.packed = make([]int64, h.count())
	for !h.bad {
		switch h.next() {
		case szEnd:
			return
		case szSize:
			for i := range h.packed {
				h.packed[i] = h.number()
			}
		case szCRC:
			h.digests(len(h.packed), func(int, uint32) {})
		default:
			h.bad = true
		}
	}
}

func (h *sevenZipHeader) unpackInfo() {
	if h.next() != szFolder {
		h.bad = true
	}
	n := h.count()
	if h.next() != 0 { // folders kept elsewhere: no program does that
		h.bad = true
	}
	h.folders = nil
	streams := 0
	for i := 0; i < n && !h.bad; i++ {
		f := h.folder()
		f.first = streams
		streams += len(f.inputs)
		f.streams = []sevenZipStream{{}} // until told otherwise
		h.folders = append(h.folders, f)
	}
	for !h.bad {
		switch h.next() {
		case szEnd:
			return
		case szUnpackSize:
			for i := range h.folders {
				f := &h.folders[i]
				for j := range f.sizes {
					f.sizes[j] = h.number()
				}
				f.streams[0].size = f.size()
			}
		case szCRC:
			h.digests(len(h.folders), func(i int, sum uint32) {
				h.folders[i].streams[0].sum, h.folders[i].streams[0].summed = sum, true
			})
		default:
			h.bad = true
		}
	}
}

// folder reads one chain of coders and adds up the memory they ask for.
func (h *sevenZipHeader) folder() (f sevenZipFolder) {
	const most = 32
	ins, outs := 0, 0
	for n := h.count(); n > 0 && !h.bad; n-- {
		flags := h.next()
		c := sevenZipCoder{id: h.bytes(int(flags & 0x0f)), ins: 1, outs: 1}
		if flags&0x10 != 0 {
			c.ins, c.outs = h.count(), h.count()
		}
		if flags&0x20 != 0 {
			c.properties = h.bytes(h.count())
		}
		ins, outs = ins+c.ins, outs+c.outs
		f.memory += coderMemory(c.id, c.properties)
		f.coders = append(f.coders, c)
		if ins > most || outs > most {
			h.bad = true
		}
	}
	if h.bad || outs == 0 || ins < outs-1 {
		h.bad = true
		return f
	}
	f.sizes = make([]int64, outs)
	f.bound = map[int]int{}
	for range outs - 1 {
		in, out := h.number(), h.number()
		if in >= int64(ins) || out >= int64(outs) {
			h.bad = true
			return f
		}
		f.bound[int(in)] = int(out)
	}
	for in := range ins {
		if _, taken := f.bound[in]; !taken {
			f.inputs = append(f.inputs, in)
		}
	}
	if len(f.inputs) > 1 {
		for i := range f.inputs {
			f.inputs[i] = int(min(h.number(), most))
		}
	}
	return f
}

// output is the one that no coder reads: the content. There is one, or -1.
func (f *sevenZipFolder) output() int {
	read := map[int]bool{}
	for _, out := range f.bound {
		read[out] = true
	}
	for out := range f.sizes {
		if !read[out] {
			return out
		}
	}
	return -1
}

func (f *sevenZipFolder) size() int64 {
	if out := f.output(); out >= 0 {
		return f.sizes[out]
	}
	return 0
}

// coderMemory is the window that a coder's properties ask for: LZMA, LZMA2 and PPMd say so.
func coderMemory(id, properties []byte) int64 {
	switch {
	case bytes.Equal(id, []byte{3, 1, 1}) && len(properties) == 5, bytes.Equal(id, []byte{3, 4, 1}) && len(properties) == 5:
		return int64(binary.LittleEndian.Uint32(properties[1:]))
	case bytes.Equal(id, []byte{0x21}) && len(properties) == 1:
		return lzma2Window(properties[0])
	}
	return 0
}

// subStreams reads into how many files each folder is cut, and how long they are. The last one's length is what is
// left.
func (h *sevenZipHeader) subStreams() {
	for !h.bad {
		switch h.next() {
		case szEnd:
			return
		case szNumUnpackStream:
			total := 0
			for i := range h.folders {
				f := &h.folders[i]
				n := h.number()
				if total += int(min(n, 1<<30)); total > len(h.text)+len(h.folders) {
					h.bad = true // all but the last stream of a folder have their size written down
					return
				}
				if n != 1 {
					f.streams = make([]sevenZipStream, n)
				}
				h.lastStream(f)
			}
		case szSize:
			for i := range h.folders {
				f := &h.folders[i]
				for j := range len(f.streams) - 1 {
					f.streams[j].size = h.number()
				}
				h.lastStream(f)
			}
		case szCRC:
			h.streamDigests()
		default:
			h.bad = true
		}
	}
}

func (h *sevenZipHeader) lastStream(f *sevenZipFolder) {
	if len(f.streams) == 0 {
		return
	}
	left := f.size()
	for _, s := range f.streams[:len(f.streams)-1] {
		if left -= s.size; left < 0 {
			h.bad = true
			return
		}
	}
	f.streams[len(f.streams)-1].size = left
}

// streamDigests reads the sums of streams that have none yet: a folder of one stream may have told it.
func (h *sevenZipHeader) streamDigests() {
	var open []*sevenZipStream
	for i := range h.folders {
		for j := range h.folders[i].streams {
			if s := &h.folders[i].streams[j]; !s.summed {
				open = append(open, s)
			}
		}
	}
	h.digests(len(open), func(i int, sum uint32) { open[i].sum, open[i].summed = sum, true })
}

// assign gives each stream its file and makes sure that all packed streams are there.
func (h *sevenZipHeader) assign(size int64) bool {
	end := 32 + h.packedAt
	for _, n := range h.packed {
		if end += n; n > size || end > size {
			return false
		}
	}
	var most int64
	next := 0
	for i := range h.folders {
		f := &h.folders[i]
		if most = max(most, f.memory); f.first+len(f.inputs) > len(h.packed) || f.output() < 0 {
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
	h.memory += most
	return true
}

// unpack decodes a packed table of contents, which programs pack with LZMA alone.
func (h *sevenZipHeader) unpack(at io.ReaderAt, size int64) ([]byte, error) {
	if len(h.folders) != 1 || len(h.packed) < 1 || 32+h.packedAt > size || h.packed[0] > size-h.packedAt-32 {
		return nil, errSevenZip
	}
	f := &h.folders[0]
	if f.memory > h.limits.Memory {
		return nil, fmt.Errorf("7z: a window of %d bytes is too large", f.memory)
	}
	want := f.size()
	if want > h.limits.Directory {
		return nil, fmt.Errorf("7z: a table of contents of %d bytes is too large", want)
	}
	r, _, err := h.open(at, f)
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
