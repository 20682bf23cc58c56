package segment

import (
	"context"
	"errors"
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
