package password

import (
	"errors"
	"os"
)

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
	for _, name := range names {
		f, err := os.Open(l.filePath(name))
		if err != nil {
			for _, open := range files {
				err = errors.Join(err, open.Close())
			}
			return nil, err
		}
		files = append(files, f)
	}
	// The manifest was read before it was opened: make sure that both were the same one.
	again, err := l.readManifest()
	if err == nil && !sameFiles(m, again) {
		err = os.ErrNotExist
	}
	if err != nil {
		for _, open := range files {
			err = errors.Join(err, open.Close())
		}
		return nil, err
	}
	return files, nil
}

// sameFiles reports whether two manifests name the same content.
func sameFiles(a, b manifest) bool {
	if len(a.Corpora) != len(b.Corpora) {
		return false
	}
	for name, e := range a.Corpora {
		if b.Corpora[name].Digest != e.Digest || b.Corpora[name].File != e.File {
			return false
		}
	}
	return true
}
