package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
)

// oleFormat is the file of many streams in which Office kept documents before 2007, and Outlook keeps messages.
var oleFormat = inPlace("OLE document", starts("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), (*walker).ole)

var errOLE = errors.New("damaged: not an OLE document")

// ole hands out the streams: workbooks as rows, texts of messages as such, attachments opened, the rest as it is.
func (w *walker) ole(l layer) error {
	o := &oleFile{at: l.at, size: l.size}
	if err := o.open(); err != nil {
		return w.damaged(l.name, 0, err)
	}
	for _, e := range o.entries {
		if e.name == "EncryptedPackage" || e.name == "EncryptionInfo" {
			w.skip(l.name, errEncrypted.Error(), 0)
			return nil
		}
	}
	for _, e := range o.entries {
		if e.kind != oleStream || e.size == 0 {
			continue
		}
		if err := w.file(l.name); err != nil {
			return err
		}
		if err := w.oleStream(l, o, e); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) oleStream(l layer, o *oleFile, e oleEntry) error {
	entry := layer{name: inside(l.name, e.name), depth: l.depth, size: l.size}
	content := o.stream(e)
	switch {
	case e.name == "Workbook" || e.name == "Book":
		return w.written(entry, func(out *text) error { return writeXLS(content, out) })
	case strings.HasPrefix(e.name, "__substg1.0_") && strings.HasSuffix(e.name, "001F"), e.name == "WordDocument":
		return w.written(entry, func(out *text) error { return writeMixed(content, out) })
	case strings.HasPrefix(e.name, "__substg1.0_3701"): // an attachment
		return w.open(layer{name: entry.name, depth: l.depth + 1}, &meter{w: w, name: entry.name, r: content, in: func() int64 { return l.size }})
	}
	return w.hand(Entry{Name: entry.name, Depth: l.depth + 1}, content)
}

const (
	oleStream   = 2
	oleRoot     = 5
	oleFree     = 0xffffffff
	oleEnd      = 0xfffffffe
	oleSmallest = 4096 // streams below this lie in small sectors
)

type oleEntry struct {
	name  string
	kind  byte
	start uint32
	size  int64
}

// oleFile is the table of sectors and the list of streams.
type oleFile struct {
	at      io.ReaderAt
	size    int64
	shift   uint
	small   uint
	next    []uint32 // sector after each
	smalls  []uint32
	mini    []byte // small sectors, all of them
	entries []oleEntry
}

func (o *oleFile) open() error {
	var head [512]byte
	if err := full(o.at, head[:], 0); err != nil {
		return err
	}
	b := binary.LittleEndian
	o.shift, o.small = uint(b.Uint16(head[30:])), uint(b.Uint16(head[32:]))
	if o.shift != 9 && o.shift != 12 || o.small != 6 {
		return errOLE
	}
	sectors := o.size>>o.shift + 1
	var tables []uint32
	for i := 76; i < 512; i += 4 {
		tables = append(tables, b.Uint32(head[i:]))
	}
	for more, n := b.Uint32(head[68:]), 0; more < oleEnd && int64(n) < sectors; n++ {
		sector, err := o.sector(more)
		if err != nil {
			return err
		}
		for i := 0; i+8 <= len(sector); i += 4 {
			tables = append(tables, b.Uint32(sector[i:]))
		}
		more = b.Uint32(sector[len(sector)-4:])
	}
	for _, t := range tables {
		if t >= oleEnd || int64(len(o.next)) > sectors {
			continue
		}
		sector, err := o.sector(t)
		if err != nil {
			break // what is there may be enough
		}
		for i := 0; i < len(sector); i += 4 {
			o.next = append(o.next, b.Uint32(sector[i:]))
		}
	}
	if err := o.list(b.Uint32(head[48:])); err != nil {
		return err
	}
	return o.openSmall(b.Uint32(head[60:]))
}

func (o *oleFile) sector(n uint32) ([]byte, error) {
	sector := make([]byte, 1<<o.shift)
	k, err := o.at.ReadAt(sector, (int64(n)+1)<<o.shift)
	if k == 0 {
		return nil, cutShort(err)
	}
	return sector, nil
}

// list reads the directory.
func (o *oleFile) list(start uint32) error {
	raw, err := io.ReadAll(io.LimitReader(o.chain(start, 1<<40), 64<<20))
	if err != nil && len(raw) < 128 {
		return err
	}
	for ; len(raw) >= 128; raw = raw[128:] {
		e := raw[:128]
		length := int(binary.LittleEndian.Uint16(e[64:]))
		if length < 2 || length > 64 {
			continue
		}
		o.entries = append(o.entries, oleEntry{
			name: wideText(e[:length-2], false), kind: e[66], start: binary.LittleEndian.Uint32(e[116:]), size: int64(binary.LittleEndian.Uint32(e[120:])),
		})
	}
	if len(o.entries) == 0 {
		return errOLE
	}
	return nil
}

// openSmall reads the small sectors, which lie in the stream of the first entry.
func (o *oleFile) openSmall(start uint32) error {
	root := o.entries[0]
	if root.kind != oleRoot || root.size == 0 {
		return nil
	}
	if root.size > o.size {
		root.size = o.size
	}
	o.mini, _ = io.ReadAll(o.chain(root.start, root.size))                // what is there counts
	table, _ := io.ReadAll(io.LimitReader(o.chain(start, 1<<40), o.size)) // and so does this
	for ; len(table) >= 4; table = table[4:] {
		o.smalls = append(o.smalls, binary.LittleEndian.Uint32(table))
	}
	return nil
}

// stream gives the content of an entry.
func (o *oleFile) stream(e oleEntry) io.Reader {
	if e.size >= oleSmallest {
		return o.chain(e.start, e.size)
	}
	var parts [][]byte
	left := int(e.size)
	for n, i := e.start, 0; left > 0 && n < oleEnd && i <= oleSmallest>>o.small; i++ {
		from := int64(n) << o.small
		if from >= int64(len(o.mini)) {
			break
		}
		part := o.mini[from:min(int64(len(o.mini)), from+1<<o.small)]
		part = part[:min(left, len(part))]
		parts = append(parts, part)
		left -= len(part)
		if int64(n) >= int64(len(o.smalls)) {
			break
		}
		n = o.smalls[n]
	}
	return bytes.NewReader(bytes.Join(parts, nil))
}

func (o *oleFile) chain(start uint32, size int64) io.Reader {
	return &oleChain{o: o, at: start, left: size}
}

// oleChain follows sectors. As many steps as there are sectors end a circle.
type oleChain struct {
	o     *oleFile
	at    uint32
	left  int64
	steps int
	rest  []byte
}

func (c *oleChain) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		if c.left == 0 || c.at >= oleEnd {
			return 0, io.EOF
		}
		if c.steps++; c.steps > len(c.o.next)+1 {
			return 0, errOLE
		}
		sector, err := c.o.sector(c.at)
		if err != nil {
			return 0, err
		}
		c.rest = sector[:min(c.left, int64(len(sector)))]
		c.left -= int64(len(c.rest))
		if int64(c.at) >= int64(len(c.o.next)) {
			c.at = oleEnd
		} else {
			c.at = c.o.next[c.at]
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
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
					out.raw([]byte{'\n'})
				}
				continue
			case c < ' ' && c != '\t':
				out.raw([]byte{'\n'})
			default:
				out.raw([]byte{c})
			}
			zeros = 0
		}
		if out.err != nil {
			return out.err
		}
		if errors.Is(err, io.EOF) {
			return out.row()
		}
		if err != nil {
			return err
		}
	}
}
