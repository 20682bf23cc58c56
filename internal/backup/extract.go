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

// Describe reads what an archive says of itself, and nothing more.
func Describe(file string) (About, error) {
	var about About
	r, err := openArchive(file)
	if err != nil {
		return about, err
	}
	defer r.close()
	return r.about()
}

// Extract unpacks an archive into an empty folder and checks every byte of it. verify is asked whether the list at the
// end is what it was. When it fails, the folder holds rubbish; the caller takes it away.
func Extract(ctx context.Context, file, folder string, verify func(list, mac []byte) bool, progress func(done, total int64)) (Manifest, error) {
	var m Manifest
	r, err := openArchive(file)
	if err != nil {
		return m, err
	}
	defer r.close()
	about, err := r.about()
	if err != nil {
		return m, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return m, fmt.Errorf("restore: %w", err)
	}
	defer func() { _ = root.Close() }() // only a handle of the folder
	x := extraction{archive: r, root: root, ctx: ctx, progress: progress}
	list, err := x.files()
	if err != nil {
		return m, err
	}
	mac, err := x.last()
	if err != nil {
		return m, err
	}
	if !verify(list, mac) {
		return m, ErrDamaged.With("the list of files is not the one that was written")
	}
	if err := json.Unmarshal(list, &m); err != nil {
		return m, ErrDamaged.With("the list of files cannot be read").Because(err)
	}
	if !equal(m.About, about) || !equal(m.Files, x.found) {
		return m, ErrDamaged.With("the files are not those of the list")
	}
	return m, durable.SyncFolders(folder)
}

type archive struct {
	file *os.File
	z    io.Reader
	t    *tar.Reader
	size int64
}

func openArchive(name string) (*archive, error) {
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, ErrNoBackup.With("the backup cannot be opened").Because(err)
	}
	info, err := f.Stat()
	if err == nil {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bufio.NewReaderSize(f, 256<<10)); err == nil {
			return &archive{f, z, tar.NewReader(z), info.Size()}, nil
		}
	}
	return nil, errors.Join(ErrNoBackup.With("the backup cannot be opened").Because(err), f.Close())
}

func (a *archive) close() { _ = a.file.Close() } // only read

func (a *archive) about() (About, error) {
	var about About
	h, err := a.t.Next()
	if err != nil || h.Name != aboutName || h.Size > maxList {
		return about, ErrNoBackup.With("not a backup of this program").Because(err)
	}
	if err := json.NewDecoder(a.t).Decode(&about); err != nil {
		return about, ErrNoBackup.With("not a backup of this program").Because(err)
	}
	if about.Format != Format {
		return about, ErrNoBackup.With("the backup has format %d, this program reads format %d", about.Format, Format)
	}
	return about, nil
}

// extraction is one archive being unpacked.
type extraction struct {
	*archive
	ctx      context.Context //nolint:containedctx // lives for one call
	root     *os.Root
	progress func(done, total int64)
	found    []File
}

// files unpacks up to the list at the end and returns that.
func (x *extraction) files() ([]byte, error) {
	seen := map[string]bool{}
	for {
		h, err := x.t.Next()
		if err != nil {
			return nil, ErrDamaged.With("the backup ends early").Because(err)
		}
		if h.Name == manifestName && h.Size <= maxList {
			list, err := io.ReadAll(x.t)
			if err != nil {
				return nil, ErrDamaged.With("the backup ends early").Because(err)
			}
			return list, nil
		}
		if h.Typeflag != tar.TypeReg || !fileName.MatchString(h.Name) || seen[h.Name] {
			return nil, ErrDamaged.With("the backup holds something that was not put there")
		}
		seen[h.Name] = true
		if err := x.file(h); err != nil {
			return nil, err
		}
	}
}

func (x *extraction) file(h *tar.Header) error {
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
	n, err := io.Copy(io.MultiWriter(out, sum), &watched{ctx: x.ctx, in: x.t, seen: x.saw})
	if err != nil && x.ctx.Err() == nil {
		err = ErrDamaged.With("the backup ends early or is damaged").Because(err)
	}
	x.found = append(x.found, File{h.Name, n, hex.EncodeToString(sum.Sum(nil))})
	return errors.Join(err, durable.Close(out))
}

// saw tells how far the reading of the archive is.
func (x *extraction) saw(int64) {
	if at, err := x.archive.file.Seek(0, io.SeekCurrent); err == nil && x.progress != nil {
		x.progress(at, x.size)
	}
}

// last reads the keyed hash and makes sure that nothing follows.
func (x *extraction) last() ([]byte, error) {
	h, err := x.t.Next()
	if err != nil || h.Name != macName || h.Size > 1024 {
		return nil, ErrDamaged.With("the backup ends early").Because(err)
	}
	mac, err := io.ReadAll(x.t)
	if err != nil {
		return nil, ErrDamaged.With("the backup ends early").Because(err)
	}
	if _, err := x.t.Next(); !errors.Is(err, io.EOF) {
		return nil, ErrDamaged.With("the backup holds something that was not put there").Because(err)
	}
	if n, err := io.Copy(io.Discard, x.z); n > 0 || err != nil {
		return nil, ErrDamaged.With("something was appended to the backup").Because(err)
	}
	return mac, nil
}
