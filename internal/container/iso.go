package container

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"strings"
)

// isoFormat reads images of CDs and DVDs (ISO 9660). Their first 32 KiB are empty, so that alone makes one worth a look.
var isoFormat = &format{name: "ISO 9660 image", known: emptyHead, open: func(w *walker, l layer) error {
	l.r = bufio.NewReaderSize(l.r, isoFirst+isoSector)
	start, _ := l.r.Peek(isoFirst + 6) // an error comes again with the read after it
	if !bytes.HasSuffix(start, []byte("CD001")) || len(start) < isoFirst+6 {
		return w.handPlain(l, l.head)
	}
	if ok, err := w.holdLayer(&l); err != nil || !ok {
		return err
	}
	return w.walkISO(l)
}}

const (
	isoSector = 2048
	isoFirst  = 16 * isoSector
	// isoDeepest is how many folders may lie in each other.
	isoDeepest = 32
)

// emptyHead reports whether a file begins with zeros only, as an ISO image does: its signature stands behind 32 KiB.
func emptyHead(b []byte) bool { return len(b) == sniffed && len(bytes.Trim(b, "\x00")) == 0 }

// walkISO opens the files of the tree with the best names.
func (w *walker) walkISO(l layer) error {
	var root []byte
	wide := false
	for at := int64(isoFirst); ; at += isoSector {
		var d [isoSector]byte
		if readExactly(l.at, d[:], at) != nil || string(d[1:6]) != "CD001" {
			break
		}
		const primary, joliet, last = 1, 2, 255
		if d[0] == primary && root == nil || d[0] == joliet && string(d[88:90]) == "%/" {
			root, wide = bytes.Clone(d[156:190]), d[0] == joliet
		}
		if d[0] == last {
			break
		}
	}
	if root == nil {
		return w.noteDamage(l.name, 0, errDamaged)
	}
	i := &isoImage{walker: w, layer: l, wide: wide, seen: map[int64]bool{}}
	return i.openFolder(root, "", isoDeepest)
}

// isoImage is an image under way.
type isoImage struct {
	*walker
	layer
	wide bool
	seen map[int64]bool // folders, so that one that lists itself comes to an end
}

// openFolder opens what a folder lists, whose own record is given.
func (w *isoImage) openFolder(record []byte, path string, depth int) error {
	l := w.layer
	at, size := int64(binary.LittleEndian.Uint32(record[2:]))*isoSector, int64(binary.LittleEndian.Uint32(record[10:]))
	if depth == 0 || at+size > l.size {
		return w.noteDamage(entryName(l.name, path), 0, io.ErrUnexpectedEOF)
	}
	if w.seen[at] {
		return nil
	}
	w.seen[at] = true
	list := make([]byte, size)
	if err := readExactly(l.at, list, at); err != nil {
		return w.noteDamage(entryName(l.name, path), 0, err)
	}
	for i := 0; i < len(list); {
		n := int(list[i])
		if n == 0 { // records do not go over the ends of sectors
			i += isoSector - i%isoSector
			continue
		}
		if n < 34 || i+n > len(list) || 33+int(list[i+32]) > n {
			return w.noteDamage(entryName(l.name, path), int64(i), errDamaged)
		}
		if err := w.openRecord(list[i:i+n], path, depth); err != nil {
			return err
		}
		i += n
	}
	return nil
}

// openRecord opens a file or folder.
func (w *isoImage) openRecord(r []byte, path string, depth int) error {
	l := w.layer
	name := string(r[33 : 33+int(r[32])])
	if name == "\x00" || name == "\x01" {
		return nil // itself, and what it lies in
	}
	if w.wide {
		name = wideText([]byte(name), true)
	}
	name, _, _ = strings.Cut(name, ";")
	if path += name; len(path) > nameLongest {
		path = path[:nameLongest]
	}
	if err := w.countFile(l.name); err != nil {
		return err
	}
	const folder = 2
	if r[25]&folder != 0 {
		return w.openFolder(r, path+"/", depth-1)
	}
	at, size := int64(binary.LittleEndian.Uint32(r[2:]))*isoSector, int64(binary.LittleEndian.Uint32(r[10:]))
	entry := entryName(l.name, path)
	content := &summed{r: io.NewSectionReader(l.at, at, size), left: size}
	return w.walker.openLayer(layer{name: entry, depth: l.depth + 1}, &meter{w: w.walker, name: entry, r: content, in: func() int64 { return max(size, 1) }})
}
