package scan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

var errSevenZip = errors.New("7z: the table of contents is not in order")

// checkSevenZip reads the table of contents of a 7z before the library does. The library makes room for as many files, folders and bytes of window as
// the archive claims, which a hostile one does without having them; here every claim is held against the bytes that are there. It returns the memory
// that reading the archive will take.
func checkSevenZip(at io.ReaderAt, size int64, limits Limits) (memory int64, err error) {
	var start [32]byte
	if _, err := at.ReadAt(start[:], 0); err != nil {
		return 0, errSevenZip
	}
	offset, length := binary.LittleEndian.Uint64(start[12:]), binary.LittleEndian.Uint64(start[20:])
	if length == 0 || length > uint64(limits.Directory) || offset > uint64(size) || 32+offset+length > uint64(size) {
		return 0, errSevenZip
	}
	text := make([]byte, length)
	if _, err := at.ReadAt(text, int64(32+offset)); err != nil {
		return 0, errSevenZip
	}
	h := &sevenZipHeader{text: text, limits: limits}
	for range 4 { // packed tables of contents may lie inside each other; no program makes more than one
		if len(h.text) == 0 || h.text[0] != szEncodedHeader {
			break
		}
		h.next()
		h.streams()
		if h.bad || h.packedSize < 0 {
			return 0, errSevenZip
		}
		inner, err := h.unpack(at, size)
		if err != nil {
			return 0, err
		}
		h = &sevenZipHeader{text: inner, limits: limits}
	}
	if len(h.text) == 0 {
		return 0, nil
	}
	h.header()
	if h.bad {
		return 0, errSevenZip
	}
	return h.memory + h.files*sevenZipFileCost + int64(len(text)), nil
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
	szEncodedHeader = 0x17
)

// sevenZipHeader reads a table of contents. After the first thing that is wrong, bad is set and everything reads as zero.
type sevenZipHeader struct {
	text   []byte
	limits Limits
	bad    bool
	memory int64 // that the hungriest folder asks for
	files  int64

	packedAt, packedSize int64
	unpacked             []int64
	coder, properties    []byte
	folders, coders      int
	outputs              []int
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

// digests skips n optional check sums.
func (h *sevenZipHeader) digests(n int) {
	defined := n
	if h.next() == 0 {
		defined = 0
		for _, c := range h.bytes((n + 7) / 8) {
			for ; c != 0; c &= c - 1 {
				defined++
			}
		}
	}
	h.bytes(4 * min(defined, n))
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
		// Every file has a name of at least two bytes.
		if h.files = h.number(); h.files > int64(len(h.text)) {
			h.bad = true
		}
	} else if mark != szEnd {
		h.bad = true
	}
}

// sevenZipFileCost is about what the library holds in memory for each file.
const sevenZipFileCost = 256

// streams reads the description of the packed streams.
func (h *sevenZipHeader) streams() {
	h.packedSize = -1
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
	n := h.count()
	for !h.bad {
		switch h.next() {
		case szEnd:
			return
		case szSize:
			for i := range n {
				if v := h.number(); i == 0 {
					h.packedSize = v
				}
			}
		case szCRC:
			h.digests(n)
		default:
			h.bad = true
		}
	}
}

func (h *sevenZipHeader) unpackInfo() {
	if h.next() != szFolder {
		h.bad = true
	}
	h.folders = h.count()
	if h.next() != 0 { // folders kept elsewhere: no program does that
		h.bad = true
	}
	h.outputs = h.outputs[:0]
	for i := 0; i < h.folders && !h.bad; i++ {
		h.folder()
	}
	for !h.bad {
		switch h.next() {
		case szEnd:
			return
		case szUnpackSize:
			h.unpacked = h.unpacked[:0]
			for _, n := range h.outputs {
				for range n {
					h.unpacked = append(h.unpacked, h.number())
				}
			}
		case szCRC:
			h.digests(h.folders)
		default:
			h.bad = true
		}
	}
}

// folder reads one chain of coders and adds up the memory they ask for.
func (h *sevenZipHeader) folder() {
	const most = 32
	h.coders = h.count()
	ins, outs, memory := 0, 0, int64(0)
	for i := 0; i < h.coders && !h.bad; i++ {
		flags := h.next()
		h.coder = h.bytes(int(flags & 0x0f))
		in, out := 1, 1
		if flags&0x10 != 0 {
			in, out = h.count(), h.count()
		}
		if h.properties = nil; flags&0x20 != 0 {
			h.properties = h.bytes(h.count())
		}
		ins, outs = ins+in, outs+out
		memory += coderMemory(h.coder, h.properties)
	}
	if h.coders == 0 || ins > most || outs > most || outs == 0 {
		h.bad = true
		return
	}
	for range outs - 1 {
		h.number()
		h.number()
	}
	if packed := ins - outs + 1; packed > 1 {
		for range packed {
			h.number()
		}
	}
	h.outputs = append(h.outputs, outs)
	h.memory = max(h.memory, memory)
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

func (h *sevenZipHeader) subStreams() {
	perFolder, total := make([]int, h.folders), h.folders
	for i := range perFolder {
		perFolder[i] = 1
	}
	for !h.bad {
		switch h.next() {
		case szEnd:
			return
		case szNumUnpackStream:
			total = 0
			for i := range perFolder {
				// All but the last stream of a folder have their size written down.
				n := h.number()
				if n > int64(len(h.text))+1 {
					h.bad = true
					return
				}
				perFolder[i], total = int(n), total+int(n)
			}
			if total > len(h.text)+h.folders {
				h.bad = true
			}
		case szSize:
			for _, n := range perFolder {
				for range n - 1 {
					h.number()
				}
			}
		case szCRC:
			h.digests(total)
		default:
			h.bad = true
		}
	}
}

// unpack decodes a packed table of contents, which programs pack with LZMA alone.
func (h *sevenZipHeader) unpack(at io.ReaderAt, size int64) ([]byte, error) {
	if h.memory > h.limits.Memory {
		return nil, fmt.Errorf("7z: a window of %d bytes is too large", h.memory)
	}
	if h.folders != 1 || h.coders != 1 || len(h.unpacked) != 1 || h.packedAt > size || h.packedSize > size-h.packedAt {
		return nil, errSevenZip
	}
	want := h.unpacked[0]
	if want > h.limits.Directory {
		return nil, fmt.Errorf("7z: a table of contents of %d bytes is too large", want)
	}
	packed := io.NewSectionReader(at, 32+h.packedAt, h.packedSize)
	var r io.Reader = packed
	switch {
	case bytes.Equal(h.coder, []byte{0}):
	case bytes.Equal(h.coder, []byte{3, 1, 1}) && len(h.properties) == 5:
		head := binary.LittleEndian.AppendUint64(bytes.Clone(h.properties), uint64(want))
		lr, err := lzma.NewReader(io.MultiReader(bytes.NewReader(head), packed))
		if err != nil {
			return nil, err
		}
		r = lr
	default:
		return nil, errors.New("7z: the table of contents is encrypted or packed in an unknown way")
	}
	inner := make([]byte, want)
	if _, err := io.ReadFull(r, inner); err != nil {
		return nil, err
	}
	return inner, nil
}
