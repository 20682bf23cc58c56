package segment

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math/bits"
	"os"
	"slices"
	"sync"
)

// LabelID stands for a label: in the Labels of a writer, or by its place in the table of a Reader. NoLabel is that of
// the empty label in every Labels.
type LabelID uint32

// NoLabel is the empty label: nothing is told of the key but that it is there.
const NoLabel LabelID = 0

// LabelRules say what labels mean, as far as a writer has to know.
type LabelRules struct {
	// Unite returns the label of a key that was given two different ones. It must not matter which comes first, nor
	// which two of three are united first.
	Unite func(a, b []byte) []byte
	// Coarsen returns a label that says less. It is asked of every label when there are more than MaxLabels, again and
	// again until there are few enough; what does not get fewer by that becomes the empty label. Without it labels that
	// do not fit become the empty label at once.
	Coarsen func(label []byte) []byte
}

// Labels gives ids to labels, for one or many writers. It is safe for many goroutines.
type Labels struct {
	rules LabelRules
	limit int

	mu    sync.RWMutex
	ids   map[string]LabelID
	texts []string
	// now is what each id has become by coarsening; nil until there was any.
	now    []LabelID
	coarse int // how often everything was coarsened
	united map[[2]LabelID]LabelID
}

// NewLabels has the empty label and no other.
func NewLabels(rules LabelRules) *Labels {
	return &Labels{
		rules:  rules,
		limit:  MaxLabels,
		ids:    map[string]LabelID{"": NoLabel},
		texts:  []string{""},
		united: map[[2]LabelID]LabelID{},
	}
}

// LabelID returns the id of a label, the same for the same bytes.
func (l *Labels) LabelID(label []byte) LabelID {
	l.mu.RLock()
	id, ok := l.ids[string(label)]
	l.mu.RUnlock()
	if ok {
		return id
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.addLabel(label)
}

// addLabel returns the id of a label, which is coarsened as often as all others were. l.mu is held.
func (l *Labels) addLabel(label []byte) LabelID {
	for range l.coarse {
		label = l.coarserLabel(label)
	}
	for {
		if id, ok := l.ids[string(label)]; ok {
			return l.currentID(id)
		}
		if len(l.ids) < l.limit {
			id := LabelID(len(l.texts))
			l.ids[string(label)], l.texts = id, append(l.texts, string(label))
			if l.now != nil {
				l.now = append(l.now, id)
			}
			return id
		}
		l.coarsenAll()
		label = l.coarserLabel(label)
	}
}

// mostCoarse is how often labels are coarsened before what is left of them is dropped.
const mostCoarse = 8

// coarserLabel returns a label that says less.
func (l *Labels) coarserLabel(label []byte) []byte {
	if l.rules.Coarsen == nil || l.coarse > mostCoarse {
		return nil
	}
	return l.rules.Coarsen(label)
}

// coarsenAll makes all labels say less. Ids that were given out stay, and mean the coarser label from now on.
func (l *Labels) coarsenAll() {
	l.coarse++
	if l.now == nil {
		for id := range l.texts {
			l.now = append(l.now, LabelID(id))
		}
	}
	before := l.ids
	l.ids = map[string]LabelID{"": NoLabel}
	clear(l.united)
	for id := range l.texts { // in the order they came, so that chance has no part in it
		old := l.texts[id]
		if before[old] != LabelID(id) || id == 0 {
			continue // a text that stands for nothing any more
		}
		text := string(l.coarserLabel([]byte(old)))
		to, ok := l.ids[text]
		if !ok {
			to = LabelID(id) // its text changes
			l.ids[text], l.texts[id] = to, text
		}
		l.now[id] = to
	}
}

// currentID follows what an id has become. l.mu is held.
func (l *Labels) currentID(id LabelID) LabelID {
	if l.now == nil {
		return id
	}
	for l.now[id] != id {
		id = l.now[id]
	}
	return id
}

// uniteLabels returns the unite of records with these labels.
func (l *Labels) uniteLabels(a, b uint64) uint64 {
	pair := [2]LabelID{LabelID(min(a, b)), LabelID(max(a, b))}
	l.mu.RLock()
	id, ok := l.united[pair]
	l.mu.RUnlock()
	if ok {
		return uint64(id)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	x, y := l.currentID(pair[0]), l.currentID(pair[1])
	if id = x; x != y {
		id = l.addLabel(l.rules.Unite([]byte(l.texts[x]), []byte(l.texts[y])))
	}
	if len(l.united) < l.limit {
		l.united[pair] = id
	}
	return uint64(id)
}

// currentText returns the label that an id stands for by now.
func (l *Labels) currentText(id LabelID) string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.texts[l.currentID(id)]
}

// MaxLabels is how many different labels a segment may have.
const MaxLabels = 1 << 18

// labelCode is how the labels of a segment are written: behind the keys of a page stands, for each of them in their
// order, the place of its label in the table, in as many bits as the last place takes.
type labelCode struct {
	labels int  // how many there are, at least one
	width  uint // bits of a place
}

// newLabelCode returns a code for the given number of labels. Ids have a fixed width of as many bits as the largest
// needs.
func newLabelCode(labels int) *labelCode {
	return &labelCode{labels: labels, width: uint(bits.Len(uint(labels - 1)))}
}

// encodeCode returns the code as it stands in the file.
func (c *labelCode) encodeCode() []byte {
	return binary.LittleEndian.AppendUint32(nil, uint32(c.labels))
}

// decodeLabelCode reads what encode wrote, and returns the rest.
func decodeLabelCode(b []byte) (*labelCode, []byte, error) {
	if len(b) < 4 {
		return nil, nil, ErrCorrupt.Note("labels: no code")
	}
	labels := binary.LittleEndian.Uint32(b)
	if labels == 0 || labels > MaxLabels {
		return nil, nil, ErrCorrupt.Note("labels: a code that cannot be")
	}
	return newLabelCode(int(labels)), b[4:], nil
}

// bitsPerKey returns what the labels of a page take for each key. There may be no labels.
func (c *labelCode) bitsPerKey() uint64 {
	if c == nil {
		return 0
	}
	return uint64(c.width)
}

// placeOfLabel returns the place of the label of key number i of a page, whose labels begin at bit position at. Like
// pageFind it must only be given pages whose checksum was right.
func (c *labelCode) placeOfLabel(p *page, at, i uint) uint32 {
	return uint32(loadBits(p, at+i*c.width)) & (1<<c.width - 1)
}

// putPlaces writes the places of labels at bit position at of a page that has nothing behind it yet.
func (c *labelCode) putPlaces(p *page, at uint, places []uint32) {
	if c.width == 0 {
		return
	}
	for perWord := int(64 / c.width); len(places) > 0; {
		n := min(len(places), perWord)
		word := uint64(0)
		for i, place := range places[:n] {
			word |= uint64(place) << (uint(i) * c.width)
		}
		putBits(p, at, word, uint(n)*c.width)
		at, places = at+uint(n)*c.width, places[n:]
	}
}

// decodePlaces appends the places of the labels of n keys, which begin at bit position at, and returns the bit position
// behind them. It reports false when they cannot be.
func (c *labelCode) decodePlaces(dst []uint32, p *page, at, n uint) (_ []uint32, end uint, ok bool) {
	if end = at + n*c.width; end > contentBits {
		return dst, end, false
	}
	for i := range n {
		place := c.placeOfLabel(p, at, i)
		if int(place) >= c.labels {
			return dst, end, false
		}
		dst = append(dst, place)
	}
	return dst, end, true
}

// putBits writes the low bits of v, of which there are at most 64 and no others, at bit position at, where there are
// zeros.
func putBits(p *page, at uint, v uint64, n uint) {
	word, shift := at>>6, at&63
	setWordBits(p, word, v<<shift)
	if shift+n > 64 {
		setWordBits(p, word+1, v>>(64-shift))
	}
}

// OpenLabels opens the table of labels by what undoes the writer's SealTable. It does nothing when the segment has none
// or they were opened before.
func (r *Reader) OpenLabels(open func(context, sealed []byte) ([]byte, error)) error {
	if r.code == nil || r.table.Load() != nil {
		return nil
	}
	context := sha256.Sum256(slices.Concat(r.dir.encodeDirectory(), r.note, r.code.encodeCode()))
	plain, err := open(context[:], r.sealed)
	if err != nil {
		return err
	}
	table, err := decodeTable(plain, r.code.labels)
	if err != nil {
		return err
	}
	r.table.Store(&table)
	return nil
}

// Labels returns the table; a LabelID of this Reader is a place in it. A segment without labels has a table of the
// empty label alone. The labels must not be changed.
func (r *Reader) Labels() ([][]byte, error) {
	if r.code == nil {
		return [][]byte{nil}, nil
	}
	if table := r.table.Load(); table != nil {
		return *table, nil
	}
	return nil, ErrSealed
}

// LabelBytes returns the label that an id stands for, which must not be changed. It is empty in a segment without
// labels.
func (r *Reader) LabelBytes(id LabelID) ([]byte, error) {
	table, err := r.Labels()
	if err != nil {
		return nil, err
	}
	if int(id) >= len(table) {
		return nil, ErrOption.Note("no label of this segment")
	}
	return table[id], nil
}

// LookUp reports whether key is in the set and with which label. It does not allocate.
func (r *Reader) LookUp(key uint64) (label LabelID, found bool, err error) {
	i := r.locatePage(key)
	if i < 0 {
		if r.mapped.Load() == nil {
			err = ErrClosed
		}
		return 0, false, err
	}
	err = r.readPage(i, func(p *page, head pageHead) bool {
		var at uint
		if at, found = pageFind(p, head, key-r.dir.first[i]); found && r.code != nil {
			label = LabelID(r.code.placeOfLabel(p, head.labelsAt(), at))
		}
		return true
	})
	return label, found && err == nil, err
}

// labelledReader walks the records of a whole segment, with the ids that a writer's Labels have for its labels.
type labelledReader struct {
	*Reader
	ids     []uint64
	next    int
	keys    []uint64
	places  []uint32
	records []labelled
}

// nextRecords returns the records of the next page, with the ids of the file's labels translated to those of the
// writer; nil at the end. They are valid until the next call.
func (r *labelledReader) nextRecords() ([]labelled, error) {
	if r.next == len(r.dir.first) {
		return nil, nil
	}
	err := r.readPage(r.next, func(p *page, _ pageHead) (ok bool) {
		var end uint
		if r.keys, end, ok = decodeKeys(r.keys[:0], p, r.dir.first[r.next]); ok && r.code != nil {
			r.places, _, ok = r.code.decodePlaces(r.places[:0], p, end, uint(len(r.keys)))
		}
		return ok
	})
	if err != nil {
		return nil, err
	}
	r.next++
	r.records = r.records[:0]
	for i, key := range r.keys {
		id := r.ids[0]
		if r.code != nil {
			id = r.ids[r.places[i]]
		}
		r.records = append(r.records, labelled{key, id})
	}
	return r.records, nil
}

// LabelWriter builds a segment in which every key has a label. The labels of a key that is added several times are
// united. It is for one goroutine; Labels may be shared by many writers.
//
// What it makes depends on the keys and their labels only, not on their order, the memory, or ids: it collects all of
// them first, sorted and united, and then writes pages.
type LabelWriter struct {
	*builder[labelled]
	labels *Labels
	seal   SealTable
}

// SealTable makes the table of labels unreadable, bound to the context, which is the digest of the directory and of
// what follows it. It must give the same bytes for the same table and context: otherwise equal segments would have
// different digests.
type SealTable func(context, table []byte) ([]byte, error)

// CreateLabelled starts a segment with labels, like Create.
func CreateLabelled(path string, opt Options, labels *Labels, seal SealTable) (*LabelWriter, error) {
	if labels == nil || seal == nil {
		return nil, ErrOption.Note("labels and their seal are missing")
	}
	b, err := newBuilder[labelled](path, opt)
	if err != nil {
		return nil, err
	}
	b.unite = labels.uniteLabels
	b.begin = func(file *os.File) (output[labelled], error) {
		return newRecording(file, labels.uniteLabels, b.memory/4, b.room...), nil
	}
	w := &LabelWriter{b, labels, seal}
	b.finish = w.finishLabelled
	return w, nil
}

// AddEntries gives keys their labels.
func (w *LabelWriter) AddEntries(entries []Entry) error {
	for len(entries) > 0 {
		if len(w.keys) == cap(w.keys) {
			if err := w.growBuffer(); err != nil {
				return err
			}
		}
		n := min(len(entries), cap(w.keys)-len(w.keys))
		var all uint64
		to := w.keys[len(w.keys):][:n]
		for i, e := range entries[:n] {
			all |= e.Key
			to[i] = labelled{e.Key, uint64(e.Label)}
		}
		if all > w.width.MaxKey() {
			return ErrKeyTooWide
		}
		w.keys = w.keys[:len(w.keys)+n]
		entries = entries[n:]
	}
	return nil
}

// AddSegment adds all keys of a segment, with their labels if it has any, whose table must have been opened. It is read
// when Commit merges, and must stay open until then.
func (w *LabelWriter) AddSegment(r *Reader) error {
	if r.Width() != w.width {
		return ErrOption.Note("a segment of keys of another width")
	}
	table, err := r.Labels()
	if err != nil {
		return err
	}
	ids := make([]uint64, len(table))
	for i, label := range table {
		ids[i] = uint64(w.labels.LabelID(label))
	}
	w.segments = append(w.segments, &labelledReader{Reader: r, ids: ids})
	return nil
}

// finishLabelled writes the pages of what was collected, now that it is known how many labels there are.
func (w *LabelWriter) finishLabelled(ctx context.Context) (Summary, error) {
	recorded, file, err := w.current.reopenAsSource()
	if err == nil && !slices.Contains(w.unnamed, file) {
		err = w.removeName()
	}
	if err != nil {
		return Summary{}, err
	}
	table := w.tableOf(w.current.(*recording).used) //nolint:errcheck // a labelled writer has no other
	run, err := newSegmentRun(w.tmp.File, w.width, newLabelCode(len(table.texts)))
	for records := []labelled{{}}; err == nil && len(records) > 0; {
		if records, err = recorded.nextRecords(); err == nil {
			err = errors.Join(ctx.Err(), run.addLabelled(records, table.places))
		}
	}
	if err != nil {
		return Summary{}, err
	}
	return run.finishSegment(
		w.note,
		func(context Digest) ([]byte, error) { return w.seal(context[:], table.encodeTable()) },
	)
}

// labelTable is the labels of a segment in the order of their texts.
type labelTable struct {
	texts  []string
	places []uint32 // by the id that a record has
}

// tableOf makes the table of the labels that are used, which are told by their ids.
func (w *LabelWriter) tableOf(used []bool) labelTable {
	t, now := labelTable{places: make([]uint32, len(used))}, make([]string, len(used))
	for id, isUsed := range used {
		if isUsed {
			now[id] = w.labels.currentText(LabelID(id))
			t.texts = append(t.texts, now[id])
		}
	}
	slices.Sort(t.texts)
	if t.texts = slices.Compact(t.texts); len(t.texts) == 0 {
		t.texts = []string{""} // no keys: a table of the empty label
	}
	for id, text := range now {
		place, _ := slices.BinarySearch(t.texts, text)
		t.places[id] = uint32(place)
	}
	return t
}

// encodeTable returns the labels one after the other, each with its length before it.
func (t *labelTable) encodeTable() (b []byte) {
	for _, text := range t.texts {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	return b
}

// decodeTable reads what table wrote, which must be n labels.
func decodeTable(b []byte, n int) ([][]byte, error) {
	table := make([][]byte, 0, n)
	for len(b) > 0 {
		length, k := binary.Uvarint(b)
		if k <= 0 || length > uint64(len(b)-k) {
			break
		}
		end := k + int(length)
		table, b = append(table, b[k:end:end]), b[end:]
	}
	if len(b) > 0 || len(table) != n {
		return nil, ErrCorrupt.Note("labels: a table that cannot be")
	}
	return table, nil
}
