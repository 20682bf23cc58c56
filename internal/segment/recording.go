package segment

import (
	"hash/crc32"
	"os"
)

// recording is sorted records that wait for their code, which follows from how frequent each label is among them. Few
// are kept in memory, more go to a file. They lie in blocks, so that many need not be copied to make room for more.
type recording struct {
	file   *os.File
	unite  unite
	limit  int          // whole blocks in memory at most
	held   []labelled   // the last block; its last record may still be united with one that comes
	whole  [][]labelled // the blocks before it
	free   [][]labelled // blocks that have been written
	counts []uint64     // of each label, in all blocks but the last
	size   int64
	blocks []uint32 // checksum of each block in the file
	next   int      // block to read next
}

// recordBlock is how many records are kept, written and read together.
const recordBlock = 16 << 10

func newRecording(file *os.File, unite unite, memory int) *recording {
	return &recording{file: file, unite: unite, limit: max(memory/(recordBlock*recordSize[labelled]()), 2)}
}

func (r *recording) accepts(first uint64) bool {
	return len(r.held) == 0 || first >= r.held[len(r.held)-1][0]
}

func (r *recording) add(records []labelled) error {
	for len(records) > 0 {
		if n := len(r.held); n == recordBlock && records[0][0] != r.held[n-1][0] {
			if err := r.turn(); err != nil {
				return err
			}
		}
		records = records[r.take(records):]
	}
	return nil
}

// addLast takes records over as they lie, unless there are others before them.
func (r *recording) addLast(records []labelled) error {
	if len(r.held) > 0 {
		return r.add(records)
	}
	records = compact(records, r.unite)
	for len(records) > recordBlock {
		r.held, records = records[:recordBlock], records[recordBlock:]
		r.tally()
		r.whole = append(r.whole, r.held)
	}
	r.held = records
	return nil
}

// take appends records until the block is full, and returns how many of them.
func (r *recording) take(records []labelled) int {
	held := r.held
	for i := range records {
		if n := len(held); n > 0 && held[n-1][0] == records[i][0] {
			held[n-1] = united(held[n-1], records[i], r.unite)
			continue
		}
		if len(held) == recordBlock {
			r.held = held
			return i
		}
		held = append(held, records[i])
	}
	r.held = held
	return len(records)
}

// turn begins a block. The records of the last one do not change any more.
func (r *recording) turn() error {
	r.tally()
	if r.whole = append(r.whole, r.held); len(r.whole) >= r.limit {
		if err := r.write(); err != nil {
			return err
		}
	}
	if n := len(r.free); n > 0 {
		r.held, r.free = r.free[n-1], r.free[:n-1]
	} else {
		r.held = make([]labelled, 0, recordBlock)
	}
	return nil
}

// tally counts the labels of the last block.
func (r *recording) tally() {
	counts := r.counts
	for i := range r.held {
		label := r.held[i][1]
		if label >= uint64(len(counts)) {
			counts = append(counts, make([]uint64, max(64, int(label)+1-len(counts)))...)
		}
		counts[label]++
	}
	r.counts = counts
}

// write brings all whole blocks to the file.
func (r *recording) write() error {
	for _, records := range r.whole {
		block := bytesOf(records)
		if _, err := r.file.WriteAt(block, r.size); err != nil {
			return err
		}
		r.size += int64(len(block))
		r.blocks = append(r.blocks, crc32.Checksum(block, castagnoli))
		r.free = append(r.free, records[:0])
	}
	r.whole = r.whole[:0]
	return nil
}

func (r *recording) stop() {}

// reopen makes the recording a source of what it has.
func (r *recording) reopen() (source[labelled], *os.File, error) {
	r.tally()
	r.whole, r.held, r.free = append(r.whole, r.held), nil, nil
	return &recorded{recording: r}, r.file, nil
}

type recorded struct {
	*recording
	records []labelled
}

func (r *recorded) more() ([]labelled, error) {
	if r.next == len(r.blocks) {
		if len(r.whole) == 0 {
			return nil, nil
		}
		records := r.whole[0]
		r.whole[0], r.whole = nil, r.whole[1:]
		return records, nil
	}
	if r.records == nil {
		r.records = make([]labelled, recordBlock)
	}
	block := bytesOf(r.records)
	if _, err := r.file.ReadAt(block, int64(r.next)*int64(len(block))); err != nil {
		return nil, err
	}
	if crc32.Checksum(block, castagnoli) != r.blocks[r.next] {
		return nil, ErrCorrupt.With("spill file: wrong checksum")
	}
	r.next++
	return r.records, nil
}
