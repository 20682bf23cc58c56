package container

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"strconv"

	"github.com/bodgit/sevenzip"
	"github.com/nwaples/rardecode/v2"

	"github.com/vigiahq/vigia/internal/dump/scan"
)

var tarFormat = &format{name: "tar", known: tarHeader, open: (*walker).walkTar}

// walkTar reads on inside a tar file. Only plain files have contents; links are not followed.
func (w *walker) walkTar(l layer) error {
	in := &scan.CountingReader{Source: l.r}
	for t := tar.NewReader(in); ; {
		header, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return w.noteDamage(l.name, in.Count, err)
		}
		if err := w.countFile(l.name); err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg && header.Typeflag != tar.TypeGNUSparse {
			continue
		}
		entry := entryName(l.name, header.Name)
		if err := w.openLayer(
			layer{name: entry, depth: l.depth + 1},
			&meter{w: w, name: entry, r: t, in: func() int64 { return in.Count }},
		); err != nil {
			return err
		}
	}
}

// tarHeader checks the sum that every tar header carries: old archives have no other mark.
func tarHeader(b []byte) bool {
	if len(b) < 512 || b[0] == 0 {
		return false
	}
	want, err := strconv.ParseInt(string(bytes.Trim(b[148:156], " \x00")), 8, 32)
	if err != nil {
		return false
	}
	sum := int64(8 * ' ')
	for i, c := range b[:512] {
		if i < 148 || i >= 156 {
			sum += int64(c)
		}
	}
	return sum == want
}

var rarFormat = &format{
	name:  "RAR",
	known: startsWith("Rar!\x1a\x07\x00", "Rar!\x1a\x07\x01\x00"),
	open:  (*walker).walkRAR,
}

// walkRAR reads on inside a RAR of version 4 or 5, and through all volumes of a Set.
func (w *walker) walkRAR(l layer) error {
	if rest := l.holdWhole(); rest != nil {
		return w.rarFiles(
			l,
			func(string) (*rardecode.Reader, error) { return rardecode.NewReader(rest, rarOptions("")...) },
			errEncrypted,
		)
	}
	open := func(password string) (*rardecode.Reader, error) {
		if v, ok := l.at.(interface{ Volumes() []Volume }); ok {
			if volumes := v.Volumes(); len(volumes) > 1 { // which the library asks for by name
				r, err := rardecode.OpenReader(
					volumes[0].Name,
					append(rarOptions(password), rardecode.FileSystem(volumeFS(volumes)))...,
				)
				if err != nil {
					return nil, err
				}
				return &r.Reader, nil
			}
		}
		return rardecode.NewReader(io.NewSectionReader(l.at, 0, l.size), rarOptions(password)...)
	}
	return w.rarFiles(l, open, nil)
}

// rarWindow is the largest window that is made, as large as it is claimed.
const rarWindow = 128 << 20

// rarOptions bounds the memory that an archive can demand for its dictionary, and adds the password if there is one.
func rarOptions(password string) []rardecode.Option {
	options := []rardecode.Option{rardecode.MaxDictionarySize(rarWindow)}
	if password != "" {
		options = append(options, rardecode.Password(password))
	}
	return options
}

// tryLibrary calls a library, and returns an error where a damaged file makes it panic.
func tryLibrary[T any](call func() (T, error)) (v T, err error) {
	defer notPanicking(&err)
	return call()
}

// notPanicking turns what a damaged file can do to a library into an error.
func notPanicking(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged: %v", p)
	}
}

// rarFiles goes through the files. Where one is encrypted, a password is looked for; hopeless, if there is any, is why
// what is encrypted stays so: the archive cannot be read a second time.
func (w *walker) rarFiles(l layer, open func(password string) (*rardecode.Reader, error), hopeless error) error {
	password, done := "", 0
	for {
		z, err := tryLibrary(func() (*rardecode.Reader, error) { return open(password) })
		for n := 0; err == nil; {
			var h *rardecode.FileHeader
			if h, err = tryLibrary(z.Next); err != nil {
				break
			}
			if n++; n <= done { // before the password was looked for
				continue
			}
			if h.Encrypted && password == "" && hopeless == nil {
				err = rardecode.ErrArchivedFileEncrypted
				break
			}
			done = n
			if err := w.openRARFile(l, h, z, hopeless); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case (errors.Is(err, rardecode.ErrArchiveEncrypted) || errors.Is(err, rardecode.ErrArchivedFileEncrypted)) &&
			password == "" && hopeless == nil:
			password, hopeless = w.findPassword(
				func(password string) bool { return password != "" && fitsRARPassword(open, password) },
			)
			continue
		case hopeless != nil && errors.Is(err, rardecode.ErrArchiveEncrypted):
			err = hopeless
		}
		return w.noteDamage(l.name, 0, rarPlainly(err))
	}
}

// openRARFile opens a file of a RAR archive.
func (w *walker) openRARFile(l layer, h *rardecode.FileHeader, z *rardecode.Reader, hopeless error) error {
	if err := w.countFile(l.name); err != nil {
		return err
	}
	if h.IsDir || h.LinkType != rardecode.LinkTypeNone || !h.Mode().IsRegular() {
		return nil
	}
	entry := entryName(l.name, h.Name)
	if h.Encrypted && hopeless != nil {
		return w.noteDamage(entry, 0, hopeless)
	}
	packed := max(h.PackedSize, 1)
	if h.Solid || l.at != nil {
		packed = max(l.size, packed)
	}
	return w.openLayer(
		layer{name: entry, depth: l.depth + 1},
		&meter{w: w, name: entry, r: guarded{z}, in: func() int64 { return packed }},
	)
}

// guarded is a library's reader that damaged bytes may bring to panic.
type guarded struct{ r io.Reader }

func (g guarded) Read(p []byte) (n int, err error) {
	defer notPanicking(&err)
	n, err = g.r.Read(p)
	return n, rarPlainly(err)
}

// fitsRARPassword reports whether a password opens the archive.
func fitsRARPassword(open func(password string) (*rardecode.Reader, error), password string) bool {
	z, err := tryLibrary(func() (*rardecode.Reader, error) { return open(password) })
	if err != nil {
		return false
	}
	for {
		h, err := tryLibrary(z.Next)
		if err != nil {
			return false
		}
		if !h.Encrypted && !h.HeaderEncrypted || h.IsDir {
			continue
		}
		_, err = io.Copy(io.Discard, io.LimitReader(guarded{z}, 1<<20))
		return err == nil || errors.Is(err, io.ErrUnexpectedEOF)
	}
}

// rarPlainly says what the library's errors mean.
func rarPlainly(err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return err
	case errors.Is(err, rardecode.ErrArchiveEncrypted),
		errors.Is(err, rardecode.ErrArchivedFileEncrypted),
		errors.Is(err, rardecode.ErrBadPassword):
		return errEncrypted
	case errors.Is(err, rardecode.ErrMultiVolume),
		errors.Is(err, rardecode.ErrBadVolumeNumber),
		errors.Is(err, fs.ErrNotExist):
		return errors.New("RAR: another volume of the set is missing")
	case errors.Is(err, rardecode.ErrDictionaryTooLarge):
		return fmt.Errorf("RAR: %w", errTooLarge)
	case errors.Is(err, rardecode.ErrUnexpectedArcEnd),
		errors.Is(err, rardecode.ErrShortFile),
		errors.Is(err, rardecode.ErrDecoderOutOfData):
		return io.ErrUnexpectedEOF
	case errors.Is(err, rardecode.ErrBadFileChecksum):
		return errSum
	}
	return err
}

var sevenZipFormat = inPlaceFormat("7z", startsWith("7z\xbc\xaf\x27\x1c"), (*walker).sevenZip)

// errSevenZip is the verdict on a file that begins like a 7z and is none.
var errSevenZip = errors.New("damaged: not a 7z")

func init() { // the one usual method that the library does not know
	sevenzip.RegisterDecompressor([]byte{4, 1, 9}, func(_ []byte, _ uint64, in []io.ReadCloser) (io.ReadCloser, error) {
		if len(in) != 1 {
			return nil, errSevenZip
		}
		return io.NopCloser(newDeflate64(in[0])), nil
	})
}

// sevenZip reads on inside a 7z, file by file. Files that share a stream are cut from it one after the other, because
// each is read to its end before it is closed.
func (w *walker) sevenZip(l layer) error {
	archive, err := w.unlockSevenZip(l)
	if err != nil {
		return w.noteDamage(l.name, 0, err)
	}
	for _, f := range archive.File {
		if err := w.countFile(l.name); err != nil {
			return err
		}
		if !f.Mode().IsRegular() || f.UncompressedSize == 0 {
			continue
		}
		entry := entryName(l.name, f.Name)
		content, err := openSevenZipFile(f)
		if err != nil {
			w.noteSkip(entry, explainError(err), 0)
			continue
		}
		m := &meter{w: w, name: entry, r: content, in: func() int64 { return l.size }}
		if err := w.openLayer(layer{name: entry, depth: l.depth + 1}, m); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, m); err != nil && (errors.Is(err, ErrBomb) || w.ctx.Err() != nil) {
			return err
		}
		_ = content.Close() // only read
	}
	return nil
}

// unlockSevenZip opens an archive under the password that fits, which is none for most. The library tells what is
// encrypted only when it cannot be read.
func (w *walker) unlockSevenZip(l layer) (*sevenzip.Reader, error) {
	open := func(password string) (*sevenzip.Reader, error) {
		archive, err := tryLibrary(
			func() (*sevenzip.Reader, error) { return sevenzip.NewReaderWithPassword(l.at, l.size, password) },
		)
		if err != nil {
			return nil, err
		}
		return archive, trySevenZip(archive)
	}
	archive, err := open("")
	if failed := new(sevenzip.ReadError); errors.As(err, &failed) && failed.Encrypted {
		_, err = w.findPassword(func(password string) bool {
			archive, err = open(password)
			return err == nil
		})
		return archive, err
	}
	if archive == nil {
		return nil, err
	}
	return archive, nil // what is damaged in it is told file by file
}

// trySevenZip reads the beginning of the first file that has any content.
func trySevenZip(archive *sevenzip.Reader) error {
	const tried = 4 << 20
	for _, f := range archive.File {
		if f.UncompressedSize == 0 {
			continue
		}
		content, err := openSevenZipFile(f)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, io.LimitReader(content, tried))
		return errors.Join(err, content.Close())
	}
	return nil
}

// sevenZipFile is the content of a file, held against its size and check sum.
type sevenZipFile struct {
	summed
	io.Closer
}

// openSevenZipFile opens an entry and checks its CRC while it is read. It returns an error where the library panics on
// a damaged archive.
func openSevenZipFile(f *sevenzip.File) (content *sevenZipFile, err error) {
	r, err := tryLibrary(f.Open)
	if err != nil {
		return nil, err
	}
	sum := summed{
		r:      r,
		left:   int64(min(f.UncompressedSize, 1<<62)),
		sum:    f.CRC32,
		summed: f.CRC32 != 0,
		hash:   crc32.NewIEEE(),
	}
	return &sevenZipFile{summed: sum, Closer: r}, nil
}

func (s *sevenZipFile) Read(p []byte) (n int, err error) {
	defer notPanicking(&err)
	return s.summed.Read(p)
}
