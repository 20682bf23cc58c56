package console

import (
	"bytes"
	"context"
	"io"

	"github.com/vigiahq/vigia/internal/operator"
)

// Files beside the lists. Both hold personal data as an operator uploaded it: they are sealed, readable by that
// operator only, and deleted after a day.
const (
	// checkedFile was sent to be checked, and waits to be created.
	checkedFile = "subscriptions.checked"
	// rejectedFile holds the records that were refused.
	rejectedFile = "assinaturas-recusadas"
)

// sealedFile writes a file in sealed parts; it is begun by its first byte.
type sealedFile struct {
	ctx   context.Context //nolint:containedctx // of the one request that writes it: io.Writer takes none
	saved Saved
	operator.Export
	begun bool
	held  bytes.Buffer
}

// newSealedFile returns a file that belongs to the operator of the request.
func (c *Console) newSealedFile(r *request, list, about string, format operator.Format) *sealedFile {
	return &sealedFile{ctx: r.Context(), saved: c.Rules.Saved, Export: c.newExport(r, list, about, format)}
}

func (f *sealedFile) Write(text []byte) (int, error) {
	if !f.begun {
		if err := f.saved.BeginExport(f.ctx, f.Export); err != nil {
			return 0, err
		}
		f.begun = true
	}
	_, _ = f.held.Write(text) // a buffer takes everything
	if f.held.Len() >= partBytes {
		return len(text), f.keepPart(false)
	}
	return len(text), nil
}

// keepPart seals and keeps what was written since.
func (f *sealedFile) keepPart(done bool) error {
	f.Parts++
	err := f.saved.AddExportPart(f.ctx, f.ID, f.Parts, f.Lines, f.held.Bytes(), done)
	f.held.Reset()
	return err
}

// finishFile says how many lines it has, if anything was written.
func (f *sealedFile) finishFile(lines int64) error {
	if f.Lines = lines; !f.begun {
		return nil
	}
	return f.keepPart(true)
}

// sealedReader reads a file part by part.
type sealedReader struct {
	ctx   context.Context //nolint:containedctx // as above
	saved Saved
	file  operator.Export
	part  int64
	left  bytes.Reader
}

func (s *sealedReader) Read(p []byte) (int, error) {
	for s.left.Len() == 0 {
		if s.part == s.file.Parts {
			return 0, io.EOF
		}
		s.part++
		body, err := s.saved.ExportPart(s.ctx, s.file.ID, s.part)
		if err != nil {
			return 0, err
		}
		s.left.Reset(body)
	}
	return s.left.Read(p)
}
