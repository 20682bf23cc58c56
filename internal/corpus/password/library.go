package password

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Corpus describes the corpus of one algorithm that is in force.
type Corpus struct {
	Algorithm Algorithm `json:"-"`
	Entries   uint64    `json:"entries"`                // distinct 40-bit prefixes
	Widely    uint64    `json:"widely_exposed_entries"` // of these, seen WidelySeen times or more
	Bytes     int64     `json:"bytes"`                  // of both files
	Source    string    `json:"source"`                 // where it came from; SourceDefault for the built-in list
	Imported  time.Time `json:"imported_at"`
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
	if err := durable.MakeFolder(dir, 0o700); err != nil {
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
	Generation int    `json:"generation"`
	File       string `json:"file"`
	Digest     string `json:"digest"`
	WideFile   string `json:"widely_exposed_file"`
	WideDigest string `json:"widely_exposed_digest"`
	TagFile    string `json:"tag_file,omitempty"` // entity tags of a download
	Corpus
}

// The manifest names the files of a corpus and their digests.
const (
	manifestName    = "manifest.json"
	manifestVersion = 1
	maxManifest     = 1 << 20
)

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
		var err error
		e.Algorithm, err = ParseAlgorithm(name)
		m.Corpora[name] = e
		if err != nil || !fileName.MatchString(e.File) || !fileName.MatchString(e.WideFile) ||
			(e.TagFile != "" && !fileName.MatchString(e.TagFile)) {
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

func corpusFileNames(a Algorithm, generation int) (file, wide, tags string) {
	stem := fmt.Sprintf("%s-%d", a, generation)
	return stem + ".seg", stem + "-widely.seg", stem + ".tags"
}

// lockLibrary makes this process the one that changes the library. It does not wait: ErrBusy says that another one is
// at it.
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

// sweepUnnamed removes the segments that m does not name. A process that still reads one of them keeps it until it lets
// go.
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
			out = append(out, e.Corpus)
		}
	}
	return out, nil
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
			r, err := l.openSegment(file.name, file.digest)
			if err == nil {
				err = errors.Join(r.VerifyAll(ctx), r.Close())
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", file.name, err))
			}
		}
	}
	return errors.Join(errs...)
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

// OpenFiles opens the manifest and every file that it names, for a copy of the library as it is at one moment: an open
// file stays readable when an import replaces it. The caller closes them.
func (l *Library) OpenFiles() ([]*os.File, error) {
	for try := 1; ; try++ {
		files, err := l.openFiles()
		if err == nil || !errors.Is(err, os.ErrNotExist) || try == 3 { // an import replaced them between two steps
			return files, err
		}
	}
}

// openFiles opens the manifest and all files that it names, so that they can be copied even if an import replaces them.
// It returns os.ErrNotExist when an import did so between two steps.
func (l *Library) openFiles() (files []*os.File, err error) {
	m, err := l.readManifest()
	if err != nil || len(m.Corpora) == 0 {
		return nil, err
	}
	names := []string{manifestName}
	for _, e := range m.Corpora {
		names = append(names, e.File, e.WideFile)
		if e.TagFile != "" {
			names = append(names, e.TagFile)
		}
	}
	defer func() {
		for ; err != nil && len(files) > 0; files = files[1:] {
			_ = files[0].Close() // only read
		}
	}()
	for _, name := range names {
		f, err := os.Open(l.filePath(name))
		if err != nil {
			return files, err
		}
		files = append(files, f)
	}
	// The manifest was read before it was opened: make sure that both were the same one.
	again, err := l.readManifest()
	if err == nil && !maps.EqualFunc(m.Corpora, again.Corpora, func(a, b entry) bool {
		return a.Digest == b.Digest &&
			a.File == b.File
	}) {
		err = os.ErrNotExist
	}
	return files, err
}

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
	if r.all, err = segment.CreateSegment(
		r.lib.filePath(r.entry.File),
		segment.Options{Width: segment.Bits40, Note: label},
	); err != nil {
		return err
	}
	r.wide, err = segment.CreateSegment(
		r.lib.filePath(r.entry.WideFile),
		segment.Options{Width: segment.Bits40, Note: label, Memory: 8 << 20},
	)
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

// Answer is what a look-up found, and where it looked.
type Answer struct {
	Exposure Exposure
	// Corpora names the corpora that were looked in: "sha1; entries=N; date=YYYY-MM-DD, ntlm; entries=N;
	// date=YYYY-MM-DD; sample". One text serves all look-ups until a corpus changes.
	Corpora string
}

// view is the part of a snapshot that one kind of partner may look in.
type view struct {
	corpora []*openCorpus
	missing error // why a corpus that belongs here could not be opened, when nothing serves in its place
	name    string
}

// Sample reports whether the corpus is the built-in list: enough to try the service, far too little to call a password
// unknown.
func (c Corpus) Sample() bool { return c.Source == SourceDefault }

// noteMissing notes that the corpus e cannot be opened; before, if any, serves in its place.
func (s *snapshot) noteMissing(e entry, before *openCorpus, err error) {
	if before == nil {
		s.every.missing = err
	}
	if !e.Sample() && (before == nil || before.entry.Sample()) {
		s.imported.missing = err
	}
}

// buildViews fills the views from the corpora.
func (s *snapshot) buildViews() {
	s.every.corpora = s.corpora
	for _, o := range s.corpora {
		if !o.entry.Sample() {
			s.imported.corpora = append(s.imported.corpora, o)
		}
	}
	s.every.name, s.imported.name = joinCorpusNames(s.every.corpora), joinCorpusNames(s.imported.corpora)
}

// joinCorpusNames writes a list of items with parameters, as structured header fields do.
func joinCorpusNames(corpora []*openCorpus) string {
	var b strings.Builder
	for i, o := range corpora {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(o.entry.Algorithm.String() + "; entries=" + strconv.FormatUint(o.entry.Entries, 10) + "; date=" +
			o.entry.Imported.UTC().Format(time.DateOnly))
		if o.entry.Sample() {
			b.WriteString("; sample")
		}
	}
	return b.String()
}

// checkKey asks all corpora of the view.
func (v *view) checkKey(key uint64) (Answer, error) {
	most, failure := NotKnown, v.missing
	for _, o := range v.corpora {
		exposure, err := o.checkKey(key)
		if err != nil {
			failure = err
			continue
		}
		most = max(most, exposure)
	}
	switch {
	case most != NotKnown:
		return Answer{most, v.name}, nil // found is found, whatever the other corpus would say
	case failure != nil:
		return Answer{}, ErrUnreadable.Because(failure)
	case len(v.corpora) == 0:
		return Answer{}, ErrNoCorpus
	}
	return Answer{NotKnown, v.name}, nil
}

// ListCorpora returns the corpora in force, for health checks and the operator.
func (c *Checker) ListCorpora() []Corpus {
	s := c.current.Load()
	list := make([]Corpus, 0, len(s.corpora))
	for _, o := range s.corpora {
		list = append(list, o.entry.Corpus)
	}
	return list
}
