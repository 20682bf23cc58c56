package container

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/dump/scan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// walker is one walk under way.
type walker struct {
	ctx      context.Context //nolint:containedctx // a walk is one call, and ends with it
	options  Options
	limits   Limits
	visit    Visit
	report   Report
	source   scan.CountingReader
	known    int64  // the size of a source that is read in place
	unpacked int64  // bytes that came out of any decoder or archive
	files    int64  // entries of archives seen
	fitted   string // the password that fitted last
}

// sourceBytes returns how much was read of the source; of one that is read in place, all of it counts from the start.
func (w *walker) sourceBytes() int64 { return max(w.source.Count, w.known) }

// layer is something that was met on the way down.
type layer struct {
	name  string
	r     *bufio.Reader
	at    io.ReaderAt // all of it in place, or nil if it can only be read on
	size  int64       // of at
	depth int
	head  []byte // its first bytes
}

// openLayer looks at the first bytes of r and goes on by what they say.
func (w *walker) openLayer(l layer, r io.Reader) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	l.r = bufio.NewReaderSize(r, sniffed)
	start, err := l.r.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) { // what is there may still be told and read
		l.r = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(start)), failed{err}), sniffed)
		start, _ = l.r.Peek(sniffed)
	}
	f := sniffFormat(start)
	if f == nil {
		return w.handPlain(l, start)
	}
	l.head = bytes.Clone(start)
	if l.depth >= w.limits.Depth {
		w.noteSkip(l.name, "nested too deeply", 0)
		return nil
	}
	if w.options.Layer != nil {
		refused, closed := w.options.Layer()
		if refused != "" {
			w.noteSkip(l.name, refused, 0)
			return nil
		}
		defer closed()
	}
	return f.open(w, l)
}

// failed is what is left of a stream after an error.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// handPlain hands out what is packed in no known way. Of what is no text the texts in it are handed out, which is
// noted.
func (w *walker) handPlain(l layer, start []byte) error {
	reason := unreadable(start)
	if reason == "" {
		return w.handEntry(Entry{Name: l.name, Depth: l.depth}, l.r)
	}
	before := w.report.Bytes
	if err := w.handEntry(
		Entry{Name: l.name, Depth: l.depth, Binary: true},
		&textReader{next: (&binaryStrings{in: l.r}).nextStrings},
	); err != nil {
		return err
	}
	w.report.Unknown++
	w.noteSkip(l.name, reason, w.report.Bytes-before)
	return nil
}

func (w *walker) handEntry(entry Entry, r io.Reader) error {
	counted := &entryReader{CountingReader: scan.CountingReader{Source: r}}
	err := w.visit(entry, counted)
	w.report.Entries++
	w.report.Bytes += counted.Count
	if err != nil && counted.err != nil && errors.Is(err, counted.err) {
		return w.noteDamage(entry.Name, counted.Count, counted.err)
	}
	return err
}

// noteDamage notes an entry that could not be read to its end. A limit or a cancelled walk is no damage: it ends
// everything.
func (w *walker) noteDamage(name string, offset int64, err error) error {
	if errors.Is(err, ErrBomb) || w.ctx.Err() != nil {
		return err
	}
	w.noteSkip(name, explainError(err), offset)
	return nil
}

// explainError says what an error means to a person.
func explainError(err error) string {
	var known *fault.Error
	switch {
	case errors.As(err, &known):
		return err.Error()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "cut short"
	}
	for _, own := range []string{"damaged", "cut short", "encrypted", "too large", "packed in"} {
		if strings.HasPrefix(err.Error(), own) {
			return err.Error()
		}
	}
	const most = 80 // a library may quote from the file
	word := printableName(err.Error())
	if len(word) > most {
		word = strings.ToValidUTF8(word[:most], "") + "..."
	}
	return "damaged: " + word
}

// noteSkip notes an entry that is not read, and why.
func (w *walker) noteSkip(name, reason string, offset int64) {
	w.report.Skipped++
	if len(w.report.Skips) < skipsKept {
		w.report.Skips = append(w.report.Skips, Skip{Name: name, Reason: reason, Offset: offset})
	}
}

// countFile counts an entry of an archive.
func (w *walker) countFile(name string) error {
	w.files++
	if w.files > w.limits.Entries {
		return ErrBomb.Note("%s: more than %d files", name, w.limits.Entries)
	}
	return w.ctx.Err()
}

// entryReader remembers how far an entry was read, and the error that ended it.
type entryReader struct {
	scan.CountingReader
	err error
}

func (c *entryReader) Read(p []byte) (int, error) {
	n, err := c.CountingReader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// meter stops a layer that swells: it sits on what comes out, and knows what went in.
type meter struct {
	w    *walker
	name string
	r    io.Reader
	in   func() int64 // nil where the layer's own input is not known, as in an archive read in place
	out  int64
}

func (m *meter) Read(p []byte) (int, error) {
	if err := m.w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.r.Read(p)
	m.out += int64(n)
	m.w.unpacked += int64(n)
	l := &m.w.limits
	switch {
	case m.w.unpacked > l.Bytes:
		return n, ErrBomb.Note("%s: more than %d bytes unpacked", m.name, l.Bytes)
	case m.out > slack && m.in != nil && m.out > l.Ratio*m.in(),
		m.w.unpacked > slack && m.w.unpacked > l.Ratio*int64(l.Depth)*m.w.sourceBytes(),
		m.out > slack && m.out > l.Ratio*m.w.sourceBytes():
		return n, ErrBomb.Note("%s: unpacks to more than %d times its size", m.name, l.Ratio)
	}
	return n, err
}

// errTooLarge means that something would have to be held in memory that is too large for it.
var errTooLarge = errors.New("too large to be held in memory")

// heldMost is how much of a layer that can only be read on is held in memory, to be read in place. A variable, for
// tests.
var heldMost int64 = 96 << 20

// chunk is how much of a layer is held in one piece, so that holding more never copies.
const chunk = 1 << 20

// holdInMemory reads what it may of r into memory. It returns io.EOF if that is all of it, no error if there is more,
// and else the error that broke it off.
func holdInMemory(r io.Reader) (held *io.SectionReader, err error) {
	var parts []Volume
	for size := int64(0); err == nil && size < heldMost; {
		part := make([]byte, chunk)
		var n int
		n, err = scan.FillBuffer(r, part)
		parts, size = append(parts, Volume{At: bytes.NewReader(part), Size: int64(n)}), size+int64(n)
	}
	return NewSet(parts).SectionReader, err
}

// holdLayer holds a layer that can only be read on, so that it can be read in place. It reports false if the layer is
// too large for that, which is noted. Of a stream that breaks off, what was there is held, and that it broke is noted.
func (w *walker) holdLayer(l *layer) (ok bool, err error) {
	if l.at != nil {
		return true, nil
	}
	held, err := holdInMemory(l.r)
	switch {
	case err == nil:
		w.noteSkip(l.name, errTooLarge.Error(), 0)
		return false, nil
	case !errors.Is(err, io.EOF):
		if err := w.noteDamage(l.name, held.Size(), err); err != nil {
			return false, err
		}
	}
	l.at, l.size = held, held.Size()
	return true, nil
}

// holdWhole places a layer that is small enough to be held; else it returns all of it as a stream.
func (l *layer) holdWhole() (rest io.Reader) {
	if l.at != nil {
		return nil
	}
	held, err := holdInMemory(l.r)
	switch {
	case err == nil:
		return io.MultiReader(held, l.r)
	case !errors.Is(err, io.EOF):
		return io.MultiReader(held, failed{err})
	}
	l.at, l.size = held, held.Size()
	return nil
}

// readExactly reads exactly len(p) bytes at a place of a file; a file that ends before is cut short.
func readExactly(at io.ReaderAt, p []byte, offset int64) error {
	if offset < 0 {
		return errDamaged
	}
	n, err := at.ReadAt(p, offset)
	if n == len(p) {
		return nil
	}
	return cutShort(err)
}

// errDamaged stands before what a library says of a broken file.
var errDamaged = errors.New("damaged")

// cutShort tells an end that came too early.
func cutShort(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A run of at least shortestString characters is taken for a text among bytes of which nothing else is known; one of
// longestString is cut.
const (
	shortestString = 6
	longestString  = 64 << 10
)

// textReader hands out texts as next makes them, one after the other.
type textReader struct {
	next func() (text []byte, err error)
	rest []byte
	err  error
}

func (r *textReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.rest, r.err = r.next()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// binaryStrings finds the texts that stand in a binary, of one or two bytes a character, each as a line.
type binaryStrings struct {
	in           io.Reader
	narrow, wide []byte // runs that may go on
	last         byte   // a printable byte whose zero would make it a wide character, or 0
	lines        []byte // to be handed out
}

// nextStrings returns the texts of the next bytes.
func (s *binaryStrings) nextStrings() ([]byte, error) {
	var block [16 << 10]byte
	n, err := s.in.Read(block[:])
	s.lines = s.lines[:0]
	for _, c := range block[:n] {
		s.takeByte(c)
	}
	if err != nil {
		s.takeByte(1) // ends every run
	}
	return s.lines, err
}

// takeByte takes a byte of the run that is being read.
func (s *binaryStrings) takeByte(c byte) {
	isWide := c == 0 && s.last != 0
	if isWide {
		s.wide = utf8.AppendRune(s.wide, rune(s.last))
	}
	if isPrintable(c) {
		s.narrow = append(s.narrow, c)
	}
	if !isPrintable(c) || len(s.narrow) >= longestString {
		s.narrow = s.endRun(s.narrow)
	}
	if !isWide && (s.last != 0 || !isPrintable(c)) || len(s.wide) >= longestString {
		s.wide = s.endRun(s.wide)
	}
	if s.last = c; !isPrintable(c) {
		s.last = 0
	}
}

// endRun adds the run as a line if it is long enough to be text rather than chance, and returns it emptied for reuse.
func (s *binaryStrings) endRun(run []byte) []byte {
	if utf8.RuneCount(run) >= shortestString {
		s.lines = append(append(s.lines, run...), '\n')
	}
	return run[:0]
}

// isPrintable reports whether c can be part of a run of text. Bytes beyond ASCII can: they may be letters in UTF-8.
func isPrintable(c byte) bool { return c >= ' ' && c != 0x7f || c == '\t' }
