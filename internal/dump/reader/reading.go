package reader

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // what passwords are asked about by
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/scan"
	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
)

const (
	// firstFile is the descriptor of the first file that a reader is started with.
	firstFile     = 3
	progressEvery = 50 * time.Millisecond
	// checkpointEvery is after how much time a Checkpoint is made at the end of a text: what a killed reader did since
	// is done again.
	checkpointEvery = 100 * time.Millisecond
	// smallLimit is the size up to which a text is handed to one worker as a whole: archives hold millions of them.
	smallLimit = 256 << 10
	batchSize  = 64 << 10
)

// reading is the work of a reader: it walks the inputs in order, has them searched by several workers, and tells what
// they find.
//
// A large text is searched in spans of fixed length. Where spans begin depends on the text alone, so a reader that goes
// on behind a Checkpoint finds exactly what one finds that was never interrupted.
type reading struct {
	job     Job
	mapping *stated.Mapping
	out     *frameWriter
	files   []*os.File
	inputs  chan Input
	// contents and served are what the parent sends: an input as a whole, and what was asked for.
	contents, served chan []byte

	workers []*worker
	small   chan smallStream // texts that fit a buffer, for any worker
	pending sync.WaitGroup   // small texts not yet searched
	buffers chan []byte

	in Input
	at Cursor
	// rows is what the text before at says of the rows after it, where at is inside of a text.
	rows record.State
	// opened counts the layers of the input, and open are those that are.
	opened int64
	open   []int64
	// misread are lines of the input at hand that are no records, the first of them, and misreads how many.
	misread  []container.Skip
	misreads int64
	records  *stated.Summary
	noText   string // why a text has no records

	checkedAt             time.Time
	sinceCheck            int64 // bytes searched since then
	read, scanned, stream atomic.Int64
}

// smallStream is the whole text of a small stream, which a worker searches in one piece.
type smallStream struct {
	name      string
	text, buf []byte
}

// counters returns how far the reading has come. It may be called while workers are busy.
func (c *reading) counters() Counters {
	return Counters{Read: c.read.Load(), Scanned: c.scanned.Load(), Streams: c.stream.Load()}
}

// readInputs reads inputs until there are none.
func (c *reading) readInputs() error {
	n := max(1, c.job.Workers)
	c.small, c.buffers = make(chan smallStream, n), make(chan []byte, 2*n)
	for range cap(c.buffers) {
		c.buffers <- make([]byte, smallLimit)
	}
	ctx := context.Background()
	for range n {
		w := &worker{
			out:         c.out,
			noPasswords: c.job.NoPasswords,
			batch:       make([]byte, frameHead, batchSize+4<<10),
			digests:     digester{hash: sha1.New()}, //nolint:gosec // see above
		}
		w.recorder = scan.NewRecorder(w.encodeSighting)
		c.workers = append(c.workers, w)
		go func() {
			for s := range c.small {
				n, _ := w.recorder.Scan(ctx, bytes.NewReader(s.text), s.name) // reading from memory does not fail
				c.scanned.Add(n)
				c.buffers <- s.buf
				c.pending.Done()
			}
		}()
	}
	for in := range c.inputs {
		c.in, c.at, c.opened, c.open = in, Cursor{Input: in.From.Input}, 0, c.open[:0]
		report, err := c.walkInput(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
		if c.at = (Cursor{Input: in.From.Input + 1}); c.checkDue() || c.job.Careful {
			k := c.checkpoint()
			report.Checkpoint = &k
		}
		if err := c.out.writeJSON(factEnded, report); err != nil {
			return err
		}
	}
	c.sendCheckpoint()
	return nil
}

// openSource returns the content of the input at hand.
func (c *reading) openSource() (io.Reader, error) {
	switch in := &c.in; {
	case in.Inline:
		return bytes.NewReader(<-c.contents), nil
	case in.File > len(c.files):
		return nil, errors.New("there is no such file")
	case in.File > 0:
		return c.files[in.File-1], nil
	case in.Size < 0:
		return &servedStream{servedWindow{c: c}}, nil
	case len(in.Volumes) == 0:
		w := &servedFile{servedWindow: servedWindow{c: c}}
		return io.NewSectionReader(w, 0, in.Size), nil
	}
	var volumes []container.Volume
	w, start := &servedFile{servedWindow: servedWindow{c: c}}, int64(0)
	for _, v := range c.in.Volumes {
		volumes = append(
			volumes,
			container.Volume{Name: v.Name, At: io.NewSectionReader(w, start, v.Size), Size: v.Size},
		)
		start += v.Size
	}
	return container.NewSet(volumes), nil
}
