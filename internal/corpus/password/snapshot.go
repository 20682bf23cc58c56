package password

import (
	"errors"
	"sync/atomic"

	"github.com/vigiahq/vigia/internal/corpus/segment"
)

// snapshot is the open corpora of one manifest. It does not change, except that a corpus can turn out damaged.
type snapshot struct {
	corpora []*openCorpus
	broken  error // why a corpus that the manifest names could not be opened
	// imported is what an operator brought, every that and the built-in sample.
	imported, every view
}

// openCorpus is a corpus with its files open; it stays in use until a reload replaces it.
type openCorpus struct {
	entry     entry
	all, wide *segment.Reader
	damage    atomic.Pointer[error] // set once the files are known to be damaged
	stale     atomic.Bool           // the files changed on disk: they are opened, and their pages checked, anew
}

// openCorpora opens the corpora of m. Those that old has open already are taken over; where a new one cannot be opened,
// the old one goes on serving.
func (l *Library) openCorpora(m manifest, old *snapshot) *snapshot {
	s := &snapshot{}
	for _, a := range Algorithms {
		e, ok := m.Corpora[a.String()]
		if !ok {
			continue
		}
		before := old.corpusOf(a)
		if before != nil && before.entry == e && !before.stale.Load() {
			s.corpora = append(s.corpora, before)
			continue
		}
		o, err := l.openCorpus(e)
		if err != nil {
			s.broken = errors.Join(s.broken, err)
			s.noteMissing(e, before, err)
			if before == nil {
				continue
			}
			o = before
		}
		s.corpora = append(s.corpora, o)
	}
	s.buildViews()
	return s
}

// openCorpus opens both files of a corpus or none.
func (l *Library) openCorpus(e entry) (*openCorpus, error) {
	all, err := l.openSegment(e.File, e.Digest)
	if err != nil {
		return nil, err
	}
	wide, err := l.openSegment(e.WideFile, e.WideDigest)
	if err != nil {
		_ = all.Close()
		return nil, err
	}
	return &openCorpus{entry: e, all: all, wide: wide}, nil
}

// corpusOf returns the open corpus of an algorithm, or nil.
func (s *snapshot) corpusOf(a Algorithm) *openCorpus {
	for _, o := range s.corpora {
		if o.entry.Algorithm == a {
			return o
		}
	}
	return nil
}

// releaseReplaced closes the corpora that next did not take over.
func (s *snapshot) releaseReplaced(next *snapshot) {
	for _, o := range s.corpora {
		if next.corpusOf(o.entry.Algorithm) != o {
			o.closeFiles()
		}
	}
}

// noteMissing notes that the corpus e cannot be opened; before, if any, serves in its place.
func (s *snapshot) noteMissing(e entry, before *openCorpus, err error) {
	if before == nil {
		s.every.missing = err
	}
	if !e.Sample() && (before == nil || before.entry.Sample()) {
		s.imported.missing = err
	}
}

// closeFiles lets go of the corpus's files.
func (o *openCorpus) closeFiles() {
	_ = o.all.Close()
	_ = o.wide.Close()
}

// checkKey returns how widely a key is exposed by this corpus.
func (o *openCorpus) checkKey(key uint64) (Exposure, error) {
	if damage := o.damage.Load(); damage != nil {
		return NotKnown, *damage
	}
	found, err := o.all.Contains(key)
	if err != nil || !found {
		return NotKnown, o.noteDamage(err)
	}
	widely, err := o.wide.Contains(key)
	if err != nil {
		return NotKnown, o.noteDamage(err)
	}
	if widely {
		return WidelyExposed, nil
	}
	return Exposed, nil
}

// noteDamage remembers damage: a corpus with one bad page is not trusted for the others, and CheckHealth reports it.
func (o *openCorpus) noteDamage(err error) error {
	if err != nil && errors.Is(err, segment.ErrCorrupt) {
		damage := err // a copy, so that the usual case does not allocate
		o.damage.CompareAndSwap(nil, &damage)
	}
	return err
}
