package intake

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/vigiahq/vigia/internal/durable"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/segment"
)

// sorter puts the fingerprints of a part in order, and its pairs once there is one.
type sorter struct {
	keys   *segment.LabelWriter
	pairs  *segment.Writer
	memory int
}

// abortAll gives up what was written.
func (s *sorter) abortAll() {
	s.keys.Abort()
	if s.pairs != nil {
		s.pairs.Abort()
	}
}

// beginPart starts the next part.
func (w *work) beginPart(memory int) (*sorter, error) {
	keys, err := segment.CreateLabelled(w.pathOf(nextFile), segment.Options{Width: segment.Bits64, Memory: memory}, w.labels, w.tables.SealTable)
	return &sorter{keys: keys, memory: memory}, err
}

// pairsShare is the part of the memory for sorting that pairs get on top. They are half as long as labelled keys, and
// at most as many as there are identifiers without domains.
const pairsShare = 3

// beginPairs creates the file of pairs at the first pair: most dumps have none.
func (w *work) beginPairs(s *sorter) (err error) {
	if s.pairs == nil {
		s.pairs, err = segment.CreateSegment(w.pathOf(nextPairsFile), segment.Options{Width: segment.Bits64, Memory: s.memory / pairsShare})
	}
	return err
}

// addPairs adds pairs of an identifier and a password to the part.
func (w *work) addPairs(s *sorter, pairs pairKeys) error {
	if err := w.beginPairs(s); err != nil {
		return err
	}
	return s.pairs.AddKeys(pairs)
}

// pairPartName returns the file name of the pairs of part i.
func pairPartName(i int) string { return fmt.Sprintf("part-%06d-pairs.seg", i) }

// commitPairs makes pairs durable under a name and counts them. The keys of the same records follow: pairs without them
// are of a run that was killed.
func (w *work) commitPairs(ctx context.Context, out *sorter, name string) (count int64, err error) {
	if out.pairs == nil {
		return 0, nil
	}
	sum, err := out.pairs.Commit(ctx)
	if err != nil {
		return 0, err
	}
	return int64(sum.Count), durable.RenameSynced(w.pathOf(nextPairsFile), w.pathOf(name))
}

// keepPart makes a finished part durable.
func (w *work) keepPart(ctx context.Context, out *sorter, n note) error {
	pairs := pairPartName(len(w.parts))
	count, err := w.commitPairs(ctx, out, pairs)
	if err != nil {
		return err
	}
	n.Pairs = count > 0
	label, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if err := out.keys.SetNote(label); err != nil {
		return err
	}
	if _, err := out.keys.Commit(ctx); err != nil {
		return err
	}
	path := w.pathOf(partName(len(w.parts)))
	if err := durable.RenameSynced(w.pathOf(nextFile), path); err != nil {
		return err
	}
	if w.parts, w.last = append(w.parts, path), n; n.Pairs {
		w.pairs = append(w.pairs, w.pathOf(pairs))
	}
	return nil
}

// keepFinal makes the whole segment durable. It has no label, so that the same identifiers give the same digest,
// however often the import was interrupted and whatever the breach is called: that is how a dump that was imported
// twice is known.
func (w *work) keepFinal(ctx context.Context, out *sorter, t leak.Tally) error {
	var err error
	if t.Pairs, err = w.commitPairs(ctx, out, finalPairsFile); err != nil {
		return err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(w.pathOf(tallyFile), text); err != nil {
		return err
	}
	if _, err := out.keys.Commit(ctx); err != nil {
		return err
	}
	w.final, w.last.Tally = w.pathOf(finalFile), t
	if t.Pairs > 0 {
		w.finalPairs = w.pathOf(finalPairsFile)
	}
	return durable.RenameSynced(w.pathOf(nextFile), w.final)
}

// mergeSegment makes the whole segment out of the parts.
func (w *work) mergeSegment(ctx context.Context, memory int) error {
	out, err := w.beginPart(memory)
	if err != nil {
		return err
	}
	defer out.abortAll()
	for _, path := range w.parts {
		r, err := segment.Open(path)
		if err == nil {
			defer func() { _ = r.Close() }() // only read
			if err = r.OpenLabels(w.tables.OpenTable); err == nil {
				err = out.keys.AddSegment(r)
			}
		}
		if err != nil {
			return fmt.Errorf("merge parts: %w", err)
		}
	}
	for _, path := range w.pairs {
		r, err := segment.Open(path)
		if err == nil {
			defer func() { _ = r.Close() }() // only read
			err = w.mergePairs(out, r)
		}
		if err != nil {
			return fmt.Errorf("merge pairs: %w", err)
		}
	}
	return w.keepFinal(ctx, out, w.last.Tally)
}

// mergePairs adds all pairs of the segment r to out.
func (w *work) mergePairs(out *sorter, r *segment.Reader) error {
	if err := w.beginPairs(out); err != nil {
		return err
	}
	return out.pairs.AddSegment(r)
}
