package container

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/bzip2"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha1" //nolint:gosec // the format of WinZip's encryption asks for it
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/flate"
)

var zipFormat = &format{
	name:  "zip",
	known: startsWith("PK\x03\x04", "PK\x05\x06", zipSpanned+"PK\x03\x04", "PK00PK\x03\x04"),
	open:  (*walker).walkZip,
}

// zipSpanned begins the first volume of a set; the offsets in its table of contents count from the volumes' beginnings.
const zipSpanned = "PK\x07\x08"

// zipDirectoryMost is the size of the largest table of contents that is read: the library holds some eight bytes for
// each of it.
const zipDirectoryMost = 16 << 20

// walkZip reads a zip by its table of contents, which stands at its end. Where that is missing, too large or out of
// reach, the files are read one after the other as they come.
func (w *walker) walkZip(l layer) error {
	if rest := l.holdWhole(); rest != nil {
		return w.zipOnward(l, rest, "")
	}
	done, why, err := w.zipTable(l)
	if done {
		return err
	}
	return w.zipOnward(l, io.NewSectionReader(l.at, 0, l.size), why)
}

// zipTable reads the archive by its table of contents. It is not done where that table is missing, damaged or too
// large: then the entries are read from the start of the file onward. why is to be noted then, unless nothing is
// missed.
func (w *walker) zipTable(l layer) (done bool, why string, err error) {
	if bytes.HasPrefix(l.head, []byte(zipSpanned)) {
		return false, "", nil
	}
	dir, err := zipDirectory(l.at, l.size)
	if err != nil {
		return false, "cut short: no table of contents", nil
	}
	if dir > zipDirectoryMost {
		return false, "", nil
	}
	z, err := zip.NewReader(l.at, l.size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return false, "damaged: the table of contents is not in order", nil
	}
	names := map[string]*zip.File{}
	for _, f := range z.File {
		if officeNames[f.Name] {
			names[f.Name] = f
		}
	}
	var shared sharedStrings
	for _, f := range z.File {
		done := false
		if len(names) > 0 {
			done, err = w.officeFile(l, names, f, &shared)
		}
		if !done {
			err = w.openZipFile(l, f)
		}
		if err != nil {
			return true, "", err
		}
	}
	return true, "", nil
}

func (w *walker) openZipFile(l layer, f *zip.File) error {
	if err := w.countFile(l.name); err != nil {
		return err
	}
	entry := entryName(l.name, f.Name)
	if f.FileInfo().IsDir() || f.Mode()&fs.ModeSymlink != 0 {
		return nil
	}
	e := zipEntry{
		flags:  f.Flags,
		method: f.Method,
		extra:  f.Extra,
		sum:    f.CRC32,
		packed: int64(min(f.CompressedSize64, uint64(l.size))),
		size:   int64(min(f.UncompressedSize64, 1<<62)),
		check:  byte(f.CRC32 >> 24),
		sized:  true,
	}
	if e.flags&zipHasDescriptor != 0 {
		e.check = byte(f.ModifiedTime >> 8)
	}
	r, err := w.openZipEntry(e, func() (io.Reader, error) { return f.OpenRaw() })
	if err != nil {
		return w.noteDamage(entry, 0, err)
	}
	return w.openLayer(
		layer{name: entry, depth: l.depth + 1},
		&meter{w: w, name: entry, r: r, in: func() int64 { return e.packed }},
	)
}

// zipEntry is what a zip says of a file in it.
type zipEntry struct {
	flags, method uint16
	extra         []byte
	sum           uint32
	packed, size  int64
	check         byte // the last byte before encrypted text, to tell a wrong password
	sized         bool // packed, size and sum are known
}

const (
	zipEncrypted     = 1
	zipHasMark       = 2 // of LZMA: a mark ends the text
	zipHasDescriptor = 8
)

// openZipEntry gives the text of a file. raw may be called again where passwords are tried.
func (w *walker) openZipEntry(e zipEntry, raw func() (io.Reader, error)) (io.Reader, error) {
	if e.flags&zipEncrypted != 0 {
		return w.zipDecrypt(e, raw)
	}
	in, err := raw()
	if err != nil {
		return nil, err
	}
	return e.unpackText(in)
}

// unpackText undoes the packing and holds the text against its check sum.
func (e *zipEntry) unpackText(in io.Reader) (io.Reader, error) {
	r, err := e.unpackEntry(in)
	if err != nil || !e.sized {
		return r, err
	}
	return &summed{r: r, left: e.size, sum: e.sum, summed: e.sum != 0 || e.size == 0, hash: crc32.NewIEEE()}, nil
}

// zipDecrypt finds the password of a file: one that passes the check and under which the text can be unpacked.
func (w *walker) zipDecrypt(e zipEntry, raw func() (io.Reader, error)) (io.Reader, error) {
	locked, err := newZipLock(&e)
	if err != nil {
		return nil, err
	}
	open := func(password string) (io.Reader, error) {
		in, err := raw()
		if err != nil {
			return nil, err
		}
		if in, err = locked.openLocked(in, password); err != nil {
			return nil, err
		}
		return e.unpackText(in)
	}
	password, err := w.findPassword(func(password string) bool {
		const tried = 1 << 20
		r, err := open(password)
		if err == nil {
			_, err = io.Copy(io.Discard, io.LimitReader(r, tried))
		}
		return err == nil || errors.Is(err, io.ErrUnexpectedEOF)
	})
	if err != nil {
		return nil, err
	}
	return open(password)
}

// errZipMethod is the verdict on a member packed by a method that no reader here knows.
var errZipMethod = errors.New("packed in a way that is not read: zip")

// zipMethod returns an error that names the compression method, so that the operator knows which program can unpack the
// file.
func zipMethod(n uint16) error {
	names := map[uint16]string{1: "Shrink", 6: "Implode", 18: "TERSE", 19: "LZ77", 96: "JPEG", 97: "WavPack"}
	if name, ok := names[n]; ok {
		return fmt.Errorf("%w: %s", errZipMethod, name)
	}
	return fmt.Errorf("%w: method %d", errZipMethod, n)
}

// errNoDirectory has the members read one behind another, as of a zip that was cut off.
var errNoDirectory = errors.New("no table of contents")

// zipDirectory returns the size of a zip's table of contents, from the record at the end of the file. The zip library
// reads all of it into memory, several times its size.
func zipDirectory(at io.ReaderAt, size int64) (int64, error) {
	const record, comment = 22, 1<<16 - 1
	tail := make([]byte, min(size, record+comment))
	if _, err := at.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	i := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if i < 0 || i+record > len(tail) {
		return 0, errNoDirectory
	}
	dir := int64(binary.LittleEndian.Uint32(tail[i+12:]))
	if dir != 1<<32-1 {
		return dir, nil
	}
	// A large archive: the locator before the record says where the record of 64 bits is.
	if i < 20 || !bytes.Equal(tail[i-20:i-16], []byte("PK\x06\x07")) {
		return 0, errNoDirectory
	}
	var large [56]byte
	if _, err := at.ReadAt(
		large[:],
		int64(binary.LittleEndian.Uint64(tail[i-12:])),
	); err != nil ||
		!bytes.HasPrefix(large[:], []byte("PK\x06\x06")) {
		return 0, errNoDirectory
	}
	dir = int64(binary.LittleEndian.Uint64(large[40:]))
	if dir < 0 {
		return 0, errNoDirectory
	}
	return dir, nil
}

// zipOnward reads the files of a zip one after the other by the heads that stand before them. why, if there is any, is
// why the table of contents was not used.
func (w *walker) zipOnward(l layer, r io.Reader, why string) error {
	in := &byteCounter{Reader: bufio.NewReaderSize(r, 64<<10)}
	noted := w.report.Skipped
	for {
		mark, err := in.Peek(4)
		switch {
		case bytes.Equal(mark, []byte("PK\x03\x04")):
			if ok, err := w.readNextZipFile(l, in); err != nil {
				return err
			} else if ok {
				continue
			}
		case bytes.Equal(mark, []byte(zipSpanned)), bytes.Equal(mark, []byte("PK00")):
			_, _ = in.Discard(4) // was seen
			continue
		case bytes.Equal(mark, []byte("PK\x01\x02")),
			bytes.Equal(mark, []byte("PK\x05\x06")),
			bytes.Equal(mark, []byte("PK\x06\x06")):
			if why != "" && strings.HasPrefix(why, "damaged") {
				w.noteSkip(l.name, why, in.n)
			}
			return nil
		}
		if w.report.Skipped > noted { // told already
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return w.noteDamage(l.name, in.n, err)
		}
		w.noteSkip(l.name, cmp.Or(why, "cut short"), in.n)
		return nil
	}
}

// readNextZipFile reads one file, and says whether it is known where the next one begins.
func (w *walker) readNextZipFile(l layer, in *byteCounter) (bool, error) {
	if err := w.countFile(l.name); err != nil {
		return false, err
	}
	var head [30]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return false, nil //nolint:nilerr // noted by the caller as cut short
	}
	b := binary.LittleEndian
	e := zipEntry{
		flags:  b.Uint16(head[6:]),
		method: b.Uint16(head[8:]),
		sum:    b.Uint32(head[14:]),
		packed: int64(b.Uint32(head[18:])),
		size:   int64(b.Uint32(head[22:])),
		check:  head[17],
		sized:  true,
	}
	name := make([]byte, b.Uint16(head[26:]))
	e.extra = make([]byte, b.Uint16(head[28:]))
	for _, part := range [][]byte{name, e.extra} {
		if _, err := io.ReadFull(in, part); err != nil {
			return false, nil //nolint:nilerr // noted by the caller as cut short
		}
	}
	e.readWideSizes()
	if e.flags&zipHasDescriptor != 0 {
		e.sized, e.check = e.packed > 0, head[11]
	}
	entry := entryName(l.name, string(name))
	if !e.sized && e.method != 8 {
		w.noteSkip(entry, "zip: how long it is stands in the table of contents, which is not there", 0)
		return false, nil
	}
	return true, w.zipStreamed(layer{name: entry, depth: l.depth + 1}, e, in, bytes.HasSuffix(name, []byte("/")))
}

// readWideSizes takes sizes beyond 32 bits from where they are kept.
func (e *zipEntry) readWideSizes() {
	body := e.extraField(1)
	for _, size := range []*int64{&e.size, &e.packed} {
		if *size == 1<<32-1 && len(body) >= 8 {
			*size = int64(binary.LittleEndian.Uint64(body) & (1<<62 - 1))
			body = body[8:]
		}
	}
}

// extraField returns what a zip says besides of a file under a number, or nil.
func (e *zipEntry) extraField(wanted uint16) []byte {
	for extra := e.extra; len(extra) >= 4; {
		id, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if n > len(extra)-4 {
			break
		}
		if id == wanted {
			return extra[4:][:n]
		}
		extra = extra[4+n:]
	}
	return nil
}

// zipStreamed reads a file that stands at the beginning of in, and passes over it.
func (w *walker) zipStreamed(l layer, e zipEntry, in *byteCounter, folder bool) error {
	from := in.n
	var raw io.Reader = in
	if e.sized {
		raw = io.LimitReader(in, e.packed)
	}
	var err error
	if !folder {
		var r io.Reader
		// A stream cannot be tried again: the first password that passes the check is taken.
		if r, err = w.openZipOnce(e, raw); err != nil {
			err = w.noteDamage(l.name, 0, err)
		} else {
			m := &meter{w: w, name: l.name, r: r, in: func() int64 { return in.n - from }}
			if err = w.openLayer(l, m); err == nil && !e.sized {
				_, _ = io.Copy(io.Discard, m) // to its end, which nothing else tells
			}
		}
	}
	if err != nil {
		return err
	}
	if e.sized {
		_, _ = io.Copy(io.Discard, raw) // an error comes again at the next head
	}
	in.descriptor()
	return nil
}

// openZipOnce opens a file whose packed bytes can be read once.
func (w *walker) openZipOnce(e zipEntry, raw io.Reader) (io.Reader, error) {
	if e.flags&zipEncrypted == 0 {
		return e.unpackText(raw)
	}
	lock, err := newZipLock(&e)
	if err != nil {
		return nil, err
	}
	start := make([]byte, min(e.packed, 32))
	if _, err := io.ReadFull(raw, start); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	password, err := w.findPassword(func(password string) bool {
		_, err := lock.openLocked(bytes.NewReader(start), password)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	in, err := lock.openLocked(io.MultiReader(bytes.NewReader(start), raw), password)
	if err != nil {
		return nil, err
	}
	return e.unpackText(in)
}

// byteCounter counts what was taken. Decoders that read byte by byte take no byte too many from it.
type byteCounter struct {
	*bufio.Reader
	n int64
}

func (b *byteCounter) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.n += int64(n)
	return n, err
}

func (b *byteCounter) ReadByte() (byte, error) {
	c, err := b.Reader.ReadByte()
	if err == nil {
		b.n++
	}
	return c, err
}

// descriptor passes over what may stand behind a file: its sum and sizes, with or without a mark, of one width or the
// other.
func (b *byteCounter) descriptor() {
	for _, n := range []int{0, 12, 16, 20, 24} {
		next, _ := b.Peek(n + 4)
		if len(next) < n+4 {
			return
		}
		switch string(next[n:]) {
		case "PK\x03\x04", "PK\x01\x02", "PK\x05\x06", "PK\x06\x06":
			k, _ := b.Discard(n) // was seen
			b.n += int64(k)
			return
		}
	}
}

// unpackEntry undoes the packing of a file.
func (e *zipEntry) unpackEntry(in io.Reader) (io.Reader, error) {
	switch e.method {
	case 0:
		return in, nil
	case 8:
		return flate.NewReader(in), nil
	case 9:
		return newDeflate64(in), nil
	case 12:
		return bzip2.NewReader(in), nil
	case 14:
		return e.newEntryLZMA(in)
	case 20, 93:
		return newZstdReader(in)
	case 95:
		return newXZReader(in)
	}
	return nil, zipMethod(e.method)
}

// newEntryLZMA reads the version and size of the properties that stand before the stream.
func (e *zipEntry) newEntryLZMA(in io.Reader) (io.Reader, error) {
	var head [9]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, errors.Join(io.ErrUnexpectedEOF, err)
	}
	if binary.LittleEndian.Uint16(head[2:]) != 5 {
		return nil, errDamaged
	}
	size := e.size
	if e.flags&zipHasMark != 0 || !e.sized {
		size = -1
	}
	return newLZMAReader(in, head[4:], size)
}

// summed reads the content of one file, to its end, and holds it against its size and check sum.
type summed struct {
	r      io.Reader
	left   int64
	sum    uint32
	summed bool // there is a sum
	hash   hash.Hash32
}

// errSum is the verdict on a member whose bytes differ from those that were packed.
var errSum = errors.New("damaged: the check sum does not match")

func (s *summed) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.left -= int64(n)
	if s.summed {
		_, _ = s.hash.Write(p[:n]) // a hash takes everything
	}
	if errors.Is(err, io.EOF) {
		switch {
		case s.left > 0:
			err = io.ErrUnexpectedEOF
		case s.summed && s.hash.Sum32() != s.sum:
			err = errSum
		}
	}
	return n, err
}

// zipLock is the encryption of a file in a zip.
type zipLock struct {
	strength int // 1 to 3: AES of 128, 192, 256 bits; 0: the old cipher
	check    byte
	packed   int64
}

// newZipLock tells the encryption from what the zip says of the file, and puts the true method in its place.
func newZipLock(e *zipEntry) (*zipLock, error) {
	if e.flags&0x40 != 0 {
		return nil, errors.New("encrypted: in a way that is not read")
	}
	lock := &zipLock{check: e.check, packed: e.packed}
	if e.method != 99 {
		return lock, nil
	}
	body := e.extraField(0x9901)
	if len(body) < 7 || body[4] < 1 || body[4] > 3 {
		return nil, errDamaged
	}
	lock.strength = int(body[4])
	e.method = binary.LittleEndian.Uint16(body[5:])
	if binary.LittleEndian.Uint16(body) == 2 { // the sum is left out: the code at the end does its work
		e.sum = 0
	}
	return lock, nil
}

// zipRounds is the count of PBKDF2 that WinZip's AES encryption prescribes.
const zipRounds = 1000

// openLocked gives the packed text under a password, or errEncrypted where it is a wrong one.
func (z *zipLock) openLocked(in io.Reader, password string) (io.Reader, error) {
	if z.strength == 0 {
		return newZipCipher(in, password, z.check)
	}
	bytesOfKey := 8 * (z.strength + 1)
	start := make([]byte, bytesOfKey/2+2)
	if _, err := io.ReadFull(in, start); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	salt, check := start[:bytesOfKey/2], start[bytesOfKey/2:]
	keys, err := pbkdf2.Key(sha1.New, password, salt, zipRounds, 2*bytesOfKey+2)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(keys[2*bytesOfKey:], check) {
		return nil, errEncrypted
	}
	block, err := aes.NewCipher(keys[:bytesOfKey])
	if err != nil {
		return nil, err
	}
	left := z.packed - int64(len(start)) - 10
	if left < 0 {
		return nil, errDamaged
	}
	return &zipAES{in: in, left: left, block: block, mac: hmac.New(sha1.New, keys[bytesOfKey:2*bytesOfKey])}, nil
}

// zipAES counts in counter mode, as AES does here, from the lowest byte on.
type zipAES struct {
	in      io.Reader
	left    int64
	block   cipher.Block
	mac     hash.Hash
	counter uint64
	stream  [aes.BlockSize]byte
	used    int
}

func (z *zipAES) Read(p []byte) (int, error) {
	if z.left == 0 {
		var code [10]byte
		if _, err := io.ReadFull(z.in, code[:]); err != nil {
			return 0, io.ErrUnexpectedEOF
		}
		if !bytes.Equal(z.mac.Sum(nil)[:10], code[:]) {
			return 0, errSum
		}
		z.left = -1
	}
	if z.left < 0 {
		return 0, io.EOF
	}
	n, err := z.in.Read(p[:min(int64(len(p)), z.left)])
	_, _ = z.mac.Write(p[:n]) // a hash takes everything
	for i := range p[:n] {
		if z.used == 0 {
			z.counter++
			var block [aes.BlockSize]byte
			binary.LittleEndian.PutUint64(block[:], z.counter)
			z.block.Encrypt(z.stream[:], block[:])
		}
		p[i] ^= z.stream[z.used]
		z.used = (z.used + 1) % aes.BlockSize
	}
	z.left -= int64(n)
	if errors.Is(err, io.EOF) {
		err = nil
		if z.left > 0 {
			err = io.ErrUnexpectedEOF
		}
	}
	return n, err
}

// zipCipher is the cipher of the first zips.
type zipCipher struct {
	in   io.Reader
	keys [3]uint32
}

// newZipCipher returns a reader of the decrypted bytes, or errEncrypted if the password does not fit. The check has
// only one byte: one wrong password in 256 passes it.
func newZipCipher(in io.Reader, password string, check byte) (io.Reader, error) {
	z := &zipCipher{in: in, keys: [3]uint32{0x12345678, 0x23456789, 0x34567890}}
	for i := range len(password) {
		z.updateKeys(password[i])
	}
	var start [12]byte
	if _, err := io.ReadFull(z, start[:]); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	if start[11] != check {
		return nil, errEncrypted
	}
	return z, nil
}

// updateKeys mixes a byte of the text into the keys.
func (z *zipCipher) updateKeys(c byte) {
	z.keys[0] = crc32.IEEETable[byte(z.keys[0])^c] ^ z.keys[0]>>8
	z.keys[1] = (z.keys[1]+z.keys[0]&0xff)*134775813 + 1
	z.keys[2] = crc32.IEEETable[byte(z.keys[2])^byte(z.keys[1]>>24)] ^ z.keys[2]>>8
}

func (z *zipCipher) Read(p []byte) (int, error) {
	n, err := z.in.Read(p)
	for i := range p[:n] {
		t := z.keys[2] | 2
		p[i] ^= byte(t * (t ^ 1) >> 8)
		z.updateKeys(p[i])
	}
	return n, err
}
