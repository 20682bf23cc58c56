package password

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
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
