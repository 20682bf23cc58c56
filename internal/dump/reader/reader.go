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
	"encoding/json"
	"time"

	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
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
