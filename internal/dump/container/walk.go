package container

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

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
	texts := &textReader{next: (&binaryStrings{in: l.r}).nextStrings}
	if err := w.handEntry(Entry{Name: l.name, Depth: l.depth, Binary: true}, texts); err != nil {
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

// errDamaged stands before what a library says of a broken file.
var errDamaged = errors.New("damaged")

// cutShort tells an end that came too early.
func cutShort(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
