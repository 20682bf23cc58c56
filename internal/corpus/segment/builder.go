package segment

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
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
	finish  func(context.Context) (Summary,
		error) // completes the temporary file, once all keys are in the current run
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

// run is a file being filled with sorted keys: header page and data pages, the same bytes as the front of a segment. It
// is finished into the segment itself, or merged with what was spilled.
type run struct {
	file    *os.File
	out     *bufio.Writer // to the file and to sum
	sum     hash.Hash
	dir     directory
	code    *labelCode // nil where there are no labels
	pending []uint64   // sorted, distinct, not yet in a page
	labels  []uint32   // of the pending keys, by their places in the table
	count   uint64
	last    uint64
	low     uint // low bits of the page before: the first guess for the next
	page    page
}

// newSegmentRun begins a run of pages in a file.
func newSegmentRun(file *os.File, w Width, c *labelCode) (*run, error) {
	sum := sha256.New()
	r := &run{
		file:    file,
		out:     bufio.NewWriterSize(io.MultiWriter(sum, file), writeBuffer),
		sum:     sum,
		code:    c,
		pending: make([]uint64, 0, 2*pageKeys),
	}
	_, err := r.out.Write(encodeHeader(w, c != nil))
	return r, err
}

// bareRun is a run as the output of keys alone.
type bareRun struct{ *run }

// addRecords appends records, which must be in rising order, to the pages of the run.
func (r bareRun) addRecords(records []bare) error { return r.run.addKeys(asKeys(records)) }

// addLastRecords appends the last records. Pages need no other treatment for them.
func (r bareRun) addLastRecords(records []bare) error { return r.addRecords(records) }

// reopenAsSource finishes the pages and returns a reader over them, with the file to close after the merge.
func (r bareRun) reopenAsSource() (source[bare], *os.File, error) {
	if err := r.finishPages(); err != nil {
		return nil, nil, err
	}
	_, err := r.file.Seek(pageSize, io.SeekStart)
	return &runReader{file: r.file, in: bufio.NewReaderSize(r.file, writeBuffer), dir: r.dir}, r.file, err
}

// acceptsKey reports whether keys that start with first can be appended.
func (r *run) acceptsKey(first uint64) bool { return r.count == 0 || first >= r.last }

// addKeys appends sorted keys and drops repeated ones.
func (r *run) addKeys(keys []uint64) error {
	for len(keys) > 0 {
		n := min(len(keys), cap(r.pending)-len(r.pending))
		r.takeKeys(keys[:n])
		keys = keys[n:]
		if len(r.pending) == cap(r.pending) {
			if err := r.emitPages(pageKeys); err != nil {
				return err
			}
		}
	}
	return nil
}

// addLabelled appends keys that rise, and their labels.
func (r *run) addLabelled(records []labelled, places []uint32) error {
	if n := len(records); n > 0 {
		r.count, r.last = r.count+uint64(n), records[n-1][0]
	}
	for len(records) > 0 {
		n, had := min(len(records), cap(r.pending)-len(r.pending)), len(r.labels)
		keys := r.pending[len(r.pending):][:n]
		r.labels = slices.Grow(r.labels, n)
		labels := r.labels[had:][:n]
		for i, r := range records[:n] {
			keys[i], labels[i] = r[0], places[r[1]]
		}
		r.pending, r.labels = r.pending[:len(r.pending)+n], r.labels[:had+n]
		records = records[n:]
		if len(r.pending) == cap(r.pending) {
			if err := r.emitPages(pageKeys); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeKeys appends keys, for which there is room, to the pending ones.
func (r *run) takeKeys(keys []uint64) {
	pending, had := r.pending, len(r.pending)
	if r.count == 0 && len(keys) > 0 {
		pending, r.last = append(pending, keys[0]), keys[0]
	}
	last := r.last
	for _, k := range keys {
		if k != last {
			pending = append(pending, k)
			last = k
		}
	}
	r.count += uint64(len(pending) - had)
	r.pending, r.last = pending, last
}

// emitPages writes pages until at most keep keys are pending. Fewer than pageKeys pending keys may not fill a page.
func (r *run) emitPages(keep int) error {
	rest, labels := r.pending, r.labels
	for len(rest) > keep {
		n, l := planPage(rest, r.code.bitsPerKey(), r.low)
		end := encodePage(&r.page, rest[:n], l)
		if r.code != nil {
			r.code.putPlaces(&r.page, end, labels[:n])
			labels = labels[n:]
		}
		if len(r.dir.first) >= maxPages {
			return ErrOption.Note("too many keys for one segment")
		}
		r.dir.first, r.dir.sum = append(r.dir.first, rest[0]), append(r.dir.sum, checksum(r.page[:]))
		if _, err := r.out.Write(r.page[:]); err != nil {
			return err
		}
		rest, r.low = rest[n:], l
	}
	r.pending = r.pending[:copy(r.pending, rest)]
	r.labels = r.labels[:copy(r.labels, labels)]
	return nil
}

// finishPages writes what is pending, so that the file holds all keys.
func (r *run) finishPages() error {
	if err := r.emitPages(0); err != nil {
		return err
	}
	return r.out.Flush()
}

// finishSegment completes the file to a segment. seal, where there are labels, is given what their table is bound to
// and returns it as it stands in the file.
func (r *run) finishSegment(note []byte, seal func(context Digest) ([]byte, error)) (Summary, error) {
	if err := r.emitPages(0); err != nil {
		return Summary{}, err
	}
	f := footer{
		count:    r.count,
		pages:    uint64(len(r.dir.first)),
		last:     r.last,
		noteLen:  uint32(len(note)),
		labelled: r.code != nil,
	}
	tail := append(r.dir.encodeDirectory(), note...)
	if r.code != nil {
		before := len(tail)
		tail = append(tail, r.code.encodeCode()...)
		table, err := seal(sha256.Sum256(tail))
		if err != nil {
			return Summary{}, err
		}
		tail = append(tail, table...)
		if f.labelsLen = uint64(len(tail) - before); f.labelsLen > maxTable {
			return Summary{}, ErrOption.Note("labels: the table is too long")
		}
	}
	if _, err := r.out.Write(tail); err != nil {
		return Summary{}, err
	}
	if err := r.out.Flush(); err != nil {
		return Summary{}, err
	}
	f.dirSum = checksum(tail)
	r.sum.Sum(f.digest[:0])
	if _, err := r.file.Write(f.encodeFooter()); err != nil {
		return Summary{}, err
	}
	return Summary{Count: f.count, Size: f.fileSize(), Digest: f.digest}, nil
}

// runReader walks the keys of a run whose pages are finished.
type runReader struct {
	file *os.File
	in   *bufio.Reader
	dir  directory
	next int // page to read next
	page page
	keys []uint64
}

// nextRecords returns the keys of the next page. It is checked like that of a segment.
func (r *runReader) nextRecords() ([]bare, error) {
	if r.next == len(r.dir.first) {
		return nil, nil
	}
	if _, err := io.ReadFull(r.in, r.page[:]); err != nil {
		return nil, err
	}
	if checksum(r.page[:]) != r.dir.sum[r.next] {
		return nil, ErrCorrupt.Note("spill file: wrong checksum")
	}
	var ok bool
	if r.keys, ok = decodePage(r.keys[:0], &r.page, r.dir.first[r.next]); !ok {
		return nil, ErrCorrupt.Note("spill file: page %d does not decode", r.next)
	}
	r.next++
	return asRecords(r.keys), nil
}

// segmentReader walks the keys of a whole segment.
type segmentReader struct {
	*Reader
	next int
	keys []uint64
}

// nextRecords returns the keys of the next page; nil at the end. They are valid until the next call.
func (r *segmentReader) nextRecords() (_ []bare, err error) {
	if r.next == len(r.dir.first) {
		return nil, nil
	}
	r.keys, err = r.decodePage(r.keys[:0], r.next)
	r.next++
	return asRecords(r.keys), err
}

// writeBuffer is what is collected before the system is called.
const writeBuffer = 256 << 10
