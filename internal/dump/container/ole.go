package container

import (
	"errors"
	"io"
	"strings"

	"github.com/richardlehane/mscfb"
)

// oleFormat is the file of many streams in which Office kept documents before 2007, and Outlook keeps messages.
var oleFormat = inPlaceFormat("OLE document", startsWith("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), (*walker).walkOLE)

// walkOLE hands out the streams: workbooks as rows, texts of messages as such, attachments opened, the rest as it is.
func (w *walker) walkOLE(l layer) error {
	streams, err := mscfb.New(l.at)
	if err != nil {
		return w.noteDamage(l.name, 0, err)
	}
	for _, e := range streams.File {
		if e.Name == "EncryptedPackage" || e.Name == "EncryptionInfo" {
			w.noteSkip(l.name, errEncrypted.Error(), 0)
			return nil
		}
	}
	for _, e := range streams.File {
		if e.FileInfo().IsDir() || e.Size == 0 {
			continue
		}
		if err := w.countFile(l.name); err != nil {
			return err
		}
		if err := w.oleStream(l, e); err != nil {
			return err
		}
	}
	return nil
}

// oleStream hands on one stream of an OLE file: a workbook as rows, text of Word and Outlook in all its encodings, an
// attachment as a file of its own, and any other stream as it is.
func (w *walker) oleStream(l layer, e *mscfb.File) error {
	entry := layer{name: entryName(l.name, e.Name), depth: l.depth, size: l.size}
	switch {
	case e.Name == "Workbook" || e.Name == "Book":
		return w.handWritten(entry, func(out *text) error { return writeXLS(e, out) })
	case strings.HasPrefix(e.Name, "__substg1.0_") && strings.HasSuffix(e.Name, "001F"), e.Name == "WordDocument":
		return w.handWritten(entry, func(out *text) error { return writeMixed(e, out) })
	case strings.HasPrefix(e.Name, "__substg1.0_3701"): // an attachment
		return w.openLayer(
			layer{name: entry.name, depth: l.depth + 1},
			&meter{w: w, name: entry.name, r: e, in: func() int64 { return l.size }},
		)
	}
	return w.handEntry(Entry{Name: entry.name, Depth: l.depth + 1}, e)
}

// writeMixed writes bytes that hold texts of one and of two bytes a character: zeros between letters are left out, and
// what is no text ends a line.
func writeMixed(r io.Reader, out *text) error {
	buf := make([]byte, 32<<10)
	zeros := 0
	for {
		n, err := r.Read(buf)
		for _, c := range buf[:n] {
			switch {
			case c == 0:
				if zeros++; zeros == 2 {
					out.writeRaw([]byte{'\n'})
				}
				continue
			case c < ' ' && c != '\t':
				out.writeRaw([]byte{'\n'})
			default:
				out.writeRaw([]byte{c})
			}
			zeros = 0
		}
		if err := out.firstError(); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return out.endRow()
		}
		if err != nil {
			return err
		}
	}
}
