package leak

import (
	"encoding/binary"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/scan/record"
	"github.com/vigiahq/vigia/internal/segment"
)

// Label is what a breach tells of one fingerprint: the union over all records that it stands in. The zero Label says
// that no record could be told: all that is known is what the breach exposes as a whole.
type Label struct {
	Classes record.Classes
	// Day is the last day, since 1970, on which a stealer took a credential of this value, and Sites are what the
	// credentials are for, in order, at most mostSites of them.
	Day   int32
	Sites []string
	// Spellings are those of a Gmail mailbox, all of which have one fingerprint.
	Spellings identifier.Spellings
}

// mostSites bounds a label. Of more the first in order stay, so that it does not matter in which order they came.
const mostSites = 4

// ErrLabel means that a label was not written by this package.
var ErrLabel = fault.New(fault.Internal, "breach.label")

// IsOfRecord reports whether the label is that of a record: the basis of a finding is the row then, and the breach
// otherwise.
func (l Label) IsOfRecord() bool { return l.Classes != 0 }

// AppendEncoded writes the label down: classes, then, as far as there are any, spellings, and the day and the sites. The zero
// Label is empty.
func (l Label) AppendEncoded(dst []byte) []byte {
	if !l.IsOfRecord() && l.Spellings == 0 {
		return dst
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(l.Classes))
	logged := l.IsOfRecord() && (l.Day != 0 || len(l.Sites) > 0)
	if l.Spellings == 0 && !logged {
		return dst
	}
	if dst = append(dst, byte(l.Spellings)); !logged {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(max(0, l.Day)))
	for _, site := range l.Sites {
		dst = append(binary.AppendUvarint(dst, uint64(len(site))), site...)
	}
	return dst
}

// ParseLabel reads what Append wrote.
func ParseLabel(text []byte) (Label, error) {
	var l Label
	if len(text) == 0 {
		return l, nil
	}
	if len(text) < 2 {
		return l, ErrLabel.Note("cut short")
	}
	l.Classes = record.Classes(binary.BigEndian.Uint16(text))
	rest := text[2:]
	if len(rest) > 0 {
		if l.Spellings, rest = identifier.Spellings(rest[0]), rest[1:]; l.Spellings == 0 && len(rest) == 0 {
			return Label{}, ErrLabel.Note("cut short")
		}
	}
	if len(rest) == 0 {
		return l, nil
	}
	day, n := binary.Uvarint(rest)
	if n <= 0 || day > 1<<30 {
		return Label{}, ErrLabel.Note("no day")
	}
	l.Day = int32(day)
	for rest = rest[n:]; len(rest) > 0; {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) || len(l.Sites) == mostSites {
			return Label{}, ErrLabel.Note("no site")
		}
		l.Sites = append(l.Sites, string(rest[n:n+int(size)]))
		rest = rest[n+int(size):]
	}
	return l, nil
}

// LabelRules are how labels of one fingerprint become one.
var LabelRules = segment.LabelRules{Unite: uniteLabels, Coarsen: coarsenLabel}

// uniteLabels returns the union. A record that could be told counts for more than one that could not: claiming what the
// breach exposes as a whole would be claiming more than is known.
func uniteLabels(a, b []byte) []byte {
	x, errX := ParseLabel(a)
	y, errY := ParseLabel(b)
	if errX != nil || errY != nil {
		return nil // not ours: nothing is told
	}
	if len(x.Sites)+len(y.Sites) == 0 && x.Day == y.Day {
		return Label{Classes: x.Classes | y.Classes, Day: x.Day, Spellings: x.Spellings | y.Spellings}.AppendEncoded(nil)
	}
	sites := slices.Concat(x.Sites, y.Sites)
	slices.Sort(sites)
	sites = slices.Compact(sites)
	return Label{
		Classes: x.Classes | y.Classes, Day: max(x.Day, y.Day), Sites: sites[:min(len(sites), mostSites)], Spellings: x.Spellings | y.Spellings,
	}.AppendEncoded(nil)
}

// coarsenLabel drops the sites, then the day, then the spellings: classes alone are few.
func coarsenLabel(text []byte) []byte {
	l, err := ParseLabel(text)
	switch {
	case err != nil:
		return nil
	case len(l.Sites) > 0:
		l.Sites = nil
	case l.Day != 0:
		l.Day = 0
	default:
		l.Spellings = 0
	}
	return l.AppendEncoded(nil)
}

// Tally is what an import counted.
type Tally struct {
	// Bytes were read from the inputs, Scanned after unpacking.
	Bytes   int64 `json:"bytes"`
	Scanned int64 `json:"scanned"`
	// Streams are the files, members of archives included.
	Streams int64 `json:"streams"`
	// Found counts identifiers by type, repetitions included.
	Found map[string]int64 `json:"found"`
	// Told is how many of them stood in a record that could be told, and Classes counts what stood in those.
	Told    int64            `json:"told,omitempty"`
	Classes map[string]int64 `json:"classes,omitempty"`
	// Distinct is the size of the set, e-mail domains included.
	Distinct int64 `json:"distinct"`
	// Pairs is how many pairs of an identifier and a password there are.
	Pairs int64 `json:"pairs,omitempty"`
	// Measured is nil until the published breach was compared with those before it.
	Measured *Measured `json:"measured,omitempty"`
	// Problems counts inputs that could not be read to their end: broken or refused archives.
	Problems int64 `json:"problems"`
	// Read, Partly and Unread count the inputs by how much of them was read; Reasons counts why not all, in plain words
	// that name no file.
	Read    int64            `json:"read"`
	Partly  int64            `json:"partly"`
	Unread  int64            `json:"unread"`
	Reasons map[string]int64 `json:"reasons,omitempty"`
	// LeftOut counts values of vendors' exports that are none of their kind.
	LeftOut int64 `json:"left_out,omitempty"`
}

// Measured is what is counted of a breach once it is published. E-mail domains count as values, like everywhere in
// segments.
type Measured struct {
	// Known is how many of its values a breach published before it has, and From how many each of those has that share
	// some.
	Known int64            `json:"known"`
	From  map[string]int64 `json:"from,omitempty"`
}

// reasonsKept bounds how many reasons are told apart.
const reasonsKept = 32

// CountReason counts a reason n times.
func (t *Tally) CountReason(reason string, n int64) {
	if n == 0 {
		return
	}
	if t.Reasons == nil {
		t.Reasons = map[string]int64{}
	}
	if _, known := t.Reasons[reason]; !known && len(t.Reasons) >= reasonsKept {
		reason = "other reasons"
	}
	t.Reasons[reason] += n
}

// AddTally sums up what parts counted; Distinct is no sum.
func (t *Tally) AddTally(other Tally) {
	t.Bytes, t.Scanned, t.Streams = t.Bytes+other.Bytes, t.Scanned+other.Scanned, t.Streams+other.Streams
	t.Problems, t.LeftOut = t.Problems+other.Problems, t.LeftOut+other.LeftOut
	t.Read, t.Partly, t.Unread = t.Read+other.Read, t.Partly+other.Partly, t.Unread+other.Unread
	if t.Found == nil {
		t.Found = map[string]int64{}
	}
	for kind, n := range other.Found {
		t.Found[kind] += n
	}
	t.AddClasses(&other)
	for reason, n := range other.Reasons {
		t.CountReason(reason, n)
	}
}

// AddClasses sums up what stood in records.
func (t *Tally) AddClasses(other *Tally) {
	t.Told += other.Told
	if t.Classes == nil && len(other.Classes) > 0 {
		t.Classes = map[string]int64{}
	}
	for class, n := range other.Classes {
		t.Classes[class] += n
	}
}

// CountClasses adds a record's count of classes, a number for each in the order of the vocabulary.
func (t *Tally) CountClasses(told int64, counts []int64) {
	more := Tally{Told: told, Classes: map[string]int64{}}
	for i, e := range cyber.AllExposed() {
		if counts[i] > 0 {
			more.Classes[string(e)] = counts[i]
		}
	}
	t.AddClasses(&more)
}

// ReadVerdict says how much of the inputs was read.
func (t *Tally) ReadVerdict() string {
	switch {
	case t.Partly == 0 && t.Unread == 0:
		return "read"
	case t.Read == 0 && t.Partly == 0:
		return "not read"
	}
	return "partly read"
}

// DoubtReason says why a breach is not to be published unasked, or nothing: one without an identifier, or of which most
// could not be read, would tell people that they are safe.
func (t *Tally) DoubtReason() *fault.Rule {
	var found int64
	for _, n := range t.Found {
		found += n
	}
	switch {
	case found == 0:
		return &fault.NothingFound
	case t.Unread > t.Read+t.Partly:
		return &fault.MostUnreadable
	}
	return nil
}
