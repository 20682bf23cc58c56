package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vigiahq/vigia/internal/corpora"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/segment"
)

// WatchParts runs jobs of KindSpread: it waits for the parts, reports their progress, and when all are done merges and
// publishes them. A part that failed for good fails the import; cancelling the import stops the parts.
func (s *Spreader) WatchParts(ctx context.Context, run *job.Run) error {
	im, name := s.Importer, run.Subject
	var args spreadArgs
	if err := json.Unmarshal(run.Args, &args); err != nil {
		return ErrInput.With("import", fault.Unreadable).Because(err)
	}
	for {
		r, err := im.Store.BreachByName(ctx, name)
		if err != nil {
			return err
		}
		if r.State == leak.Published { // a worker died between publishing and cleaning up
			return im.DropParts(ctx, name)
		}
		parts, err := im.Store.ListParts(ctx, name)
		if err != nil {
			return err
		}
		sum, err := sumParts(parts)
		if err != nil || r.State == leak.Retracted {
			return s.stopParts(ctx, name, errors.Join(err, retracted(r)))
		}
		if err := run.Save(ctx, sum.progress(args)); err != nil {
			return s.stopParts(ctx, name, err)
		}
		if sum.done == len(parts) {
			return s.mergeAllParts(ctx, run, name, args, sum)
		}
		if err := job.WaitFor(ctx, s.pauseFor(len(parts))); err != nil {
			return s.stopParts(ctx, name, context.Cause(ctx))
		}
	}
}

// retracted returns job.ErrCancelled if the breach was withdrawn while its parts were imported.
func retracted(r leak.Record) error {
	if r.State == leak.Retracted { // the withdrawal takes away what the parts left
		return job.ErrCancelled
	}
	return nil
}

// stopParts asks the parts to stop when the import is over; a worker that only stops or lost the lease leaves them to the
// next.
func (s *Spreader) stopParts(ctx context.Context, name string, err error) error {
	if errors.Is(err, job.ErrCancelled) || errors.Is(err, ErrInput) {
		return errors.Join(err, s.Importer.Store.StopParts(context.WithoutCancel(ctx), name))
	}
	return err
}

// spreadSum is what all parts have done.
type spreadSum struct {
	tally         leak.Tally
	done, running int
	trouble       string
	files         []partState
}

// sumParts sums up; a part that failed is an ErrInput that says which.
func sumParts(parts []job.Job) (spreadSum, error) {
	sum := spreadSum{tally: leak.Tally{Found: map[string]int64{}}}
	for i, j := range parts {
		if j.State == job.Failed {
			return sum, ErrInput.With("", fault.PartFailed, i+1, len(parts), fault.Recall(j.Error))
		}
		var p partState
		if err := json.Unmarshal(j.Progress, &p); err != nil {
			return sum, fmt.Errorf("read progress: %w", err)
		}
		switch j.State {
		case job.Done:
			sum.done++
			sum.files = append(sum.files, p)
		case job.Running:
			sum.running++
		case job.Ready, job.Failed, job.Cancelled:
		}
		if j.State != job.Done && j.Error != "" {
			sum.trouble = fmt.Sprintf("part %d: %s", i+1, j.Error)
		}
		sum.tally.AddTally(p.Tally)
	}
	return sum, nil
}

// progress returns the sum over all parts as the progress of one import.
func (s spreadSum) progress(args spreadArgs) Progress {
	return Progress{
		Read: s.tally.Bytes, Total: max(0, args.Bytes), Scanned: s.tally.Scanned, Found: s.tally.Found,
		Parts: args.Parts, PartsDone: s.done, PartsRunning: s.running, Trouble: s.trouble,
	}
}

// mergeAllParts puts the final segment together out of the parts, publishes it and takes the parts away. Every step can be
// repeated.
func (s *Spreader) mergeAllParts(ctx context.Context, run *job.Run, name string, args spreadArgs, sum spreadSum) error {
	for reason, n := range args.Refused {
		sum.tally.Unread, sum.tally.Problems = sum.tally.Unread+n, sum.tally.Problems+n
		sum.tally.CountReason(reason, n)
	}
	if doubt := sum.tally.DoubtReason(); doubt != nil && !args.Force {
		err := errors.Join(s.Importer.DropParts(ctx, name), s.Importer.Store.DropImport(ctx, name))
		return errors.Join(err, ErrInput.With("inputs", fault.DoubtfulImport, doubt.Said()))
	}
	s.merging.Lock() // sorting takes memory, and a worker may watch several imports
	defer s.merging.Unlock()
	im := s.Importer
	p := sum.progress(args)
	p.Merging = true
	if err := run.Save(ctx, p); err != nil {
		return s.stopParts(ctx, name, err)
	}
	im.sweepSpread(name)
	dir := im.spreadDir(name)
	lock, err := lockFolder(dir)
	if err != nil {
		return err
	}
	w := newWorkFolder(dir, lock, im.Tables)
	w.last.Tally = sum.tally
	if err = s.mergeParts(ctx, w, sum.files); err == nil {
		err = im.publishBreach(ctx, w, name)
	}
	if errors.Is(err, leak.ErrRetracted) {
		err = job.ErrCancelled
	}
	if err := errors.Join(err, w.removeFolder()); err != nil {
		return s.stopParts(ctx, name, err)
	}
	_ = run.Save(ctx, p.Ended(w.last.Tally)) // it is published, whether its last figures are kept or not
	return im.DropParts(ctx, name)
}

// mergeParts merges the segments of all parts, and their pairs, into one in the folder w. All parts stay open until the
// merge is done.
func (s *Spreader) mergeParts(ctx context.Context, w *work, files []partState) error {
	out, err := w.beginPart(s.Importer.sortMemory())
	if err != nil {
		return err
	}
	defer out.abortAll()
	for _, p := range files {
		r, err := s.openPart(ctx, p.File, p.Digest)
		if err != nil {
			return err
		}
		defer func() { _ = r.Close() }() // only read
		if err := errors.Join(r.OpenLabels(w.tables.OpenTable), out.keys.AddSegment(r)); err != nil {
			return fmt.Errorf("merge parts: %s: %w", p.File, err)
		}
		if p.Pairs == "" {
			continue
		}
		pairs, err := s.openPart(ctx, p.Pairs, p.PairsDigest)
		if err != nil {
			return err
		}
		defer func() { _ = pairs.Close() }() // only read
		if err := w.mergePairs(out, pairs); err != nil {
			return fmt.Errorf("merge parts: %s: %w", p.Pairs, err)
		}
	}
	return w.keepFinal(ctx, out, w.last.Tally)
}

// openPart opens a file of a part and checks its digest. A file that is missing from a store that is not shared was
// written on another machine, and the error says so.
func (s *Spreader) openPart(ctx context.Context, file, digest string) (*segment.Reader, error) {
	r, err := s.Importer.Files.Open(ctx, file, digest)
	if errors.Is(err, corpora.ErrMissing) && !s.Importer.Files.IsShared() {
		return nil, ErrInput.With("parts", fault.NotInThisFolder, file)
	}
	if err != nil {
		return nil, fmt.Errorf("merge parts: %s: %w", file, err)
	}
	return r, nil
}

// removeAll takes files away everywhere.
func (im *Importer) removeAll(ctx context.Context, files []string) error {
	for _, name := range files {
		if err := im.Files.RemoveFile(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// DropParts takes away all that the parts of a breach left: their files, then the rows that name them.
func (im *Importer) DropParts(ctx context.Context, name string) error {
	parts, err := im.Store.ListParts(ctx, name)
	if err != nil || len(parts) == 0 {
		return err
	}
	for _, j := range parts {
		var p partState
		if err := json.Unmarshal(j.Progress, &p); err != nil {
			return fmt.Errorf("read progress: %w", err)
		}
		if err := im.removeAll(ctx, p.publishedFiles()); err != nil {
			return err
		}
	}
	return im.Store.DropParts(ctx, name)
}

// spreadFolder holds the work of parts and merges; no breach is called like this.
const spreadFolder = ".spread"

// spreadDir returns the folder on this machine for a part or a merge of a spread import.
func (im *Importer) spreadDir(name string) string { return filepath.Join(im.Dir, spreadFolder, name) }

// sweepSpread removes the folders that killed processes left on this machine, except the one that the caller resumes.
// A folder in use is locked and stays.
func (im *Importer) sweepSpread(except string) {
	folders, err := os.ReadDir(filepath.Join(im.Dir, spreadFolder))
	if err != nil {
		return // there is none yet
	}
	for _, f := range folders {
		if f.Name() == except {
			continue
		}
		dir := im.spreadDir(f.Name())
		if lock, err := lockFolder(dir); err == nil {
			_ = (&work{dir: dir, lock: lock}).removeFolder() // the next part tries again
		}
	}
}
