package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
)

// DescribeArchive reads what an archive says of itself, and nothing more.
func DescribeArchive(file string) (About, error) {
	var about About
	r, err := openArchive(file)
	if err != nil {
		return about, err
	}
	defer r.closeArchive()
	return r.readAbout()
}

// archive is an open backup: the file, the decompressor and the tar reader on top of it.
type archive struct {
	file *os.File
	in   *bufio.Reader
	z    io.Reader
	t    *tar.Reader
	size int64
}

// openArchive opens a backup and reads the head of the compression; its content is not checked yet.
func openArchive(name string) (*archive, error) {
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, ErrNoBackup.Note("%s cannot be opened: %s", name, err).Because(err)
	}
	info, err := f.Stat()
	if err == nil {
		var z *gzip.Reader
		in := bufio.NewReaderSize(f, 256<<10)
		if z, err = gzip.NewReader(in); err == nil {
			z.Multistream(false) // what follows is not taken for more of the archive
			return &archive{f, in, z, tar.NewReader(z), info.Size()}, nil
		}
	}
	return nil, errors.Join(ErrNoBackup.Note("%s cannot be opened as a backup: %s", name, err).Because(err), f.Close())
}

// closeArchive lets go of the file.
func (a *archive) closeArchive() { _ = a.file.Close() } // only read

// readAbout reads what the archive says of itself.
func (a *archive) readAbout() (About, error) {
	var about About
	h, err := a.t.Next()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return about, a.nameDamage(err)
	}
	if err != nil || h.Name != aboutName || h.Size > maxList {
		return about, ErrNoBackup.Note("%s is not a backup of this program", a.file.Name()).Because(err)
	}
	text, err := a.readMember()
	if err != nil {
		return about, err
	}
	if err := json.Unmarshal(text, &about); err != nil {
		return about, ErrNoBackup.Note("%s is not a backup of this program", a.file.Name()).Because(err)
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&About{}); about.Format != Format || err != nil {
		return about, about.OtherVersion()
	}
	return about, nil
}

// OtherVersion refuses a backup that another version of the program made in a layout of its own.
func (a About) OtherVersion() error {
	return ErrNoBackup.Note(
		"the backup was made by another version of this program (%s), with a layout that this one does not read: "+
			"restore it with that version, upgrade there, and make a new backup",
		cmp.Or(a.Program, "which does not say its name"),
	)
}

// readMember reads all of a small member.
func (a *archive) readMember() ([]byte, error) {
	text, err := io.ReadAll(a.t)
	if err != nil {
		err = a.nameDamage(err)
	}
	return text, err
}

// nameDamage names what is wrong with an archive that cannot be read on. An altered one may seem to end early, too:
// then there is more of the file.
func (a *archive) nameDamage(err error) error {
	at, serr := a.file.Seek(0, io.SeekCurrent)
	if (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) && serr == nil && at == a.size &&
		a.in.Buffered() == 0 {
		return ErrDamaged.Note("the backup was cut short: it ends before its list of files").Because(err)
	}
	return altered.Because(err)
}

// altered is the verdict on an archive whose bytes are not those that were written.
var altered = ErrDamaged.Note("the backup was altered: its bytes are not those that were written")
