package segment

import (
	"hash/crc32"
	"os"
	"unsafe"
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

// spilledRun is where a sorted run lies in the spill file, divided by the leading digit of its keys.
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

// digitFor returns how many bits the first digit has where runs have so many keys.
func digitFor(keys int) uint {
	digit := uint(1)
	for digit < coarseDigit && keys>>(digit+1) >= leastRead {
		digit++
	}
	return digit
}

// writeRun appends a run of keys that scatter has put in order.
func (s *spill[R]) writeRun(keys []R, start []uint32) error {
	run := spilledRun{at: s.size, start: start, sums: make([]uint32, len(start)-1)}
	for d := range run.sums {
		run.sums[d] = crc32.Checksum(asBytes(keys[start[d]:start[d+1]]), castagnoli)
	}
	all := asBytes(keys[:start[len(run.sums)]])
	_, err := s.file.WriteAt(all, s.size)
	s.size += int64(len(all))
	s.runs = append(s.runs, run)
	return err
}

// countDigit returns how many keys have digit d, repeated ones included.
func (s *spill[R]) countDigit(d int) (n int) {
	for _, run := range s.runs {
		n += int(run.start[d+1] - run.start[d])
	}
	return n + len(s.keysInMemory(d))
}

// keysInMemory returns the keys of digit d that are in memory.
func (s *spill[R]) keysInMemory(d int) []R {
	if s.restStart == nil {
		return nil
	}
	return s.rest[s.restStart[d]:s.restStart[d+1]]
}

// gatherDigit reads all keys of digit d, of which there are so many, into keys.
func (s *spill[R]) gatherDigit(d int, keys []R) error {
	keys = keys[copy(keys, s.keysInMemory(d)):]
	for _, run := range s.runs {
		from, to := run.start[d], run.start[d+1]
		raw := asBytes(keys[:to-from])
		if _, err := s.file.ReadAt(raw, run.at+int64(recordSize[R]())*int64(from)); err != nil {
			return err
		}
		if crc32.Checksum(raw, castagnoli) != run.sums[d] {
			return ErrCorrupt.Note("spill file: wrong checksum")
		}
		keys = keys[to-from:]
	}
	return nil
}

// readDigit calls fn with all keys of digit d, which may be too many to be held, some at a time. buf has room for some.
func (s *spill[R]) readDigit(d int, buf *readBuffer[R], fn func(keys []R)) error {
	if keys := s.keysInMemory(d); len(keys) > 0 {
		fn(keys)
	}
	for _, run := range s.runs {
		sum := uint32(0)
		for from, to := run.start[d], run.start[d+1]; from < to; {
			n := min(to-from, spillRead)
			keys := buf[:n]
			raw := asBytes(keys)
			if _, err := s.file.ReadAt(raw, run.at+int64(recordSize[R]())*int64(from)); err != nil {
				return err
			}
			sum = crc32.Update(sum, castagnoli, raw)
			fn(keys)
			from += n
		}
		if sum != run.sums[d] {
			return ErrCorrupt.Note("spill file: wrong checksum")
		}
	}
	return nil
}

// readBuffer holds the records that are read from a spilled run at once.
type readBuffer[R record] [spillRead]R

// recordSize returns how many bytes a record has in a file.
func recordSize[R record]() int {
	var r R
	return 8 * len(r)
}

// asBytes views records as bytes, in this machine's byte order: no other process can read a file without a name.
func asBytes[R record](records []R) []byte {
	first := (*byte)(unsafe.Pointer(unsafe.SliceData(records))) //nolint:gosec // numbers alone
	return unsafe.Slice(first, recordSize[R]()*len(records))    //nolint:gosec // as above
}
