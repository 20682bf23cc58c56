package password

import (
	"context"

	"github.com/vigiahq/vigia/internal/durable"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/segment"
)

// replacement is a corpus under construction. Until publish nothing that is in force changes.
type replacement struct {
	lib       *Library
	algorithm Algorithm
	manifest  manifest
	entry     entry
	all, wide *segment.Writer
	tags      *tagTable // of a download
	unlock    func()
}

// replace starts a new corpus for the algorithm and locks the library until publish or abandon.
func (l *Library) replace(a Algorithm, source string) (*replacement, error) {
	unlock, err := l.lock()
	if err != nil {
		return nil, err
	}
	r := &replacement{lib: l, algorithm: a, unlock: unlock}
	if err := r.begin(source); err != nil {
		r.abandon()
		return nil, err
	}
	return r, nil
}

func (r *replacement) begin(source string) (err error) {
	if r.manifest, err = r.lib.readManifest(); err != nil {
		return err
	}
	// A file left by an import that was killed before it published would be taken over by the writer of the same name.
	generation := r.manifest.Corpora[r.algorithm.String()].Generation + 1
	r.entry = entry{Generation: generation, Source: source}
	r.entry.File, r.entry.WideFile, _ = names(r.algorithm, generation)
	label := []byte(r.algorithm.String())
	if r.all, err = segment.Create(r.lib.path(r.entry.File), segment.Options{Width: segment.Bits40, Note: label}); err != nil {
		return err
	}
	r.wide, err = segment.Create(r.lib.path(r.entry.WideFile), segment.Options{Width: segment.Bits40, Note: label, Memory: 8 << 20})
	return err
}

func (r *replacement) add(keys, widely []uint64) error {
	if err := r.all.AddAll(keys); err != nil {
		return err
	}
	return r.wide.AddAll(widely)
}

// publish puts the new corpus in force: first its files, then the manifest that names them, then the old files go.
func (r *replacement) publish(ctx context.Context) (Corpus, error) {
	if err := r.commit(ctx); err != nil {
		r.lib.sweep(r.manifest)
		return Corpus{}, err
	}
	r.entry.Imported = r.lib.now().UTC()
	r.manifest.Corpora[r.algorithm.String()] = r.entry
	if err := r.lib.writeManifest(r.manifest); err != nil {
		return Corpus{}, err
	}
	r.lib.sweep(r.manifest)
	return r.entry.corpus(r.algorithm), nil
}

// commit completes the files, which nothing names yet.
func (r *replacement) commit(ctx context.Context) error {
	all, err := r.all.Commit(ctx)
	if err != nil {
		return err
	}
	if all.Count == 0 {
		return ErrInput.With("", fault.NoHashInInput)
	}
	wide, err := r.wide.Commit(ctx)
	if err != nil {
		return err
	}
	e := &r.entry
	e.Digest, e.Entries = all.Digest.String(), all.Count
	e.WideDigest, e.Widely = wide.Digest.String(), wide.Count
	e.Bytes = all.Size + wide.Size
	if r.tags == nil {
		return nil
	}
	_, _, e.TagFile = names(r.algorithm, e.Generation)
	r.tags.digest = e.Digest
	return durable.Write(r.lib.path(e.TagFile), r.tags.encode())
}

// abandon gives up what was not published and unlocks the library. After publish it only unlocks.
func (r *replacement) abandon() {
	if r.all != nil {
		r.all.Abort()
	}
	if r.wide != nil {
		r.wide.Abort()
	}
	r.unlock()
}
