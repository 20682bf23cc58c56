package intake

import (
	"bytes"
	"encoding/binary"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
)

// labelCache knows the ids of labels: there are few, and asking all workers' table for each identifier would be slow.
type labelCache struct {
	labels *segment.Labels
	plain  [1 << 16]plainLabel // by classes
	logs   [1 << 10]logLabel
	// gmail has the labels with a spelling by the one without, which is of the same classes, site and day.
	gmail map[spelledLabel]segment.LabelID
	text  []byte
}

// plainLabel is the label of classes without a site or a day, and how many sightings had these classes at all.
type plainLabel struct {
	told int64
	id   segment.LabelID // 0: not asked for yet
}

// spelledLabel is the key of the cache of labels for Gmail addresses.
type spelledLabel struct {
	label    segment.LabelID
	spelling identifier.Spellings
}

// spelledMost bounds what is remembered; what is asked for again costs no more than the first time.
const spelledMost = 1 << 14

// labelOfSpelling returns the label of a sighting of a Gmail address.
func (c *labelCache) labelOfSpelling(
	plain segment.LabelID, s *reader.Sighting, spelling identifier.Spellings,
) segment.LabelID {
	key := spelledLabel{plain, spelling}
	id, known := c.gmail[key]
	if known {
		return id
	}
	label := leak.Label{Spellings: spelling}
	if s.Told {
		label.Classes, label.Day = cyber.Classes(s.Classes), s.Day
		if s.Site != nil {
			label.Sites = []string{string(s.Site)}
		}
	}
	c.text = label.AppendEncoded(c.text[:0])
	if id = c.labels.LabelID(c.text); c.gmail == nil || len(c.gmail) >= spelledMost {
		c.gmail = map[spelledLabel]segment.LabelID{}
	}
	c.gmail[key] = id
	return id
}

// logLabel is a label with a site or a day, by which most are found again: the identifiers of a record come together,
// and stealers' logs name few sites again and again.
type logLabel struct {
	id      segment.LabelID // 0: none
	day     int32
	classes record.Classes
	site    []byte
}

// labelOfSighting returns the label of what a sighting tells, which is counted.
func (c *labelCache) labelOfSighting(s *reader.Sighting) segment.LabelID {
	if !s.Told {
		return segment.NoLabel
	}
	plain := &c.plain[s.Classes]
	plain.told++
	if s.Site == nil && s.Day == 0 {
		if plain.id == segment.NoLabel {
			plain.id = c.labels.LabelID(leak.Label{Classes: cyber.Classes(s.Classes)}.AppendEncoded(c.text[:0]))
		}
		return plain.id
	}
	head := uint64(s.Classes) + uint64(s.Day)<<16 + uint64(len(s.Site))<<40
	if len(s.Site) >= 8 {
		head += binary.LittleEndian.Uint64(s.Site) ^ binary.LittleEndian.Uint64(s.Site[len(s.Site)-8:])<<7
	}
	known := &c.logs[head*0x9e3779b97f4a7c15>>(64-10)]
	if known.id != segment.NoLabel && known.classes == s.Classes && known.day == s.Day &&
		bytes.Equal(known.site, s.Site) {
		return known.id
	}
	label := leak.Label{Classes: cyber.Classes(s.Classes), Day: s.Day}
	if s.Site != nil {
		label.Sites = []string{string(s.Site)}
	}
	c.text = label.AppendEncoded(c.text[:0])
	*known = logLabel{
		id:      c.labels.LabelID(c.text),
		day:     s.Day,
		classes: s.Classes,
		site:    append(known.site[:0], s.Site...),
	}
	return known.id
}
