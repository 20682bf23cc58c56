package container

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"github.com/vigiahq/vigia/internal/dump/scan"
)

// format is one way of packing.
type format struct {
	// name is what a person calls it.
	name string
	// known tells it by its first bytes, at most sniffed of them.
	known func(head []byte) bool
	// open reads on inside.
	open func(w *walker, l layer) error
}

// sniffed is how many bytes tell a format.
const sniffed = 1 << 10

// formats are asked in this order: what has a mark of its own first, what is guessed from its shape last.
var formats []*format

func init() { // the formats refer to the walker, which refers to them
	formats = append([]*format{
		gzipFormat,
		zstdFormat,
		xzFormat,
		bzip2Format,
		lz4Format,
		lzipFormat,
		zipFormat,
		sevenZipFormat,
		rarFormat,
		sqliteFormat,
		sqliteLogFormat,
		pdfFormat,
		oleFormat,
		tarFormat,
		zlibFormat,
		mailFormat,
		bsonFormat,
		lzmaFormat,
		isoFormat,
	}, slices.Concat(foreignFormats, lockedFormats)...)
}

// sniffFormat knows a format by its first bytes, or returns nil. Names are not asked: dumps are called anything.
func sniffFormat(head []byte) *format {
	if len(head) < 2 {
		return nil
	}
	for _, f := range formats {
		if f.known(head) {
			return f
		}
	}
	return nil
}

// IsPacked reports whether what begins like this is opened by Walk, and no text by itself.
func IsPacked(head []byte) bool { return sniffFormat(head[:min(len(head), sniffed)]) != nil }

// streamFormat describes a compressed stream. decode gets the packed bytes.
func streamFormat(name string, known func(head []byte) bool, decode func(in io.Reader) (io.Reader, error)) *format {
	return &format{name: name, known: known, open: func(w *walker, l layer) error {
		in := &scan.CountingReader{Source: l.r}
		out, err := decode(in)
		if err != nil {
			return w.noteDamage(l.name, 0, err)
		}
		return w.openLayer(
			layer{name: l.name + "!", depth: l.depth + 1},
			&meter{w: w, name: l.name, r: out, in: func() int64 { return in.Count }},
		)
	}}
}

// inPlaceFormat describes what must be read at many places; what can only be read on is held in memory first.
func inPlaceFormat(name string, known func(head []byte) bool, read func(w *walker, l layer) error) *format {
	return &format{name: name, known: known, open: func(w *walker, l layer) error {
		if ok, err := w.holdLayer(&l); err != nil || !ok {
			return err
		}
		return read(w, l)
	}}
}

// document describes what is turned into a text: write reads the layer and writes what it says, tables as rows of cells
// between tabs.
func document(name string, known func(head []byte) bool, write func(d *source, out *text) error) *format {
	return inPlaceFormat(name, known, func(w *walker, l layer) error {
		return w.handWritten(l, func(out *text) error { return write(&source{ReaderAt: l.at, size: l.size}, out) })
	})
}

// source is what a document is read from.
type source struct {
	io.ReaderAt
	size int64
}

// handWritten hands out what write writes, while it does. What was written before an error counts.
func (w *walker) handWritten(l layer, write func(out *text) error) error {
	r, pipe := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = pipe.CloseWithError(writeAll(pipe, write)) // returns nil
	}()
	defer func() { <-done }()
	defer func() { _ = r.Close() }() // returns nil
	size := max(l.size, 1)
	return w.handEntry(
		Entry{Name: l.name + "!", Depth: l.depth + 1},
		&meter{w: w, name: l.name, r: r, in: func() int64 { return size }},
	)
}

// writeAll turns what a damaged file can do to a reader of it into an error.
func writeAll(to io.Writer, write func(out *text) error) (err error) {
	out := &text{w: bufio.NewWriterSize(to, 64<<10)}
	defer notPanicking(&err)
	err = write(out)
	return cmp.Or(err, out.w.Flush())
}

// unreadable tells what begins like this apart from text, in plain words; a text gives none, and neither does what is
// known to hold no text, as pictures do.
func unreadable(head []byte) string {
	for _, k := range kinds {
		for _, m := range k.marks {
			if len(head) >= k.at+len(m) && string(head[k.at:k.at+len(m)]) == m {
				if k.name == "" {
					return ""
				}
				if isBinary(head) { // a text may begin with the same letters
					return k.name + ": only searched for plain text"
				}
			}
		}
	}
	if isBinary(head) {
		return "binary of an unknown kind: only searched for plain text"
	}
	return ""
}

// kinds are files that are no text and are not opened. Those without a name have nothing to be read.
var kinds = []struct {
	name  string
	at    int
	marks []string
}{
	{
		"",
		0,
		[]string{
			"\x89PNG",
			"\xff\xd8\xff",
			"GIF8",
			"BM",
			"\x00\x00\x01\x00",
			"II*\x00",
			"MM\x00*",
			"OggS",
			"ID3",
			"fLaC",
			"\x1aE\xdf\xa3",
		},
	},
	{
		"",
		0,
		[]string{
			"wOFF",
			"wOF2",
			"\x00\x01\x00\x00\x00",
			"OTTO",
			"ttcf",
			"\xff\xfb",
			"\xff\xf3",
			"FLV",
			"\x00\x00\x01\xba",
			"\x00\x00\x01\xb3",
		},
	},
	{"", 4, []string{"ftyp", "moov", "mdat"}},
	{"", 8, []string{"WEBP", "WAVE", "AVI "}},
	{"SQL Server backup", 0, []string{"MSSQLBAK", "TAPE"}},
	{"mailbox of Outlook", 0, []string{"!BDN"}},
	{"ORC table", 0, []string{"ORC"}},
	{"Access database", 4, []string{"Standard Jet DB", "Standard ACE DB"}},
	{"disk image", 0, []string{"KDMV", "QFI\xfb", "conectix", "vhdxfile"}},
	{"cabinet", 0, []string{"MSCF"}},
	{"HDF5 file", 0, []string{"\x89HDF"}},
	{"dBase table", 0, []string{"\xf5\xee\xff"}},
	{"program, whose contents 7z takes out if it unpacks itself", 0, []string{"MZ", "\x7fELF"}},
}

// isBinary reports whether bytes are no text in any usual encoding: text has hardly any control characters but line
// ends and tabs, and the zero bytes of wide characters lie in step.
func isBinary(head []byte) bool {
	if len(head) < 16 || bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}) {
		return false
	}
	control := 0
	var zeros [4]int
	for i, c := range head {
		switch {
		case c == 0:
			zeros[i&3]++
			control++
		case c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b:
			control++
		}
	}
	quarter := len(head) / 4
	step := 0
	for _, n := range zeros {
		if n*4 > quarter*3 {
			step++
		}
	}
	if step == 2 || step == 3 { // two or four bytes a character
		return false
	}
	return control*20 > len(head)
}

// lockedFormats are encrypted as a whole, in ways for which passwords are not tried, or packed in a way that has gone
// out of use. They are reported by name, so that an operator does not take a file that was not searched for one without
// identifiers.
var lockedFormats = []*format{
	lockedFormat("encrypted with OpenSSL", startsWith("Salted__", "U2FsdGVkX1")),
	lockedFormat("encrypted with OpenPGP", startsWith("-----BEGIN PGP MESSAGE-----")),
	lockedFormat("encrypted with OpenPGP", isOpenPGP),
	lockedFormat("encrypted with age", startsWith("age-encryption.org/v1", "-----BEGIN AGE ENCRYPTED FILE-----")),
	lockedFormat("encrypted with Ansible Vault", startsWith("$ANSIBLE_VAULT;")),
	lockedFormat("encrypted: a LUKS volume", startsWith("LUKS\xba\xbe")),
	lockedFormat(
		"encrypted: a BitLocker volume",
		func(b []byte) bool { return len(b) > 11 && bytes.Equal(b[3:11], []byte("-FVE-FS-")) },
	),
	lockedFormat("encrypted: a KeePass database", startsWith("\x03\xd9\xa2\x9a")),
	lockedFormat(
		"encrypted with AES Crypt",
		func(b []byte) bool { return startsWith("AES")(b) && len(b) > 4 && b[3] <= 3 && b[4] == 0 },
	),
	lockedFormat("packed by compress (.Z)", startsWith("\x1f\x9d")),
}

// lockedFormat describes what is encrypted as a whole.
func lockedFormat(reason string, known func([]byte) bool) *format {
	return &format{name: reason, known: known, open: func(w *walker, l layer) error {
		w.noteSkip(l.name, reason, 0)
		return nil
	}}
}

// isOpenPGP knows the packets with which an encrypted message begins: a session key under a public key or a password.
func isOpenPGP(b []byte) bool {
	if len(b) < 16 || b[0]&0x80 == 0 {
		return false
	}
	var tag byte
	var body []byte
	length := 0
	if b[0]&0x40 != 0 { // the newer form
		if tag, length, body = b[0]&0x3f, int(b[1]), b[2:]; length >= 192 {
			length, body = (length-192)<<8+int(b[2])+192, b[3:]
		}
	} else {
		tag = b[0] >> 2 & 15
		switch b[0] & 3 {
		case 0:
			length, body = int(b[1]), b[2:]
		case 1:
			length, body = int(b[1])<<8|int(b[2]), b[3:]
		default:
			return false
		}
	}
	const publicKey, password = 1, 3
	switch tag {
	case publicKey: // version 3, key id, algorithm
		return body[0] == 3 && length > 60 && length < 2100 &&
			(body[9] >= 1 && body[9] <= 3 || body[9] >= 16 && body[9] <= 18)
	case password: // version 4, cipher, how the key is made
		return body[0] == 4 && body[1] >= 1 && body[1] <= 13 && length >= 4 && length < 60 &&
			(body[2] == 0 || body[2] == 1 || body[2] == 3)
	}
	return false
}

// startsWith returns what knows a format by one of its first bytes.
func startsWith(marks ...string) func(head []byte) bool {
	return func(head []byte) bool {
		return slices.ContainsFunc(marks, func(m string) bool { return bytes.HasPrefix(head, []byte(m)) })
	}
}

var gzipFormat = streamFormat(
	"gzip",
	startsWith("\x1f\x8b\x08"),
	func(in io.Reader) (io.Reader, error) { return gzip.NewReader(in) },
)

// bzip2Format is told by the mark of its first block, or of its end where there is none.
var bzip2Format = streamFormat("bzip2", func(b []byte) bool {
	return len(b) > 10 && bytes.HasPrefix(b, []byte("BZh")) && b[3] >= '1' && b[3] <= '9' &&
		(bytes.Equal(b[4:10], []byte{0x31, 0x41, 0x59, 0x26, 0x53, 0x59}) ||
			bytes.Equal(b[4:10], []byte{0x17, 0x72, 0x45, 0x38, 0x50, 0x90}))
}, func(in io.Reader) (io.Reader, error) { return bzip2.NewReader(in), nil })

var zstdFormat = streamFormat("zstd", func(b []byte) bool {
	return bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(b) > 8 && b[0]>>4 == 5 && bytes.Equal(b[1:4], []byte{0x2a, 0x4d, 0x18})
}, newZstdReader)

// newZstdReader takes windows of up to 128 MiB, which zstd --long writes. With one decoder there is nothing to be
// closed.
func newZstdReader(in io.Reader) (io.Reader, error) {
	return zstd.NewReader(
		in,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(128<<20),
	)
}

var lz4Format = streamFormat(
	"LZ4",
	startsWith("\x04\x22\x4d\x18", "\x02\x21\x4c\x18"),
	func(in io.Reader) (io.Reader, error) {
		return lz4.NewReader(in), nil
	},
)

var xzFormat = streamFormat("xz", startsWith("\xfd7zXZ\x00"), newXZReader)

func newXZReader(in io.Reader) (io.Reader, error) {
	return xz.NewReader(bufio.NewReaderSize(in, 64<<10))
}

var lzipFormat = streamFormat("lzip", startsWith("LZIP\x01"), func(in io.Reader) (io.Reader, error) {
	return &lzipReader{in: bufio.NewReaderSize(in, 64<<10)}, nil
})

// lzipReader reads the members of a lzip file: a head of six bytes, LZMA up to its mark, and a tail of twenty.
type lzipReader struct {
	in     *bufio.Reader
	member io.Reader
}

func (l *lzipReader) Read(p []byte) (int, error) {
	for {
		if l.member == nil {
			var head [6]byte
			if n, err := scan.FillBuffer(l.in, head[:]); n == 0 {
				return 0, err
			}
			if string(head[:5]) != "LZIP\x01" || head[5]&31 < 12 || head[5]&31 > 29 {
				return 0, errDamaged
			}
			window := uint32(1) << (head[5] & 31)
			window -= window / 16 * uint32(head[5]>>5)
			var err error
			if l.member, err = newLZMAReader(
				l.in,
				binary.LittleEndian.AppendUint32([]byte{0x5d}, window),
				-1,
			); err != nil {
				return 0, err
			}
		}
		n, err := l.member.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		l.member = nil
		if _, err := l.in.Discard(20); err != nil {
			return n, io.ErrUnexpectedEOF
		}
		if n > 0 {
			return n, nil
		}
	}
}

// newLZMAReader reads a bare stream whose five bytes of properties and size, below zero where a mark ends it, are
// known.
func newLZMAReader(in io.Reader, properties []byte, size int64) (io.Reader, error) {
	head := binary.LittleEndian.AppendUint64(bytes.Clone(properties), uint64(size))
	if _, ok := in.(io.ByteReader); !ok {
		in = bufio.NewReader(in)
	}
	return lzma.NewReader(unbuffered{io.MultiReader(bytes.NewReader(head), in)})
}

// unbuffered reads byte by byte: the decoder then takes none beyond its end.
type unbuffered struct{ io.Reader }

func (u unbuffered) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(u, b[:])
	return b[0], err
}

// lzmaFormat has no mark: it is told by the usual properties, a size that can be, and the zero with which every stream
// begins.
var lzmaFormat = streamFormat("lzma", func(b []byte) bool {
	if len(b) < 18 || b[0] >= 9*5*5 || b[13] != 0 {
		return false
	}
	window := uint32(b[1]) | uint32(b[2])<<8 | uint32(b[3])<<16 | uint32(b[4])<<24
	high := window & (window - 1) // a power of two, or one and a half of it
	if window < 1<<12 || high != 0 && high != 2*(window&-window) {
		return false
	}
	unknown := bytes.Equal(b[5:13], []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	return unknown || b[10] == 0 && b[11] == 0 && b[12] == 0
}, func(in io.Reader) (io.Reader, error) { return lzma.NewReader(bufio.NewReaderSize(in, 64<<10)) })

// zlibFormat has two bytes that are a multiple of 31, which a text may have too: what follows must unpack.
var zlibFormat = streamFormat("zlib", func(b []byte) bool {
	if len(b) < 8 || b[0] != 0x78 || (int(b[0])<<8|int(b[1]))%31 != 0 || b[1]&0x20 != 0 {
		return false
	}
	r := flate.NewReader(bytes.NewReader(b[2:]))
	var text [64]byte
	n, err := io.ReadFull(r, text[:])
	return n > 0 && (err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
}, func(in io.Reader) (io.Reader, error) { return zlib.NewReader(in) })
