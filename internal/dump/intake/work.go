package intake

import (
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

// pairPartName returns the file name of the pairs of part i.
func pairPartName(i int) string { return fmt.Sprintf("part-%06d-pairs.seg", i) }
