package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// note is the label of a part: where it ends and what was counted up to there.
type note struct {
	Upto reader.Cursor `json:"upto"`
	// Rows is what the text before Upto says of the rows after it, for the reader that goes on there.
	Rows  json.RawMessage `json:"rows,omitempty"`
	Tally leak.Tally      `json:"tally"`
	// Trouble is what an input has done to its readers.
	Trouble trouble `json:"trouble,omitzero"`
	// Spent is what the input that Upto is in has taken.
	Spent reader.Spent `json:"spent,omitzero"`
	// Pairs says that the part has pairs, in the file beside it.
	Pairs bool `json:"pairs,omitempty"`
}

// plan is what an import works on; one that is taken up again must have the same.
type plan struct {
	Marks []string `json:"inputs"`
	// NoPairs says that it began without pairs: what was scanned before has none.
	NoPairs bool `json:"no_pairs,omitempty"`
}

// work is the folder of one import. It holds fingerprints and the names of inputs, nothing that was in them.
type work struct {
	dir   string
	lock  *os.File
	parts []string
	// pairs are the files of the parts' pairs.
	pairs []string
	last  note
	// final is the finished segment, when there is one, and finalPairs that of the pairs, if it has any.
	final, finalPairs string
	// noPairs says that no pairs are to be kept, and those of an earlier run are to be forgotten.
	noPairs bool
	// labels are those of all parts, tables what seals them.
	labels *segment.Labels
	tables Tables
}

const (
	planFile  = "plan.json"
	tallyFile = "tally.json"
	finalFile = "final.seg"
	nextFile  = "next.seg"
	// Pairs of a part lie beside it.
	finalPairsFile = "final-pairs.seg"
	nextPairsFile  = "next-pairs.seg"
	// What is appended to a breach, united with what it has.
	unitedFile      = "united.seg"
	unitedPairsFile = "united-pairs.seg"
)

// openWork takes the folder of an import and reads how far it came. Another process at the same import is ErrBusy.
func openWork(dir string, inputs []Input, tables Tables, noPairs bool) (*work, error) {
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	w := newWorkFolder(dir, lock, tables)
	w.noPairs = noPairs
	if err = w.checkPlan(inputs); err == nil {
		err = w.readParts()
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return w, nil
}

// newWorkFolder returns the work of an import in a folder.
func newWorkFolder(dir string, lock *os.File, tables Tables) *work {
	return &work{dir: dir, lock: lock, labels: segment.NewLabels(leak.LabelRules), tables: tables}
}

// lockFolder makes the folder and this process the only one in it; the lock goes with the process.
func lockFolder(dir string) (*os.File, error) {
	// What was killed while it removed a folder did not get to its end.
	if err := errors.Join(os.RemoveAll(dir+removing), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	locked, err := durable.TryLockFile(f)
	if err == nil && !locked {
		err = ErrBusy.With("name", fault.AnotherProcessImports)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (w *work) pathOfFile(name string) string { return filepath.Join(w.dir, name) }

// checkPlan stores the list of inputs in the folder, or compares it with the stored one. It refuses to resume with
// other inputs, as the checkpoint would not fit them.
func (w *work) checkPlan(inputs []Input) error {
	p := plan{Marks: make([]string, len(inputs)), NoPairs: w.noPairs}
	for i, in := range inputs {
		p.Marks[i] = in.Mark
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	before, err := os.ReadFile(w.pathOfFile(planFile))
	if errors.Is(err, os.ErrNotExist) {
		return durable.WriteFile(w.pathOfFile(planFile), text)
	}
	if err != nil {
		return err
	}
	var was plan
	if err := json.Unmarshal(before, &was); err != nil || !slices.Equal(was.Marks, p.Marks) {
		return ErrInput.With("inputs", fault.OtherInputs)
	}
	w.noPairs = w.noPairs || was.NoPairs
	return nil
}

// partName returns the file name of part i; names sort in the order of the parts.
func partName(i int) string { return fmt.Sprintf("part-%06d.seg", i) }

// readParts finds the finished parts. One that is damaged ends the list: what it held is scanned again.
func (w *work) readParts() error {
	if _, err := os.Stat(w.pathOfFile(finalFile)); err == nil {
		text, err := os.ReadFile(w.pathOfFile(tallyFile))
		if err != nil {
			return err
		}
		w.final = w.pathOfFile(finalFile)
		if err := json.Unmarshal(text, &w.last.Tally); err != nil {
			return err
		}
		if w.last.Tally.Pairs > 0 && !w.noPairs {
			w.finalPairs = w.pathOfFile(finalPairsFile)
		}
		return nil
	}
	for {
		path := w.pathOfFile(partName(len(w.parts)))
		r, err := segment.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if errors.Is(err, segment.ErrCorrupt) {
			return w.dropPartsFrom(len(w.parts))
		}
		if err != nil {
			return err
		}
		var n note
		jerr := json.Unmarshal(r.Note(), &n)
		if err := errors.Join(jerr, r.Close()); err != nil {
			return fmt.Errorf("read part: %w", err)
		}
		if n.Pairs && !w.noPairs {
			pairs := w.pathOfFile(pairPartName(len(w.parts)))
			if _, _, err := readSummary(pairs); err != nil {
				return w.dropPartsFrom(len(w.parts))
			}
			w.pairs = append(w.pairs, pairs)
		}
		w.parts, w.last = append(w.parts, path), n
	}
}

// dropPartsFrom removes a damaged part and those after it: they will be made again, perhaps with other borders.
func (w *work) dropPartsFrom(i int) error {
	for ; ; i++ {
		if err := os.Remove(w.pathOfFile(partName(i))); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			return err
		}
	}
}

// releaseFolder lets go of the folder and keeps what is in it.
func (w *work) releaseFolder() error { return w.lock.Close() }

// leaveFolder ends the work with the error of publishing it: what failed can go on from the folder later, unless the
// breach was retracted.
func (w *work) leaveFolder(err error) error {
	if err != nil && !errors.Is(err, leak.ErrRetracted) {
		return errors.Join(err, w.releaseFolder())
	}
	return errors.Join(err, w.removeFolder())
}

// removing marks a folder that is given up: no breach has such a name.
const removing = "+gone"

// removeFolder gives the folder up in one step: of one that is half removed, what is left could be taken for the work
// of another import.
func (w *work) removeFolder() error {
	gone := w.dir + removing
	err := os.RemoveAll(gone)
	if err == nil {
		err = durable.RenameSynced(w.dir, gone)
	}
	if err == nil {
		err = os.RemoveAll(gone)
	}
	return errors.Join(err, w.lock.Close())
}

// readSummary reads what a finished segment says of itself.
func readSummary(path string) (digest string, count uint64, err error) {
	r, err := segment.Open(path)
	if err != nil {
		return "", 0, err
	}
	digest, count = r.Digest().String(), r.Count()
	return digest, count, r.Close()
}

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

// mergeSegment makes the whole segment out of the parts.
func (w *work) mergeSegment(ctx context.Context, memory int) error {
	out, err := w.beginPart(memory)
	if err != nil {
		return err
	}
	defer out.abortAll()
	for _, path := range w.parts {
		r, err := segment.Open(path)
		if err := w.mergeKeys(out, r, err); err != nil {
			return fmt.Errorf("merge parts: %w", err)
		}
	}
	for _, path := range w.pairs {
		r, err := segment.Open(path)
		if err := w.mergePairs(out, r, err); err != nil {
			return fmt.Errorf("merge pairs: %w", err)
		}
	}
	return w.keepFinal(ctx, out, w.last.Tally)
}

// mergeKeys adds all keys of a segment, with their labels, to out, which closes it; err is that of opening it.
func (w *work) mergeKeys(out *sorter, r *segment.Reader, err error) error {
	if err == nil {
		out.merged = append(out.merged, r)
		err = r.OpenLabels(w.tables.OpenTable)
	}
	if err == nil {
		err = out.keys.AddSegment(r)
	}
	return err
}

// mergePairs does the same with pairs.
func (w *work) mergePairs(out *sorter, r *segment.Reader, err error) error {
	if err == nil {
		out.merged = append(out.merged, r)
		err = w.beginPairs(out)
	}
	if err == nil {
		err = out.pairs.AddSegment(r)
	}
	return err
}
