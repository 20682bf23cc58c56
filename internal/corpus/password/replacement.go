package password

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// replacement is a corpus under construction. Until publish nothing that is in force changes.
type replacement struct {
	lib       *Library
	algorithm Algorithm
	manifest  manifest
	entry     entry
	all, wide *segment.Writer
	tags      *tagTable // of a download
	mayShrink bool      // fewer hashes may replace more
	unlock    func()
}

// beginReplacement starts a new corpus for the algorithm and locks the library until publish or abandon.
func (l *Library) beginReplacement(a Algorithm, source string) (*replacement, error) {
	unlock, err := l.lockLibrary()
	if err != nil {
		return nil, err
	}
	r := &replacement{lib: l, algorithm: a, unlock: unlock}
	if err := r.openFiles(source); err != nil {
		r.abandonFiles()
		return nil, err
	}
	return r, nil
}

// openFiles opens the files of the new corpus.
func (r *replacement) openFiles(source string) (err error) {
	if r.manifest, err = r.lib.readManifest(); err != nil {
		return err
	}
	// A file left by an import that was killed before it published would be taken over by the writer of the same name.
	generation := r.manifest.Corpora[r.algorithm.String()].Generation + 1
	r.entry = entry{Generation: generation, Corpus: Corpus{Algorithm: r.algorithm, Source: source}}
	r.entry.File, r.entry.WideFile, _ = corpusFileNames(r.algorithm, generation)
	label := []byte(r.algorithm.String())
	options := segment.Options{Width: segment.Bits40, Note: label}
	if r.all, err = segment.CreateSegment(r.lib.filePath(r.entry.File), options); err != nil {
		return err
	}
	options.Memory = 8 << 20
	r.wide, err = segment.CreateSegment(r.lib.filePath(r.entry.WideFile), options)
	return err
}

// addHashKeys adds keys in ascending order.
func (r *replacement) addHashKeys(keys, widely []uint64) error {
	if err := r.all.AddKeys(keys); err != nil {
		return err
	}
	return r.wide.AddKeys(widely)
}

// publishReplacement puts the new corpus in force: first its files, then the manifest that names them, then the old
// files go.
func (r *replacement) publishReplacement(ctx context.Context) (Corpus, error) {
	if err := r.commitFiles(ctx); err != nil {
		r.lib.sweepUnnamed(r.manifest)
		return Corpus{}, err
	}
	// The database keeps microseconds: an announcement must not look older than what it announces.
	r.entry.Imported = r.lib.now().UTC().Truncate(time.Microsecond)
	if err := r.lib.putInForce(r.manifest, r.entry); err != nil {
		return Corpus{}, err
	}
	return r.entry.Corpus, nil
}

// commitFiles completes the files, which nothing names yet.
func (r *replacement) commitFiles(ctx context.Context) error {
	all, err := r.all.Commit(ctx)
	if err != nil {
		return err
	}
	if all.Count == 0 {
		return ErrInput.With("", fault.NoHashInInput)
	}
	before, found := r.manifest.Corpora[r.algorithm.String()]
	if found && !before.Sample() && all.Count < before.Entries && !r.mayShrink {
		return ErrSmaller.With("", fault.SmallerCorpus, all.Count, before.Entries)
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
	_, _, e.TagFile = corpusFileNames(r.algorithm, e.Generation)
	r.tags.Digest = e.Digest
	line, err := encodeLine(r.tags)
	if err != nil {
		return err
	}
	return durable.WriteFile(r.lib.filePath(e.TagFile), line)
}

// abandonFiles gives up what was not published and unlocks the library. After publish it only unlocks.
func (r *replacement) abandonFiles() {
	if r.all != nil {
		r.all.Abort()
	}
	if r.wide != nil {
		r.wide.Abort()
	}
	r.unlock()
}
