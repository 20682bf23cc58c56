package segment

import (
	"errors"
	"io"
	"math/bits"
	"os"
	"slices"
	"sync/atomic"
)

// Open opens the segment at path. Its error is ErrCorrupt when the file is there but is not a whole segment.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{file: f}
	if err := r.loadIndex(); err != nil {
		_ = f.Close()
		return nil, err
	}
	return r, nil
}

// loadIndex reads everything but the data pages. It uses plain reads: a file that shrinks meanwhile is an error, not a
// fault.
func (r *Reader) loadIndex() (err error) {
	if r.stat, err = r.file.Stat(); err != nil {
		return err
	}
	size := r.stat.Size()
	if !r.stat.Mode().IsRegular() || size < pageSize+footerSize {
		return ErrCorrupt.Note("not a segment file: too short")
	}
	head, err := r.readAt(0, pageSize)
	if err != nil {
		return err
	}
	var withLabels bool
	if r.width, withLabels, err = decodeHeader(head); err != nil {
		return err
	}
	length := footerLen(withLabels)
	if size < pageSize+length {
		return ErrCorrupt.Note("not a segment file: too short")
	}
	foot, err := r.readAt(size-length, int(length))
	if err != nil {
		return err
	}
	if r.foot, err = decodeFooter(foot, withLabels); err != nil {
		return err
	}
	if r.foot.fileSize() != size {
		return ErrCorrupt.Note("file has %d bytes, its footer calls for %d", size, r.foot.fileSize())
	}
	if r.foot.last > r.width.MaxKey() {
		return ErrCorrupt.Note("footer: last key wider than the keys")
	}
	if err := r.loadDirectory(); err != nil {
		return err
	}
	m, err := newMapping(r.file, size)
	if err != nil {
		return err
	}
	r.mapped.Store(m)
	return nil
}

// loadDirectory reads the first key and checksum of every page, the note and the label table, which are kept in memory.
// The pages themselves are read when a key is looked up.
func (r *Reader) loadDirectory() error {
	n := int(r.foot.pages)
	tail, err := r.readAt(r.foot.dirOffset(), n*dirEntry+int(r.foot.noteLen)+int(r.foot.labelsLen))
	if err != nil {
		return err
	}
	if checksum(tail) != r.foot.dirSum {
		return ErrCorrupt.Note("directory: wrong checksum")
	}
	if r.dir, err = decodeDirectory(tail, n, r.foot.last); err != nil {
		return err
	}
	rest := slices.Clone(tail[n*dirEntry:])
	r.note, rest = rest[:r.foot.noteLen], rest[r.foot.noteLen:]
	if r.foot.labelled {
		if r.code, r.sealed, err = decodeLabelCode(rest); err != nil {
			return err
		}
	}
	r.heads = make([]atomic.Uint64, n)
	r.buildJumpTable()
	return nil
}

// buildJumpTable builds the jump table: two to four entries for each page.
func (r *Reader) buildJumpTable() {
	n := len(r.dir.first)
	if n == 0 {
		return
	}
	span := r.dir.first[n-1] - r.dir.first[0]
	r.shift = uint(max(0, bits.Len64(span)-bits.Len(uint(2*n))))
	r.jump = make([]uint32, span>>r.shift+2)
	for _, first := range r.dir.first {
		r.jump[(first-r.dir.first[0])>>r.shift+1]++
	}
	for t := 1; t < len(r.jump); t++ {
		r.jump[t] += r.jump[t-1]
	}
}

// readAt reads n bytes at a place of the file.
func (r *Reader) readAt(at int64, n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := r.file.ReadAt(b, at); err != nil {
		if errors.Is(err, io.EOF) {
			err = ErrCorrupt.Note("the file was cut while it was opened")
		}
		return nil, err
	}
	return b, nil
}
