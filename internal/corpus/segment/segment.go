// Package segment keeps exact sets of integer keys in immutable files that are read in place.
//
// A segment holds distinct keys of up to 40 or 64 bits, sorted and compressed to within about one bit a key of what
// information theory allows for evenly spread keys. Every page of 4 KiB answers by itself, so a look-up touches one
// page of the file and a small directory that is held in memory. The byte layout is in docs/internal/segment.md.
//
// The package knows nothing of what a key stands for. The invariant it keeps: an answer comes from bytes whose checksum
// was right, or it is an error. A file that was cut, changed, zeroed or is no segment at all is reported by Open, by
// Verify or by the look-up that meets the damage; it never crashes the process and never turns into a wrong answer.
// Files are published whole: a reader sees the old file or the new one.
package segment

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"math/bits"
	"sort"
	"unsafe"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Width is the size of a segment's keys in bits.
type Width uint8

// The widths a segment can have.
const (
	Bits40 Width = 40
	Bits64 Width = 64
)

// MaxKey returns the largest key of the width.
func (w Width) MaxKey() uint64 { return ^uint64(0) >> (64 - uint(w)) }

// isValid reports whether there are keys of the width.
func (w Width) isValid() bool { return w == Bits40 || w == Bits64 }

// MaxNote is the most bytes that the note of a segment may have.
const MaxNote = 64 << 10

// The faults of this package. ErrCorrupt covers every way in which a file can fail to be a whole segment: its detail
// says which one.
var (
	ErrCorrupt    = fault.New(fault.Internal, "segment.corrupt")
	ErrClosed     = fault.New(fault.Unavailable, "segment.closed")
	ErrBusy       = fault.New(fault.Conflict, "segment.busy")
	ErrKeyTooWide = fault.New(fault.Invalid, "segment.key_too_wide")
	// ErrSealed is a label that was asked for before OpenLabels.
	ErrSealed = fault.New(fault.Internal, "segment.sealed")
	ErrOption = fault.New(fault.Invalid, "segment.option")
)

// Summary describes a segment as a whole.
type Summary struct {
	Count  uint64 // distinct keys
	Size   int64  // bytes of the file
	Digest Digest // SHA-256 of everything before the footer: two segments with equal digests are equal
}

// record is what is sorted: a key alone, or a key and the id of its label. They are arrays so that one text of the sort
// serves both, and reads a key without a call.
type record interface{ bare | labelled }

type (
	// bare is a key alone.
	bare [1]uint64
	// labelled is a key and the id of its label.
	labelled [2]uint64
)

// Entry is a key and the id of its label, in the Labels of a writer or in the table of a Reader.
type Entry struct {
	Key   uint64
	Label LabelID
}

// asRecords views keys as records, and keysOf records as keys: they are the same bytes.
func asRecords(keys []uint64) []bare {
	return unsafe.Slice((*bare)(unsafe.Pointer(unsafe.SliceData(keys))), len(keys)) //nolint:gosec // one number each
}

// asKeys undoes asRecords.
func asKeys(records []bare) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(records))), len(records)) //nolint:gosec // as above
}

// compareKeys orders records by their key alone.
func compareKeys[R record](a, b R) int { return cmp.Compare(a[0], b[0]) }

// sortedByKey is slices.IsSortedFunc without a call for each record.
func sortedByKey[R record](records []R) bool {
	for i := 1; i < len(records); i++ {
		if records[i][0] < records[i-1][0] {
			return false
		}
	}
	return true
}

// unite gives the label of a key that came with two. It is nil where there are no labels.
type unite func(a, b uint64) uint64

// dropRepeated drops repeated keys from sorted records. What lies between two of them is moved as a whole.
func dropRepeated[R record](records []R, unite unite) []R {
	n, from := 0, 0 // so many are in their places; those from there on are not
	for i := 1; i < len(records); i++ {
		if records[i][0] != records[i-1][0] {
			continue
		}
		n += copy(records[n:], records[from:i])
		if from = i + 1; unite != nil {
			records[n-1] = uniteRecords(records[n-1], records[i], unite)
		}
	}
	if from == 0 {
		return records
	}
	return records[:n+copy(records[n:], records[from:])]
}

// uniteRecords returns the record of two that have the same key.
func uniteRecords[R record](a, b R, unite unite) R {
	if last := len(a) - 1; a[last] != b[last] {
		a[last] = unite(a[last], b[last])
	}
	return a
}

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

// A page is 4096 bytes:
//
//	0     u8   l: low bits kept of each key
//	1     u8   zero
//	2     u16  m: number of groups
//	4     u16  start[0..m]: keys in the groups before group i; start[m] is the number of keys in the page
//	...        bits, low bit first: the groups one after the other, nothing between them
//	4088  8    mark
//
// Keys are stored as offsets from the page's first key, which the directory holds. Group i has the offsets whose bits
// above l+6 equal i. A group of c keys takes exactly 64+c*(l+1) bits, so where it begins follows from start[i] alone:
// first 64+c bits of Elias-Fano upper part (64 slots, a one for each key in a slot, a zero after each slot), then c
// times l low bits.
const (
	slotBits = 6
	slots    = 1 << slotBits
	// maxLow lets any low part be read with one 8-byte load from any bit position.
	maxLow      = 57
	pageContent = pageSize - 8
	contentBits = pageContent * 8
	// pageKeys bounds the keys of one page: slots at l=0 hold one key each and cost two bits.
	pageKeys = contentBits / 2
	tableAt  = 4
)

// pageMark ends every page. A file that is cut inside a page reads as zeros from the cut to the page's end, so a page
// whose mark is gone was cut after its checksum was found right.
const pageMark = "PAGEEND\xa5"

// page is one page of a file: a header, the compressed keys and, if there are any, their labels.
type page = [pageSize]byte

// loadBits returns the bits of p from bit position at on; at least 57 of them are valid.
func loadBits(p *page, at uint) uint64 {
	return binary.LittleEndian.Uint64(p[at>>3:]) >> (at & 7)
}

// pageHead is what a page says of itself: l, m and the number of its keys. It is never zero.
type pageHead uint64

// headMade is set in every head, so that none is zero.
const headMade = 1 << 63

// readPageHead reads the head of a page whose checksum was right.
func readPageHead(p *page) pageHead {
	m := uint(binary.LittleEndian.Uint16(p[2:]))
	n := uint64(binary.LittleEndian.Uint16(p[min(tableAt+2*m, pageContent):]))
	return pageHead(headMade | uint64(p[0]) | uint64(m)<<16 | n<<32)
}

// lowBits returns how many low bits of a key are stored as they are.
func (h pageHead) lowBits() uint { return uint(h & 63) }

// groupCount returns how many groups of high bits there are.
func (h pageHead) groupCount() uint { return uint(h >> 16 & 0xffff) }

// keyCount returns how many keys the page has.
func (h pageHead) keyCount() uint { return uint(h >> 32 & 0xffff) }

// groupsAt returns the bit position at which the groups begin.
func (h pageHead) groupsAt() uint { return (tableAt + 2*(h.groupCount()+1)) * 8 }

// labelsAt returns the bit position behind the groups.
func (h pageHead) labelsAt() uint {
	return h.groupsAt() + h.groupCount()*slots + h.keyCount()*(h.lowBits()+1)
}

// pageFind reports whether offset is in the page, and how many keys of the page are before one that was found. It must
// only be given pages whose checksum was right; on others it may panic with an index out of range, never worse.
func pageFind(p *page, head pageHead, offset uint64) (at uint, found bool) {
	l := head.lowBits()
	group := offset >> (l + slotBits)
	if group >= uint64(head.groupCount()) {
		return 0, false
	}
	entry := tableAt + 2*uint(group)
	before := uint(binary.LittleEndian.Uint16(p[entry:]))
	count := uint(binary.LittleEndian.Uint16(p[entry+2:])) - before
	if count == 0 {
		return 0, false
	}
	upper := head.groupsAt() + uint(group)*slots + before*(l+1)
	slot := uint(offset>>l) & (slots - 1)
	pos := slotStart(p, upper, slot)
	rank := pos - slot
	low := upper + slots + count + rank*l
	mask := uint64(1)<<l - 1
	want := offset & mask
	for {
		run := uint(bits.TrailingZeros64(^loadBits(p, upper+pos)))
		for j := uint(0); j < run; j++ {
			got := loadBits(p, low) & mask
			if got >= want {
				return before + rank + j, got == want
			}
			low += l
		}
		// Up to 57 bits of a load are valid: a longer run of ones goes on in the next load.
		if run < 57 {
			return 0, false
		}
		pos += run
		rank += run
	}
}

// slotStart returns the position, relative to upper, of the first bit of a slot: one past the zero that ends the slot
// before it.
func slotStart(p *page, upper, slot uint) uint {
	if slot == 0 {
		return 0
	}
	const step = 56
	left := slot - 1 // zeros to pass before the one we want
	for pos := uint(0); ; pos += step {
		zeros := ^loadBits(p, upper+pos) & (1<<step - 1)
		n := uint(bits.OnesCount64(zeros))
		if left < n {
			return pos + selectBit(zeros, left) + 1
		}
		left -= n
	}
}

// decodePage appends the keys of a page to dst and checks its structure on the way: what it returns without an error is
// sorted, starts with first and is what pageFind would find.
func decodePage(dst []uint64, p *page, first uint64) ([]uint64, bool) {
	dst, end, ok := decodeKeys(dst, p, first)
	return dst, ok && zeroFrom(p, end)
}

// decodeKeys is decodePage for all but what follows the groups, and returns the bit position where that begins.
func decodeKeys(dst []uint64, p *page, first uint64) (_ []uint64, end uint, ok bool) {
	l := uint(p[0])
	m := uint(binary.LittleEndian.Uint16(p[2:]))
	if l > maxLow || p[1] != 0 || m == 0 || string(p[pageContent:]) != pageMark {
		return dst, 0, false
	}
	table := tableAt + 2*(m+1)
	if table > pageContent || binary.LittleEndian.Uint16(p[tableAt:]) != 0 {
		return dst, 0, false
	}
	at, before := table*8, uint(0)
	start := len(dst)
	for g := uint(0); g < m; g++ {
		next := uint(binary.LittleEndian.Uint16(p[tableAt+2*(g+1):]))
		if next < before || at+slots+(next-before)*(l+1) > contentBits {
			return dst, 0, false
		}
		if dst, ok = decodeGroup(dst, p, at, next-before, l, first+uint64(g)<<(l+slotBits)); !ok {
			return dst, 0, false
		}
		at += slots + (next-before)*(l+1)
		before = next
	}
	if len(dst) == start || dst[start] != first || before == uint(binary.LittleEndian.Uint16(p[tableAt+2*(m-1):])) {
		return dst, 0, false
	}
	for i := start + 1; i < len(dst); i++ {
		if dst[i] <= dst[i-1] {
			return dst, 0, false
		}
	}
	return dst, at, true
}

// decodeGroup appends the count keys of the group at bit position at; base is the smallest key the group could hold.
func decodeGroup(dst []uint64, p *page, at, count, l uint, base uint64) ([]uint64, bool) {
	low := at + slots + count
	mask := uint64(1)<<l - 1
	slot := uint64(0)
	for end := low; at < end; {
		n := min(end-at, 57)
		word := loadBits(p, at) & (1<<n - 1)
		for used := uint(0); used < n; {
			zeros := uint(bits.TrailingZeros64(word))
			if used+zeros >= n {
				slot += uint64(n - used)
				break
			}
			slot += uint64(zeros)
			if slot >= slots || count == 0 {
				return dst, false
			}
			dst = append(dst, base+slot<<l+loadBits(p, low)&mask)
			low += l
			count--
			used += zeros + 1
			word >>= zeros + 1
		}
		at += n
	}
	return dst, count == 0 && slot == slots
}

// zeroFrom reports whether all bits of the page from bit position at on are zero, as those behind the last key must be.
func zeroFrom(p *page, at uint) bool {
	for ; at&7 != 0; at++ {
		if p[at>>3]>>(at&7)&1 != 0 {
			return false
		}
	}
	for _, b := range p[at>>3 : pageContent] {
		if b != 0 {
			return false
		}
	}
	return true
}

// groupsFor returns the number of groups that keys up to offset need with l low bits.
func groupsFor(offset uint64, l uint) uint64 { return offset>>(l+slotBits) + 1 }

// fitsInPage reports whether n keys, the last at offset, fit in a page with l low bits beside so many bits of labels.
func fitsInPage(n int, offset uint64, l uint, labels uint64) bool {
	m := groupsFor(offset, l)
	if m > contentBits/slots {
		return false
	}
	return 8*(tableAt+2*(m+1))+slots*m+uint64(n)*uint64(l+1)+labels <= contentBits
}

// planPage finds how many of the sorted keys go into the next page and with how many low bits: the choice that takes
// most keys. guess is where to look first. labelBits is what the label of each key takes.
func planPage(keys []uint64, labelBits uint64, guess uint) (n int, l uint) {
	n, l = longestPrefix(keys, labelBits, guess), guess
	for _, dir := range []int{-1, 1} {
		for next := int(guess) + dir; next >= 0 && next <= maxLow; next += dir {
			got := longestPrefix(keys, labelBits, uint(next))
			if got < n {
				break
			}
			n, l = got, uint(next)
		}
	}
	return n, l
}

// longestPrefix returns how many of keys fit in one page with l low bits.
func longestPrefix(keys []uint64, labelBits uint64, l uint) int {
	most := min(len(keys), contentBits/int(l+1))
	return sort.Search(most, func(i int) bool { return !fitsInPage(i+1, keys[i]-keys[0], l, uint64(i+1)*labelBits) })
}

// encodePage writes keys, which plan has found to fit with l low bits, into p, and returns the bit position behind
// them.
func encodePage(p *page, keys []uint64, l uint) (end uint) {
	clear(p[:])
	first, last := keys[0], keys[len(keys)-1]
	m := uint(groupsFor(last-first, l))
	p[0] = byte(l)
	binary.LittleEndian.PutUint16(p[2:], uint16(m))
	at := (tableAt + 2*(m+1)) * 8
	done := 0
	for g := uint(0); g < m; g++ {
		end, upto := done, uint64(g+1)<<(l+slotBits)-1 // the last offset of the group
		for end < len(keys) && keys[end]-first <= upto {
			end++
		}
		encodeUpper(p, keys[done:end], first, at, l)
		low := at + slots + uint(end-done)
		encodeLow(p, keys[done:end], first, low, l)
		low += uint(end-done) * l
		at, done = low, end
		binary.LittleEndian.PutUint16(p[tableAt+2*(g+1):], uint16(done))
	}
	copy(p[pageContent:], pageMark)
	return at
}

// encodeUpper sets the bits of the upper part of a group at bit position at. Bits are gathered in a word before they
// are stored: a load of what was just stored in another shape makes the processor wait.
func encodeUpper(p *page, keys []uint64, first uint64, at, l uint) {
	word, bits := at>>6, uint64(0)
	for _, k := range keys {
		upper := at + uint((k-first)>>(l&63))&(slots-1) // l is below 64, which the compiler does not know
		if upper>>6 != word {
			setWordBits(p, word, bits)
			word, bits = upper>>6, 0
		}
		bits |= 1 << (upper & 63)
		at++
	}
	setWordBits(p, word, bits)
}

// setWordBits sets bits in the given word of eight bytes.
func setWordBits(p *page, word uint, bits uint64) {
	w := p[word*8:][:8]
	binary.LittleEndian.PutUint64(w, binary.LittleEndian.Uint64(w)|bits)
}

// encodeLow writes the low bits of a group from bit position at on, word by word. There is nothing in the page yet
// behind them; the mark comes last. Inlined it would run out of registers.
//
//go:noinline
func encodeLow(p *page, keys []uint64, first uint64, at, l uint) {
	mask := uint64(1)<<l - 1
	i, used := at>>6, at&63
	word := binary.LittleEndian.Uint64(p[i*8:])
	for _, k := range keys {
		low := (k - first) & mask
		word |= low << (used & 63)
		if used += l; used >= 64 {
			binary.LittleEndian.PutUint64(p[i*8:][:8], word)
			i, used = i+1, used-64
			word = low >> ((l - used) & 63) // l is below 64
		}
	}
	binary.LittleEndian.PutUint64(p[i*8:][:8], word)
}

const (
	everyByte = 0x0101010101010101
	highBits  = 0x8080808080808080
)

// selectInByte[b][k] is the position of the k-th set bit of b.
var selectInByte = func() (t [256][8]uint8) {
	for b := range t {
		k := 0
		for i := range 8 {
			if b>>i&1 == 1 {
				t[b][k] = uint8(i)
				k++
			}
		}
	}
	return t
}()

// selectBit returns the position of the k-th set bit of x, counted from 0. x must have more than k set bits.
func selectBit(x uint64, k uint) uint {
	// sums holds in each byte the number of set bits of x up to and including that byte.
	s := x - x>>1&0x5555555555555555
	s = s&0x3333333333333333 + s>>2&0x3333333333333333
	sums := (s + s>>4) & 0x0f0f0f0f0f0f0f0f * everyByte
	// The bytes whose sum is at most k lie before the wanted bit.
	byteAt := uint(bits.OnesCount64((uint64(k)*everyByte|highBits-sums)&highBits)) * 8
	return byteAt + uint(selectInByte[x>>byteAt&0xff][(k-uint(sums<<8>>byteAt)&0xff)&7])
}
