package segment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// Options say what a Writer makes.
type Options struct {
	Width Width
	// Label is kept in the file and means nothing to this package. It can also be set until Commit.
	Label []byte
	// Memory bounds what the writer holds for sorting, in bytes; 0 means 64 MiB. Directories of pages come on top: 12 bytes
	// for about 2,000 keys.
	Memory int
}

const (
	defaultMemory = 64 << 20
	leastMemory   = 1 << 20
	// directBatch is how many sorted keys at once are worth going past the sorting buffer.
	directBatch = 1024
)

// Writer builds a segment from keys in any order in bounded memory. Keys that come sorted are encoded straight to the
// file. Others are sorted in memory, spilled as sorted runs to unnamed files beside the target, and merged by Commit. Repeated
// keys count once. A Writer is for one goroutine.
type Writer struct {
	path    string
	width   Width
	label   []byte
	keys    []uint64 // collected, in the order given
	scratch []uint64
	memory  int
	current *run   // grows while the keys keep rising
	spilled []*run // complete, unnamed
	tmp     *os.File
	done    bool
}

// Create starts a segment that Commit will publish at path. Until then nothing exists under that name; the work goes on in
// path + ".tmp", which is locked: a second writer of the same path gets ErrBusy, and what a killed writer left is reused.
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
	if w.tmp, err = openTemp(w.tempPath()); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *Writer) tempPath() string { return w.path + ".tmp" }

// SetLabel replaces the label.
func (w *Writer) SetLabel(label []byte) error {
	if len(label) > MaxLabel {
		return ErrOption.With("label longer than %d bytes", MaxLabel)
	}
	w.label = slices.Clone(label)
	return nil
}

// capacity is how many keys are collected before they are encoded: half of the memory is for them, half for sorting.
func (w *Writer) capacity() int { return w.memory / 16 }

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

// grow makes room for keys: small sets never pay for the whole buffer.
func (w *Writer) grow() error {
	if n := min(max(2*cap(w.keys), 4096), w.capacity()); n > cap(w.keys) {
		w.keys = slices.Grow(w.keys, n-len(w.keys))[:len(w.keys):n]
		return nil
	}
	return w.flush()
}

// flush sorts what was collected and appends it to the current run, or to a new one if it does not follow.
func (w *Writer) flush() error {
	if len(w.keys) == 0 {
		return nil
	}
	if !slices.IsSorted(w.keys) {
		if len(w.scratch) < len(w.keys) {
			w.scratch = make([]uint64, cap(w.keys))
		}
		sortKeys(w.keys, w.scratch, w.width)
	}
	if w.current != nil && !w.current.accepts(w.keys[0]) {
		if err := w.spill(); err != nil {
			return err
		}
	}
	err := w.append(w.keys)
	w.keys = w.keys[:0]
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
		w.current, err = newRun(w.tmp, w.width)
	}
	return err
}

// spill completes the current run and takes its name away, so that a killed process leaves nothing of it behind.
func (w *Writer) spill() error {
	if err := w.current.finishPages(); err != nil {
		return err
	}
	next, err := replaceTemp(w.tempPath())
	if err != nil {
		return err
	}
	w.spilled = append(w.spilled, w.current)
	w.current, w.tmp = nil, next
	return nil
}

// Commit completes the segment and publishes it under its path, in place of what was there. It returns after the file and its
// folder are synced. After an error nothing is published and the Writer is of no further use.
func (w *Writer) Commit(ctx context.Context) (Summary, error) {
	if w.done {
		return Summary{}, ErrClosed
	}
	defer w.Abort()
	if err := w.complete(ctx); err != nil {
		return Summary{}, err
	}
	sum, err := w.current.finish(w.label)
	if err != nil {
		return Summary{}, err
	}
	if err := ctx.Err(); err != nil {
		return Summary{}, err
	}
	if err := os.Rename(w.tempPath(), w.path); err != nil {
		return Summary{}, err
	}
	w.done = true
	return sum, errors.Join(w.tmp.Close(), SyncFolder(filepath.Dir(w.path)), w.closeSpilled())
}

// complete brings all keys into the current run.
func (w *Writer) complete(ctx context.Context) error {
	if err := w.flush(); err != nil {
		return err
	}
	w.keys, w.scratch = nil, nil
	if len(w.spilled) > 0 && w.current != nil {
		if err := w.spill(); err != nil {
			return err
		}
	}
	if err := w.open(); err != nil {
		return err
	}
	return merge(ctx, w.current, w.spilled)
}

// Abort gives the segment up and removes what was written. After Commit it does nothing, so it can be deferred.
func (w *Writer) Abort() {
	if w.done {
		return
	}
	w.done = true
	w.keys, w.scratch = nil, nil
	// The name goes first: while the file is open it is locked, so nobody else can own it yet.
	_ = os.Remove(w.tempPath())
	_ = w.tmp.Close()
	_ = w.closeSpilled()
}

func (w *Writer) closeSpilled() error {
	var errs []error
	for _, r := range w.spilled {
		errs = append(errs, r.file.Close())
	}
	w.spilled = nil
	return errors.Join(errs...)
}
