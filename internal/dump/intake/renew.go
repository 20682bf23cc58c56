package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// renewing marks the folder of a renewal: no breach has such a name.
const renewing = "+renew"

// AppendToBreach scans the inputs as ImportBreach does, and can be interrupted as that, then adds what is new in them
// to a published breach. Until the new files are whole and in their place it is what it was. The match that follows has
// findings follow: see leak.RejudgeFindings. Of the spec's breach only the name counts.
func (im *Importer) AppendToBreach(ctx context.Context, spec Spec) (Outcome, error) {
	spec = spec.withMapping()
	r, err := im.renewable(ctx, spec)
	if err != nil {
		return Outcome{}, err
	}
	// A breach with passwords that was imported without pairs stays without: the operator did not want them.
	spec.NoPairs = spec.NoPairs || r.Pairs == "" && r.Tally.Classes[string(cyber.ExposedPassword)] > 0
	w, err := im.openOrRestart(im.workFolder(r.Name+renewing), spec, true)
	if err != nil {
		return Outcome{}, err
	}
	run := newImportRun(im, w, spec)
	err = run.buildSegment(ctx)
	out := Outcome{Record: r, Skips: run.skips}
	if doubt := w.last.Tally.DoubtReason(); err == nil && doubt != nil && !spec.Force {
		out.Tally = w.last.Tally
		return out, errors.Join(ErrDoubtful.With("inputs", fault.DoubtfulRenewal, doubt.Said()), w.releaseFolder())
	}
	if err == nil {
		err = im.renewContent(ctx, w, r)
	}
	if err := w.leaveFolder(err); err != nil {
		return out, err
	}
	out.Record, err = im.Store.BreachByName(ctx, r.Name)
	out.Unchanged = out.Content == r.Content
	return out, err
}

// Renewable refuses what AppendToBreach would refuse at once.
func (im *Importer) Renewable(ctx context.Context, spec Spec) error {
	_, err := im.renewable(ctx, spec)
	return err
}

// renewable returns a breach that has content to change.
func (im *Importer) renewable(ctx context.Context, spec Spec) (leak.Record, error) {
	r, err := im.Store.BreachByName(ctx, spec.Breach.Name)
	switch {
	case err != nil:
		return r, err
	case r.State == leak.Retracted:
		return r, leak.ErrRetracted.With("name", fault.RetractedImportOther)
	case r.State == leak.Importing:
		return r, leak.ErrBreachNotFound.With("name", fault.ImportNotPublished)
	case r.Segment == "":
		return r, leak.ErrBreachNotFound.With("name", fault.NoContent)
	case len(spec.Inputs) == 0:
		return r, ErrInput.With("inputs", fault.NoFile)
	}
	return r, nil
}

// openOrRestart takes the folder of an import or a renewal. Where mayRestart says so, what one with other inputs left
// there is given up: it changed nothing, and was never published.
func (im *Importer) openOrRestart(dir string, spec Spec, mayRestart bool) (*work, error) {
	w, err := openWork(dir, spec.Inputs, im.Tables, spec.NoPairs)
	if !mayRestart || !errors.Is(err, ErrInput) {
		return w, err
	}
	if err := discardFolder(dir); err != nil {
		return nil, err
	}
	return openWork(dir, spec.Inputs, im.Tables, spec.NoPairs)
}

// renewContent unites what was scanned with what is published, and publishes it.
func (im *Importer) renewContent(ctx context.Context, w *work, r leak.Record) error {
	if err := im.appendTo(ctx, w, r); err != nil {
		return err
	}
	sum := leak.Tally{} // nothing of it is measured yet
	sum.AddTally(r.Tally)
	sum.AddTally(w.last.Tally)
	w.last.Tally = sum
	// The number of the renewal is in the names, so that they are never used again: a job that removes former files
	// cannot remove a new one.
	p, err := w.publication(r.Name, r.Name+".pairs", fmt.Sprintf(".%d.seg", r.Renewals+1))
	if err != nil || p.Digest+p.PairsDigest == r.Content {
		return err
	}
	return im.publishFiles(ctx, w, p, func() error {
		exposes := append(slices.Clone(r.Exposes), leak.Auto)
		return im.Store.RenewBreach(ctx, r.Name, leak.Renewal{Publication: p, Base: r.Content, Exposes: exposes})
	})
}

// appendTo unites what was scanned with what is published. What an earlier try left is made again: the breach may be
// another one since.
func (im *Importer) appendTo(ctx context.Context, w *work, r leak.Record) error {
	out, err := w.beginPart(im.sortMemory())
	if err != nil {
		return err
	}
	defer out.abortAll()
	published, err := im.Files.Open(ctx, r.Segment, r.Digest)
	if err = w.mergeKeys(out, published, err); err != nil {
		return fmt.Errorf("append: %w", err)
	}
	scanned, err := segment.Open(w.final)
	if err = w.mergeKeys(out, scanned, err); err == nil {
		err = im.appendPairs(ctx, w, r, out)
	}
	if err != nil {
		return fmt.Errorf("append: %w", err)
	}
	w.final, err = w.commitKeys(ctx, out, unitedFile)
	return err
}

// appendPairs does the same with pairs, of which either may have none.
func (im *Importer) appendPairs(ctx context.Context, w *work, r leak.Record, out *sorter) error {
	if r.Pairs != "" {
		published, err := im.Files.Open(ctx, r.Pairs, r.PairsDigest)
		if err := w.mergePairs(out, published, err); err != nil {
			return err
		}
	}
	if w.finalPairs != "" {
		scanned, err := segment.Open(w.finalPairs)
		if err := w.mergePairs(out, scanned, err); err != nil {
			return err
		}
	}
	count, err := w.commitPairs(ctx, out, unitedPairsFile)
	if w.finalPairs = ""; count > 0 {
		w.finalPairs = w.pathOfFile(unitedPairsFile)
	}
	return err
}
