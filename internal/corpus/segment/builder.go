package segment

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/vigiahq/vigia/internal/platform/durable"
)

// builder puts records in order, in bounded memory. Records that come sorted go straight to its output. Others are put
// in order of their first digit, spilled to an unnamed file beside the target, and sorted by complete. Repeated keys
// count once.
type builder[R record] struct {
	path    string
	width   Width
	note    []byte
	memory  int
	keys    []R // collected, in the order given
	scratch []R
	room    [][]R     // buffers that are not needed any more, for the output
	current output[R] // grows while the keys keep rising
	begin   func(*os.File) (output[R], error)
	// finish completes the temporary file, once all keys are in the current run.
	finish   func(context.Context) (Summary, error)
	unite    unite
	spill    *spill[R]
	segments []source[R]
	tmp      *durable.File
	unnamed  []*os.File // files that lost their name
	done     bool
}

// output takes sorted records.
type output[R record] interface {
	// acceptsKey says whether records that start with first can be appended.
	acceptsKey(first uint64) bool
	// addRecords appends sorted records, none of them twice; the first may be what was added last.
	addRecords(records []R) error
	// addLastRecords is add for the last records, which may be repeated and are the output's own from then on.
	addLastRecords(records []R) error
	// reopenAsSource returns what was added, and the file it is in, to be merged with other records. Nothing is added
	// any more.
	reopenAsSource() (source[R], *os.File, error)
}

// newBuilder begins a segment in a temporary file beside path. It refuses a width that is unknown and a note that is
// too long.
func newBuilder[R record](path string, opt Options) (*builder[R], error) {
	if !opt.Width.isValid() {
		return nil, ErrOption.Note("width must be 40 or 64")
	}
	if opt.Memory == 0 {
		opt.Memory = defaultMemory
	}
	b := &builder[R]{path: path, width: opt.Width, memory: max(opt.Memory, leastMemory)}
	if err := b.SetNote(opt.Note); err != nil {
		return nil, err
	}
	var err error
	if b.tmp, err = createTemp(path); err != nil {
		return nil, err
	}
	return b, nil
}

// createTemp creates the temporary file; ErrBusy if another process is writing the same segment.
func createTemp(path string) (*durable.File, error) {
	f, err := durable.CreateFile(path)
	if errors.Is(err, durable.ErrBusy) {
		return nil, ErrBusy.Note("another writer is at work on this segment")
	}
	return f, err
}

// SetNote replaces the note.
func (b *builder[R]) SetNote(note []byte) error {
	if len(note) > MaxNote {
		return ErrOption.Note("note longer than %d bytes", MaxNote)
	}
	b.note = slices.Clone(note)
	return nil
}

// capacity returns how many keys are collected before they are spilled: half of the memory is for them, half to put
// them in order.
func (b *builder[R]) capacity() int { return b.memory / (2 * recordSize[R]()) }

// addRecords collects records; it is faster than many adds.
func (b *builder[R]) addRecords(keys []R) error {
	var all uint64
	for i := range keys {
		all |= keys[i][0]
	}
	if all > b.width.MaxKey() {
		return ErrKeyTooWide
	}
	if len(keys) >= directBatch && len(b.keys) == 0 && b.followsRun(keys) {
		return b.appendToRun(keys)
	}
	for len(keys) > 0 {
		if len(b.keys) == cap(b.keys) {
			if err := b.growBuffer(); err != nil {
				return err
			}
		}
		n := min(len(keys), cap(b.keys)-len(b.keys))
		b.keys = append(b.keys, keys[:n]...)
		keys = keys[n:]
	}
	return nil
}

// growBuffer makes room for keys: small sets never pay for the whole buffer, and large ones not for many copies of it.
func (b *builder[R]) growBuffer() error {
	if n := min(max(16*cap(b.keys), 4096), b.capacity()); n > cap(b.keys) {
		grown := makeRoom[R](n)
		b.keys = grown[:copy(grown, b.keys)]
		return nil
	}
	return b.flushCollected()
}

// makeRoom makes room for n records, and writes nothing to it, as slices.Grow would.
func makeRoom[R record](n int) []R {
	room := make([]R, n)
	largePages(asBytes(room))
	return room
}

// flushCollected encodes what was collected if it goes on where the current run ends; else it is spilled.
func (b *builder[R]) flushCollected() error {
	if b.done {
		return ErrClosed
	}
	if b.followsRun(b.keys) {
		err := b.appendToRun(dropRepeated(b.keys, b.unite))
		b.keys = b.keys[:0]
		return err
	}
	if err := b.openSpill(); err != nil {
		return err
	}
	if b.scratch == nil {
		b.scratch = makeRoom[R](cap(b.keys))
	}
	err := b.spill.writeRun(b.scratch, scatterByDigit(b.scratch, b.keys, uint(b.width), b.spill.digit))
	b.keys = b.keys[:0]
	return err
}

// followsRun reports whether keys are sorted and go on where the current run ends.
func (b *builder[R]) followsRun(keys []R) bool { return sortedByKey(keys) && b.continuesRun(keys) }

// continuesRun reports whether keys, which are sorted, go on where the current run ends.
func (b *builder[R]) continuesRun(keys []R) bool {
	return b.current == nil || len(keys) == 0 || b.current.acceptsKey(keys[0][0])
}

// appendToRun encodes sorted keys that follow the current run.
func (b *builder[R]) appendToRun(keys []R) error {
	if err := b.openOutput(); err != nil {
		return err
	}
	return b.current.addRecords(keys)
}

// openOutput makes sure that there is a current output. It writes to the named temporary file.
func (b *builder[R]) openOutput() (err error) {
	if b.done {
		return ErrClosed
	}
	if b.current == nil {
		b.current, err = b.begin(b.tmp.File)
	}
	return err
}

// openSpill makes sure that there is a file to spill to.
func (b *builder[R]) openSpill() error {
	if b.spill != nil {
		return nil
	}
	if b.current != nil { // the temporary file is taken
		if err := b.removeName(); err != nil {
			return err
		}
	}
	b.spill = &spill[R]{file: b.tmp.File, width: b.width, digit: digitFor(b.capacity())}
	return b.removeName()
}

// removeName takes the name away from the temporary file, so that a killed process leaves nothing of it behind, and
// opens a new one.
func (b *builder[R]) removeName() error {
	file, err := b.tmp.RemoveName()
	if err != nil {
		return err
	}
	b.unnamed = append(b.unnamed, file)
	next, err := createTemp(b.path)
	if err != nil {
		return err
	}
	b.tmp = next
	return nil
}

// complete brings all keys into the current run.
func (b *builder[R]) complete(ctx context.Context) error {
	var sources []source[R]
	if b.spill == nil {
		last := b.keys
		if !sortedByKey(last) {
			sortKeys(last, makeRoom[R](len(last)), uint(b.width))
		}
		b.keys = nil
		if len(b.segments) == 0 && b.continuesRun(last) {
			if err := b.openOutput(); err != nil {
				return err
			}
			return b.current.addLastRecords(last)
		}
		collected := sortedKeys[R](dropRepeated(last, b.unite))
		sources = []source[R]{&collected}
	} else {
		b.spill.rest, b.spill.restStart = b.scratch, scatterByDigit(b.scratch, b.keys, uint(b.width), b.spill.digit)
		b.room = [][]R{b.keys}
		b.keys, b.scratch = nil, nil
		sources = []source[R]{&digits[R]{spill: b.spill, unite: b.unite, limit: b.capacity() / 2}}
	}
	sources, err := b.otherSources(sources)
	if err == nil {
		err = b.openOutput()
	}
	if b.room = nil; err != nil {
		return err
	}
	return mergeSources(ctx, b.current, sources, b.unite)
}

// otherSources appends all that is to be merged besides the collected keys. There is no current output afterwards.
func (b *builder[R]) otherSources(sources []source[R]) ([]source[R], error) {
	sources = append(sources, b.segments...)
	if b.current == nil {
		return sources, nil
	}
	r, file, err := b.current.reopenAsSource()
	if err != nil {
		return nil, err
	}
	b.current = nil
	if !slices.Contains(b.unnamed, file) {
		err = b.removeName()
	}
	return append(sources, r), err
}

// Commit completes the segment and publishes it under its path, in place of what was there. It returns after the file
// and its folder are synced. After an error nothing is published and the writer is of no further use.
func (b *builder[R]) Commit(ctx context.Context) (Summary, error) {
	if b.done {
		return Summary{}, ErrClosed
	}
	defer b.Abort()
	if err := b.complete(ctx); err != nil {
		return Summary{}, err
	}
	sum, err := b.finish(ctx)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = b.tmp.PublishFile()
	}
	if err != nil {
		return Summary{}, err
	}
	b.done = true
	return sum, nil
}

// Abort gives the segment up and removes what was written. After Commit it does nothing, so it can be deferred.
func (b *builder[R]) Abort() {
	for _, f := range b.unnamed {
		_ = f.Close() // nothing in it is needed any more
	}
	b.unnamed = nil
	if !b.done {
		b.tmp.DiscardFile()
	}
	b.done, b.keys, b.scratch = true, nil, nil
}
