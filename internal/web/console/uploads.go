package console

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Input is what an import reads: the files behind paths of the server, or a file that is sent and kept for the time of
// the import.
type Input struct {
	Paths []string
	Name  string
	File  io.Reader
}

// maxField bounds a field of a form with a file.
const maxField = 16 << 10

// fileTooLargeError says how large a file may be, and what to do with a larger one.
func (c *Console) fileTooLargeError() error {
	return errUpload.With("file", fault.UploadMiB, c.UploadLimit>>20)
}

// readInput reads what the form of an import names, and says it for the audit trail. An upload is streamed and never
// held in memory.
func (f *formReader) readInput() (from Input, detail string) {
	if !f.route.upload {
		return Input{Paths: splitLines(f.trimmedField("paths"))}, f.trimmedField("paths")
	}
	file := f.readUpload()
	return Input{Name: file.FileName(), File: file}, "upload"
}

// readUpload reads a form whose last part is the file: first the fields, then the file as a stream. Without one the
// form is wrong, and nothing may be read from what is returned.
func (f *formReader) readUpload() *multipart.Part {
	parts, err := f.MultipartReader()
	f.PostForm = url.Values{}
	for err == nil {
		var part *multipart.Part
		if part, err = parts.NextPart(); err != nil {
			break
		}
		if part.FormName() == "file" && part.FileName() != "" {
			return part
		}
		var value []byte
		value, err = io.ReadAll(io.LimitReader(part, maxField))
		f.PostForm.Add(part.FormName(), string(value))
	}
	rule := fault.ChooseAFile
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, http.ErrNotMultipart) {
		rule = fault.ArrivedInPart
	}
	f.noteFault(errForm.With("file", rule).Because(err))
	return &multipart.Part{}
}

// prepareUpload lets a file take longer than an ordinary request, and bounds its size.
func (c *Console) prepareUpload(w http.ResponseWriter, r *request) {
	// A server without deadlines refuses these two.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	if c.UploadLimit > 0 {
		r.Body = http.MaxBytesReader(w, r.Body, c.UploadLimit+maxForm) // the other fields have room beside the file
	}
}
