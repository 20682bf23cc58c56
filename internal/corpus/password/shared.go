package password

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/platform/durable"
)

// Shared is a corpus that an operator imported on one machine and that the others fetch from a bucket.
type Shared struct {
	Corpus
	Digest, WideDigest string // of its two files
}

// objectNames returns the names of the files in the bucket. They follow from the content, so an upload never replaces
// what another machine is reading.
func (s Shared) objectNames() (all, wide string) {
	all = fmt.Sprintf("password-%s-%s.seg", s.Algorithm, s.Digest)
	wide = fmt.Sprintf("password-%s-%s.seg", s.Algorithm, s.WideDigest)
	return all, wide
}

// Bucket holds the files of shared corpora.
type Bucket interface {
	UploadFile(ctx context.Context, name, from string) error
	// FetchFile puts a file at path after checking all of it against its digest.
	FetchFile(ctx context.Context, name, path, digest string) error
	RemoveFile(ctx context.Context, name string) error
}

// Announcements say which corpora are in the bucket; all replicas read them.
type Announcements interface {
	ListSharedCorpora(ctx context.Context) ([]Shared, error)
	// AnnounceCorpus makes a corpus known unless a newer one of its algorithm is. It returns the one that it replaced.
	AnnounceCorpus(ctx context.Context, s Shared) (replaced Shared, announced bool, err error)
}

// Exchange keeps the corpora of this machine and those of the other replicas the same, through a bucket.
type Exchange struct {
	Library       *Library
	Bucket        Bucket
	Announcements Announcements
}

// SyncCorpora uploads the corpora of this machine that are newer than the announced ones, and fetches those that are
// older. So an import that was killed before its upload, a restored machine and a bucket that was set up later all come
// right by themselves. ErrBusy says that an import runs here; its end calls SyncCorpora again.
func (x *Exchange) SyncCorpora(ctx context.Context) error {
	announced, err := x.Announcements.ListSharedCorpora(ctx)
	if err != nil {
		return fmt.Errorf("shared corpora: %w", err)
	}
	known := map[Algorithm]Shared{}
	for _, s := range announced {
		known[s.Algorithm] = s
	}
	m, err := x.Library.readManifest()
	if err != nil {
		return err
	}
	var errs []error
	for _, a := range Algorithms {
		local := m.Corpora[a.String()]
		shared, isShared := known[a]
		hasImported := local.Digest != "" && !local.Sample()
		switch {
		case hasImported && (!isShared || local.Imported.After(shared.Imported)):
			errs = append(errs, x.shareCorpus(ctx, local))
		case isShared && local.Digest != shared.Digest:
			errs = append(errs, x.Library.fetchCorpus(ctx, x.Bucket, shared))
		}
	}
	return errors.Join(errs...)
}

// shareCorpus uploads the files of a corpus, announces it, and removes those of the one before.
func (x *Exchange) shareCorpus(ctx context.Context, e entry) error {
	s := Shared{Corpus: e.Corpus, Digest: e.Digest, WideDigest: e.WideDigest}
	all, wide := s.objectNames()
	for name, file := range map[string]string{all: e.File, wide: e.WideFile} {
		if err := x.Bucket.UploadFile(ctx, name, x.Library.filePath(file)); err != nil {
			return err
		}
	}
	replaced, announced, err := x.Announcements.AnnounceCorpus(ctx, s)
	if err != nil || !announced || replaced.Digest == "" {
		return err
	}
	oldAll, oldWide := replaced.objectNames()
	for _, name := range []string{oldAll, oldWide} {
		if name == all || name == wide { // the same content was imported again
			continue
		}
		if err := x.Bucket.RemoveFile(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// fetchCorpus puts a shared corpus in force on this machine.
func (l *Library) fetchCorpus(ctx context.Context, from Bucket, s Shared) error {
	unlock, err := l.lockLibrary()
	if err != nil {
		return err
	}
	defer unlock()
	m, err := l.readManifest()
	if err != nil {
		return err
	}
	e := entry{
		Generation: m.Corpora[s.Algorithm.String()].Generation + 1,
		Digest:     s.Digest,
		WideDigest: s.WideDigest,
		Corpus:     s.Corpus,
	}
	e.File, e.WideFile, _ = corpusFileNames(s.Algorithm, e.Generation)
	all, wide := s.objectNames()
	err = from.FetchFile(ctx, all, l.filePath(e.File), e.Digest)
	if err == nil {
		err = from.FetchFile(ctx, wide, l.filePath(e.WideFile), e.WideDigest)
	}
	if err != nil {
		l.sweepUnnamed(m)
		return fmt.Errorf("passwords %s: %w", s.Algorithm, err)
	}
	return l.putInForce(m, e)
}

// putInForce writes the manifest that names the files of e, and removes those that it no longer names.
func (l *Library) putInForce(m manifest, e entry) error {
	m.Corpora[e.Algorithm.String()] = e
	text, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = durable.WriteFile(l.filePath(manifestName), append(text, '\n'))
	}
	if err != nil {
		return err
	}
	l.sweepUnnamed(m)
	return nil
}

// ListDigests returns the digest of each corpus in force that an operator imported, by algorithm.
func (l *Library) ListDigests() (map[string]string, error) {
	m, err := l.readManifest()
	if err != nil {
		return nil, err
	}
	digests := map[string]string{}
	for name, e := range m.Corpora {
		if !e.Sample() {
			digests[name] = e.Digest
		}
	}
	return digests, nil
}

// ListDigests returns the digest of each imported corpus that look-ups are answered from, by algorithm.
func (c *Checker) ListDigests() map[string]string {
	digests := map[string]string{}
	for _, o := range c.current.Load().corpora {
		if !o.entry.Sample() {
			digests[o.entry.Algorithm.String()] = o.entry.Digest
		}
	}
	return digests
}
