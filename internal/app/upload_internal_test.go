package app

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/vigiahq/vigia/internal/intake"
)

// endless is an upload without an end.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) { e.n += int64(len(p)); return len(p), nil }

// TestUploadsAreBounded: a file that does not end does not fill the disk. The one here is written to nowhere.
func TestUploadsAreBounded(t *testing.T) {
	file := &endless{}
	err := copyUpload(discard{}, file)
	if !errors.Is(err, intake.ErrInput) || file.n > UploadMost+1<<20 {
		t.Errorf("%v after %d bytes", err, file.n)
	}
	if err := writeUpload(filepath.Join(t.TempDir(), "a"), io.LimitReader(&endless{}, 1<<20)); err != nil {
		t.Error(err)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }
