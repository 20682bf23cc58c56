package segment

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/vigiahq/vigia/internal/durable"
)

// builder puts records in order, in bounded memory. Records that come sorted go straight to its output. Others are put
// in order of their first digit, spilled to an unnamed file beside the target, and sorted by complete. Repeated keys
// count once.
type builder[R record] struct {
	path     string
	width    Width
	note     []byte
	memory   int
	keys     []R // collected, in the order given
	scratch  []R
	room     [][]R     // buffers that are not needed any more, for the output
	current  output[R] // grows while the keys keep rising
	begin    func(*os.File) (output[R], error)
	unite    unite
	spill    *spill[R]
	segments []source[R]
	tmp      *durable.File
	unnamed  []*os.File // files that lost their name
	done     bool
}

// output takes sorted records.
type output[R record] interface {
	// accepts says whether records that start with first can be appended.
	accepts(first uint64) bool
	// add appends sorted records, none of them twice; the first may be what was added last.
	add(records []R) error
	// addLast is add for the last records, which may be repeated and are the output's own from then on.
	addLast(records []R) error
	// reopen returns what was added, and the file it is in, to be merged with other records. Nothing is added any more.
	reopen() (source[R], *os.File, error)
}

func newBuilder[R record](path string, opt Options) (*builder[R], error) {
	if !opt.Width.valid() {
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

func createTemp(path string) (*durable.File, error) {
	f, err := durable.Create(path)
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

// capacity is how many keys are collected before they are spilled: half of the memory is for them, half to put them in
// order.
func (b *builder[R]) capacity() int { return b.memory / (2 * recordSize[R]()) }

// add collects one record.
func (b *builder[R]) add(record R) error {
	if record[0] > b.width.MaxKey() {
		return ErrKeyTooWide
	}
	if len(b.keys) == cap(b.keys) {
		if err := b.grow(); err != nil {
			return err
		}
	}
	b.keys = append(b.keys, record)
	return nil
}

// addAll collects records; it is faster than many adds.
func (b *builder[R]) addAll(keys []R) error {
	var all uint64
	for i := range keys {
		all |= keys[i][0]
	}
	if all > b.width.MaxKey() {
		return ErrKeyTooWide
	}
	if len(keys) >= directBatch && len(b.keys) == 0 && b.follows(keys) {
		return b.append(keys)
	}
	for len(keys) > 0 {
		if len(b.keys) == cap(b.keys) {
			if err := b.grow(); err != nil {
				return err
			}
		}
		n := min(len(keys), cap(b.keys)-len(b.keys))
		b.keys = append(b.keys, keys[:n]...)
		keys = keys[n:]
	}
	return nil
}

// grow makes room for keys: small sets never pay for the whole buffer, and large ones not for many copies of it.
func (b *builder[R]) grow() error {
	if n := min(max(16*cap(b.keys), 4096), b.capacity()); n > cap(b.keys) {
		grown := makeRoom[R](n)
		b.keys = grown[:copy(grown, b.keys)]
		return nil
	}
	return b.flush()
}

// makeRoom makes room for n records, and writes nothing to it, as slices.Grow would.
func makeRoom[R record](n int) []R {
	room := make([]R, n)
	largePages(bytesOf(room))
	return room
}

// flush encodes what was collected if it goes on where the current run ends; else it is spilled.
func (b *builder[R]) flush() error {
	if b.done {
		return ErrClosed
	}
	if b.follows(b.keys) {
		err := b.append(compact(b.keys, b.unite))
		b.keys = b.keys[:0]
		return err
	}
	if err := b.openSpill(); err != nil {
		return err
	}
	if b.scratch == nil {
		b.scratch = makeRoom[R](cap(b.keys))
	}
	err := b.spill.write(b.scratch, scatter(b.scratch, b.keys, uint(b.width), b.spill.digit))
	b.keys = b.keys[:0]
	return err
}

// follows says whether keys are sorted and go on where the current run ends.
func (b *builder[R]) follows(keys []R) bool { return sortedByKey(keys) && b.goesOn(keys) }

// goesOn says whether keys, which are sorted, go on where the current run ends.
func (b *builder[R]) goesOn(keys []R) bool {
	return b.current == nil || len(keys) == 0 || b.current.accepts(keys[0][0])
}

// append encodes sorted keys that follow the current run.
func (b *builder[R]) append(keys []R) error {
	if err := b.open(); err != nil {
		return err
	}
	return b.current.add(keys)
}

// open makes sure that there is a current output. It writes to the named temporary file.
func (b *builder[R]) open() (err error) {
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
		if err := b.unname(); err != nil {
			return err
		}
	}
	b.spill = &spill[R]{file: b.tmp.File, width: b.width, digit: digitFor(b.capacity())}
	return b.unname()
}

// unname takes the name away from the temporary file, so that a killed process leaves nothing of it behind, and opens a
// new one.
func (b *builder[R]) unname() error {
	file, err := b.tmp.Unname()
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
		if len(b.segments) == 0 && b.goesOn(last) {
			if err := b.open(); err != nil {
				return err
			}
			return b.current.addLast(last)
		}
		collected := sortedKeys[R](compact(last, b.unite))
		sources = []source[R]{&collected}
	} else {
		b.spill.rest, b.spill.restStart = b.scratch, scatter(b.scratch, b.keys, uint(b.width), b.spill.digit)
		b.room = [][]R{b.keys}
		b.keys, b.scratch = nil, nil
		sources = []source[R]{&digits[R]{spill: b.spill, unite: b.unite, limit: b.capacity() / 2}}
	}
	sources, err := b.others(sources)
	if err == nil {
		err = b.open()
	}
	if b.room = nil; err != nil {
		return err
	}
	return merge(ctx, b.current, sources, b.unite)
}

// others appends all that is to be merged besides the collected keys. There is no current output afterwards.
func (b *builder[R]) others(sources []source[R]) ([]source[R], error) {
	sources = append(sources, b.segments...)
	if b.current == nil {
		return sources, nil
	}
	r, file, err := b.current.reopen()
	if err != nil {
		return nil, err
	}
	b.current = nil
	if !slices.Contains(b.unnamed, file) {
		err = b.unname()
	}
	return append(sources, r), err
}

// publish syncs the temporary file, which finish has completed, and gives it its name.
func (b *builder[R]) publish(ctx context.Context, finish func() (Summary, error)) (Summary, error) {
	closeAll(b.unnamed)
	b.unnamed = nil
	sum, err := finish()
	if err != nil {
		return Summary{}, err
	}
	if err := ctx.Err(); err != nil {
		return Summary{}, err
	}
	if err := b.tmp.Publish(); err != nil {
		return Summary{}, err
	}
	b.done = true
	return sum, nil
}

// Abort gives the segment up and removes what was written. After Commit it does nothing, so it can be deferred.
func (b *builder[R]) Abort() {
	if b.done {
		return
	}
	b.done = true
	b.keys, b.scratch = nil, nil
	b.tmp.Discard()
	closeAll(b.unnamed)
}

// closeAll closes files that were only scratch: nobody needs to know whether that went well.
func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
