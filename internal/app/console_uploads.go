package app

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/web/console"
)

// uploadFolder returns the folder that holds an upload during its import. It is in the data folder, which only the
// service can read.
func (w *consoleWork) uploadFolder() string {
	return filepath.Join(w.app.Config.CorporaPath(), "upload")
}

// sweepUploads removes what a killed process left.
func (w *consoleWork) sweepUploads() error {
	if err := os.RemoveAll(w.uploadFolder()); err != nil {
		return fmt.Errorf("uploads: %w", err)
	}
	return nil
}

// pathsOf returns the files of an import; remove takes an upload away again.
func (w *consoleWork) pathsOf(from console.Input) (paths []string, remove func(), err error) {
	if from.File == nil {
		return onlyPaths(from.Paths), func() {}, nil
	}
	path, remove, err := w.keepUpload(from.Name, from.File)
	return []string{path}, remove, err
}

// keepUpload writes an upload to a folder of its own; remove takes it away again.
func (w *consoleWork) keepUpload(name string, file io.Reader) (path string, remove func(), err error) {
	folder := filepath.Join(w.uploadFolder(), rand.Text())
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", nil, fmt.Errorf("keep upload: %w", err)
	}
	remove = func() {
		if err := os.RemoveAll(folder); err != nil {
			w.log.Error("an upload cannot be removed", "cause", err.Error())
		}
	}
	path = filepath.Join(folder, "upload"+filepath.Ext(filepath.Base(name)))
	if err := writeUpload(path, file); err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}

// writeUpload keeps what a page was sent; the console bounds how much that can be.
func writeUpload(path string, file io.Reader) error {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep upload: %w", err)
	}
	_, err = io.Copy(out, file)
	if err = errors.Join(err, out.Close()); err != nil {
		return intake.ErrInput.With("file", fault.ArrivedInPart).Because(err)
	}
	return nil
}
