package segment

import (
	"encoding/binary"
	"os"
)

// spill is a file without a name that holds sorted runs of plain keys: they are read once, by a merge, so that packing them
// would cost more than it saves.
type spill struct {
	file *os.File
	size int64
	runs []spilledRun
}

type spilledRun struct {
	at   int64
	keys int
	sums []uint32 // of each block
}

// spillBlock is how many keys have a checksum: a disk that loses bits under a merge must not lose them silently.
const spillBlock = 512

// write appends a run; keys are sorted.
func (s *spill) write(keys []uint64) error {
	run := spilledRun{at: s.size, keys: len(keys), sums: make([]uint32, 0, len(keys)/spillBlock+1)}
	buf := make([]byte, 0, writeBuffer)
	for len(keys) > 0 {
		n, at := min(len(keys), spillBlock), len(buf)
		for _, k := range keys[:n] {
			buf = binary.LittleEndian.AppendUint64(buf, k)
		}
		run.sums = append(run.sums, checksum(buf[at:]))
		keys = keys[n:]
		if len(keys) == 0 || len(buf)+8*spillBlock > cap(buf) {
			if _, err := s.file.WriteAt(buf, s.size); err != nil {
				return err
			}
			s.size += int64(len(buf))
			buf = buf[:0]
		}
	}
	s.runs = append(s.runs, run)
	return nil
}

// spillReader walks the keys of one run.
type spillReader struct {
	file *os.File
	run  spilledRun
	next int // block to read next
	buf  []byte
	keys []uint64
}

// newSpillReader makes a source that reads about that many keys at a time.
func newSpillReader(file *os.File, run spilledRun, batch int) *spillReader {
	blocks := max(1, batch/spillBlock)
	return &spillReader{file: file, run: run, buf: make([]byte, blocks*spillBlock*8), keys: make([]uint64, 0, blocks*spillBlock)}
}

func (r *spillReader) more() ([]uint64, error) {
	from := r.next * spillBlock
	n := max(0, min(r.run.keys-from, cap(r.keys)))
	buf := r.buf[:8*n]
	if n == 0 {
		return nil, nil
	}
	if _, err := r.file.ReadAt(buf, r.run.at+8*int64(from)); err != nil {
		return nil, err
	}
	for at := 0; at < len(buf); at += 8 * spillBlock {
		if checksum(buf[at:min(at+8*spillBlock, len(buf))]) != r.run.sums[r.next] {
			return nil, ErrCorrupt.With("spill file: wrong checksum")
		}
		r.next++
	}
	keys := r.keys[:n]
	for i := range keys {
		keys[i] = binary.LittleEndian.Uint64(buf[8*i:])
	}
	return keys, nil
}
