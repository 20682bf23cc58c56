package password

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
)

// tagTable holds the entity tag of every range of a download, so that the next one can ask only for what changed.
//
// Its file: magic, u32 number of ranges, then strings of one length byte each: the digest of the corpus that the tags
// belong to, the base address they came from, and the tag of each range; CRC-32C of all that.
type tagTable struct {
	digest, base string
	tags         []string
}

const tagMagic = "PWTAGS1\n"

var errTags = errors.New("entity tags cannot be read")

// encodeTags writes the table to its file format.
func (t *tagTable) encodeTags() []byte {
	b := binary.LittleEndian.AppendUint32([]byte(tagMagic), uint32(len(t.tags)))
	for _, s := range append([]string{t.digest, t.base}, t.tags...) {
		if len(s) > 255 { // as good as no tag: the range is fetched again
			s = ""
		}
		b = append(append(b, byte(len(s))), s...)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// decodeTags parses a file of entity tags. A damaged one is errTags; the download then starts without tags.
func decodeTags(b []byte) (*tagTable, error) {
	n := len(b) - 4
	if n < len(tagMagic)+4 || string(b[:len(tagMagic)]) != tagMagic || crc32.Checksum(b[:n], castagnoli) != binary.LittleEndian.Uint32(b[n:]) {
		return nil, errTags
	}
	text := string(b[:n]) // the tags share its memory
	at := len(tagMagic) + 4
	next := func() (string, bool) {
		if at >= n || at+1+int(text[at]) > n {
			return "", false
		}
		s := text[at+1 : at+1+int(text[at])]
		at += 1 + len(s)
		return s, true
	}
	t := &tagTable{}
	var ok bool
	if t.digest, ok = next(); !ok {
		return nil, errTags
	}
	if t.base, ok = next(); !ok {
		return nil, errTags
	}
	for range binary.LittleEndian.Uint32(b[len(tagMagic):]) {
		s, ok := next()
		if !ok {
			return nil, errTags
		}
		t.tags = append(t.tags, s)
	}
	return t, nil
}

// loadTags returns the tags that fit the corpus e from the address base, or none: then everything is fetched.
func (l *Library) loadTags(e entry, base string, ranges int) []string {
	if e.TagFile == "" {
		return nil
	}
	b, err := os.ReadFile(l.filePath(e.TagFile))
	if err != nil {
		return nil
	}
	t, err := decodeTags(b)
	if err != nil || t.digest != e.Digest || t.base != base || len(t.tags) != ranges {
		return nil
	}
	return t.tags
}
