package segment

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/vigiahq/vigia/internal/durable"
)

// Options say what a Writer makes.
type Options struct {
	Width Width
	// Label is kept in the file and means nothing to this package. It can also be set until Commit.
	Label []byte
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

// Writer builds a segment from keys in any order in bounded memory. Keys that come sorted are encoded straight to the
// file. Others are put in order of their first digit and spilled to an unnamed file beside the target, while the next
// ones are collected, and sorted by Commit. Repeated keys count once. A Writer is for one goroutine.
type Writer struct {
	path    string
	width   Width
	label   []byte
	memory  int
	keys    []uint64 // collected, in the order given
	spare   []uint64 // the other buffer; while spilling is set it is being spilled
	scratch []uint64
	current *run // grows while the keys keep rising
	spill   *spill
	// spilling gives the outcome of the spill under way; nil when there is none.
	spilling chan error
	segments []*Reader
	tmp      *durable.File
	unnamed  []*os.File // files that lost their name
	done     bool
}

// Create starts a segment that Commit will publish at path. Until then nothing exists under that name; the work goes on
// in path + ".tmp", which is locked: a second writer of the same path gets ErrBusy, and what a killed writer left is
// removed.
func Create(path string, opt Options) (*Writer, error) {
	if !opt.Width.valid() {
		return nil, ErrOption.With("width must be 40 or 64")
	}
	if opt.Memory == 0 {
		opt.Memory = defaultMemory
	}
	w := &Writer{path: path, width: opt.Width, memory: max(opt.Memory, leastMemory)}
	if err := w.SetLabel(opt.Label); err != nil {
		return nil, err
	}
	var err error
	if w.tmp, err = createTemp(path); err != nil {
		return nil, err
	}
	return w, nil
}

func createTemp(path string) (*durable.File, error) {
	f, err := durable.Create(path)
	if errors.Is(err, durable.ErrBusy) {
		return nil, ErrBusy.With("another writer is at work on this segment")
	}
	return f, err
}

// SetLabel replaces the label.
func (w *Writer) SetLabel(label []byte) error {
	if len(label) > MaxLabel {
		return ErrOption.With("label longer than %d bytes", MaxLabel)
	}
	w.label = slices.Clone(label)
	return nil
}

// capacity is how many keys are collected before they are spilled: a third of the memory is for them, a third for those
// that are being spilled, a third to put them in order.
func (w *Writer) capacity() int { return w.memory / 24 }

// AddSegment puts all keys of a segment into the set; it is read when Commit merges. The Reader must stay open until
// then.
func (w *Writer) AddSegment(r *Reader) error {
	if r.Width() != w.width {
		return ErrOption.With("a segment of keys of another width")
	}
	w.segments = append(w.segments, r)
	return nil
}

// Add puts a key into the set.
func (w *Writer) Add(key uint64) error {
	if key > w.width.MaxKey() {
		return ErrKeyTooWide
	}
	if len(w.keys) == cap(w.keys) {
		if err := w.grow(); err != nil {
			return err
		}
	}
	w.keys = append(w.keys, key)
	return nil
}

// AddAll puts keys into the set; it is faster than many Adds.
func (w *Writer) AddAll(keys []uint64) error {
	var all uint64
	for _, k := range keys {
		all |= k
	}
	if all > w.width.MaxKey() {
		return ErrKeyTooWide
	}
	if len(keys) >= directBatch && len(w.keys) == 0 && slices.IsSorted(keys) && (w.current == nil || w.current.accepts(keys[0])) {
		return w.append(keys)
	}
	for len(keys) > 0 {
		if len(w.keys) == cap(w.keys) {
			if err := w.grow(); err != nil {
				return err
			}
		}
		n := min(len(keys), cap(w.keys)-len(w.keys))
		w.keys = append(w.keys, keys[:n]...)
		keys = keys[n:]
	}
	return nil
}

// grow makes room for keys: small sets never pay for the whole buffer, and large ones not for many copies of it.
func (w *Writer) grow() error {
	if n := min(max(16*cap(w.keys), 4096), w.capacity()); n > cap(w.keys) {
		w.keys = slices.Grow(w.keys, n-len(w.keys))[:len(w.keys):n]
		return nil
	}
	return w.flush()
}

// flush encodes what was collected if it goes on where the current run ends; else it has it spilled, and returns at
// once.
func (w *Writer) flush() error {
	if w.done {
		return ErrClosed
	}
	if w.follows(w.keys) {
		err := w.append(w.keys)
		w.keys = w.keys[:0]
		return err
	}
	if err := w.spilled(); err != nil {
		return err
	}
	if err := w.openSpill(); err != nil {
		return err
	}
	if w.scratch == nil {
		w.scratch, w.spare = make([]uint64, cap(w.keys)), make([]uint64, 0, cap(w.keys))
	}
	keys, scratch, done := w.keys, w.scratch, make(chan error, 1)
	w.keys, w.spare, w.spilling = w.spare, keys[:0], done
	go func() {
		done <- w.spill.write(scratch, scatter(scratch, keys, uint(w.width), w.spill.digit))
	}()
	return nil
}

// follows says whether keys are sorted and go on where the current run ends.
func (w *Writer) follows(keys []uint64) bool {
	return slices.IsSorted(keys) && (w.current == nil || len(keys) == 0 || w.current.accepts(keys[0]))
}

// spilled waits for the spill under way.
func (w *Writer) spilled() error {
	if w.spilling == nil {
		return nil
	}
	err := <-w.spilling
	w.spilling = nil
	return err
}

// append encodes sorted keys that follow the current run.
func (w *Writer) append(keys []uint64) error {
	if err := w.open(); err != nil {
		return err
	}
	return w.current.add(keys)
}

// open makes sure that there is a current run. It writes to the named temporary file.
func (w *Writer) open() (err error) {
	if w.done {
		return ErrClosed
	}
	if w.current == nil {
		w.current, err = newRun(w.tmp.File, w.width)
	}
	return err
}

// openSpill makes sure that there is a file to spill to.
func (w *Writer) openSpill() error {
	if w.spill != nil {
		return nil
	}
	if w.current != nil { // the temporary file is taken
		if err := w.unname(); err != nil {
			return err
		}
	}
	w.spill = &spill{file: w.tmp.File, width: w.width, digit: digitFor(w.capacity())}
	return w.unname()
}

// unname takes the name away from the temporary file, so that a killed process leaves nothing of it behind, and opens a
// new one.
func (w *Writer) unname() error {
	file, err := w.tmp.Unname()
	if err != nil {
		return err
	}
	w.unnamed = append(w.unnamed, file)
	next, err := createTemp(w.path)
	if err != nil {
		return err
	}
	w.tmp = next
	return nil
}

// Commit completes the segment and publishes it under its path, in place of what was there. It returns after the file
// and its folder are synced. After an error nothing is published and the Writer is of no further use.
func (w *Writer) Commit(ctx context.Context) (Summary, error) {
	if w.done {
		return Summary{}, ErrClosed
	}
	defer w.Abort()
	if err := w.complete(ctx); err != nil {
		return Summary{}, err
	}
	// It may take the system a while to take back what was spilled: that goes on while the segment is synced.
	var closing sync.WaitGroup
	spilled := w.unnamed
	w.unnamed = nil
	closing.Go(func() { closeAll(spilled) })
	defer closing.Wait()
	sum, err := w.current.finish(w.label)
	if err != nil {
		return Summary{}, err
	}
	if err := ctx.Err(); err != nil {
		return Summary{}, err
	}
	if err := w.tmp.Publish(); err != nil {
		return Summary{}, err
	}
	w.done = true
	return sum, nil
}

// complete brings all keys into the current run.
func (w *Writer) complete(ctx context.Context) error {
	if err := w.spilled(); err != nil {
		return err
	}
	cores := runtime.GOMAXPROCS(0)
	var sources []source
	if w.spill == nil {
		last := sortedKeys(w.keys)
		if !slices.IsSorted(last) {
			sortKeys(last, make([]uint64, len(last)), uint(w.width), cores)
		}
		w.keys = nil
		if len(w.segments) == 0 && w.follows(last) {
			return w.append(last)
		}
		sources = []source{&last}
	} else {
		w.spill.rest, w.spill.restStart = w.scratch, scatter(w.scratch, w.keys, uint(w.width), w.spill.digit)
		w.keys, w.spare, w.scratch = nil, nil, nil
		d := newDigits(ctx, w.spill, w.capacity()/2, cores)
		defer d.close()
		sources = []source{d}
	}
	sources, err := w.others(sources)
	if err == nil {
		err = w.open()
	}
	if err != nil {
		return err
	}
	return merge(ctx, w.current, sources)
}

// others appends all that is to be merged besides the collected keys. There is no current run afterwards.
func (w *Writer) others(sources []source) ([]source, error) {
	for _, r := range w.segments {
		sources = append(sources, &segmentReader{Reader: r})
	}
	if w.current == nil {
		return sources, nil
	}
	if err := w.current.finishPages(); err != nil {
		return nil, err
	}
	r, err := newRunReader(w.current)
	if err != nil {
		return nil, err
	}
	w.current = nil
	if !slices.Contains(w.unnamed, r.file) {
		err = w.unname()
	}
	return append(sources, r), err
}

// Abort gives the segment up and removes what was written. After Commit it does nothing, so it can be deferred.
func (w *Writer) Abort() {
	if w.done {
		return
	}
	w.done = true
	_ = w.spilled()
	if w.current != nil {
		_ = w.current.out.stop()
	}
	w.keys, w.spare, w.scratch = nil, nil, nil
	w.tmp.Discard()
	closeAll(w.unnamed)
}

// closeAll closes files that were only scratch: nobody needs to know whether that went well.
func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
