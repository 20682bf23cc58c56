package password

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Import says what to import.
type Import struct {
	Algorithm Algorithm
	Inputs    []Input
	// Source is kept with the corpus and shown by Status.
	Source string
	// Force lets fewer hashes replace more; without it that is ErrSmaller, because it is usually the wrong file.
	Force bool
	// Progress, if set, is called now and then from one goroutine, and once at the end.
	Progress func(Progress)
}

// Progress is how far an import or a download has come.
type Progress struct {
	Done, Total int64  // bytes of an import as stored, ranges of a download; Total is 0 where it is not known
	Hashes      uint64 // hashes read so far
	Bytes       int64  // bytes read so far
}

const (
	// readSize is how much text is parsed at a time; no line of a corpus comes near it.
	readSize = 1 << 20
	// batches in flight let reading and parsing go on while the writer sorts and encodes.
	batchesInFlight = 3
)

// batch is the keys of one stretch of text.
type batch struct {
	keys, widely []uint64
}

// ImportCorpus replaces the corpus of an algorithm by the hashes of the inputs. A line that is not HASH or HASH:COUNT
// refuses the import: the error names the file and the line, and the corpus that was in force stays so.
func (l *Library) ImportCorpus(ctx context.Context, job Import) (Corpus, error) {
	if job.Source == SourceDefault {
		return Corpus{}, ErrInput.With("source", fault.NameOfSample, SourceDefault)
	}
	r, err := l.beginReplacement(job.Algorithm, job.Source)
	if err != nil {
		return Corpus{}, err
	}
	defer r.abandonFiles()
	if err := r.fillFromInputs(ctx, job); err != nil {
		return Corpus{}, err
	}
	r.mayShrink = job.Force
	return r.publishReplacement(ctx)
}

// fillFromInputs parses the inputs in one goroutine and feeds the writers in another.
func (r *replacement) fillFromInputs(ctx context.Context, job Import) error {
	im := &importer{
		algorithm: job.Algorithm,
		full:      make(chan batch, batchesInFlight),
		empty:     make(chan batch, batchesInFlight),
	}
	for range batchesInFlight {
		im.empty <- batch{}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(im.full)
		for _, in := range job.Inputs {
			if err := im.readInput(ctx, in); err != nil {
				return nameInput(in.Name, err)
			}
		}
		return nil
	})
	progress := Progress{}
	for _, in := range job.Inputs {
		progress.Total += in.Size
	}
	report := func() {
		if job.Progress != nil {
			progress.Bytes = im.bytes.Load()
			progress.Done = progress.Bytes
			job.Progress(progress)
		}
	}
	group.Go(func() error {
		for b := range im.full {
			if err := r.addHashKeys(b.keys, b.widely); err != nil {
				return err
			}
			progress.Hashes += uint64(len(b.keys))
			im.empty <- b
			report()
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	report()
	return nil
}

// nameInput says in which input an error happened. The name goes in the detail of a bad line, because that is what is
// shown.
func nameInput(name string, err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Code == ErrLine.Code {
		return f.In(name)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return ErrInput.Because(fmt.Errorf("%s: %w", name, err)).With("", fault.FileUnreadable, name)
}

// importer reads inputs and hands their keys over in batches.
type importer struct {
	algorithm Algorithm
	bytes     atomic.Int64 // read so far, as stored
	buf       []byte
	full      chan batch
	empty     chan batch
}

// meteredReader adds the bytes that are read to a count that other goroutines look at, for progress.
type meteredReader struct {
	source io.Reader
	count  *atomic.Int64
}

func (m meteredReader) Read(p []byte) (int, error) {
	n, err := m.source.Read(p)
	m.count.Add(int64(n))
	return n, err
}

// fillBuffer reads until p is full or r ends. Unlike io.ReadFull it returns io.EOF at the end of r, so that a packed
// stream that was cut off, for which decoders return io.ErrUnexpectedEOF, is told apart.
func fillBuffer(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	if n == len(p) {
		err = nil
	}
	return n, err
}

// readInput reads one input, packed or not.
func (im *importer) readInput(ctx context.Context, in Input) error {
	packed, err := in.openInput()
	if err != nil {
		return err
	}
	defer packed.Close()
	text, err := unpackStream(in.Name, meteredReader{source: packed, count: &im.bytes})
	if err != nil {
		return err
	}
	return im.readHashLines(ctx, in.Name, text)
}

// readHashLines parses text, a buffer at a time; the line that a buffer cuts is moved to the front of the next.
func (im *importer) readHashLines(ctx context.Context, name string, text io.Reader) error {
	if im.buf == nil {
		im.buf = make([]byte, readSize)
	}
	var parser *lineParser
	kept := 0
	for last := false; !last; {
		n, err := fillBuffer(text, im.buf[kept:])
		last = err == io.EOF //nolint:errorlint // a reader ends with io.EOF itself; wrapped, it is a fault
		if err != nil && !last {
			return err
		}
		b := im.buf[:kept+n]
		if parser == nil {
			b = trimByteOrderMark(b)
			if parser, err = parserFor(im.algorithm, name, b); err != nil {
				return err
			}
		}
		rest, err := im.parseLines(ctx, parser, b, last)
		if err != nil {
			return err
		}
		if len(rest) == len(im.buf) {
			return ErrLine.With("", fault.LineIsLonger, parser.lines+1, readSize)
		}
		kept = copy(im.buf, rest)
	}
	return nil
}

// parseLines hands over the keys of the complete lines of b and returns what is left.
func (im *importer) parseLines(ctx context.Context, parser *lineParser, b []byte, last bool) ([]byte, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case out := <-im.empty:
		parser.keys, parser.widely = out.keys[:0], out.widely[:0]
	}
	n, err := parser.parseLines(b, last)
	if err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case im.full <- batch{parser.keys, parser.widely}:
		return b[n:], nil
	}
}
