package cyber

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
)

// Classes is a set of Exposed: a bit for each, in the order of AllExposed.
type Classes uint32

func NewClasses(list []Exposed) (set Classes) {
	for i, e := range AllExposed() {
		if slices.Contains(list, e) {
			set |= 1 << i
		}
	}
	return set
}

// List names the classes, in the order of documentation.
func (c Classes) List() []Exposed {
	list := []Exposed{}
	for i, e := range AllExposed() {
		if c&(1<<i) != 0 {
			list = append(list, e)
		}
	}
	return list
}

// Basis is what is known of a finding: what stood in the person's own records, or only what the breach as a whole
// exposed.
type Basis string

// The bases. A breach whose records could not be told apart, or that a source only names, is told of as a whole.
const (
	BasisRow    Basis = "row"
	BasisBreach Basis = "breach"
)

// Trace is what the records of one breach say of one value.
type Trace struct {
	// Told says that the value stood in a record of its own. Nothing else is known if not.
	Told bool
	// Classes are what stood with a value in its records, all of them together.
	Classes Classes
	// Sites are the hosts that credentials taken by a stealer are for, in order, and Day is the last day since 1970 on
	// which one was taken; nil and 0 when the records did not say.
	Sites []string
	Day   int32
	// Passwords tell apart the passwords that stood beside the value, in order; the same password of the same value is
	// the same number in every breach. Nil when they are not known.
	Passwords []uint32
	// Spellings are those that leaked of a Gmail mailbox, known whether or not a record was told; empty of any other
	// value.
	Spellings identifier.Spellings
}

// IsEqual reports whether two traces say the same.
func (t Trace) IsEqual(other Trace) bool {
	return t.Told == other.Told && t.Classes == other.Classes && t.Day == other.Day && t.Spellings == other.Spellings &&
		slices.Equal(t.Sites, other.Sites) &&
		slices.Equal(t.Passwords, other.Passwords)
}

// TakenOn returns the day as a date; the zero time when it is not known.
func (t Trace) TakenOn() time.Time {
	if t.Day == 0 {
		return time.Time{}
	}
	return time.Unix(int64(t.Day)*86400, 0).UTC()
}

// ForTrace returns the breach as far as it concerns one value: it exposed what stood in the value's own records, if
// those are known.
func (b Breach) ForTrace(t Trace) Breach {
	if t.Told {
		b.Basis, b.Exposes = BasisRow, t.Classes.List()
	}
	return b
}

// JoinBreachNames writes which breaches hold a value that has open findings, with spaces between them: the name; where
// the value's own records are known, a colon and their classes; and, of one that told nothing new, a tilde and the
// breach that it repeats. Names of breaches hold none of these signs. Findings are in the order in which they were
// found.
func JoinBreachNames(findings []Finding) string {
	var b strings.Builder
	first := repeatedBreaches(findings)
	for i := range findings {
		f := &findings[i]
		if !f.Open() {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f.Breach.Name)
		if f.Breach.Basis == BasisRow {
			b.WriteByte(':')
			b.WriteString(strconv.FormatUint(uint64(NewClasses(f.Breach.Exposes)), 16))
		}
		if first[i] != "" {
			b.WriteByte('~')
			b.WriteString(first[i])
		}
	}
	return b.String()
}

// repeatedBreaches names, for each finding, the breach whose finding it is counted with if it is quiet: of those before
// it that count by themselves the one with most in common. One that the person has resolved still gathers those that
// repeat it, or resolving it would leave several where one was counted, and raise the risk. Empty when there is none,
// or the finding is none of the kind.
func repeatedBreaches(findings []Finding) []string {
	first, classes := make([]string, len(findings)), make([]Classes, len(findings))
	for i := range findings {
		f := &findings[i]
		classes[i] = NewClasses(f.Breach.Exposes)
		if !f.Quiet {
			continue
		}
		most := 0
		for j := range i {
			if findings[j].Resolution == ResolvedRetracted || first[j] != "" {
				continue
			}
			if n := bits.OnesCount32(uint32(classes[i] & classes[j])); n > most {
				first[i], most = findings[j].Breach.Name, n
			}
		}
	}
	return first
}

// parseBreachName reads a name that JoinBreachNames wrote; repeated is empty for a breach that counts by itself.
func parseBreachName(word string) (name, repeated string, t Trace) {
	word, repeated, _ = strings.Cut(word, "~")
	name, classes, told := strings.Cut(word, ":")
	if told {
		if set, err := strconv.ParseUint(classes, 16, 32); err == nil {
			t = Trace{Told: true, Classes: Classes(set)}
		}
	}
	return name, repeated, t
}
