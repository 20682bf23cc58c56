package reader

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // what passwords are asked about by
	"encoding"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/scan"
	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
)

// Every binary that imports this package can be its own reader: a command, a benchmark, the tests of a package.
func init() {
	if len(os.Args) == 2 && os.Args[1] == Command {
		os.Exit(runChild())
	}
}

// Confinement is what a reader was able to give up on this system.
type Confinement struct {
	// Landlock is the version of it, 0 when there is none: no file, no port.
	Landlock        int
	NoNewPrivileges bool
	// Seccomp says that the kernel refuses every system call that is not on a list.
	Seccomp bool
	// NoFiles says that nothing can be opened, be it a file or a socket; DataLimit that the system bounds the memory.
	NoFiles, DataLimit bool
	// Watched says that its parent can see its memory and processor time.
	Watched bool
}

// IsConfined reports whether the kernel keeps the reader from what is not its own. Limits of resources alone do not.
func (c Confinement) IsConfined() bool { return c.Landlock > 0 || c.Seccomp }

// omitted is what tests leave out of a confinement, to see that the rest holds.
type omitted struct{ landlock, seccomp bool }

// runChild is the main function of the reader process; it returns the exit code.
func runChild() int {
	debug.SetMemoryLimit(softMemory)
	// The runtime opens files of its own for the first timer, and must have done so.
	orders, tick := bufio.NewReaderSize(os.Stdin, 64<<10), time.NewTicker(progressEvery)
	c := &reading{
		out:      &frameWriter{w: os.Stdout},
		inputs:   make(chan Input),
		contents: make(chan []byte, 1),
		served:   make(chan []byte, 1),
	}
	kind, text, err := readFrame(orders, nil)
	if err == nil && kind == orderJob {
		err = json.Unmarshal(text, &c.job)
	}
	for i := range c.job.Files {
		c.files = append(c.files, os.NewFile(uintptr(firstFile+i), "input"))
	}
	confinement := confineProcess(omitted{})
	if err == nil && c.job.Mapping != nil {
		c.mapping = &stated.Mapping{}
		if *c.job.Mapping != "" {
			c.mapping, err = stated.ParseMapping([]byte(*c.job.Mapping))
		}
	}
	if err == nil {
		err = c.out.writeJSON(factReady, confinement)
	}
	if err == nil {
		go c.takeOrders(orders)
		go func() {
			for range tick.C {
				_ = c.out.writeJSON(factProgress, c.counters()) // without a parent the orders end too
			}
		}()
		err = c.readInputs()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "read-dump:", err)
		return 1
	}
	return 0
}

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

// worker searches, and gathers what it finds in batches.
type worker struct {
	recorder *scan.Recorder
	out      *frameWriter
	batch    []byte // behind room for the head of its frame
	// last is the password of the record before, of which several identifiers come, and digest that of it.
	noPasswords bool
	last        []byte
	digest      uint64
	digests     digester
}

// digester digests passwords one after the other.
type digester struct {
	hash  hash.Hash
	block [sha1.BlockSize]byte
	room  [2 * sha1.BlockSize]byte
}

// digestPassword returns the first 40 bits of the SHA-1 of a password. One that fits a block is padded here and the
// hash's state is read after it, which takes a quarter less time than sha1.Sum does: digests are a tenth of importing a
// combo list.
func (d *digester) digestPassword(password []byte) uint64 {
	const padding = 9 // a mark and the length
	state, ok := d.hash.(encoding.BinaryAppender)
	if n := len(password); ok && n+padding <= len(d.block) {
		copy(d.block[:], password)
		d.block[n] = 0x80
		clear(d.block[n+1:])
		binary.BigEndian.PutUint16(d.block[len(d.block)-2:], uint16(8*n))
		d.hash.Reset()
		_, _ = d.hash.Write(d.block[:])                             // never fails
		if sum, err := state.AppendBinary(d.room[:0]); err == nil { // four bytes of magic, the sum so far, the rest
			return binary.BigEndian.Uint64(sum[4:]) >> 24
		}
	}
	sum := sha1.Sum(password) //nolint:gosec // see above
	return binary.BigEndian.Uint64(sum[:]) >> 24
}

// encodeSighting adds a sighting to the batch.
func (w *worker) encodeSighting(s *record.Sighting) {
	// A record stays in one batch, so that its identifiers stay together.
	if len(w.batch) >= batchSize && (s.First || len(w.batch) >= 4*batchSize) {
		w.flushBatch()
	}
	withPassword := len(s.Password) > 0 && !w.noPasswords
	if withPassword && !bytes.Equal(s.Password, w.last) {
		w.last, w.digest = append(w.last[:0], s.Password...), w.digests.digestPassword(s.Password)
	}
	w.batch = appendSighting(w.batch, s, w.digest, withPassword)
}

func (w *worker) flushBatch() {
	if len(w.batch) > frameHead {
		exitOnError(w.out.writeInPlace(factSightings, w.batch))
		w.batch = w.batch[:frameHead]
	}
}

// exitOnError ends a reader that cannot tell what it finds: its parent is gone.
func exitOnError(err error) {
	if err != nil {
		os.Exit(1)
	}
}

// takeOrders hands on what the parent sends. When the parent is gone, or wants no more, nothing is worth going on with.
func (c *reading) takeOrders(orders *bufio.Reader) {
	for {
		kind, text, err := readFrame(orders, nil)
		if err != nil {
			os.Exit(0)
		}
		switch kind {
		case orderEnd:
			close(c.inputs)
		case orderInput:
			var in Input
			if err := json.Unmarshal(text, &in); err != nil {
				fmt.Fprintln(os.Stderr, "read-dump:", err)
				os.Exit(1)
			}
			c.inputs <- in
		case orderContent:
			c.contents <- text
		case orderServed:
			c.served <- text
		default:
			os.Exit(1)
		}
	}
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

// mayCheck makes a Checkpoint after so many more bytes were searched, if one is due.
func (c *reading) mayCheck(searched int64) {
	if c.sinceCheck += searched; c.checkDue() {
		c.sendCheckpoint()
	}
}

// checkDue reports whether it is time for a checkpoint: after a while, or after as many bytes as the job asks for.
func (c *reading) checkDue() bool {
	return time.Since(c.checkedAt) >= checkpointEvery || c.job.Often > 0 && c.sinceCheck >= c.job.Often
}

// sendCheckpoint tells a place from which another reader can go on.
func (c *reading) sendCheckpoint() { exitOnError(c.out.writeJSON(factCheckpoint, c.checkpoint())) }

// checkpoint tells all that was found: everything before c.at has been searched.
func (c *reading) checkpoint() Checkpoint {
	c.pending.Wait()
	for _, w := range c.workers {
		w.flushBatch()
	}
	k := Checkpoint{At: c.at, Counters: c.counters()}
	if c.at.Span > 0 {
		var err error
		k.Rows, err = json.Marshal(c.rows)
		exitOnError(err)
	}
	c.sinceCheck, c.checkedAt = 0, time.Now()
	return k
}

// inPlace is what can be read at any offset.
type inPlace interface {
	io.ReadSeeker
	io.ReaderAt
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

// windowSize is how much is asked for at once: decoders read in small bites, and each question wakes two processes.
const windowSize = 256 << 10

// servedWindow holds what the parent served last.
type servedWindow struct {
	c    *reading
	mu   sync.Mutex
	held []byte
	from int64 // where held begins
	err  error // what came behind it
}

// requestBytes asks the parent for bytes from an offset on.
func (w *servedWindow) requestBytes(offset int64) {
	exitOnError(w.c.out.writeJSON(factWanted, wanted{Offset: offset, Length: windowSize}))
	answer := <-w.c.served
	w.held, w.from, w.err = nil, offset, nil
	switch state := servedState(answer[0]); state {
	case servedFailed:
		w.err = errors.New(string(answer[1:]))
	case servedLast:
		w.held, w.err = answer[1:], io.EOF
	case servedMore:
		w.held = answer[1:]
	}
}

// servedStream can only be read on.
type servedStream struct{ servedWindow }

func (s *servedStream) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.held) == 0 && s.err == nil {
		s.requestBytes(-1)
	}
	n := copy(p, s.held)
	s.held = s.held[n:]
	if len(s.held) == 0 && (n == 0 || len(p) == 0) {
		return n, s.err
	}
	return n, nil
}

// servedFile can be read at any offset.
type servedFile struct{ servedWindow }

// ReadAt reads from the bytes that were last received, and requests others from the parent process. At the end of what
// the parent served it returns the parent's error.
func (s *servedFile) ReadAt(p []byte, offset int64) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n < len(p) {
		at := offset + int64(n)
		if s.held == nil || at < s.from || at >= s.from+int64(len(s.held)) {
			if s.held != nil && at == s.from+int64(len(s.held)) && s.err != nil {
				return n, s.err
			}
			if s.requestBytes(at); len(s.held) == 0 {
				s.err = cmp.Or(s.err, io.ErrUnexpectedEOF)
				return n, s.err
			}
		}
		n += copy(p[n:], s.held[at-s.from:])
	}
	return n, nil
}

// meteredFile counts the bytes that are read from a file, for progress.
type meteredFile struct {
	inPlace
	n *atomic.Int64
}

func (m meteredFile) Read(p []byte) (int, error) {
	n, err := m.inPlace.Read(p)
	m.n.Add(int64(n))
	return n, err
}

func (m meteredFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := m.inPlace.ReadAt(p, off)
	m.n.Add(int64(n))
	return n, err
}

// Volumes returns the volumes of a set, as some archives number their blocks by volume; nil for a single file.
func (m meteredFile) Volumes() []container.Volume {
	if s, ok := m.inPlace.(interface{ Volumes() []container.Volume }); ok {
		return s.Volumes()
	}
	return nil
}

// meterReads counts what is read. A file stays readable in place: archives that begin at their end need that.
func meterReads(r io.Reader, n *atomic.Int64) io.Reader {
	if f, ok := r.(inPlace); ok {
		return meteredFile{f, n}
	}
	return scan.MeteredReader{Reader: r, Count: n}
}
