package console

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Input is what an import reads: the files behind paths of the server, or a file that is sent and kept for the time of the import.
type Input struct {
	Paths []string
	Name  string
	File  io.Reader
}

// readInput reads what the form of an import names, and says it for the audit trail. An upload is streamed and never held in memory.
func readInput(r *request) (from Input, detail string) {
	if !r.route.upload {
		return Input{Paths: splitLines(r.trimmedField("paths"))}, r.trimmedField("paths")
	}
	file := uploadedFile(r)
	return Input{Name: file.FileName(), File: file}, "upload"
}

// maxField bounds a field of a form with a file.
const maxField = 16 << 10

// uploadedFile reads a form whose last part is the file: first the fields, then the file as a stream. Without one the form is wrong,
// and nothing may be read from what is returned.
func uploadedFile(r *request) *multipart.Part {
	form, err := r.MultipartReader()
	for r.PostForm = (url.Values{}); err == nil; {
		var part *multipart.Part
		if part, err = form.NextPart(); err != nil {
			break
		}
		if part.FormName() == "file" && part.FileName() != "" {
			return part
		}
		var value []byte
		value, err = io.ReadAll(io.LimitReader(part, maxField))
		r.PostForm.Add(part.FormName(), string(value))
	}
	rule := fault.ChooseAFile
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, http.ErrNotMultipart) {
		rule = fault.ArrivedInPart
	}
	r.noteFormError(errForm.With("file", rule).Because(err))
	return &multipart.Part{}
}

// fileTooLargeError says how large a file may be, and what to do with a larger one.
func (c *Console) fileTooLargeError() error {
	return errUpload.With("file", fault.UploadMiB, c.UploadLimit>>20)
}
