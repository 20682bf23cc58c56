package backup

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"

	"github.com/vigiahq/vigia/internal/platform/durable"
)

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
	err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content)), Format: tar.FormatPAX})
	if err != nil {
		return err
	}
	_, err = t.Write(content)
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
	err = t.WriteHeader(&tar.Header{Name: s.Name, Mode: 0o600, Size: info.Size(), Format: tar.FormatPAX})
	if err != nil {
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
