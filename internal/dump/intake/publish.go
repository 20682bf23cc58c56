package intake

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/vigiahq/vigia/internal/leak"
)

// publishBreach puts the segment in the files under a name that holds its digest, then tells the store in one
// transaction. Either can be repeated.
func (im *Importer) publishBreach(ctx context.Context, w *work, name string) error {
	p, err := w.publication(name, name+".pairs", ".seg")
	if err != nil {
		return err
	}
	return im.publishFiles(ctx, w, p, func() error { return im.Store.PublishBreach(ctx, name, p) })
}

// publication returns the names under which the finished files are published: how that of the identifiers and that of
// the pairs begin, the beginning of their digests, and how both end.
func (w *work) publication(keys, pairs, end string) (p leak.Publication, err error) {
	var count uint64
	if p.Digest, count, err = readSummary(w.final); err != nil {
		return p, err
	}
	p.File, p.Tally = keys+"-"+p.Digest[:16]+end, w.last.Tally
	p.Tally.Distinct, p.Tally.Pairs = int64(count), 0 // pairs may have been found, and are not wanted any more
	if w.finalPairs == "" {
		return p, nil
	}
	if p.PairsDigest, count, err = readSummary(w.finalPairs); err != nil {
		return p, err
	}
	p.Pairs, p.Tally.Pairs = pairs+"-"+p.PairsDigest[:16]+end, int64(count)
	return p, nil
}

// putFiles brings the finished files to their place: first the pairs, as a breach is known by its identifiers.
func (w *work) putFiles(
	ctx context.Context, p leak.Publication, put func(ctx context.Context, name, from string) error,
) error {
	if p.Pairs != "" {
		if err := put(ctx, p.Pairs, w.finalPairs); err != nil {
			return err
		}
	}
	return put(ctx, p.File, w.final)
}

// publishFiles brings the finished files to their place and has the store take them up. They are removed again if the
// breach was retracted meanwhile.
func (im *Importer) publishFiles(ctx context.Context, w *work, p leak.Publication, takeUp func() error) error {
	if err := w.putFiles(ctx, p, im.Files.PublishFile); err != nil {
		return err
	}
	err := takeUp()
	if errors.Is(err, leak.ErrRetracted) {
		return errors.Join(err, im.removeFiles(ctx, p))
	}
	return err
}

// removeFiles takes the files of a publication away everywhere.
func (im *Importer) removeFiles(ctx context.Context, p leak.Publication) error {
	for _, name := range []string{p.File, p.Pairs} {
		if name == "" {
			continue
		}
		if err := im.Files.RemoveFile(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// finishKilled ends an import that was killed between publishing and cleaning up. To any other the name is simply
// taken.
func (im *Importer) finishKilled(ctx context.Context, name string, inputs []Input, taken error) (Outcome, error) {
	if _, err := os.Stat(filepath.Join(im.workFolder(name), planFile)); err != nil {
		return Outcome{}, taken
	}
	w, err := openWork(im.workFolder(name), inputs, im.Tables, false)
	if err != nil {
		return Outcome{}, errors.Join(taken, err)
	}
	if err := w.removeFolder(); err != nil {
		return Outcome{}, err
	}
	r, err := im.Store.BreachByName(ctx, name)
	return Outcome{Record: r}, err
}
