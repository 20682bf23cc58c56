package segment

import (
	"hash/crc32"
	"os"
)

// recording is sorted records that wait for their code, which follows from how frequent each label is among them. Few
// are kept in memory, more go to a file.
type recording struct {
	file   *os.File
	unite  unite
	limit  int        // records in memory at most
	held   []labelled // the last ones; the very last may still be united with one that comes
	counts []uint64   // of each label, without the last record
	count  uint64
	size   int64
	blocks []uint32 // checksum of each block of recordBlock records in the file
	next   int      // block to read next
}

// recordBlock is how many records are written and read at once.
const recordBlock = 16 << 10

func newRecording(file *os.File, unite unite, memory int) *recording {
	return &recording{file: file, unite: unite, limit: max(memory/recordSize[labelled](), 2*recordBlock)}
}

func (r *recording) accepts(first uint64) bool { return r.count == 0 || first >= r.last()[0] }

func (r *recording) last() *labelled { return &r.held[len(r.held)-1] }

func (r *recording) add(records []labelled) error {
	for i := range records {
		if r.count > 0 {
			if last := r.last(); last[0] == records[i][0] {
				*last = united(*last, records[i], r.unite)
				continue
			}
			r.tally()
		}
		r.held = append(r.held, records[i])
		r.count++
		if len(r.held) > r.limit {
			if err := r.write(); err != nil {
				return err
			}
		}
	}
	return nil
}

// tally counts the last record, which will not change any more.
func (r *recording) tally() {
	label := r.last()[1]
	for uint64(len(r.counts)) <= label {
		r.counts = append(r.counts, make([]uint64, max(64, int(label)))...)
	}
	r.counts[label]++
}

// write brings all whole blocks to the file but the last record.
func (r *recording) write() error {
	done := 0
	for ; len(r.held)-done > recordBlock; done += recordBlock {
		block := bytesOf(r.held[done : done+recordBlock])
		if _, err := r.file.WriteAt(block, r.size); err != nil {
			return err
		}
		r.size += int64(len(block))
		r.blocks = append(r.blocks, crc32.Checksum(block, castagnoli))
	}
	r.held = r.held[:copy(r.held, r.held[done:])]
	return nil
}

func (r *recording) stop() {}

// reopen makes the recording a source of what it has.
func (r *recording) reopen() (source[labelled], *os.File, error) {
	if r.count > 0 {
		r.tally()
	}
	return &recorded{recording: r}, r.file, nil
}

type recorded struct {
	*recording
	records []labelled
}

func (r *recorded) more() ([]labelled, error) {
	if r.next == len(r.blocks) {
		rest := r.held
		r.held = nil
		return rest, nil
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
