package password

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/vigiahq/vigia/internal/durable"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/segment"
)

// Corpus describes the corpus of one algorithm that is in force.
type Corpus struct {
	Algorithm Algorithm
	Entries   uint64 // distinct 40-bit prefixes
	Widely    uint64 // of these, seen WidelySeen times or more
	Bytes     int64  // of both files
	Source    string // where it came from; SourceDefault for the built-in list
	Imported  time.Time
}

// SourceDefault marks the corpus that EnsureDefault builds: a stopgap until a real one is imported.
const SourceDefault = "default"

// Library is the folder with the corpora of one machine. A manifest names the files in force; everything else in the
// folder is left over from a replaced or interrupted import. Any number of processes may read a library; one at a time
// changes it.
type Library struct {
	dir string
	now func() time.Time
}

// OpenLibrary opens the library below the folder of all corpora and makes its folder where it is missing.
func OpenLibrary(corpora string, now func() time.Time) (*Library, error) {
	dir := filepath.Join(corpora, "password")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &Library{dir: dir, now: now}, nil
}

// manifest is the file that says which corpora are in force. It is replaced whole by rename.
type manifest struct {
	Version int              `json:"version"`
	Corpora map[string]entry `json:"corpora"`
}

// entry describes one corpus in the manifest: its files, their digests and where it came from.
type entry struct {
	Generation int       `json:"generation"`
	File       string    `json:"file"`
	Digest     string    `json:"digest"`
	WideFile   string    `json:"widely_exposed_file"`
	WideDigest string    `json:"widely_exposed_digest"`
	TagFile    string    `json:"tag_file,omitempty"` // entity tags of a download
	Entries    uint64    `json:"entries"`
	Widely     uint64    `json:"widely_exposed_entries"`
	Bytes      int64     `json:"bytes"`
	Source     string    `json:"source"`
	Imported   time.Time `json:"imported_at"`
}

const (
	manifestName    = "manifest.json"
	manifestVersion = 1
	maxManifest     = 1 << 20
)

// filePath returns where a file of the library is.
func (l *Library) filePath(name string) string { return filepath.Join(l.dir, name) }

// readManifest returns an empty manifest when there is none yet.
func (l *Library) readManifest() (manifest, error) {
	m := manifest{Version: manifestVersion, Corpora: map[string]entry{}}
	text, err := os.ReadFile(l.filePath(manifestName))
	if errors.Is(err, os.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	return parseManifest(text)
}

// parseManifest refuses another version and names that could lead out of the folder.
func parseManifest(text []byte) (manifest, error) {
	var m manifest
	if len(text) > maxManifest {
		return m, ErrManifest.With("", fault.TooLargeItem)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, ErrManifest.Because(err)
	}
	if m.Version != manifestVersion {
		return m, ErrManifest.With("", fault.OtherVersion, m.Version, manifestVersion)
	}
	for name, e := range m.Corpora {
		_, err := ParseAlgorithm(name)
		if err != nil || !fileName.MatchString(e.File) || !fileName.MatchString(e.WideFile) || (e.TagFile != "" && !fileName.MatchString(e.TagFile)) {
			return m, ErrManifest.With("", fault.ForeignEntry)
		}
	}
	if m.Corpora == nil {
		m.Corpora = map[string]entry{}
	}
	return m, nil
}

// fileName is what files that the manifest names, and only they, may be called: a manifest never leads out of its
// folder.
var fileName = regexp.MustCompile(`^(sha1|ntlm)-[0-9]{1,9}(-widely)?\.(seg|tags)$`)

// corpusFileNames returns the names of the files of a generation.
func corpusFileNames(a Algorithm, generation int) (file, wide, tags string) {
	stem := fmt.Sprintf("%s-%d", a, generation)
	return stem + ".seg", stem + "-widely.seg", stem + ".tags"
}

// writeManifest publishes m.
func (l *Library) writeManifest(m manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(l.filePath(manifestName), append(text, '\n'))
}

// lockLibrary makes this process the one that changes the library. It does not wait: ErrBusy says that another one is at it.
func (l *Library) lockLibrary() (unlock func(), err error) {
	f, err := os.OpenFile(l.filePath("lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	locked, err := durable.TryLockFile(f)
	if err == nil && !locked {
		err = ErrBusy.With("", fault.ImportRunning)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// sweepUnnamed removes the segments that m does not name. A process that still reads one of them keeps it until it lets go.
func (l *Library) sweepUnnamed(m manifest) {
	inForce := map[string]bool{}
	for _, e := range m.Corpora {
		inForce[e.File], inForce[e.WideFile], inForce[e.TagFile] = true, true, true
	}
	files, err := os.ReadDir(l.dir)
	if err != nil {
		return
	}
	for _, f := range files {
		if name := f.Name(); fileName.MatchString(name) && !inForce[name] {
			// What cannot be removed now is tried again after the next import.
			_ = os.Remove(l.filePath(name))
		}
	}
}

// ReadStatus lists the corpora in force.
func (l *Library) ReadStatus() ([]Corpus, error) {
	m, err := l.readManifest()
	if err != nil {
		return nil, err
	}
	var out []Corpus
	for _, a := range Algorithms {
		if e, ok := m.Corpora[a.String()]; ok {
			out = append(out, e.newCorpus(a))
		}
	}
	return out, nil
}

// newCorpus returns an entry of the manifest as callers see it.
func (e entry) newCorpus(a Algorithm) Corpus {
	return Corpus{Algorithm: a, Entries: e.Entries, Widely: e.Widely, Bytes: e.Bytes, Source: e.Source, Imported: e.Imported}
}

// VerifyFiles reads the files of all corpora from front to back and returns what is wrong with any of them.
func (l *Library) VerifyFiles(ctx context.Context) error {
	m, err := l.readManifest()
	if err != nil {
		return err
	}
	var errs []error
	for _, a := range Algorithms {
		e, ok := m.Corpora[a.String()]
		if !ok {
			continue
		}
		for _, file := range []struct{ name, digest string }{{e.File, e.Digest}, {e.WideFile, e.WideDigest}} {
			if err := l.verifyFile(ctx, file.name, file.digest); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", file.name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// verifyFile reads every page of a file and checks it against its digest.
func (l *Library) verifyFile(ctx context.Context, name, digest string) error {
	r, err := l.openSegment(name, digest)
	if err != nil {
		return err
	}
	return errors.Join(r.VerifyAll(ctx), r.Close())
}

// openSegment opens a file of the manifest and refuses one that is not the file the manifest means.
func (l *Library) openSegment(name, digest string) (*segment.Reader, error) {
	r, err := segment.Open(l.filePath(name))
	if err != nil {
		return nil, err
	}
	if r.Digest().String() != digest || r.Width() != segment.Bits40 {
		_ = r.Close()
		return nil, ErrManifest.With("", fault.NotTheNamedFile, name)
	}
	return r, nil
}
