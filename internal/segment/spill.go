package segment

import (
	"encoding/binary"
	"hash/crc32"
	"os"
)

// spill is a file without a name that holds runs of plain keys: they are read once, when the segment is put together,
// so that packing them would cost more than it saves. The keys of a run are ordered by their first digit only. What all
// runs have of one digit fits the nearest caches, is read together and sorted there: that is less work than to sort
// each run and to merge them.
type spill[R record] struct {
	file  *os.File
	size  int64
	width Width
	digit uint // bits of the first digit
	runs  []spilledRun
	// rest are the last keys, in order of their first digit too, which need not go to the file.
	rest      []R
	restStart []uint32
}

type spilledRun struct {
	at    int64
	start []uint32 // where each digit begins, in keys
	sums  []uint32 // checksum of each digit: a disk that loses bits meanwhile must not lose them silently
}

const (
	// leastRead is how many keys of a digit a run should have, for reading them to be worth a call; spillRead is how
	// many are read at once at most.
	leastRead = 512
	spillRead = 8 << 10
)

// digitFor is how many bits the first digit has where runs have so many keys.
func digitFor(keys int) uint {
	digit := uint(1)
	for digit < coarseDigit && keys>>(digit+1) >= leastRead {
		digit++
	}
	return digit
}

// write appends a run of keys that scatter has put in order.
func (s *spill[R]) write(keys []R, start []uint32) error {
	run := spilledRun{at: s.size, start: start, sums: make([]uint32, len(start)-1)}
	buf := make([]byte, 0, writeBuffer)
	flush := func() error {
		_, err := s.file.WriteAt(buf, s.size)
		s.size += int64(len(buf))
		buf = buf[:0]
		return err
	}
	for d := range run.sums {
		for rest := keys[start[d]:start[d+1]]; len(rest) > 0; {
			if len(buf) == cap(buf) {
				if err := flush(); err != nil {
					return err
				}
			}
			at, n := len(buf), min(len(rest), (cap(buf)-len(buf))/(8*len(rest[0])))
			buf = appendRecords(buf, rest[:n])
			run.sums[d], rest = crc32.Update(run.sums[d], castagnoli, buf[at:]), rest[n:]
		}
	}
	s.runs = append(s.runs, run)
	return flush()
}

// count is how many keys have digit d, repeated ones included.
func (s *spill[R]) count(d int) (n int) {
	for _, run := range s.runs {
		n += int(run.start[d+1] - run.start[d])
	}
	return n + len(s.left(d))
}

// left returns the keys of digit d that are in memory.
func (s *spill[R]) left(d int) []R {
	if s.restStart == nil {
		return nil
	}
	return s.rest[s.restStart[d]:s.restStart[d+1]]
}

// read calls fn with all keys of digit d, some at a time. buf has room for spillRead keys in each form.
func (s *spill[R]) read(d int, buf *readBuffer[R], fn func(keys []R)) error {
	if keys := s.left(d); len(keys) > 0 {
		fn(keys)
	}
	for _, run := range s.runs {
		sum := uint32(0)
		for from, to := run.start[d], run.start[d+1]; from < to; {
			n := min(to-from, spillRead)
			keys := buf.keys[:n]
			raw := buf.room(int(n))
			if _, err := s.file.ReadAt(raw, run.at+int64(recordSize[R]())*int64(from)); err != nil {
				return err
			}
			sum = crc32.Update(sum, castagnoli, raw)
			readRecords(keys, raw)
			fn(keys)
			from += n
		}
		if sum != run.sums[d] {
			return ErrCorrupt.With("spill file: wrong checksum")
		}
	}
	return nil
}

type readBuffer[R record] struct {
	raw  []byte
	keys [spillRead]R
}

// room is for so many records in the file's form.
func (b *readBuffer[R]) room(n int) []byte {
	if b.raw == nil {
		b.raw = make([]byte, recordSize[R]()*spillRead)
	}
	return b.raw[:recordSize[R]()*n]
}

// recordSize is how many bytes a record has in a file.
func recordSize[R record]() int {
	var r R
	return 8 * len(r)
}

func appendRecords[R record](buf []byte, records []R) []byte {
	for i := range records {
		for k := range len(records[i]) {
			buf = binary.LittleEndian.AppendUint64(buf, records[i][k])
		}
	}
	return buf
}

func readRecords[R record](records []R, raw []byte) {
	words := recordSize[R]() / 8
	for i := range records {
		for k := range words {
			records[i][k] = binary.LittleEndian.Uint64(raw[8*(words*i+k):])
		}
	}
}
