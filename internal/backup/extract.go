package backup

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
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

	"github.com/vigiahq/vigia/internal/durable"
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

// ExtractArchive unpacks an archive into an empty folder and checks every byte of it. verify is asked whether the list at the
// end is what it was. When it fails, the folder holds rubbish; the caller takes it away.
func ExtractArchive(ctx context.Context, file, folder string, verify func(list, mac []byte) bool, progress func(done, total int64)) (Manifest, error) {
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
	mac, err := x.readMAC()
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
		return nil, ErrNoBackup.Note("the backup cannot be opened").Because(err)
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
	return nil, errors.Join(ErrNoBackup.Note("the backup cannot be opened").Because(err), f.Close())
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
		return about, ErrNoBackup.Note("not a backup of this program").Because(err)
	}
	text, err := io.ReadAll(a.t)
	if err != nil {
		return about, a.nameDamage(err)
	}
	if err := json.Unmarshal(text, &about); err != nil {
		return about, ErrNoBackup.Note("not a backup of this program").Because(err)
	}
	if about.Format != Format {
		return about, ErrNoBackup.Note("the backup has format %d, this program reads format %d", about.Format, Format)
	}
	return about, nil
}

// nameDamage names what is wrong with an archive that cannot be read on. An altered one may seem to end early, too: then
// there is more of the file.
func (a *archive) nameDamage(err error) error {
	at, serr := a.file.Seek(0, io.SeekCurrent)
	if (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) && serr == nil && at == a.size && a.in.Buffered() == 0 {
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
			list, err := io.ReadAll(x.t)
			if err != nil {
				return nil, x.nameDamage(err)
			}
			return list, nil
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

// readMAC reads the keyed hash and makes sure that nothing follows.
func (x *extraction) readMAC() ([]byte, error) {
	h, err := x.t.Next()
	if err != nil {
		return nil, x.nameDamage(err)
	}
	if h.Name != macName || h.Size > 1024 {
		return nil, altered
	}
	mac, err := io.ReadAll(x.t)
	if err != nil {
		return nil, x.nameDamage(err)
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
