package segment

import (
	"hash/crc32"
	"os"
)

// recording is sorted records that wait for their code, which follows from how many different labels they have. The
// first ones are kept in memory, the others go to a file. They lie in blocks, so that many need not be copied to make
// room for more.
type recording struct {
	file   *os.File
	unite  unite
	limit  int          // whole blocks in memory at most
	held   []labelled   // the last block; its last record may still be united with one that comes
	whole  [][]labelled // the first blocks
	free   [][]labelled // room for blocks
	used   []bool       // labels by their ids, of all blocks but the last
	size   int64
	blocks []uint32 // checksum of each block in the file; these are between the first ones and the last
	next   int      // block to read next
}

// recordBlock is how many records are kept, written and read together.
const recordBlock = 16 << 10

// newRecording keeps as much in memory as there is room, or as is given.
func newRecording(file *os.File, unite unite, memory int, room ...[]labelled) *recording {
	r := &recording{file: file, unite: unite}
	for _, b := range room {
		for b = b[:cap(b)]; len(b) >= recordBlock; b = b[recordBlock:] {
			r.free = append(r.free, b[:0:recordBlock])
		}
	}
	r.limit = max(memory/(recordBlock*recordSize[labelled]()), 2, len(r.free)-1) // one is the last
	return r
}

// acceptsKey reports whether records that begin with the key can be appended without breaking the order.
func (r *recording) acceptsKey(first uint64) bool {
	return len(r.held) == 0 || first >= r.held[len(r.held)-1][0]
}

// addRecords takes records with distinct keys, of which the first may have been the last before.
func (r *recording) addRecords(records []labelled) error {
	if n := len(r.held); n > 0 && len(records) > 0 && r.held[n-1][0] == records[0][0] {
		r.held[n-1] = uniteRecords(r.held[n-1], records[0], r.unite)
		records = records[1:]
	}
	for len(records) > 0 {
		if len(r.held) == cap(r.held) {
			if err := r.beginBlock(); err != nil {
				return err
			}
		}
		n := min(len(records), cap(r.held)-len(r.held))
		r.held, records = append(r.held, records[:n]...), records[n:]
	}
	return nil
}

// addLastRecords takes records over as they lie, unless there are others before them.
func (r *recording) addLastRecords(records []labelled) error {
	records = dropRepeated(records, r.unite)
	if len(r.held) > 0 {
		return r.addRecords(records)
	}
	for len(records) > recordBlock {
		r.held, records = records[:recordBlock], records[recordBlock:]
		r.noteLabels()
		r.whole = append(r.whole, r.held)
	}
	r.held = records
	return nil
}

// beginBlock begins a block. The records of the last one do not change any more.
func (r *recording) beginBlock() error {
	r.noteLabels()
	if len(r.whole) == r.limit {
		err := r.writeBlock(r.held)
		r.held = r.held[:0]
		return err
	}
	if len(r.held) > 0 {
		r.whole = append(r.whole, r.held)
	}
	if n := len(r.free); n > 0 {
		r.held, r.free = r.free[n-1], r.free[:n-1]
	} else {
		r.held = make([]labelled, 0, recordBlock)
	}
	return nil
}

// noteLabels notes the labels of the last block.
func (r *recording) noteLabels() {
	used := r.used
	for i := range r.held {
		label := r.held[i][1]
		if label >= uint64(len(used)) {
			used = append(used, make([]bool, max(64, int(label)+1-len(used)))...)
		}
		used[label] = true
	}
	r.used = used
}

// writeBlock brings a block to the file.
func (r *recording) writeBlock(records []labelled) error {
	block := asBytes(records)
	if _, err := r.file.WriteAt(block, r.size); err != nil {
		return err
	}
	r.size += int64(len(block))
	r.blocks = append(r.blocks, crc32.Checksum(block, castagnoli))
	return nil
}

// reopenAsSource makes the recording a source of what it has.
func (r *recording) reopenAsSource() (source[labelled], *os.File, error) {
	r.noteLabels()
	r.free = nil
	return &recorded{recording: r}, r.file, nil
}

// recorded reads a recording back in order: blocks in memory, then those in the file, then the rest that filled no
// block.
type recorded struct {
	*recording
	records []labelled
}

// nextRecords returns the next block, and checks one from the file against its checksum. The records are valid until
// the next call.
func (r *recorded) nextRecords() ([]labelled, error) {
	if len(r.whole) > 0 {
		records := r.whole[0]
		r.whole[0], r.whole = nil, r.whole[1:]
		return records, nil
	}
	if r.next == len(r.blocks) {
		records := r.held
		r.held = nil
		return records, nil
	}
	if r.records == nil {
		r.records = make([]labelled, recordBlock)
	}
	block := asBytes(r.records)
	if _, err := r.file.ReadAt(block, int64(r.next)*int64(len(block))); err != nil {
		return nil, err
	}
	if crc32.Checksum(block, castagnoli) != r.blocks[r.next] {
		return nil, ErrCorrupt.Note("spill file: wrong checksum")
	}
	r.next++
	return r.records, nil
}
