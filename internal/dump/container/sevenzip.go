package container

import (
	"errors"
	"hash/crc32"
	"io"

	"github.com/bodgit/sevenzip"
)

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
