package segment

import (
	"context"
	"hash/crc32"
	"math/bits"
	"os"
	"slices"
	"sort"
	"unsafe"
)

// Digits of the two passes: the first cuts millions of keys into pieces that fit the fastest cache, the second cuts a
// piece into about as many places as it has keys. Keys are evenly spread as a rule, so that little is left to do after
// that.
const (
	coarseDigit = 11
	fineDigit   = 13
	// A piece of fewer keys is sorted by insertion; one of more is cut again.
	fewKeys  = 32
	manyKeys = 1 << 15
)

// sortKeys sorts keys that agree above the given number of bits by radix, most significant digit first; scratch is at
// least as long as keys. For millions of evenly spread keys it takes half the time of a radix sort from the other end,
// whose passes all go through slow memory.
func sortKeys[R record](keys, scratch []R, width uint) {
	if width < coarseDigit || len(keys) < fewKeys {
		slices.SortFunc(keys, compareKeys[R])
		return
	}
	start := scatterByDigit(scratch, keys, width, coarseDigit)
	width -= coarseDigit
	var places fineDigits
	for d := range 1 << coarseDigit {
		sortPiece(keys[start[d]:start[d+1]], scratch[start[d]:start[d+1]], width, &places)
	}
}

// scatterByDigit copies keys, which agree above the given number of bits, into dst, ordered by the digit below that,
// which has no more bits than the coarse one. It returns where each digit begins and, last, the number of keys.
func scatterByDigit[R record](dst, keys []R, width, digit uint) (start []uint32) {
	// Places of the coarse digit, however few are needed, and shifts below 64: nothing is left to be checked for each
	// key.
	var at [1 << coarseDigit]uint32
	const within = 1<<coarseDigit - 1
	shift, mask := width-digit, uint64(1)<<digit-1
	for i := range keys {
		at[keys[i][0]>>(shift&63)&mask&within]++
	}
	start = make([]uint32, 1<<digit+1)
	sum := uint32(0)
	for d := range start[:1<<digit] {
		n := at[d&within]
		start[d], at[d&within] = sum, sum
		sum += n
	}
	start[1<<digit] = sum
	for i := range keys {
		d := keys[i][0] >> (shift & 63) & mask & within
		dst[at[d]] = keys[i]
		at[d]++
	}
	return start
}

// fineDigits is room for where each digit of a piece begins.
type fineDigits [1<<fineDigit + 1]uint32

// sortPiece sorts from into to; all keys agree above the given number of bits. from is of no use afterwards.
func sortPiece[R record](to, from []R, width uint, places *fineDigits) {
	if len(from) < fewKeys || width < fineDigit {
		copy(to, from)
		sortLeft(to, len(from) >= fewKeys)
		return
	}
	if len(from) > manyKeys {
		copy(to, from)
		sortKeys(to, from, width)
		return
	}
	digit := min(fineDigit, uint(bits.Len(uint(len(from)))))
	at, shift, mask := places[:1<<digit+1], width-digit, uint64(1)<<digit-1
	clear(at)
	for i := range from {
		at[from[i][0]>>(shift&63)&mask+1]++
	}
	most := uint32(0)
	for d := 1; d < len(at); d++ {
		most = max(most, at[d])
		at[d] += at[d-1]
	}
	for i := range from {
		d := from[i][0] >> (shift & 63) & mask
		to[at[d]] = from[i]
		at[d]++
	}
	sortLeft(to, most > fewKeys)
}

// sortLeft ends the sort: by insertion where keys are near their places, by comparison where they may not be.
func sortLeft[R record](keys []R, far bool) {
	if far {
		slices.SortFunc(keys, compareKeys[R])
		return
	}
	before := uint64(0)
	for i := range keys {
		if keys[i][0] >= before { // most are in their places
			before = keys[i][0]
			continue
		}
		k := keys[i]
		for ; i > 0 && keys[i-1][0] > k[0]; i-- {
			keys[i] = keys[i-1]
		}
		keys[i] = k
	}
}

// spill is a file without a name that holds runs of plain keys: they are read once, when the segment is put together,
// so that packing them would cost more than it saves. The keys of a run are ordered by their first digit only. What all
// runs have of one digit fits the nearest caches, is read together and sorted there: that is less work than to sort
// each run and to merge them.
type spill[R record] struct {
	file  *os.File
	size  int64
	width Width
	digit uint // bits of the first digit
	runs  []spilledRun
	// rest are the last keys, in order of their first digit too, which need not go to the file.
	rest      []R
	restStart []uint32
}

// spilledRun is where a sorted run lies in the spill file, divided by the leading digit of its keys.
type spilledRun struct {
	at    int64
	start []uint32 // where each digit begins, in keys
	sums  []uint32 // checksum of each digit: a disk that loses bits meanwhile must not lose them silently
}

const (
	// leastRead is how many keys of a digit a run should have, for reading them to be worth a call; spillRead is how
	// many are read at once at most.
	leastRead = 512
	spillRead = 8 << 10
)

// digitFor returns how many bits the first digit has where runs have so many keys.
func digitFor(keys int) uint {
	digit := uint(1)
	for digit < coarseDigit && keys>>(digit+1) >= leastRead {
		digit++
	}
	return digit
}

// writeRun appends a run of keys that scatter has put in order.
func (s *spill[R]) writeRun(keys []R, start []uint32) error {
	run := spilledRun{at: s.size, start: start, sums: make([]uint32, len(start)-1)}
	for d := range run.sums {
		run.sums[d] = crc32.Checksum(asBytes(keys[start[d]:start[d+1]]), castagnoli)
	}
	all := asBytes(keys[:start[len(run.sums)]])
	_, err := s.file.WriteAt(all, s.size)
	s.size += int64(len(all))
	s.runs = append(s.runs, run)
	return err
}

// countDigit returns how many keys have digit d, repeated ones included.
func (s *spill[R]) countDigit(d int) (n int) {
	for _, run := range s.runs {
		n += int(run.start[d+1] - run.start[d])
	}
	return n + len(s.keysInMemory(d))
}

// keysInMemory returns the keys of digit d that are in memory.
func (s *spill[R]) keysInMemory(d int) []R {
	if s.restStart == nil {
		return nil
	}
	return s.rest[s.restStart[d]:s.restStart[d+1]]
}

// gatherDigit reads all keys of digit d, of which there are so many, into keys.
func (s *spill[R]) gatherDigit(d int, keys []R) error {
	keys = keys[copy(keys, s.keysInMemory(d)):]
	for _, run := range s.runs {
		from, to := run.start[d], run.start[d+1]
		raw := asBytes(keys[:to-from])
		if _, err := s.file.ReadAt(raw, run.at+int64(recordSize[R]())*int64(from)); err != nil {
			return err
		}
		if crc32.Checksum(raw, castagnoli) != run.sums[d] {
			return ErrCorrupt.Note("spill file: wrong checksum")
		}
		keys = keys[to-from:]
	}
	return nil
}

// readDigit calls fn with all keys of digit d, which may be too many to be held, some at a time. buf has room for some.
func (s *spill[R]) readDigit(d int, buf *readBuffer[R], fn func(keys []R)) error {
	if keys := s.keysInMemory(d); len(keys) > 0 {
		fn(keys)
	}
	for _, run := range s.runs {
		sum := uint32(0)
		for from, to := run.start[d], run.start[d+1]; from < to; {
			n := min(to-from, spillRead)
			keys := buf[:n]
			raw := asBytes(keys)
			if _, err := s.file.ReadAt(raw, run.at+int64(recordSize[R]())*int64(from)); err != nil {
				return err
			}
			sum = crc32.Update(sum, castagnoli, raw)
			fn(keys)
			from += n
		}
		if sum != run.sums[d] {
			return ErrCorrupt.Note("spill file: wrong checksum")
		}
	}
	return nil
}

// readBuffer holds the records that are read from a spilled run at once.
type readBuffer[R record] [spillRead]R

// recordSize returns how many bytes a record has in a file.
func recordSize[R record]() int {
	var r R
	return 8 * len(r)
}

// asBytes views records as bytes, in this machine's byte order: no other process can read a file without a name.
func asBytes[R record](records []R) []byte {
	first := (*byte)(unsafe.Pointer(unsafe.SliceData(records))) //nolint:gosec // numbers alone
	return unsafe.Slice(first, recordSize[R]()*len(records))    //nolint:gosec // as above
}

// digits is a source that gives all keys of a spill, digit by digit.
type digits[R record] struct {
	spill *spill[R]
	unite unite
	limit int // keys that are held to sort one digit
	next  int // digit
	// above is the last key given of a digit that has more keys than may be held.
	above        *uint64
	buffer       readBuffer[R]
	keys, sorted []R
	places       fineDigits
}

// nextRecords reads the keys of the next digit, and sorts them.
func (d *digits[R]) nextRecords() ([]R, error) {
	for ; d.next < 1<<d.spill.digit; d.next++ {
		n := d.spill.countDigit(d.next)
		if n > d.limit {
			keys, err := d.leastKeys()
			if err != nil || len(keys) > 0 {
				return keys, err
			}
			d.above = nil
			continue
		}
		if n == 0 {
			continue
		}
		d.keys = slices.Grow(d.keys[:0], n)[:n]
		if err := d.spill.gatherDigit(d.next, d.keys); err != nil {
			return nil, err
		}
		d.sorted = slices.Grow(d.sorted[:0], n)[:n]
		sortPiece(d.sorted, d.keys, uint(d.spill.width)-d.spill.digit, &d.places)
		d.next++
		return dropRepeated(d.sorted, d.unite), nil
	}
	return nil, nil
}

// leastKeys gives keys of a digit that has more than may be held: the least ones of them first, then the least of those
// above, and so on, reading all of them each time. Only keys that are not evenly spread need it.
func (d *digits[R]) leastKeys() ([]R, error) {
	keys, isCut := slices.Grow(d.keys[:0], d.limit), false
	cut := func() { // keeps the lower half of what may be held
		slices.SortFunc(keys, compareKeys[R])
		if keys = dropRepeated(keys, d.unite); len(keys) > d.limit/2 {
			keys, isCut = keys[:d.limit/2], true
		}
	}
	err := d.spill.readDigit(d.next, &d.buffer, func(some []R) {
		for _, k := range some {
			if d.above != nil && k[0] <= *d.above || isCut && k[0] > keys[d.limit/2-1][0] {
				continue
			}
			if len(keys) >= d.limit {
				cut()
			}
			keys = append(keys, k)
		}
	})
	cut()
	if d.keys = keys; len(keys) > 0 {
		last := keys[len(keys)-1][0]
		d.above = &last
	}
	return keys, err
}

// source is a sorted sequence of keys that are merged.
type source[R record] interface {
	// nextRecords returns the next keys, which are valid until the next call, and none at the end.
	nextRecords() ([]R, error)
}

// sortedKeys is a source that is in memory.
type sortedKeys[R record] []R

// nextRecords returns all keys at once, and nil from then on.
func (s *sortedKeys[R]) nextRecords() ([]R, error) {
	keys := *s
	*s = nil
	return keys, nil
}

// mergeBatch is how many keys of a source are looked at together: so much of all of them stays in a cache.
const mergeBatch = 4096

// mergeSources appends the union of the sources to out.
func mergeSources[R record](ctx context.Context, out output[R], sources []source[R], unite unite) error {
	if len(sources) == 1 {
		return copySource(ctx, out, sources[0])
	}
	m := &merger[R]{sources: sources, unite: unite, heads: make([][]R, len(sources))}
	var keys []R
	for {
		if err := m.refillSources(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil || len(m.sources) == 0 {
			return err
		}
		keys = m.nextKeys(keys)
		if err := out.addRecords(keys); err != nil {
			return err
		}
	}
}

// copySource appends the keys of one source to out.
func copySource[R record](ctx context.Context, out output[R], s source[R]) error {
	for {
		keys, err := s.nextRecords()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := out.addRecords(keys); err != nil {
			return err
		}
	}
}

// merger takes from all sources the keys up to the least of their last ones, which is all there can be of them, and
// unites these pair by pair. Keys are compared without branches: which of two random keys is less is a guess that fails
// every second time.
type merger[R record] struct {
	sources []source[R]
	unite   unite
	heads   [][]R // what was read of each and not yet taken
	parts   [][]R
	buf     [2][]R
}

// refillSources reads more of the sources of which nothing is left, and forgets those that have ended.
func (m *merger[R]) refillSources() error {
	n := 0
	for i, s := range m.sources {
		head := m.heads[i]
		if len(head) == 0 {
			var err error
			if head, err = s.nextRecords(); err != nil {
				return err
			}
		}
		if len(head) > 0 {
			m.sources[n], m.heads[n] = s, head
			n++
		}
	}
	m.sources, m.heads = m.sources[:n], m.heads[:n]
	return nil
}

// nextKeys returns the next keys, in dst if they fit.
func (m *merger[R]) nextKeys(dst []R) []R {
	upto := ^uint64(0)
	for _, head := range m.heads {
		upto = min(upto, head[min(len(head), mergeBatch)-1][0])
	}
	total := 0
	m.parts = m.parts[:0]
	for i, head := range m.heads {
		n := sort.Search(min(len(head), mergeBatch), func(k int) bool { return head[k][0] > upto })
		if n > 0 {
			m.parts, m.heads[i] = append(m.parts, head[:n]), head[n:]
			total += n
		}
	}
	for level := 0; len(m.parts) > 2; level++ {
		m.unitePairs(&m.buf[level&1], total)
	}
	dst = growTo(dst, total)
	if len(m.parts) == 1 {
		return dst[:copy(dst, m.parts[0])]
	}
	return dst[:mergeUnion(dst, m.parts[0], m.parts[1], m.unite)]
}

// unitePairs unites the parts two by two, into buf.
func (m *merger[R]) unitePairs(buf *[]R, total int) {
	*buf = growTo(*buf, total)
	free, n := *buf, 0
	for i := 0; i < len(m.parts); i, n = i+2, n+1 {
		var k int
		if i+1 < len(m.parts) {
			k = mergeUnion(free, m.parts[i], m.parts[i+1], m.unite)
		} else {
			k = copy(free, m.parts[i]) // the buffer it lies in is the next to be written
		}
		m.parts[n], free = free[:k], free[k:]
	}
	m.parts = m.parts[:n]
}

// growTo returns b, or a larger one, at its full length, which is at least n.
func growTo[R record](b []R, n int) []R {
	if cap(b) < n {
		return make([]R, n+n/4)
	}
	return b[:cap(b)]
}

// mergeUnion writes the union of a and b, both sorted, to dst and returns its length. What both have comes once.
func mergeUnion[R record](dst, a, b []R, unite unite) int {
	i, j, n := 0, 0, 0
	dst = dst[:len(a)+len(b)]
	for i < len(a) && j < len(b) {
		x, y := a[i][0], b[j][0]
		_, less := bits.Sub64(x, y, 0)
		_, more := bits.Sub64(y, x, 0)
		if unite == nil { // no labels
			dst[n][0] = min(x, y)
		} else if less != 0 {
			dst[n] = a[i]
		} else {
			dst[n] = b[j]
			if more == 0 {
				dst[n] = uniteRecords(a[i], b[j], unite)
			}
		}
		n++
		i += int(1 - more)
		j += int(1 - less)
	}
	n += copy(dst[n:], a[i:])
	return n + copy(dst[n:], b[j:])
}

// recording is sorted records that wait for their code, which follows from how many different labels they have. The
// first ones are kept in memory, the others go to a file. They lie in blocks, so that many need not be copied to make
// room for more.
type recording struct {
	file   *os.File
	unite  unite
	limit  int          // whole blocks in memory at most
	held   []labelled   // the last block; its last record may still be united with one that comes
	whole  [][]labelled // the first blocks
	free   [][]labelled // room for blocks
	used   []bool       // labels by their ids, of all blocks but the last
	size   int64
	blocks []uint32 // checksum of each block in the file; these are between the first ones and the last
	next   int      // block to read next
}

// recordBlock is how many records are kept, written and read together.
const recordBlock = 16 << 10

// newRecording keeps as much in memory as there is room, or as is given.
func newRecording(file *os.File, unite unite, memory int, room ...[]labelled) *recording {
	r := &recording{file: file, unite: unite}
	for _, b := range room {
		for b = b[:cap(b)]; len(b) >= recordBlock; b = b[recordBlock:] {
			r.free = append(r.free, b[:0:recordBlock])
		}
	}
	r.limit = max(memory/(recordBlock*recordSize[labelled]()), 2, len(r.free)-1) // one is the last
	return r
}

// acceptsKey reports whether records that begin with the key can be appended without breaking the order.
func (r *recording) acceptsKey(first uint64) bool {
	return len(r.held) == 0 || first >= r.held[len(r.held)-1][0]
}

// addRecords takes records with distinct keys, of which the first may have been the last before.
func (r *recording) addRecords(records []labelled) error {
	if n := len(r.held); n > 0 && len(records) > 0 && r.held[n-1][0] == records[0][0] {
		r.held[n-1] = uniteRecords(r.held[n-1], records[0], r.unite)
		records = records[1:]
	}
	for len(records) > 0 {
		if len(r.held) == cap(r.held) {
			if err := r.beginBlock(); err != nil {
				return err
			}
		}
		n := min(len(records), cap(r.held)-len(r.held))
		r.held, records = append(r.held, records[:n]...), records[n:]
	}
	return nil
}

// addLastRecords takes records over as they lie, unless there are others before them.
func (r *recording) addLastRecords(records []labelled) error {
	records = dropRepeated(records, r.unite)
	if len(r.held) > 0 {
		return r.addRecords(records)
	}
	for len(records) > recordBlock {
		r.held, records = records[:recordBlock], records[recordBlock:]
		r.noteLabels()
		r.whole = append(r.whole, r.held)
	}
	r.held = records
	return nil
}

// beginBlock begins a block. The records of the last one do not change any more.
func (r *recording) beginBlock() error {
	r.noteLabels()
	if len(r.whole) == r.limit {
		err := r.writeBlock(r.held)
		r.held = r.held[:0]
		return err
	}
	if len(r.held) > 0 {
		r.whole = append(r.whole, r.held)
	}
	if n := len(r.free); n > 0 {
		r.held, r.free = r.free[n-1], r.free[:n-1]
	} else {
		r.held = make([]labelled, 0, recordBlock)
	}
	return nil
}

// noteLabels notes the labels of the last block.
func (r *recording) noteLabels() {
	used := r.used
	for i := range r.held {
		label := r.held[i][1]
		if label >= uint64(len(used)) {
			used = append(used, make([]bool, max(64, int(label)+1-len(used)))...)
		}
		used[label] = true
	}
	r.used = used
}

// writeBlock brings a block to the file.
func (r *recording) writeBlock(records []labelled) error {
	block := asBytes(records)
	if _, err := r.file.WriteAt(block, r.size); err != nil {
		return err
	}
	r.size += int64(len(block))
	r.blocks = append(r.blocks, crc32.Checksum(block, castagnoli))
	return nil
}

// reopenAsSource makes the recording a source of what it has.
func (r *recording) reopenAsSource() (source[labelled], *os.File, error) {
	r.noteLabels()
	r.free = nil
	return &recorded{recording: r}, r.file, nil
}

// recorded reads a recording back in order: blocks in memory, then those in the file, then the rest that filled no
// block.
type recorded struct {
	*recording
	records []labelled
}

// nextRecords returns the next block, and checks one from the file against its checksum. The records are valid until
// the next call.
func (r *recorded) nextRecords() ([]labelled, error) {
	if len(r.whole) > 0 {
		records := r.whole[0]
		r.whole[0], r.whole = nil, r.whole[1:]
		return records, nil
	}
	if r.next == len(r.blocks) {
		records := r.held
		r.held = nil
		return records, nil
	}
	if r.records == nil {
		r.records = make([]labelled, recordBlock)
	}
	block := asBytes(r.records)
	if _, err := r.file.ReadAt(block, int64(r.next)*int64(len(block))); err != nil {
		return nil, err
	}
	if crc32.Checksum(block, castagnoli) != r.blocks[r.next] {
		return nil, ErrCorrupt.Note("spill file: wrong checksum")
	}
	r.next++
	return r.records, nil
}
