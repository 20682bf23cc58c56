package container

import (
	"bufio"
	"bytes"
)

// foreignFormats are not opened here, because a tool that operators have turns them into text: dumps seldom come in
// them, and their readers are large. The verdict names the tool.
var foreignFormats = []*format{
	lockedFormat("Parquet is not opened: turn it into CSV with duckdb", startsWith("PAR1")),
	lockedFormat("Avro is not opened: turn it into CSV with duckdb", startsWith("Obj\x01")),
	lockedFormat("an archive of pg_dump -Fc is not opened: turn it into SQL with pg_restore -f", startsWith("PGDMP")),
}

// isoFormat knows images of CDs and DVDs (ISO 9660). Their first 32 KiB are empty, so that alone makes one worth a
// look.
var isoFormat = &format{name: "ISO 9660 image", known: isEmptyHead, open: func(w *walker, l layer) error {
	const mark = 32<<10 + 6 // where the mark ends
	l.r = bufio.NewReaderSize(l.r, mark)
	start, _ := l.r.Peek(mark) // an error comes again with the read after it
	if len(start) < mark || !bytes.HasSuffix(start, []byte("CD001")) {
		return w.handPlain(l, l.head)
	}
	w.noteSkip(l.name, "an ISO 9660 image is not opened: take its files out with 7z", 0)
	return nil
}}

// isEmptyHead reports whether a file begins with zeros only, as an ISO image does.
func isEmptyHead(b []byte) bool { return len(b) == sniffed && len(bytes.Trim(b, "\x00")) == 0 }
