package leak

import (
	"encoding/binary"
	"slices"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Label is what a breach tells of one fingerprint: the union over all records that it stands in. The zero Label says
// that no record could be told: all that is known is what the breach exposes as a whole.
type Label struct {
	Classes cyber.Classes
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

// AppendEncoded writes the label down: classes, then, as far as there are any, spellings, and the day and the sites.
// The zero Label is empty.
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

// ParseLabel reads what AppendEncoded wrote.
func ParseLabel(text []byte) (Label, error) {
	var l Label
	if len(text) == 0 {
		return l, nil
	}
	if len(text) < 2 {
		return l, ErrLabel.Note("cut short")
	}
	l.Classes = cyber.Classes(binary.BigEndian.Uint16(text))
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
		return Label{
			Classes:   x.Classes | y.Classes,
			Day:       x.Day,
			Spellings: x.Spellings | y.Spellings,
		}.AppendEncoded(nil)
	}
	sites := slices.Concat(x.Sites, y.Sites)
	slices.Sort(sites)
	sites = slices.Compact(sites)
	return Label{
		Classes:   x.Classes | y.Classes,
		Day:       max(x.Day, y.Day),
		Sites:     sites[:min(len(sites), mostSites)],
		Spellings: x.Spellings | y.Spellings,
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
