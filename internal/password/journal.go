package password

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"os"
	"slices"

	"github.com/vigiahq/vigia/internal/durable"
	"github.com/vigiahq/vigia/internal/fault"
)

// castagnoli is the polynomial that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// journal is what a download has fetched so far, kept in a file so that an interrupted download goes on where it
// stopped. A first line says what is being downloaded; then comes a record for each range, in the order of arrival:
//
//	u32 range, u8 unchanged, u8 length of the tag, u16 zero, u32 number of keys, u32 CRC-32C of the record without this field
//	the tag, then 3 bytes a key: the 20 bits that follow the range, and above them whether it was seen WidelySeen times
//
// A record cut by a crash fails its checksum; it and what follows are dropped.
type journal struct {
	file  *os.File
	done  []record // by range
	count int
	end   int64
}

// record says where the keys of a range are in the journal. The zero record is a range that is not there yet.
type record struct {
	at        int64
	keys      uint32
	have      bool
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

const (
	recordHead = 16
	maxInRange = 1 << 20 // a range cannot hold more distinct keys
	wideFlag   = 1 << 23
)

// openJournal opens and locks the journal at path. One that was begun for something else is begun anew.
func openJournal(path string, head journalHead) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: f, done: make([]record, head.Ranges)}
	if err := j.adoptHead(head); err != nil {
		_ = f.Close()
		return nil, err
	}
	return j, nil
}

// adoptHead goes on with a journal of the same download.
func (j *journal) adoptHead(head journalHead) error {
	locked, err := durable.TryLockFile(j.file)
	if err != nil {
		return err
	}
	if !locked {
		return ErrBusy.With("", fault.DownloadRunning)
	}
	line, err := json.Marshal(head)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	in := bufio.NewReaderSize(j.file, 1<<20)
	got := make([]byte, len(line))
	if _, err := io.ReadFull(in, got); err != nil || !slices.Equal(got, line) {
		if err := j.file.Truncate(0); err != nil {
			return err
		}
		j.end = int64(len(line))
		_, err := j.file.WriteAt(line, 0)
		return err
	}
	j.end = int64(len(line))
	for j.readRecord(in) {
	}
	return j.file.Truncate(j.end)
}

// readRecord takes up the next record, or reports false at the first that is not whole.
func (j *journal) readRecord(in *bufio.Reader) bool {
	var head [recordHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return false
	}
	number, n := binary.LittleEndian.Uint32(head[0:]), binary.LittleEndian.Uint32(head[8:])
	if int(number) >= len(j.done) || n > maxInRange {
		return false
	}
	body := make([]byte, int(head[5])+3*int(n))
	if _, err := io.ReadFull(in, body); err != nil {
		return false
	}
	if recordSum(head[:], body) != binary.LittleEndian.Uint32(head[12:]) {
		return false
	}
	j.noteRange(number, record{
		at: j.end + recordHead + int64(head[5]), keys: n, have: true, unchanged: head[4] != 0, tag: string(body[:head[5]]),
	})
	j.end += int64(recordHead + len(body))
	return true
}

// recordSum returns the checksum of a record: its head without the sum itself, and its body.
func recordSum(head, body []byte) uint32 {
	return crc32.Update(crc32.Checksum(head[:12], castagnoli), castagnoli, body)
}

// noteRange remembers where a range stands in the journal.
func (j *journal) noteRange(number uint32, r record) {
	if !j.done[number].have {
		j.count++
	}
	j.done[number] = r
}

// missingRanges lists the ranges that are not there yet.
func (j *journal) missingRanges() []uint32 {
	var out []uint32
	for n, r := range j.done {
		if !r.have {
			out = append(out, uint32(n))
		}
	}
	return out
}

// addRange appends a range that was fetched.
func (j *journal) addRange(a answer) error {
	if len(a.tag) > 255 {
		a.tag = ""
	}
	b := make([]byte, recordHead, recordHead+len(a.tag)+3*len(a.keys))
	binary.LittleEndian.PutUint32(b[0:], a.number)
	if a.unchanged {
		b[4] = 1
	}
	b[5] = byte(len(a.tag))
	binary.LittleEndian.PutUint32(b[8:], uint32(len(a.keys)))
	b = append(b, a.tag...)
	for _, k := range a.keys {
		v := uint32(k & 0xfffff)
		if _, wide := slices.BinarySearch(a.widely, k); wide {
			v |= wideFlag
		}
		b = append(b, byte(v), byte(v>>8), byte(v>>16))
	}
	binary.LittleEndian.PutUint32(b[12:], recordSum(b[:recordHead], b[recordHead:]))
	if _, err := j.file.WriteAt(b, j.end); err != nil {
		return err
	}
	j.noteRange(a.number, record{
		at: j.end + recordHead + int64(len(a.tag)), keys: uint32(len(a.keys)), have: true, unchanged: a.unchanged, tag: a.tag,
	})
	j.end += int64(len(b))
	return nil
}

// keysOfRange appends the keys of a range that was fetched.
func (j *journal) keysOfRange(number uint32, keys, widely []uint64) (_, _ []uint64, err error) {
	r := j.done[number]
	b := make([]byte, 3*r.keys)
	if _, err := j.file.ReadAt(b, r.at); err != nil {
		return keys, widely, err
	}
	for ; len(b) > 0; b = b[3:] {
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
