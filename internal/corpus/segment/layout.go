package segment

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
)

// The file, in order: one header page, the data pages, the directory (first key of every page, then the checksum of
// every page), the note, the code and the table of labels where there are any, the footer. It is written strictly front
// to back.
const (
	pageSize   = 4096
	version    = 1 // of a segment without labels
	withLabels = 2 // of one with them
	footerSize = 76
	// labelFooter is how much longer the footer of a segment with labels is.
	labelFooter = 8
	dirEntry    = 8 + 4

	headerMagic = "\x89SEG\r\n\x1a\n" // a text-mode copy or a stripped high bit breaks it visibly
	footerMagic = "SEGMEND\n"
	// maxPages keeps page numbers in 32 bits: 16 TiB of data pages.
	maxPages = 1<<32 - 2
	// maxTable bounds what a reader holds of a table of labels.
	maxTable = 256 << 20
)

// castagnoli is the polynomial that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the CRC-32C of b, which processors compute in hardware.
func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Digest identifies the content of a segment.
type Digest [sha256.Size]byte

// String returns the digest in hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// encodeHeader returns the first page of a file. Files without labels keep the older version, so that older programs
// can read them.
func encodeHeader(w Width, labelled bool) []byte {
	b := make([]byte, pageSize)
	copy(b, headerMagic)
	binary.LittleEndian.PutUint16(b[8:], version)
	if labelled {
		binary.LittleEndian.PutUint16(b[8:], withLabels)
	}
	b[10] = byte(w)
	binary.LittleEndian.PutUint32(b[12:], pageSize)
	binary.LittleEndian.PutUint32(b[pageSize-4:], checksum(b[:pageSize-4]))
	return b
}

// decodeHeader checks the first page and returns what it declares. The checksum is checked before any other field is
// trusted.
func decodeHeader(b []byte) (w Width, labelled bool, err error) {
	if string(b[:8]) != headerMagic {
		return 0, false, ErrCorrupt.Note("not a segment file")
	}
	if binary.LittleEndian.Uint32(b[pageSize-4:]) != checksum(b[:pageSize-4]) {
		return 0, false, ErrCorrupt.Note("header: wrong checksum")
	}
	v := binary.LittleEndian.Uint16(b[8:])
	if v != version && v != withLabels {
		return 0, false, ErrCorrupt.Note("header: version %d, this program reads versions up to %d", v, withLabels)
	}
	w = Width(b[10])
	if !w.isValid() || binary.LittleEndian.Uint32(b[12:]) != pageSize {
		return 0, false, ErrCorrupt.Note("header: key width or page size not known")
	}
	return w, v == withLabels, nil
}

// footer closes the file. Everything that Open needs to find and check the rest is here.
type footer struct {
	count   uint64
	pages   uint64
	last    uint64 // largest key; 0 in an empty segment
	noteLen uint32
	dirSum  uint32 // CRC-32C of directory, note and labels
	digest  Digest
	// Of a segment with labels only: how many bytes code and table have.
	labelled  bool
	labelsLen uint64
}

// footerLen returns how many bytes the footer has.
func footerLen(labelled bool) int64 {
	if labelled {
		return footerSize + labelFooter
	}
	return footerSize
}

func (f footer) encodeFooter() []byte {
	e := binary.LittleEndian
	b := e.AppendUint64(e.AppendUint64(e.AppendUint64(nil, f.count), f.pages), f.last)
	b = e.AppendUint32(e.AppendUint32(b, f.noteLen), f.dirSum)
	if f.labelled {
		b = e.AppendUint64(b, f.labelsLen)
	}
	b = append(append(b, f.digest[:]...), footerMagic...)
	return e.AppendUint32(b, checksum(b))
}

// decodeFooter checks the end of a file and returns what it declares. A missing magic means that the file was cut or
// never finished.
func decodeFooter(b []byte, labelled bool) (footer, error) {
	e, end := binary.LittleEndian, b[len(b)-44:] // digest, magic and checksum
	if string(end[32:40]) != footerMagic {
		return footer{}, ErrCorrupt.Note("footer missing: the file was cut or never finished")
	}
	if e.Uint32(end[40:]) != checksum(b[:len(b)-4]) {
		return footer{}, ErrCorrupt.Note("footer: wrong checksum")
	}
	f := footer{
		count:    e.Uint64(b),
		pages:    e.Uint64(b[8:]),
		last:     e.Uint64(b[16:]),
		noteLen:  e.Uint32(b[24:]),
		dirSum:   e.Uint32(b[28:]),
		digest:   Digest(end[:32]),
		labelled: labelled,
	}
	if labelled {
		f.labelsLen = e.Uint64(b[32:])
	}
	if f.pages > maxPages || f.noteLen > MaxNote || f.labelsLen > maxTable || (f.pages == 0) != (f.count == 0) {
		return footer{}, ErrCorrupt.Note("footer: counts out of range")
	}
	return f, nil
}

// dirOffset returns where the directory starts.
func (f footer) dirOffset() int64 { return int64(1+f.pages) * pageSize }

// fileSize returns the length the whole file must have.
func (f footer) fileSize() int64 {
	return f.dirOffset() + int64(f.pages)*dirEntry + int64(f.noteLen) + int64(f.labelsLen) + footerLen(f.labelled)
}

// directory is the part of a segment that is held in memory: for each data page its first key and its checksum.
type directory struct {
	first []uint64
	sum   []uint32
}

func (d *directory) encodeDirectory() []byte {
	b := make([]byte, 0, len(d.first)*dirEntry)
	for _, k := range d.first {
		b = binary.LittleEndian.AppendUint64(b, k)
	}
	for _, s := range d.sum {
		b = binary.LittleEndian.AppendUint32(b, s)
	}
	return b
}

// decodeDirectory reads the directory of n pages from b and refuses one whose first keys do not rise up to last.
func decodeDirectory(b []byte, n int, last uint64) (directory, error) {
	d := directory{first: make([]uint64, n), sum: make([]uint32, n)}
	for i := range d.first {
		d.first[i] = binary.LittleEndian.Uint64(b[8*i:])
		if i > 0 && d.first[i] <= d.first[i-1] {
			return directory{}, ErrCorrupt.Note("directory: page %d is out of order", i)
		}
	}
	if n > 0 && d.first[n-1] > last {
		return directory{}, ErrCorrupt.Note("directory: last page starts after the last key")
	}
	for i := range d.sum {
		d.sum[i] = binary.LittleEndian.Uint32(b[8*n+4*i:])
	}
	return d, nil
}
