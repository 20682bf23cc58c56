// Package segment keeps exact sets of integer keys in immutable files that are read in place.
//
// A segment holds distinct keys of up to 40 or 64 bits, sorted and compressed to within about one bit a key of what
// information theory allows for evenly spread keys. Every page of 4 KiB answers by itself, so a look-up touches one
// page of the file and a small directory that is held in memory. The byte layout is in docs/internal/segment.md.
//
// The package knows nothing of what a key stands for. The invariant it keeps: an answer comes from bytes whose checksum
// was right, or it is an error. A file that was cut, changed, zeroed or is no segment at all is reported by Open, by
// Verify or by the look-up that meets the damage; it never crashes the process and never turns into a wrong answer.
// Files are published whole: a reader sees the old file or the new one.
package segment

import "github.com/vigiahq/vigia/internal/platform/fault"

// Width is the size of a segment's keys in bits.
type Width uint8

// The widths a segment can have.
const (
	Bits40 Width = 40
	Bits64 Width = 64
)

// MaxKey returns the largest key of the width.
func (w Width) MaxKey() uint64 { return ^uint64(0) >> (64 - uint(w)) }

// isValid reports whether there are keys of the width.
func (w Width) isValid() bool { return w == Bits40 || w == Bits64 }

// MaxNote is the most bytes that the note of a segment may have.
const MaxNote = 64 << 10

// The faults of this package. ErrCorrupt covers every way in which a file can fail to be a whole segment: its detail
// says which one.
var (
	ErrCorrupt    = fault.New(fault.Internal, "segment.corrupt")
	ErrClosed     = fault.New(fault.Unavailable, "segment.closed")
	ErrBusy       = fault.New(fault.Conflict, "segment.busy")
	ErrKeyTooWide = fault.New(fault.Invalid, "segment.key_too_wide")
	// ErrSealed is a label that was asked for before OpenLabels.
	ErrSealed = fault.New(fault.Internal, "segment.sealed")
	ErrOption = fault.New(fault.Invalid, "segment.option")
)

// Summary describes a segment as a whole.
type Summary struct {
	Count  uint64 // distinct keys
	Size   int64  // bytes of the file
	Digest Digest // SHA-256 of everything before the footer: two segments with equal digests are equal
}
