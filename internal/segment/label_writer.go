package segment

import (
	"cmp"
	"context"
	"encoding/binary"
	"os"
	"slices"
)

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

// SealTable makes the table of labels unreadable, bound to the context, which is the digest of the directory and of what
// follows it. It must give the same bytes for the same table and context: otherwise equal segments would have different digests.
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
	return &LabelWriter{b, labels, seal}, nil
}

// AddEntry gives a key a label.
func (w *LabelWriter) AddEntry(key uint64, label LabelID) error {
	return w.addRecord(labelled{key, uint64(label)})
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

// Commit completes the segment and publishes it under its path, like that of a Writer.
func (w *LabelWriter) Commit(ctx context.Context) (Summary, error) {
	if w.done {
		return Summary{}, ErrClosed
	}
	defer w.Abort()
	if err := w.complete(ctx); err != nil {
		return Summary{}, err
	}
	recorded, file, err := w.current.reopenAsSource()
	if err != nil {
		return Summary{}, err
	}
	if !slices.Contains(w.unnamed, file) {
		if err := w.removeName(); err != nil {
			return Summary{}, err
		}
	}
	ranks := w.rankLabels(w.current.(*recording).counts) //nolint:errcheck // a labelled writer has no other
	run, err := newSegmentRun(w.tmp.File, w.width, newLabelCode(len(ranks.texts)))
	if err != nil {
		return Summary{}, err
	}
	for {
		records, err := recorded.nextRecords()
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = run.addLabelled(records, ranks.places)
		}
		if err != nil {
			return Summary{}, err
		}
		if len(records) == 0 {
			break
		}
	}
	return w.publishFile(ctx, func() (Summary, error) {
		return run.finishSegment(w.note, func(context Digest) ([]byte, error) { return w.seal(context[:], ranks.encodeTable()) })
	})
}

// ranking is the labels of a segment, the most frequent first.
type ranking struct {
	texts  []string
	places []uint32 // by the id that a record has
}

// rankLabels puts labels in the order of the table; counts are by id.
func (w *LabelWriter) rankLabels(counts []uint64) ranking {
	type used struct {
		text  string
		count uint64
		id    LabelID
	}
	var all []used
	now, at := make([]LabelID, len(counts)), map[LabelID]int{}
	for id, n := range counts {
		if n == 0 {
			continue
		}
		to, text := w.labels.currentText(LabelID(id))
		now[id] = to
		if i, ok := at[to]; ok {
			all[i].count += n
			continue
		}
		at[to] = len(all)
		all = append(all, used{text, n, to})
	}
	if len(all) == 0 {
		all = []used{{}} // no keys: a table of the empty label
	}
	slices.SortFunc(all, func(a, b used) int { return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.text, b.text)) })
	r := ranking{places: make([]uint32, len(counts))}
	place := map[LabelID]uint32{}
	for i, u := range all {
		r.texts, place[u.id] = append(r.texts, u.text), uint32(i)
	}
	for id, n := range counts {
		if n > 0 {
			r.places[id] = place[now[id]]
		}
	}
	return r
}

// encodeTable returns the labels one after the other, each with its length before it.
func (r *ranking) encodeTable() (b []byte) {
	for _, text := range r.texts {
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
