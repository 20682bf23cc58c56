package container

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
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
	place := int64(binary.LittleEndian.Uint64(tail[i-12:]))
	if _, err := at.ReadAt(large[:], place); err != nil || !bytes.HasPrefix(large[:], []byte("PK\x06\x06")) {
		return 0, errNoDirectory
	}
	dir = int64(binary.LittleEndian.Uint64(large[40:]))
	if dir < 0 {
		return 0, errNoDirectory
	}
	return dir, nil
}
