package container

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/vigiahq/vigia/internal/dump/scan"
)

var tarFormat = &format{name: "tar", known: tarHeader, open: (*walker).walkTar}

// walkTar reads on inside a tar file. Only plain files have contents; links are not followed.
func (w *walker) walkTar(l layer) error {
	in := &scan.CountingReader{Source: l.r}
	for t := tar.NewReader(in); ; {
		header, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return w.noteDamage(l.name, in.Count, err)
		}
		if err := w.countFile(l.name); err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg && header.Typeflag != tar.TypeGNUSparse {
			continue
		}
		entry := entryName(l.name, header.Name)
		unpacked := &meter{w: w, name: entry, r: t, in: func() int64 { return in.Count }}
		if err := w.openLayer(layer{name: entry, depth: l.depth + 1}, unpacked); err != nil {
			return err
		}
	}
}

// tarHeader checks the sum that every tar header carries: old archives have no other mark.
func tarHeader(b []byte) bool {
	if len(b) < 512 || b[0] == 0 {
		return false
	}
	want, err := strconv.ParseInt(string(bytes.Trim(b[148:156], " \x00")), 8, 32)
	if err != nil {
		return false
	}
	sum := int64(8 * ' ')
	for i, c := range b[:512] {
		if i < 148 || i >= 156 {
			sum += int64(c)
		}
	}
	return sum == want
}
