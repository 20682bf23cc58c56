package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/vigiahq/vigia/internal/platform/durable"
)

// ExtractArchive unpacks an archive into an empty folder and checks every byte of it. verify is asked whether the list
// at the end is what it was. When it fails, the folder holds rubbish; the caller takes it away.
func ExtractArchive(
	ctx context.Context, file, folder string, verify func(list, mac []byte) bool, progress func(done, total int64),
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

// isSameJSON compares two values by their JSON.
func isSameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
