package intake

import (
	"context"
	"encoding/json"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/durable"
)

// sorter puts the fingerprints of a part in order, and its pairs once there is one.
type sorter struct {
	keys   *segment.LabelWriter
	pairs  *segment.Writer
	memory int
	merged []*segment.Reader // must stay open until all is committed
}

// abortAll gives up what was not committed, and closes what was merged.
func (s *sorter) abortAll() {
	s.keys.Abort()
	if s.pairs != nil {
		s.pairs.Abort()
	}
	for _, r := range s.merged {
		_ = r.Close() // only read
	}
}

// beginPart starts the next part.
func (w *work) beginPart(memory int) (*sorter, error) {
	keys, err := segment.CreateLabelled(
		w.pathOfFile(nextFile),
		segment.Options{Width: segment.Bits64, Memory: memory},
		w.labels,
		w.tables.SealTable,
	)
	return &sorter{keys: keys, memory: memory}, err
}

// pairsShare is the part of the memory for sorting that pairs get on top. They are half as long as labelled keys, and
// at most as many as there are identifiers without domains.
const pairsShare = 3

// beginPairs creates the file of pairs at the first pair: most dumps have none.
func (w *work) beginPairs(s *sorter) (err error) {
	if s.pairs == nil {
		s.pairs, err = segment.CreateSegment(
			w.pathOfFile(nextPairsFile),
			segment.Options{Width: segment.Bits64, Memory: s.memory / pairsShare},
		)
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
	return int64(sum.Count), durable.RenameSynced(w.pathOfFile(nextPairsFile), w.pathOfFile(name))
}

// commitKeys makes keys durable under a name and returns where they are.
func (w *work) commitKeys(ctx context.Context, out *sorter, name string) (path string, err error) {
	if _, err := out.keys.Commit(ctx); err != nil {
		return "", err
	}
	path = w.pathOfFile(name)
	return path, durable.RenameSynced(w.pathOfFile(nextFile), path)
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
	path, err := w.commitKeys(ctx, out, partName(len(w.parts)))
	if err != nil {
		return err
	}
	if w.parts, w.last = append(w.parts, path), n; n.Pairs {
		w.pairs = append(w.pairs, w.pathOfFile(pairs))
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
	if err := durable.WriteFile(w.pathOfFile(tallyFile), text); err != nil {
		return err
	}
	if w.final, err = w.commitKeys(ctx, out, finalFile); err != nil {
		return err
	}
	if w.last.Tally = t; t.Pairs > 0 {
		w.finalPairs = w.pathOfFile(finalPairsFile)
	}
	return nil
}
