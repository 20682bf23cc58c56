// Package backup is one file that holds a copy of an installation: a compressed archive with a description at its front
// and a list of digests at its end.
//
// It knows neither what the files mean nor how they are sealed; the caller of Write provides a keyed hash of the list.
// The invariant it keeps: under the archive's name there is a whole archive or nothing, and what Extract hands out is,
// to the byte and to the last file, what Write was given.
package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Faults of this package.
var (
	ErrExists    = fault.New(fault.Conflict, "backup.exists")
	ErrNoBackup  = fault.New(fault.Invalid, "backup.unreadable")
	ErrDamaged   = fault.New(fault.Invalid, "backup.damaged")
	ErrForeign   = fault.New(fault.Conflict, "backup.foreign_keys")
	ErrNotEmpty  = fault.New(fault.Conflict, "backup.folder_not_empty")
	ErrNoKeyFile = fault.New(fault.NotFound, "backup.no_key_file")
	ErrEngine    = fault.New(fault.Invalid, "backup.engine")
)

// Format is the layout of the archive.
const Format = 1

// About is what the archive says of itself at its front.
type About struct {
	Format  int       `json:"format"`
	MadeAt  time.Time `json:"made_at"`
	Program string    `json:"program"`
	// Engine is the database that the installation runs on.
	Engine string `json:"engine"`
	// Parts are what is inside. What an installation has and is not named here is kept elsewhere.
	Parts []Part `json:"parts"`
	// Ring is the wrapped ring of keys: the root opens it, and without the root nothing does.
	Ring json.RawMessage `json:"ring"`
}

// Part is a part of an installation that is restored, and whose age is told, on its own.
type Part string

// The parts of an installation. The root key is none: it is never in a backup.
const (
	Database  Part = "database"
	Leaks     Part = "leaks"     // segments of breaches
	Passwords Part = "passwords" // corpora of breached passwords that an operator brought
)

// Holds reports whether a part is inside.
func (a About) Holds(p Part) bool { return slices.Contains(a.Parts, p) }

// File is one file of the archive.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Manifest is the list at the end.
type Manifest struct {
	About About  `json:"about"`
	Files []File `json:"files"`
}

// TotalBytes returns how much is inside.
func (m Manifest) TotalBytes() (n int64) {
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// The members of a backup that are not data.
const (
	aboutName    = "about.json"
	manifestName = "manifest.json"
	macName      = "manifest.mac"
	maxList      = 64 << 20
)

// fileName is what a file inside may be called: nothing that leads out of a folder. The system bounds its length.
var fileName = regexp.MustCompile(`^(vigia\.db|corpora/(leak|password)/[a-z0-9][a-z0-9._-]*)$`)

// Source is a file to be taken in. It is opened by the caller, so that it stays readable when it is deleted meanwhile.
type Source struct {
	Name string
	File *os.File
}

// WriteArchive makes an archive of mode 0600 at path, beside its name first. mac is the keyed hash over the list.
// progress may be nil.
func WriteArchive(
	ctx context.Context,
	path string,
	about About,
	sources []Source,
	mac func([]byte) []byte,
	progress func(done, total int64),
) (Manifest, error) {
	m := Manifest{About: about}
	if _, err := os.Lstat(path); err == nil {
		return m, ErrExists.Note("there is a file %s already", path)
	}
	out, err := durable.CreateFile(path)
	if err != nil {
		return m, fmt.Errorf("write backup: %w", err)
	}
	defer out.DiscardFile()
	w := writer{ctx: ctx, manifest: &m, progress: progress}
	if err = w.writeAll(out.SteadyWriter(), sources, mac); err == nil {
		err = out.PublishNew()
	}
	if errors.Is(err, os.ErrExist) {
		return m, ErrExists.Note("there is a file %s already", path)
	}
	if err != nil {
		return m, fmt.Errorf("write backup: %w", err)
	}
	return m, nil
}

// writer is the state of one call of Write.
type writer struct {
	ctx         context.Context //nolint:containedctx // lives for one call
	manifest    *Manifest
	progress    func(done, total int64)
	done, total int64
}

// writeAll writes the description, the files and the list.
func (w *writer) writeAll(out io.Writer, sources []Source, mac func([]byte) []byte) error {
	z, err := gzip.NewWriterLevel(out, gzip.BestSpeed) // sealed data hardly shrinks
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	about, err := json.Marshal(w.manifest.About)
	if err == nil {
		err = w.writeSmall(t, aboutName, about)
	}
	for _, s := range sources {
		info, serr := s.File.Stat()
		if err = errors.Join(err, serr); err != nil {
			break
		}
		w.total += info.Size()
	}
	for _, s := range sources {
		if err == nil {
			err = w.writeFile(t, s)
		}
	}
	var list []byte
	if err == nil {
		list, err = json.Marshal(w.manifest)
	}
	if err == nil {
		err = errors.Join(w.writeSmall(t, manifestName, list), w.writeSmall(t, macName, mac(list)))
	}
	if err != nil {
		return errors.Join(err, z.Close())
	}
	return errors.Join(t.Close(), z.Close())
}

// writeSmall adds a file that is in memory.
func (w *writer) writeSmall(t *tar.Writer, name string, content []byte) error {
	if err := t.WriteHeader(
		&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content)), Format: tar.FormatPAX},
	); err != nil {
		return err
	}
	_, err := t.Write(content)
	return err
}

// writeFile adds a file of the disk.
func (w *writer) writeFile(t *tar.Writer, s Source) error {
	if !fileName.MatchString(s.Name) {
		return fmt.Errorf("%q is no name for a file of a backup", s.Name)
	}
	info, err := s.File.Stat()
	if err != nil {
		return err
	}
	if err := t.WriteHeader(
		&tar.Header{Name: s.Name, Mode: 0o600, Size: info.Size(), Format: tar.FormatPAX},
	); err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(
		io.MultiWriter(t, sum),
		&watched{ctx: w.ctx, in: io.NewSectionReader(s.File, 0, info.Size()), seen: func(n int64) {
			w.done += n
			if w.progress != nil {
				w.progress(w.done, w.total)
			}
		}},
	)
	if err == nil && n != info.Size() {
		err = fmt.Errorf("%s became shorter while it was read", s.Name)
	}
	w.manifest.Files = append(w.manifest.Files, File{s.Name, n, hex.EncodeToString(sum.Sum(nil))})
	return err
}

// watched ends a long copy when its context does, and tells how far it is.
type watched struct {
	ctx  context.Context //nolint:containedctx // lives for one copy
	in   io.Reader
	seen func(n int64)
}

func (w *watched) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.in.Read(p)
	w.seen(int64(n))
	return n, err
}

// isSameJSON compares two values by their JSON.
func isSameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

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

// ExtractArchive unpacks an archive into an empty folder and checks every byte of it. verify is asked whether the list
// at the end is what it was. When it fails, the folder holds rubbish; the caller takes it away.
func ExtractArchive(
	ctx context.Context,
	file, folder string,
	verify func(list, mac []byte) bool,
	progress func(done, total int64),
) (Manifest, error) {
	var m Manifest
	r, err := openArchive(file)
	if err != nil {
		return m, err
	}
	defer r.closeArchive()
	about, err := r.readAbout()
	if err != nil {
		return m, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return m, fmt.Errorf("restore: %w", err)
	}
	defer func() { _ = root.Close() }() // only a handle of the folder
	x := extraction{archive: r, root: root, ctx: ctx, progress: progress}
	list, err := x.extractFiles()
	if err != nil {
		return m, err
	}
	mac, err := x.readFinalMAC()
	if err != nil {
		return m, err
	}
	if !verify(list, mac) {
		return m, altered
	}
	if err := json.Unmarshal(list, &m); err != nil {
		return m, altered.Because(err)
	}
	if !isSameJSON(m.About, about) || !isSameJSON(m.Files, x.found) {
		return m, altered
	}
	return m, durable.SyncFolders(folder)
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

// extraction is one archive being unpacked.
type extraction struct {
	*archive
	ctx      context.Context //nolint:containedctx // lives for one call
	root     *os.Root
	progress func(done, total int64)
	found    []File
}

// extractFiles unpacks up to the list at the end and returns that.
func (x *extraction) extractFiles() ([]byte, error) {
	seen := map[string]bool{}
	for {
		h, err := x.t.Next()
		if err != nil {
			return nil, x.nameDamage(err)
		}
		if h.Name == manifestName && h.Size <= maxList {
			return x.readMember()
		}
		if h.Typeflag != tar.TypeReg || !fileName.MatchString(h.Name) || seen[h.Name] {
			return nil, altered
		}
		seen[h.Name] = true
		if err := x.extractFile(h); err != nil {
			return nil, err
		}
	}
}

// extractFile unpacks one file and adds it to the list.
func (x *extraction) extractFile(h *tar.Header) error {
	if dir := path.Dir(h.Name); dir != "." {
		if err := x.root.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("restore: %w", err)
		}
	}
	out, err := x.root.OpenFile(h.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, sum), &watched{ctx: x.ctx, in: x.t, seen: x.reportProgress})
	if err != nil && x.ctx.Err() == nil {
		err = x.nameDamage(err)
	}
	x.found = append(x.found, File{h.Name, n, hex.EncodeToString(sum.Sum(nil))})
	return errors.Join(err, durable.SyncAndClose(out))
}

// reportProgress reports how much of the archive has been read.
func (x *extraction) reportProgress(int64) {
	if at, err := x.archive.file.Seek(0, io.SeekCurrent); err == nil && x.progress != nil {
		x.progress(at, x.size)
	}
}

// readFinalMAC reads the keyed hash and makes sure that nothing follows.
func (x *extraction) readFinalMAC() ([]byte, error) {
	h, err := x.t.Next()
	if err != nil {
		return nil, x.nameDamage(err)
	}
	if h.Name != macName || h.Size > 1024 {
		return nil, altered
	}
	mac, err := x.readMember()
	if err != nil {
		return nil, err
	}
	if _, err := x.t.Next(); err == nil {
		return nil, altered
	} else if !errors.Is(err, io.EOF) {
		return nil, x.nameDamage(err)
	}
	if n, err := io.Copy(io.Discard, x.z); err != nil { // the sum of all bytes is checked at their end
		return nil, x.nameDamage(err)
	} else if n > 0 {
		return nil, altered
	}
	if _, err := x.in.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, ErrDamaged.Note("something was appended to the backup").Because(err)
	}
	return mac, nil
}
