package intake

import (
	"bytes"
	"math/bits"
	"sync/atomic"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/identifier"
)

// keyBatch is how many fingerprints travel at once to the one who sorts.
const keyBatch = 32 << 10

// collector turns identifiers into fingerprints with labels.
type collector struct {
	fingerprint func(kind byte, normal []byte) uint64
	keys        []segment.Entry
	labels      labelCache
	counts      [identifier.NumKinds]int64
	// shown is a recent copy of counts that other goroutines may read, for progress: see showCounts.
	shown  [identifier.NumKinds]atomic.Int64
	recent domainCache
	// mailbox is what an address is looked for by.
	mailbox []byte
	// flush takes a full batch and returns an empty one.
	flush func([]segment.Entry) []segment.Entry
	pairs pairCollector
}

// newCollector returns a collector that hands each full batch of keys to flush and continues with the empty batch that
// flush returns.
func newCollector(
	fingerprint func(kind byte, normal []byte) uint64,
	labels *segment.Labels,
	flush func([]segment.Entry) []segment.Entry,
	pairs pairCollector,
) *collector {
	return &collector{
		fingerprint: fingerprint,
		labels:      labelCache{labels: labels},
		flush:       flush,
		keys:        make([]segment.Entry, 0, keyBatch),
		pairs:       pairs,
	}
}

// collectSighting takes a sighting. An address also stands for its domain and the domains above it, so that a watched
// domain is hit by every address under it.
func (c *collector) collectSighting(s *reader.Sighting) {
	c.counts[s.Kind]++
	label := c.labels.labelOfSighting(s)
	normal, spelled := s.Normal, label
	if s.Kind == identifier.Email {
		if box, spelling := identifier.AppendMailbox(c.mailbox[:0], s.Normal); spelling != 0 {
			normal, spelled, c.mailbox = box, c.labels.labelOfSpelling(label, s, spelling), box
		}
	}
	value := c.addIdentifier(s.Kind, normal, spelled)
	if s.HasPassword && c.pairs.pair != nil {
		c.pairs.addPasswordPair(value, s.Password)
	}
	if s.Kind == identifier.Email {
		c.addDomains(s.Normal[bytes.IndexByte(s.Normal, '@')+1:], label) // the only one
	}
}

// resetCounts has the counts begin anew.
func (c *collector) resetCounts() {
	c.counts = [identifier.NumKinds]int64{}
	for set := range c.labels.plain {
		c.labels.plain[set].told = 0
	}
	c.showCounts()
}

// countTold counts the sightings with a record, and for each class those whose record had it.
func (c *collector) countTold() (all int64, classes [16]int64) {
	for set := range c.labels.plain {
		n := c.labels.plain[set].told
		all += n
		for left := uint16(set); n > 0 && left != 0; left &= left - 1 {
			classes[bits.TrailingZeros16(left)] += n
		}
	}
	return all, classes
}

// addDomains adds the domain of an address and those above it.
func (c *collector) addDomains(domain []byte, label segment.LabelID) {
	if c.recent.sawLately(domain, label) {
		return
	}
	for {
		c.addIdentifier(identifier.Domain, domain, label)
		dot := bytes.IndexByte(domain, '.')
		if dot < 0 || bytes.IndexByte(domain[dot+1:], '.') < 0 {
			return
		}
		domain = domain[dot+1:]
	}
}

// addIdentifier adds an identifier under a label.
func (c *collector) addIdentifier(kind identifier.Kind, normal []byte, label segment.LabelID) uint64 {
	if len(c.keys) == cap(c.keys) {
		c.keys = c.flush(c.keys)
	}
	if len(c.keys)%showEvery == 0 {
		c.showCounts()
	}
	key := c.fingerprint(byte(kind), normal)
	c.keys = append(c.keys, segment.Entry{Key: key, Label: label})
	return key
}

// showEvery is after how many identifiers those who watch are told: often enough that the counts of a small dump are no
// zeroes, seldom enough to cost nothing.
const showEvery = 1 << 10

// showCounts publishes the counts to the goroutines that report progress.
func (c *collector) showCounts() {
	for k := range c.counts {
		c.shown[k].Store(c.counts[k])
	}
}
