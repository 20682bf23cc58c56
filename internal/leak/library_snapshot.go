package leak

import (
	"context"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/corpus/segment"
)

// snapshot is one state of the library. It is replaced, never changed.
type snapshot struct {
	epoch int64
	// whole says that every published segment could be opened.
	whole    bool
	segments []openSegment
}

// openSegment is a published segment with its files open.
type openSegment struct {
	Segment
	volume
}

// LoadPublished opens what was published since the last call and lets go of what was retracted. It is cheap when
// nothing changed.
func (l *Library) LoadPublished(ctx context.Context) error {
	l.loading.Lock()
	defer l.loading.Unlock()
	old := l.current.Load()
	if old != nil && old.whole {
		epoch, err := l.store.CorporaEpoch(ctx)
		if err != nil || epoch == old.epoch {
			return err
		}
	}
	segments, epoch, err := l.store.ListSegments(ctx)
	if err != nil {
		return fmt.Errorf("load segments: %w", err)
	}
	next := &snapshot{epoch: epoch, whole: true, segments: make([]openSegment, 0, len(segments))}
	kept := old.openFiles(l.files)
	var problems error
	for _, g := range segments {
		o := openSegment{Segment: g, volume: volume{keys: l.pairs}}
		if o.reader, err = kept.takeOrOpen(ctx, g.File, g.Digest); err == nil && g.Pairs != "" {
			o.pairs, err = kept.takeOrOpen(ctx, g.Pairs, g.PairsDigest)
		}
		if err != nil {
			next.whole = false
			problems = errors.Join(problems, fmt.Errorf("breach %s: %w", g.Breach, err))
		}
		if o.reader == nil {
			continue
		}
		next.segments = append(next.segments, o)
	}
	l.current.Store(next)
	for file, r := range kept.open { // retracted: no copy stays on this machine
		problems = errors.Join(problems, r.Close(), l.files.ForgetLocal(file))
	}
	return problems
}

// openFiles are the files that a snapshot has open, for the next one to take over.
type openFiles struct {
	files *library.Files
	open  map[string]*segment.Reader
}

// openFiles returns the files that a snapshot has open, so that the next one takes them over instead of opening them
// again. The snapshot may be nil.
func (s *snapshot) openFiles(files *library.Files) openFiles {
	f := openFiles{files, map[string]*segment.Reader{}}
	if s == nil {
		return f
	}
	for _, v := range s.segments {
		f.open[v.File] = v.reader
		if v.pairs != nil {
			f.open[v.Pairs] = v.pairs
		}
	}
	return f
}

// takeOrOpen takes over a file that is open, or opens it.
func (f openFiles) takeOrOpen(ctx context.Context, file, digest string) (*segment.Reader, error) {
	if r := f.open[file]; r != nil {
		delete(f.open, file)
		return r, nil
	}
	return f.files.Open(ctx, file, digest)
}

// epoch returns the epoch of the snapshot that is asked now; 0 when there is none.
func (l *Library) epoch() int64 {
	if s := l.current.Load(); s != nil {
		return s.epoch
	}
	return 0
}
