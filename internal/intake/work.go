package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vigiahq/vigia/internal/durable"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/scan/record"
	"github.com/vigiahq/vigia/internal/segment"
)

// cursor is a place in the inputs: everything before it has been scanned.
type cursor struct {
	Input  int   `json:"input"`
	Stream int64 `json:"stream"` // of that input
	Span   int64 `json:"span"`   // of that stream
	Done   bool  `json:"done"`
}

// note is the label of a part: where it ends and what was counted up to there.
type note struct {
	Upto cursor `json:"upto"`
	// Rows is what the text before Upto says of the rows after it: which columns they have.
	Rows  record.State `json:"rows,omitzero"`
	Tally leak.Tally   `json:"tally"`
}

// plan is what an import works on; one that is taken up again must have the same.
type plan struct {
	Marks []string `json:"inputs"`
}

// work is the folder of one import. It holds fingerprints and the names of inputs, nothing that was in them.
type work struct {
	dir   string
	lock  *os.File
	parts []string
	last  note
	// final is the finished segment, when there is one.
	final string
	// labels are those of all parts, tables what seals them.
	labels *segment.Labels
	tables Tables
}

const (
	planFile  = "plan.json"
	tallyFile = "tally.json"
	finalFile = "final.seg"
	nextFile  = "next.seg"
)

// openWork takes the folder of an import and reads how far it came. Another process at the same import is ErrBusy.
func openWork(dir string, inputs []Input, tables Tables) (*work, error) {
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	w := newWork(dir, lock, tables)
	if err = w.checkPlan(inputs); err == nil {
		err = w.readParts()
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return w, nil
}

func newWork(dir string, lock *os.File, tables Tables) *work {
	return &work{dir: dir, lock: lock, labels: segment.NewLabels(leak.LabelRules), tables: tables}
}

// lockFolder makes the folder and this process the only one in it; the lock goes with the process.
func lockFolder(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	locked, err := durable.TryLock(f)
	if err == nil && !locked {
		err = ErrBusy.With("name: another process is importing it")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (w *work) path(name string) string { return filepath.Join(w.dir, name) }

func (w *work) checkPlan(inputs []Input) error {
	p := plan{Marks: make([]string, len(inputs))}
	for i, in := range inputs {
		p.Marks[i] = in.Mark
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	before, err := os.ReadFile(w.path(planFile))
	if errors.Is(err, os.ErrNotExist) {
		return durable.Write(w.path(planFile), text)
	}
	if err != nil {
		return err
	}
	if string(before) != string(text) {
		return ErrInput.With("inputs: not those that this import began with, or they changed since; retract the breach to give it up")
	}
	return nil
}

func partName(i int) string { return fmt.Sprintf("part-%06d.seg", i) }

// readParts finds the finished parts. One that is damaged ends the list: what it held is scanned again.
func (w *work) readParts() error {
	if _, err := os.Stat(w.path(finalFile)); err == nil {
		text, err := os.ReadFile(w.path(tallyFile))
		if err != nil {
			return err
		}
		w.final = w.path(finalFile)
		return json.Unmarshal(text, &w.last.Tally)
	}
	for {
		path := w.path(partName(len(w.parts)))
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
		w.parts, w.last = append(w.parts, path), n
	}
}

// dropPartsFrom removes a damaged part and those after it: they will be made again, perhaps with other borders.
func (w *work) dropPartsFrom(i int) error {
	for ; ; i++ {
		if err := os.Remove(w.path(partName(i))); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			return err
		}
	}
}

// begin starts the next part.
func (w *work) begin(memory int) (*segment.LabelWriter, error) {
	return segment.CreateLabelled(w.path(nextFile), segment.Options{Width: segment.Bits64, Memory: memory}, w.labels, w.tables.SealTable)
}

// keepPart makes a finished part durable.
func (w *work) keepPart(ctx context.Context, out *segment.LabelWriter, n note) error {
	label, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if err := out.SetNote(label); err != nil {
		return err
	}
	if _, err := out.Commit(ctx); err != nil {
		return err
	}
	path := w.path(partName(len(w.parts)))
	if err := durable.Rename(w.path(nextFile), path); err != nil {
		return err
	}
	w.parts, w.last = append(w.parts, path), n
	return nil
}

// keepFinal makes the whole segment durable. It has no label, so that the same identifiers give the same digest,
// however often the import was interrupted and whatever the breach is called: that is how a dump that was imported
// twice is known.
func (w *work) keepFinal(ctx context.Context, out *segment.LabelWriter, t leak.Tally) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := durable.Write(w.path(tallyFile), text); err != nil {
		return err
	}
	if _, err := out.Commit(ctx); err != nil {
		return err
	}
	w.final, w.last.Tally = w.path(finalFile), t
	return durable.Rename(w.path(nextFile), w.final)
}

// merge makes the whole segment out of the parts.
func (w *work) merge(ctx context.Context, memory int) error {
	out, err := w.begin(memory)
	if err != nil {
		return err
	}
	defer out.Abort()
	for _, path := range w.parts {
		r, err := segment.Open(path)
		if err == nil {
			defer func() { _ = r.Close() }() // only read
			if err = r.OpenLabels(w.tables.OpenTable); err == nil {
				err = out.AddSegment(r)
			}
		}
		if err != nil {
			return fmt.Errorf("merge parts: %w", err)
		}
	}
	return w.keepFinal(ctx, out, w.last.Tally)
}

// leave lets go of the folder and keeps what is in it.
func (w *work) leave() error { return w.lock.Close() }

// remove gives the folder up; its lock is held until nothing is left.
func (w *work) remove() error {
	return errors.Join(os.RemoveAll(w.dir), w.lock.Close())
}

// summary reads what a finished segment says of itself.
func summary(path string) (digest string, count uint64, err error) {
	r, err := segment.Open(path)
	if err != nil {
		return "", 0, err
	}
	digest, count = r.Digest().String(), r.Count()
	return digest, count, r.Close()
}
