package intake

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/corpus/segment"
)

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
