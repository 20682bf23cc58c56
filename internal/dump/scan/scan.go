// Package scan turns dump bytes of any kind into identifiers: e-mail addresses, CPFs, phone numbers, payment cards,
// CNPJs and random Pix keys.
//
// A Scanner reads one stream and calls back with every identifier in its normal form; package container opens files and
// archives and hands out the streams inside them. It knows neither breaches, fingerprints nor storage. A finder anchors
// on '@' and on runs of digits, so a combo list, a table, JSON, SQL, HTML or a memory image are all the same to it;
// package record tells what a number is by the column it stands in, and what else its record holds.
//
// Invariants: memory does not grow with the input; nothing that was read is written anywhere; every value handed out is
// its own normal form in package identifier.
package scan

import (
	"context"
	"io"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
)

// Found receives one identifier in normal form. The bytes are valid during the call only. The same value may come many
// times.
type Found func(kind identifier.Kind, normal []byte)

// margin is how far a decision may look to either side of its anchor. The longest identifier, an e-mail address, has
// 254 bytes.
const margin = 512

// Scanner finds the identifiers of one text after another without telling their records. It is not safe for use by
// several goroutines; each needs its own.
type Scanner struct{ recorder *Recorder }

// NewScanner makes a Scanner that calls found.
func NewScanner(found Found) *Scanner {
	return &Scanner{NewRecorder(func(s *record.Sighting) { found(s.Kind, s.Normal) })}
}

// Scan reads r to its end and returns the number of bytes it took from it.
func (s *Scanner) Scan(ctx context.Context, r io.Reader) (int64, error) {
	return s.recorder.Scan(ctx, r, "")
}

// finder finds what may be identifiers in a text.
type finder struct {
	// addSign is called with each identifier that is told by its signs, and where in the text at hand it stands;
	// addWeak with those that count only where the name of a column says so; addNumber with each number.
	addSign, addWeak func(kind identifier.Kind, normal []byte, from, to int)
	addNumber        func(*record.Number) bool
	isView           bool // the text is a decoded view of another
	decoder          *decoder
	done             int          // numbers that begin before this have been read
	taken            int          // groups that begin before this are of numbers that were found
	wanted           []int        // where the text at hand has something to decode, as far as it was searched
	text             [margin]byte // the value being put together
	marks            marks
	groups           [2*mostGroups + 1]group
	reading          record.Number
}

// extract searches b[from:limit]. Signs and numbers are searched for one after the other in each stretch of text, which
// is still in the nearest cache then.
func (s *finder) extract(b []byte, from, limit int) {
	for ; from < limit; from += stretch {
		s.marks.readBitmaps(b, from)
		s.readSigns(b, from, limit)
		s.done = s.numbers(b, from, limit, s.done)
	}
}
