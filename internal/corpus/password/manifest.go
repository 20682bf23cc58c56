package password

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

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
