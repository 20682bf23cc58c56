package password

import "os"

// tagTable holds the entity tag of every range of a download, so that the next one can ask only for what changed. It
// says which corpus the tags belong to, and from which address they came.
type tagTable struct {
	Digest string   `json:"digest"`
	Base   string   `json:"base"`
	Tags   []string `json:"tags"`
}

// loadTags returns the tags that fit the corpus e from the address base, or none, as for a file that is damaged: then
// everything is fetched.
func (l *Library) loadTags(e entry, base string, ranges int) []string {
	if e.TagFile == "" {
		return nil
	}
	line, err := os.ReadFile(l.filePath(e.TagFile))
	var t tagTable
	if err != nil || !decodeLine(line, &t) || t.Digest != e.Digest || t.Base != base || len(t.Tags) != ranges {
		return nil
	}
	return t.Tags
}
