package password

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"slices"

	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// castagnoli is the polynomial that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encodeLine returns v as a line of JSON with its checksum before it.
func encodeLine(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(text, castagnoli), text), err
}

// decodeLine reads what encodeLine wrote, and reports false for a line that is cut or damaged.
func decodeLine(line []byte, into any) bool {
	sum, text, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	return ok && string(sum) == fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli)) &&
		json.Unmarshal(text, into) == nil
}

// journal is what a download has fetched so far, kept in a file so that an interrupted download goes on where it
// stopped. A first line says what is being downloaded; then comes a line for each range, in the order of arrival. A
// line cut by a crash fails its checksum; it and what follows are dropped.
type journal struct {
	file  *os.File
	done  []fetchedRange // by range
	count int
	end   int64
}

// fetchedRange says where a range stands in the journal. The zero one is of a range that is not there yet.
type fetchedRange struct {
	at        int64
	size      int
	unchanged bool
	tag       string
}

// journalHead must be the same for a journal to be taken up again.
type journalHead struct {
	Algorithm string `json:"algorithm"`
	Base      string `json:"base"`
	Digest    string `json:"digest"` // of the corpus that unchanged ranges refer to
	Ranges    int    `json:"ranges"`
}

// journalRange is the line of a range.
type journalRange struct {
	Range     uint32 `json:"range"`
	Unchanged bool   `json:"unchanged,omitempty"`
	Tag       string `json:"tag,omitempty"`
	// Keys are three bytes each: the 20 bits that follow the range, and above them whether it was seen WidelySeen
	// times.
	Keys []byte `json:"keys,omitempty"`
}

// wideFlag marks a key of the journal that was seen WidelySeen times.
const wideFlag = 1 << 23

// openJournal opens and locks the journal at path. One that was begun for something else is begun anew.
func openJournal(path string, head journalHead) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: f, done: make([]fetchedRange, head.Ranges)}
	if err := j.adoptHead(head); err != nil {
		_ = f.Close()
		return nil, err
	}
	return j, nil
}

// adoptHead goes on with a journal of the same download.
func (j *journal) adoptHead(head journalHead) error {
	locked, err := durable.TryLockFile(j.file)
	if err == nil && !locked {
		err = ErrBusy.With("", fault.DownloadRunning)
	}
	if err != nil {
		return err
	}
	first, err := encodeLine(head)
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(j.file, 1<<20)
	j.end = int64(len(first))
	if got, _ := in.ReadBytes('\n'); !bytes.Equal(got, first) { // also where it cannot be read
		if err := j.file.Truncate(0); err != nil {
			return err
		}
		_, err := j.file.WriteAt(first, 0)
		return err
	}
	for {
		line, err := in.ReadBytes('\n')
		var r journalRange
		if err != nil || !decodeLine(line, &r) || int(r.Range) >= len(j.done) {
			return j.file.Truncate(j.end)
		}
		j.noteRange(r, len(line))
	}
}

// noteRange remembers where the range that stands at the end of the journal is.
func (j *journal) noteRange(r journalRange, size int) {
	if j.done[r.Range].size == 0 {
		j.count++
	}
	j.done[r.Range] = fetchedRange{at: j.end, size: size, unchanged: r.Unchanged, tag: r.Tag}
	j.end += int64(size)
}

// missingRanges lists the ranges that are not there yet.
func (j *journal) missingRanges() []uint32 {
	var out []uint32
	for n, r := range j.done {
		if r.size == 0 {
			out = append(out, uint32(n))
		}
	}
	return out
}

// addRange appends a range that was fetched.
func (j *journal) addRange(a answer) error {
	r := journalRange{Range: a.number, Unchanged: a.unchanged, Tag: a.tag}
	for _, k := range a.keys {
		v := uint32(k & 0xfffff)
		if _, wide := slices.BinarySearch(a.widely, k); wide {
			v |= wideFlag
		}
		r.Keys = append(r.Keys, byte(v), byte(v>>8), byte(v>>16))
	}
	line, err := encodeLine(r)
	if err == nil {
		_, err = j.file.WriteAt(line, j.end)
	}
	if err == nil {
		j.noteRange(r, len(line))
	}
	return err
}

// keysOfRange appends the keys of a range that was fetched.
func (j *journal) keysOfRange(number uint32, keys, widely []uint64) (_, _ []uint64, err error) {
	line := make([]byte, j.done[number].size)
	if _, err := j.file.ReadAt(line, j.done[number].at); err != nil {
		return keys, widely, err
	}
	var r journalRange
	if !decodeLine(line, &r) {
		return keys, widely, fmt.Errorf("%s: range %05X is damaged", j.file.Name(), number)
	}
	for b := r.Keys; len(b) >= 3; b = b[3:] {
		v := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
		k := uint64(number)<<20 | uint64(v&0xfffff)
		keys = append(keys, k)
		if v&wideFlag != 0 {
			widely = append(widely, k)
		}
	}
	return keys, widely, nil
}

// removeJournal ends the journal: what it held is published.
func (j *journal) removeJournal() error { return os.Remove(j.file.Name()) }
