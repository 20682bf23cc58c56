package container

import (
	"bytes"
	"io"
)

// programFormat is a program that unpacks itself: an archive behind machine code.
var programFormat = &format{name: "program", known: func(b []byte) bool {
	return len(b) > 64 && (b[0] == 'M' && b[1] == 'Z' || bytes.HasPrefix(b, []byte("\x7fELF")))
}, open: (*walker).walkProgram}

// walkProgram looks for an archive in the first megabytes, where a program for unpacking ends, and for a zip's table at the
// end. One that holds none is searched as it is.
func (w *walker) walkProgram(l layer) error {
	if rest := l.holdWhole(); rest != nil {
		return w.handEntry(Entry{Name: l.name, Depth: l.depth}, rest)
	}
	const searched = 4 << 20
	start := make([]byte, min(searched, l.size))
	n, err := l.at.ReadAt(start, 0)
	if start = start[:n]; n == 0 {
		return w.noteDamage(l.name, 0, err)
	}
	for _, inner := range []*format{sevenZipFormat, rarFormat} {
		for _, mark := range []string{"7z\xbc\xaf\x27\x1c\x00", "Rar!\x1a\x07\x00", "Rar!\x1a\x07\x01\x00"} {
			at := bytes.Index(start, []byte(mark))
			if at < 0 || !inner.known(start[at:]) {
				continue
			}
			part := io.NewSectionReader(l.at, int64(at), l.size-int64(at))
			return w.openLayer(layer{name: l.name, at: part, size: part.Size(), depth: l.depth}, io.NewSectionReader(part, 0, part.Size()))
		}
	}
	if dir, err := zipDirectory(l.at, l.size); err == nil && dir > 0 {
		if outcome := w.zipTable(l); outcome.done {
			return outcome.err
		}
	}
	return w.handEntry(Entry{Name: l.name, Depth: l.depth}, io.NewSectionReader(l.at, 0, l.size))
}
