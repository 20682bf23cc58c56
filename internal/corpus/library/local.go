package library

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/platform/durable"
)

// fileName keeps every name inside the folder.
var fileName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,200}\.seg$`)

// localPath returns where a file is kept here.
func (d *Files) localPath(name string) (string, error) {
	if !fileName.MatchString(name) || strings.Contains(name, "..") {
		return "", ErrName
	}
	return filepath.Join(d.dir, name), nil
}

// copyFile publishes a copy of a file here.
func copyFile(path, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	return receiveFile(path, in, func(string) error { return nil })
}

// receiveFile publishes what it reads, after check has seen the whole file under another name.
func receiveFile(path string, in io.Reader, check func(arrived string) error) error {
	out, err := durable.CreateFile(path)
	if err != nil {
		return err
	}
	defer out.DiscardFile()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	if err := check(out.Name()); err != nil {
		return err
	}
	return out.PublishFile()
}

func (d *Files) openLocal(path, digest string) (*segment.Reader, error) {
	r, err := segment.Open(path)
	if err != nil {
		return nil, err
	}
	if d.OpenTable != nil {
		if err := r.OpenLabels(d.OpenTable); err != nil {
			return nil, errors.Join(ErrDamaged.Note("segment: its labels cannot be opened").Because(err), r.Close())
		}
	}
	if r.Digest().String() != digest {
		return nil, errors.Join(ErrDamaged.Note("segment: not the file that was published"), r.Close())
	}
	return r, nil
}

// ForgetLocal removes the local copy; a process that reads it keeps it until it lets go.
func (d *Files) ForgetLocal(name string) error {
	path, err := d.localPath(name)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
