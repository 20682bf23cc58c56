package container

import (
	"bytes"
	"io"
	"slices"

	"github.com/vigiahq/vigia/internal/dump/scan"
)

// format is one way of packing.
type format struct {
	// name is what a person calls it.
	name string
	// known tells it by its first bytes, at most sniffed of them.
	known func(head []byte) bool
	// open reads on inside.
	open func(w *walker, l layer) error
}

// sniffed is how many bytes tell a format.
const sniffed = 1 << 10

// formats are asked in this order: what has a mark of its own first, what is guessed from its shape last.
var formats []*format

func init() { // the formats refer to the walker, which refers to them
	formats = append([]*format{
		gzipFormat,
		zstdFormat,
		xzFormat,
		bzip2Format,
		lz4Format,
		lzipFormat,
		zipFormat,
		sevenZipFormat,
		rarFormat,
		sqliteFormat,
		sqliteLogFormat,
		pdfFormat,
		oleFormat,
		tarFormat,
		zlibFormat,
		mailFormat,
		bsonFormat,
		lzmaFormat,
		isoFormat,
	}, slices.Concat(foreignFormats, lockedFormats)...)
}

// sniffFormat knows a format by its first bytes, or returns nil. Names are not asked: dumps are called anything.
func sniffFormat(head []byte) *format {
	if len(head) < 2 {
		return nil
	}
	for _, f := range formats {
		if f.known(head) {
			return f
		}
	}
	return nil
}

// IsPacked reports whether what begins like this is opened by WalkSource, and no text by itself.
func IsPacked(head []byte) bool { return sniffFormat(head[:min(len(head), sniffed)]) != nil }

// streamFormat describes a compressed stream. decode gets the packed bytes.
func streamFormat(name string, known func(head []byte) bool, decode func(in io.Reader) (io.Reader, error)) *format {
	return &format{name: name, known: known, open: func(w *walker, l layer) error {
		in := &scan.CountingReader{Source: l.r}
		out, err := decode(in)
		if err != nil {
			return w.noteDamage(l.name, 0, err)
		}
		return w.openLayer(
			layer{name: l.name + "!", depth: l.depth + 1},
			&meter{w: w, name: l.name, r: out, in: func() int64 { return in.Count }},
		)
	}}
}

// inPlaceFormat describes what must be read at many places; what can only be read on is held in memory first.
func inPlaceFormat(name string, known func(head []byte) bool, read func(w *walker, l layer) error) *format {
	return &format{name: name, known: known, open: func(w *walker, l layer) error {
		if ok, err := w.holdLayer(&l); err != nil || !ok {
			return err
		}
		return read(w, l)
	}}
}

// document describes what is turned into a text: write reads the layer and writes what it says, tables as rows of cells
// between tabs.
func document(name string, known func(head []byte) bool, write func(d *source, out *text) error) *format {
	return inPlaceFormat(name, known, func(w *walker, l layer) error {
		return w.handWritten(l, func(out *text) error { return write(&source{ReaderAt: l.at, size: l.size}, out) })
	})
}

// source is what a document is read from.
type source struct {
	io.ReaderAt
	size int64
}

// handWritten hands out what write writes, while it does. What was written before an error counts.
func (w *walker) handWritten(l layer, write func(out *text) error) error {
	r, pipe := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = pipe.CloseWithError(writeAll(pipe, write)) // returns nil
	}()
	defer func() { <-done }()
	defer func() { _ = r.Close() }() // returns nil
	size := max(l.size, 1)
	return w.handEntry(
		Entry{Name: l.name + "!", Depth: l.depth + 1},
		&meter{w: w, name: l.name, r: r, in: func() int64 { return size }},
	)
}

// startsWith returns what knows a format by one of its first bytes.
func startsWith(marks ...string) func(head []byte) bool {
	return func(head []byte) bool {
		return slices.ContainsFunc(marks, func(m string) bool { return bytes.HasPrefix(head, []byte(m)) })
	}
}
