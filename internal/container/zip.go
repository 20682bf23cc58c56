package container

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
)

var zipFormat = &format{name: "zip", known: startsWith("PK\x03\x04", "PK\x05\x06", zipSpanned+"PK\x03\x04", "PK00PK\x03\x04"), open: (*walker).walkZip}

// zipSpanned begins the first volume of a set; the offsets in its table of contents count from the volumes' beginnings.
const zipSpanned = "PK\x07\x08"

// zipDirectoryMost is the size of the largest table of contents that is read: the library holds some eight bytes for each
// of it.
const zipDirectoryMost = 16 << 20

// walkZip reads a zip by its table of contents, which stands at its end. Where that is missing, too large or out of reach,
// the files are read one after the other as they come.
func (w *walker) walkZip(l layer) error {
	if rest := l.holdWhole(); rest != nil {
		return w.zipOnward(l, rest, "")
	}
	missing := w.zipTable(l)
	if missing.done {
		return missing.err
	}
	return w.zipOnward(l, io.NewSectionReader(l.at, 0, l.size), missing.reason)
}

// zipOutcome is what came of reading by the table of contents: done, or why it has to be done otherwise.
type zipOutcome struct {
	done   bool
	err    error
	reason string // to be noted; none where nothing is missed by doing otherwise
}

// zipTable reads the archive by its table of contents. It returns an outcome that is not done, with the reason if there
// is one, where that table is missing, damaged or too large: then the entries are read from the start of the file
// onward.
func (w *walker) zipTable(l layer) zipOutcome {
	if bytes.HasPrefix(l.head, []byte(zipSpanned)) {
		return zipOutcome{}
	}
	dir, err := zipDirectory(l.at, l.size)
	if err != nil {
		return zipOutcome{reason: "cut short: no table of contents"}
	}
	if dir > zipDirectoryMost {
		return zipOutcome{}
	}
	z, err := zip.NewReader(l.at, l.size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return zipOutcome{reason: "damaged: the table of contents is not in order"}
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
			return zipOutcome{done: true, err: err}
		}
	}
	return zipOutcome{done: true}
}

// openZipFile opens a file of a zip.
func (w *walker) openZipFile(l layer, f *zip.File) error {
	if err := w.countFile(l.name); err != nil {
		return err
	}
	entry := entryName(l.name, f.Name)
	if f.FileInfo().IsDir() || f.Mode()&fs.ModeSymlink != 0 {
		return nil
	}
	e := zipEntry{
		flags: f.Flags, method: f.Method, extra: f.Extra, sum: f.CRC32, packed: int64(min(f.CompressedSize64, uint64(l.size))),
		size: int64(min(f.UncompressedSize64, 1<<62)), check: byte(f.CRC32 >> 24), sized: true,
	}
	if e.flags&zipHasDescriptor != 0 {
		e.check = byte(f.ModifiedTime >> 8)
	}
	r, err := w.openZipEntry(e, func() (io.Reader, error) { return f.OpenRaw() })
	if err != nil {
		return w.noteDamage(entry, 0, err)
	}
	return w.openLayer(layer{name: entry, depth: l.depth + 1}, &meter{w: w, name: entry, r: r, in: func() int64 { return e.packed }})
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
	for _, password := range w.passwords() {
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
		open := func() (io.Reader, error) {
			in, err := raw()
			if err != nil {
				return nil, err
			}
			if in, err = locked.openLocked(in, password); err != nil {
				return nil, err
			}
			return e.unpackText(in)
		}
		const tried = 1 << 20
		r, err := open()
		if errors.Is(err, errEncrypted) {
			continue
		}
		if err == nil {
			_, err = io.Copy(io.Discard, io.LimitReader(r, tried))
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			continue
		}
		w.fitted = password
		return open()
	}
	return nil, errEncrypted
}

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
