package container

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/nwaples/rardecode/v2"
)

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
