package scan

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/vigiahq/vigia/internal/fault"
)

// Limits bound what Walk unpacks, so that a few bytes made to swell cannot fill memory or take for ever. Zero means the
// default.
type Limits struct {
	// Ratio is how many bytes may come out for each byte that goes in, per layer and over all layers.
	Ratio int64
	// Bytes is how much may be unpacked in all.
	Bytes int64
	// Depth is how many layers may lie inside each other: a .tar.gz has two.
	Depth int
	// Entries is how many files may be in all archives together.
	Entries int64
	// Memory is what all layers under way may hold together: windows of decoders, tables of contents, and archives that
	// must be read from their end (zip, 7z) but lie inside another one.
	Memory int64
	// Directory is the size of the largest table of contents of a zip or 7z that is read.
	Directory int64
}

// DefaultLimits keep an import within 256 MiB of memory.
var DefaultLimits = Limits{Ratio: 200, Bytes: 4 << 40, Depth: 6, Entries: 20_000_000, Memory: 160 << 20, Directory: 16 << 20}

// slack is what may come out before the ratio counts: small files of blanks are no bombs.
const slack = 4 << 20

// Entry is one file to be scanned. The name tells a person where it lies; it comes from the archive and is never to be
// used as a path.
type Entry struct {
	Name  string
	Depth int
}

// Skip is something that was not read to its end, and why.
type Skip struct {
	Name   string
	Reason string
	// Offset is how many unpacked bytes of the entry had been read.
	Offset int64
}

// Report sums up a walk.
type Report struct {
	Entries int64 // handed out
	Bytes   int64 // unpacked and handed out
	Skips   []Skip
	Skipped int64 // all of them; Skips holds the first hundred
}

const skipsKept = 100

// ErrBomb means that a limit was reached. What had been handed out before belongs to a hostile file.
var ErrBomb = fault.New(fault.Unprocessable, "scan.bomb")

// Visit reads one entry. An error of its own stops the walk; an error that the reader returned, handed back, only ends
// the entry.
type Visit func(entry Entry, r io.Reader) error

// Walk opens source and calls visit for every file in it: for source itself, or, if it is an archive or compressed, for
// what lies inside, through all layers. It writes nothing anywhere: what must be held to be read is held in memory,
// within limits.Memory, or skipped and reported.
//
// A source that also is an io.ReaderAt and an io.Seeker, such as a file, is read in place whatever its size.
func Walk(ctx context.Context, name string, source io.Reader, limits Limits, visit Visit) (Report, error) {
	w := &walker{ctx: ctx, limits: limits.orDefault(), visit: visit}
	if at, size, ok := seekable(source); ok {
		w.source.known = size
		w.source.whole, _ = source.(*os.File)
		err := w.open(shown(name), io.NewSectionReader(at, 0, size), at, size, 0)
		return w.report, err
	}
	w.source.r = source
	err := w.open(shown(name), &w.source, nil, 0, 0)
	return w.report, err
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits
	for _, f := range []struct{ own, byDefault *int64 }{
		{&l.Ratio, &d.Ratio}, {&l.Bytes, &d.Bytes}, {&l.Entries, &d.Entries}, {&l.Memory, &d.Memory}, {&l.Directory, &d.Directory},
	} {
		if *f.own == 0 {
			*f.own = *f.byDefault
		}
	}
	if l.Depth == 0 {
		l.Depth = d.Depth
	}
	return l
}

func seekable(r io.Reader) (io.ReaderAt, int64, bool) {
	at, ok := r.(io.ReaderAt)
	seeker, canSeek := r.(io.Seeker)
	if !ok || !canSeek {
		return nil, 0, false
	}
	size, err := seeker.Seek(0, io.SeekEnd)
	return at, size, err == nil
}

// walker is one walk under way.
type walker struct {
	ctx      context.Context
	limits   Limits
	visit    Visit
	report   Report
	source   countedSource
	held     int64 // bytes of memory reserved
	unpacked int64 // bytes that came out of any decoder or archive
	files    int64 // entries of archives seen
}

// countedSource counts what was taken from the source; of one that is read in place, all of it counts from the start.
type countedSource struct {
	r     io.Reader
	n     int64
	known int64
	whole *os.File // the source, until it turns out to be an archive
}

func (c *countedSource) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *countedSource) bytes() int64 { return max(c.n, c.known) }

// open looks at the first bytes of r and goes on by what they say. at is r in place, or nil if r can only be read on.
func (w *walker) open(name string, r io.Reader, at io.ReaderAt, size int64, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	head := bufio.NewReaderSize(r, sniffed)
	start, err := head.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return w.hand(Entry{Name: name, Depth: depth}, io.MultiReader(bytes.NewReader(start), failed{err}))
	}
	format := sniff(start)
	if format == plain {
		return w.hand(Entry{Name: name, Depth: depth}, head)
	}
	w.source.whole = nil
	if depth >= w.limits.Depth {
		w.skip(name, "nested too deeply", 0)
		return nil
	}
	switch format {
	case tarFile:
		return w.tar(name, head, depth)
	case zipFile, sevenZipFile:
		return w.inPlace(name, format, head, at, size, depth)
	default:
		return w.decompress(name, format, head, depth)
	}
}

// failed is what is left of a stream after an error.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// hand gives an entry to the visitor.
func (w *walker) hand(entry Entry, r io.Reader) error {
	counted := &entryReader{r: r, whole: w.source.whole}
	err := w.visit(entry, counted)
	w.report.Entries++
	w.report.Bytes += counted.n
	if err != nil && counted.err != nil && errors.Is(err, counted.err) {
		return w.damaged(entry.Name, counted, counted.err)
	}
	return err
}

// damaged notes an entry that could not be read to its end. A limit or a cancelled walk is no damage: it ends
// everything.
func (w *walker) damaged(name string, r io.Reader, err error) error {
	if errors.Is(err, ErrBomb) || w.ctx.Err() != nil {
		return err
	}
	var offset int64
	if c, ok := r.(*entryReader); ok {
		offset = c.n
	}
	w.skip(name, err.Error(), offset)
	return nil
}

func (w *walker) skip(name, reason string, offset int64) {
	w.report.Skipped++
	if len(w.report.Skips) < skipsKept {
		w.report.Skips = append(w.report.Skips, Skip{Name: name, Reason: reason, Offset: offset})
	}
}

// reserve sets aside n bytes of memory for as long as a layer is open, or notes that the entry is skipped.
func (w *walker) reserve(name string, n int64) (release func(), ok bool) {
	if n > w.limits.Memory-w.held {
		w.skip(name, fmt.Sprintf("needs %d bytes of memory, %d are left", n, w.limits.Memory-w.held), 0)
		return nil, false
	}
	w.held += n
	return func() { w.held -= n }, true
}

// entryReader remembers how far an entry was read, and the error that ended it.
type entryReader struct {
	r     io.Reader
	n     int64
	err   error
	whole *os.File // the file that the entry is, or nil
}

func (c *entryReader) file() *os.File { return c.whole }

func (c *entryReader) took(n int64) { c.n = n }

func (c *entryReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

const nameLongest = 256

// shown makes a name fit to be shown: short, valid UTF-8, nothing that steers a terminal.
func shown(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(name, "?"))
	if len(name) > nameLongest {
		name = strings.ToValidUTF8(name[:nameLongest], "")
	}
	return name
}

// inside names an entry of the archive outer.
func inside(outer, name string) string { return outer + "!" + shown(name) }
