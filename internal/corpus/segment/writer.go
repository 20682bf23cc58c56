package segment

import (
	"context"
	"os"
)

// Options say what a Writer makes.
type Options struct {
	Width Width
	// Note is kept in the file and means nothing to this package. It can also be set until Commit.
	Note []byte
	// Memory bounds what the writer holds for sorting, in bytes; 0 means 64 MiB. Directories of pages come on top: 12
	// bytes for about 2,000 keys.
	Memory int
}

const (
	defaultMemory = 64 << 20
	leastMemory   = 1 << 20
	// directBatch is how many sorted keys at once are worth going past the sorting buffer.
	directBatch = 1024
)

// Writer builds a segment from keys in any order in bounded memory. Repeated keys count once. A Writer is for one
// goroutine.
type Writer struct{ *builder[bare] }

// CreateSegment starts a segment that Commit will publish at path. Until then nothing exists under that name; the work
// goes on in path + ".tmp", which is locked: a second writer of the same path gets ErrBusy, and what a killed writer
// left is removed.
func CreateSegment(path string, opt Options) (*Writer, error) {
	b, err := newBuilder[bare](path, opt)
	if err != nil {
		return nil, err
	}
	b.begin = func(file *os.File) (output[bare], error) {
		r, err := newSegmentRun(file, opt.Width, nil)
		return bareRun{r}, err
	}
	b.finish = func(context.Context) (Summary, error) {
		return b.current.(bareRun).finishSegment(b.note, nil) //nolint:errcheck // a writer without labels has no other
	}
	return &Writer{b}, nil
}

// AddSegment puts all keys of a segment into the set; it is read when Commit merges. The Reader must stay open until
// then.
func (w *Writer) AddSegment(r *Reader) error {
	if r.Width() != w.width {
		return ErrOption.Note("a segment of keys of another width")
	}
	w.segments = append(w.segments, &segmentReader{Reader: r})
	return nil
}

// AddKeys puts keys into the set.
func (w *Writer) AddKeys(keys []uint64) error { return w.addRecords(asRecords(keys)) }
