package leak

import (
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

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
