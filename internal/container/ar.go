package container

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

// arFormat is what ar and Debian's packages are.
var arFormat = &format{name: "ar", known: startsWith("!<arch>\n"), open: (*walker).walkAr}

// walkAr opens the members of a Unix archive.
func (w *walker) walkAr(l layer) error {
	in := &countingReader{r: l.r}
	if _, err := io.CopyN(io.Discard, in, 8); err != nil {
		return w.noteDamage(l.name, in.n, err)
	}
	for {
		var head [60]byte
		n, err := FillBuffer(in, head[:])
		if n == 0 && errors.Is(err, io.EOF) {
			return nil
		}
		size, perr := strconv.ParseInt(string(bytes.TrimSpace(head[48:58])), 10, 62)
		if err != nil || perr != nil || size < 0 || string(head[58:]) != "`\n" {
			return w.noteDamage(l.name, in.n, cutShort(err))
		}
		if err := w.openMember(l, string(bytes.TrimRight(head[:16], " /")), in, size, size&1); err != nil {
			return err
		}
	}
}

// openMember opens the next size bytes of in as a file, and passes over what of it was not read and over padding.
func (w *walker) openMember(l layer, name string, in *countingReader, size, padding int64) error {
	if err := w.countFile(l.name); err != nil {
		return err
	}
	entry := entryName(l.name, name)
	content := &summed{r: io.LimitReader(in, size), left: size}
	m := &meter{w: w, name: entry, r: content, in: func() int64 { return in.n }}
	if err := w.openLayer(layer{name: entry, depth: l.depth + 1}, m); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, content)      // an error comes again at the next head
	_, _ = io.CopyN(io.Discard, in, padding) // and so does this one
	return nil
}

// cpioFormat is what cpio and RPM's packages are, in the three forms that are met.
var cpioFormat = &format{name: "cpio", known: startsWith("070701", "070702", "070707"), open: (*walker).walkCpio}

// walkCpio opens the files of a cpio archive.
func (w *walker) walkCpio(l layer) error {
	in := &countingReader{r: l.r}
	for {
		head := make([]byte, 76)
		if _, err := FillBuffer(in, head); err != nil {
			return w.noteDamage(l.name, in.n, cutShort(err))
		}
		var mode, names, size int64
		align := int64(1)
		ok := true
		number := func(text []byte, base int) int64 {
			n, err := strconv.ParseInt(string(text), base, 62)
			ok = ok && err == nil && n >= 0
			return n
		}
		if string(head[:6]) == "070707" {
			mode, names, size = number(head[18:24], 8), number(head[59:65], 8), number(head[65:76], 8)
		} else {
			more := make([]byte, 110-76)
			if _, err := FillBuffer(in, more); err != nil {
				return w.noteDamage(l.name, in.n, cutShort(err))
			}
			head = append(head, more...)
			mode, size, names, align = number(head[14:22], 16), number(head[54:62], 16), number(head[94:102], 16), 4
		}
		if !ok || names < 1 || names > 1<<16 || !strings.HasPrefix(string(head), "0707") {
			return w.noteDamage(l.name, in.n, errDamaged)
		}
		name := make([]byte, names+paddingTo(int64(len(head))+names, align))
		if _, err := FillBuffer(in, name); err != nil {
			return w.noteDamage(l.name, in.n, cutShort(err))
		}
		called := strings.TrimRight(string(name[:names]), "\x00")
		if called == "TRAILER!!!" {
			return nil
		}
		const kind, plain = 0o170000, 0o100000
		if mode&kind != plain {
			_, _ = io.CopyN(io.Discard, in, size+paddingTo(size, align)) // an error comes again at the next head
			continue
		}
		if err := w.openMember(l, called, in, size, paddingTo(size, align)); err != nil {
			return err
		}
	}
}

// paddingTo returns how many bytes are missing to a multiple of align.
func paddingTo(n, align int64) int64 { return (align - n%align) % align }
