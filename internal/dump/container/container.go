// Package container opens dumps: archives, compressed files, documents, mailboxes and databases, however nested, and
// hands out the texts inside them. It looks for nothing in them.
//
// A format is one variable and one line in the list of format.go: how it is known by its first bytes, and how it is
// read on. Names are never asked, and never used as paths.
//
// Invariants: nothing is written anywhere; what is not read to its end is reported with its name and the reason in
// plain words. Memory and processor time are bounded by the process that this runs in (package reader), not here.
package container

import (
	"cmp"
	"context"
	"io"
	"strings"
	"unicode"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Limits bound what WalkSource unpacks, so that a few bytes made to swell cannot fill memory or take for ever. Zero
// means the default.
type Limits struct {
	// Ratio is how many bytes may come out for each byte that goes in, per layer and over all layers.
	Ratio int64
	// Bytes is how much may be unpacked in all.
	Bytes int64
	// Depth is how many layers may lie inside each other: a .tar.gz has two.
	Depth int
	// Entries is how many files may be in all archives together.
	Entries int64
}

// DefaultLimits are what an import asks for. Memory and time are the reader process's to bound.
var DefaultLimits = Limits{Ratio: 200, Bytes: 4 << 40, Depth: 6, Entries: 20_000_000}

// slack is what may come out before the ratio counts: small files of blanks are no bombs.
const slack = 4 << 20

// Options say how to open.
type Options struct {
	Limits
	// Passwords are tried on what is encrypted, before the usual ones.
	Passwords []string
	// Layer, if set, is called before a layer is opened, and closed when it is done with. A layer that is refused is
	// skipped for that reason.
	Layer func() (refused string, closed func())
}

// Entry is one text to be scanned. The name tells a person where it lies; it comes from the archive and is never to be
// used as a path.
type Entry struct {
	Name  string
	Depth int
	// Binary says that it is of no kind that is read: what is handed out are the texts that stand in it, a line each,
	// and lines beside each other need not belong together.
	Binary bool
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
	// Unknown is how many of the entries are of no known kind: what is plain text in them was handed out, no more.
	Unknown int64
	Skips   []Skip
	Skipped int64 // all of them; Skips holds the first hundred
}

// skipsKept is how many skipped members a report names; the others are counted.
const skipsKept = 100

// Verdict is how much of a source was read.
type Verdict uint8

// Read to its end; read in part; not read at all.
const (
	Read Verdict = iota
	Partly
	Unread
)

func (v Verdict) String() string { return [...]string{"read", "partly read", "not read"}[v] }

// Verdict judges the walk.
func (r *Report) Verdict() Verdict {
	switch {
	case r.Skipped == 0:
		return Read
	case r.Bytes > 0 && r.Entries > r.Unknown:
		return Partly
	}
	return Unread
}

// ErrBomb means that a limit was reached. What had been handed out before belongs to a hostile file.
var ErrBomb = fault.New(fault.Unprocessable, "scan.bomb")

// Visit reads one entry. An error of its own stops the walk; an error that the reader returned, handed back, only ends
// the entry.
type Visit func(entry Entry, r io.Reader) error

// WalkSource opens source and calls visit for every text in it: for source itself, or, if it is packed in any way, for
// what lies inside, through all layers. It writes nothing anywhere: what must be held to be read is held in memory,
// within the limit, or skipped and reported.
//
// A source that also is an io.ReaderAt and an io.Seeker, such as a file or a Set, is read in place whatever its size.
func WalkSource(ctx context.Context, name string, source io.Reader, options Options, visit Visit) (Report, error) {
	options.Limits = options.orDefault()
	w := &walker{ctx: ctx, options: options, limits: options.Limits, visit: visit}
	if at, size, ok := seekable(source); ok {
		w.known = size
		err := w.openLayer(layer{name: printableName(name), at: at, size: size}, io.NewSectionReader(at, 0, size))
		return w.report, err
	}
	w.source.Source = source
	err := w.openLayer(layer{name: printableName(name)}, &w.source)
	return w.report, err
}

// orDefault returns the limits with the default in the place of each one that is zero.
func (l Limits) orDefault() Limits {
	d := DefaultLimits
	return Limits{
		Ratio:   cmp.Or(l.Ratio, d.Ratio),
		Bytes:   cmp.Or(l.Bytes, d.Bytes),
		Depth:   cmp.Or(l.Depth, d.Depth),
		Entries: cmp.Or(l.Entries, d.Entries),
	}
}

// MostUnpacked returns how much a source of a size may unfold into, all layers together.
func (l Limits) MostUnpacked(size int64) int64 {
	l = l.orDefault()
	if size > l.Bytes/l.Ratio/int64(l.Depth) {
		return l.Bytes
	}
	return max(slack, size*l.Ratio*int64(l.Depth))
}

// MostEntries returns how many texts a source may hold.
func (l Limits) MostEntries() int64 { return l.orDefault().Entries }

// seekable returns r as a file of known size, if it can be read at any position: some formats have their directory at
// the end. It moves r to its end.
func seekable(r io.Reader) (io.ReaderAt, int64, bool) {
	at, ok := r.(io.ReaderAt)
	seeker, canSeek := r.(io.Seeker)
	if !ok || !canSeek {
		return nil, 0, false
	}
	size, err := seeker.Seek(0, io.SeekEnd)
	return at, size, err == nil
}

// nameLongest cuts the names of members, which hostile archives make megabytes long.
const nameLongest = 256

// printableName makes a name fit to be shown: short, valid UTF-8, nothing that steers a terminal.
func printableName(name string) string {
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

// entryName names an entry of the archive outer.
func entryName(outer, name string) string { return outer + "!" + printableName(name) }
