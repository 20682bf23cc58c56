// Package reader reads hostile dumps in a process of its own.
//
// The child is the same binary, started as "read-dump". It has no key, no data folder, no database and no network:
// before the first byte of a dump it gives up the right to open anything (see confineProcess). What it may read comes
// as open files, or is served by its parent over a pipe; what it finds goes back over another one, as frames. It opens
// containers, searches texts and tells the records; its parent fingerprints, sorts and publishes, and parses nothing
// but frames.
//
// The invariant it keeps: a dump can end its reader, and never its reader's parent. Process says why a reader ended and
// at which member, so that the parent can go on behind it.
package reader

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Command is the argument that makes a binary the reader.
const Command = "read-dump"

// The limits of a reader.
const (
	// Memory is how much it may hold; it asks its own collector to stay below softMemory.
	Memory     = 256 << 20
	softMemory = 192 << 20
	// idleWall is how much time may pass without progress in which its parent waits for it; progressRate is how many
	// bytes buy another second of idleCPU.
	idleWall     = 2 * time.Minute
	progressRate = 256 << 10
	// What it returns may be outputRatio times what it has read and unpacked, and outputSlack more.
	outputRatio = 64
	outputSlack = 64 << 20
	// mostWorkers bounds the buffers.
	mostWorkers = 16
)

// Variables for tests: idleCPU is how much processor time may pass without progress, and command what is started.
var (
	idleCPU = 10 * time.Second
	command = Command
)

// ErrUnconfined refuses to read dumps in a process that a hostile one could take over and leave.
var ErrUnconfined = fault.New(fault.Unavailable, "reader.unconfined").With("", fault.ReaderUnconfined)

// Job is what a reader is told when it starts.
type Job struct {
	Limits container.Limits
	// Budget is how much processor time each input may take. It is the parent's to keep.
	Budget Budget `json:"-"`
	// Mapping says how records are read, as it was written; nil: texts that say that they are vigia-records are read as
	// such, and all others are searched.
	Mapping *string
	// OnlyRecords has every text read as records, and none searched.
	OnlyRecords bool
	// Workers search at the same time.
	Workers int
	// Span is how much of a large text is searched before a Checkpoint, and Piece how much at a time.
	Span, Piece int64
	// Often is after how many bytes a Checkpoint is wanted in any case; 0: when enough time has passed.
	Often int64
	// Unconfined has it read although the system has nothing to confine it with.
	Unconfined bool
	// Files is how many open files it was started with.
	Files int
	// Careful finishes what it has begun before each layer and each input, so that it is known what ends its reader.
	Careful bool
	// NoPasswords keeps the digests of passwords out of what is found.
	NoPasswords bool
}

// Cursor is a place in the inputs: everything before it has been searched.
type Cursor struct {
	Input  int   `json:"input"`
	Stream int64 `json:"stream"` // of that input
	Span   int64 `json:"span"`   // of that stream
	Done   bool  `json:"done"`
}

// Input is one source of bytes.
type Input struct {
	Name string
	// Inner is what of its name belongs to the dump, and is searched too.
	Inner     string
	Passwords []string
	// From is where to begin: the streams before it are passed over. Rows is what the text before it said of its rows.
	From Cursor
	Rows json.RawMessage
	// Skip, if it is set, is a layer that ended a reader before.
	Skip *Skip
	// Spent is what its earlier readers took. It is the parent's to keep.
	Spent Spent `json:"-"`
	// File is the number, from 1, of one of the files that the reader was started with. Without one, Inline means that
	// the content follows; else it is served: Size bytes at any offset, or, when that is negative, to be read on.
	File    int
	Inline  bool
	Size    int64
	Volumes []Volume `json:",omitempty"`
}

// Volume is one file of a split archive.
type Volume struct {
	Name string
	Size int64
}

// Skip is a layer of an input, by its number in the order of opening, that is not to be opened again, and why. Streams
// is how many had been begun when it ended its reader.
type Skip struct {
	Layer   int64  `json:"layer"`
	Streams int64  `json:"streams"`
	Reason  string `json:"reason"`
}

// Report is what became of an input.
type Report struct {
	container.Report
	// Records sums up records that say what is in them, if the input has any, and NoRecords says why a text has none at
	// all.
	Records   *stated.Summary `json:",omitempty"`
	NoRecords string          `json:",omitempty"`
	// Changed says that a file was cut short while it was read, and Failed that reading failed for another reason that
	// is not the dump's.
	Changed bool   `json:",omitempty"`
	Failed  string `json:",omitempty"`
	// Checkpoint, if there is one, is behind the input.
	Checkpoint *Checkpoint `json:",omitempty"`
}

// Checkpoint is a place from which reading can go on: all that was found before it has been returned.
type Checkpoint struct {
	At   Cursor
	Rows json.RawMessage `json:",omitempty"`
	Counters
}

// Counters are how far a reader has come since it began.
type Counters struct {
	// Read is bytes of the inputs, Scanned bytes after unpacking, Streams texts.
	Read, Scanned, Streams int64
}

// A frame is a byte that says what it is, the length of what follows in four bytes, and that. Orders go to the reader,
// facts come back.
type frameKind byte

const (
	orderJob     frameKind = 'J' // Job
	orderInput   frameKind = 'I' // Input
	orderContent frameKind = 'C' // of the input before, as it is
	orderServed  frameKind = 'S' // bytes that were asked for, behind a servedState
	orderEnd     frameKind = 'E' // there are no more inputs

	factReady      frameKind = 'r' // Confinement
	factSightings  frameKind = 's' // see appendSighting
	factProgress   frameKind = 'p' // Counters
	factOpened     frameKind = 'o' // position
	factClosed     frameKind = 'c' // position
	factCheckpoint frameKind = 'k' // Checkpoint
	factEnded      frameKind = 'e' // Report
	factWanted     frameKind = 'w' // wanted
)

// frameLongest bounds a frame: the largest is an input's content, or a State with all the tables of a database.
const frameLongest = 16 << 20

// position is where a reader stands in an input: in which layer (-1: in none), and how many streams it has begun.
type position struct{ Layer, Streams int64 }

// wanted is what a reader asks its parent for: bytes of the input from an offset, or, when that is negative, the next
// ones.
type wanted struct{ Offset, Length int64 }

// servedState says whether there is more behind bytes that were served. Of a source that failed it stands before the
// reason.
type servedState byte

const (
	servedMore servedState = iota
	servedLast
	servedFailed
)

// frameHead is how long the beginning of a frame is.
const frameHead = 5

// frameWriter writes frames to a pipe. Several goroutines may use it: frames are never mixed.
type frameWriter struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
}

func (f *frameWriter) writeFrame(kind frameKind, content []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.buf = append(append(f.buf[:0], make([]byte, frameHead)...), content...)
	return f.sendFrame(kind, f.buf)
}

// writeInPlace sends a frame whose content stands behind room for its head, without copying it.
func (f *frameWriter) writeInPlace(kind frameKind, frame []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sendFrame(kind, frame)
}

// sendFrame writes all at once, so that who reads it is woken once.
func (f *frameWriter) sendFrame(kind frameKind, frame []byte) error {
	frame[0] = byte(kind)
	binary.LittleEndian.PutUint32(frame[1:], uint32(len(frame)-frameHead))
	_, err := f.w.Write(frame)
	return err
}

// writeJSON sends v as the content of a frame.
func (f *frameWriter) writeJSON(kind frameKind, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return f.writeFrame(kind, text)
}

// readFrame reads a frame into room, which grows if it has to.
func readFrame(r *bufio.Reader, room []byte) (frameKind, []byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, room, err
	}
	n := int(binary.LittleEndian.Uint32(head[1:]))
	if n > frameLongest {
		return 0, room, fmt.Errorf("a frame of %d bytes", n)
	}
	if cap(room) < n {
		room = make([]byte, n)
	}
	room = room[:n]
	_, err := io.ReadFull(r, room)
	return frameKind(head[0]), room, err
}

// Sighting is one identifier with what stood in its record, as a reader found it: see record.Sighting. The bytes are
// valid during the call only.
type Sighting struct {
	Kind        identifier.Kind
	Normal      []byte
	Told, First bool
	Classes     record.Classes
	Site        []byte
	Day         int32
	// Password is the first 40 bits of the SHA-1 of the record's password, if it has one.
	Password    uint64
	HasPassword bool
}

// The first byte of a sighting: its kind, and what there is of it.
const (
	kindBits    = 0x0f
	isTold      = 0x10
	isFirst     = 0x20
	hasPassword = 0x40
	hasLog      = 0x80 // a site or a day
)

// passwordBytes is how much of a password's SHA-1 leaves the reader: 40 bits.
const passwordBytes = 5

// appendSighting writes a sighting: flags, length of the normal form, classes, the password's digest, day and site, and
// the normal form.
func appendSighting(b []byte, s *record.Sighting, password uint64, withPassword bool) []byte {
	flags := byte(s.Kind)
	if s.Told {
		flags |= isTold
	}
	if s.First {
		flags |= isFirst
	}
	if withPassword {
		flags |= hasPassword
	}
	if s.Day != 0 || s.Site != nil {
		flags |= hasLog
	}
	b = append(b, flags, byte(len(s.Normal)), byte(s.Classes), byte(s.Classes>>8))
	if withPassword {
		b = append(b, byte(password>>32), byte(password>>24), byte(password>>16), byte(password>>8), byte(password))
	}
	if flags&hasLog != 0 {
		b = binary.LittleEndian.AppendUint32(b, uint32(s.Day))
		b = append(append(b, byte(len(s.Site))), s.Site...)
	}
	return append(b, s.Normal...)
}

// errFrame ends a reader whose output the parent does not understand; nothing it says is believed then.
var errFrame = errors.New("reader: not a frame of sightings")

// DecodeBatch calls found with the sightings of a Batch.
func DecodeBatch(batch []byte, found func(*Sighting)) error {
	var s Sighting
	for b := batch; len(b) > 0; {
		if len(b) < 4 {
			return errFrame
		}
		flags, n := b[0], int(b[1])
		s = Sighting{
			Kind: identifier.Kind(flags & kindBits), Told: flags&isTold != 0, First: flags&isFirst != 0,
			Classes: record.Classes(b[2]) | record.Classes(b[3])<<8,
		}
		if int(s.Kind) >= identifier.NumKinds {
			return errFrame
		}
		b = b[4:]
		if flags&hasPassword != 0 {
			if len(b) < passwordBytes {
				return errFrame
			}
			s.Password = uint64(b[0])<<32 | uint64(binary.BigEndian.Uint32(b[1:]))
			s.HasPassword, b = true, b[passwordBytes:]
		}
		if flags&hasLog != 0 {
			if len(b) < 5 || len(b) < 5+int(b[4]) {
				return errFrame
			}
			s.Day = int32(binary.LittleEndian.Uint32(b))
			if site := int(b[4]); site > 0 {
				s.Site = b[5 : 5+site]
			}
			b = b[5+int(b[4]):]
		}
		if len(b) < n {
			return errFrame
		}
		s.Normal, b = b[:n], b[n:]
		found(&s)
	}
	return nil
}
