package intake

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/scan/record"
)

// keyBatch is how many fingerprints travel at once from those who scan to the one who sorts.
const keyBatch = 32 << 10

// collector turns the identifiers of one scanning goroutine into fingerprints.
type collector struct {
	fingerprint func(kind byte, normal []byte) uint64
	keys        []uint64
	counts      [identifier.Domain + 1]int64
	// shown is counts as of the last full batch, for whoever watches meanwhile.
	shown  [identifier.Domain + 1]atomic.Int64
	recent domainCache
	// flush takes a full batch and returns an empty one.
	flush func([]uint64) []uint64
}

func newCollector(fingerprint func(kind byte, normal []byte) uint64, flush func([]uint64) []uint64) *collector {
	return &collector{fingerprint: fingerprint, flush: flush, keys: make([]uint64, 0, keyBatch)}
}

// found is a record.Found. An address also stands for its domain and the domains above it, so that a watched domain is
// hit by every address under it.
func (c *collector) found(s *record.Sighting) {
	c.counts[s.Kind]++
	c.add(s.Kind, s.Normal)
	if s.Kind == identifier.Email {
		c.domains(s.Normal[bytes.IndexByte(s.Normal, '@')+1:]) // the only one
	}
}

func (c *collector) domains(domain []byte) {
	if c.recent.has(domain) {
		return
	}
	for {
		c.add(identifier.Domain, domain)
		dot := bytes.IndexByte(domain, '.')
		if dot < 0 || bytes.IndexByte(domain[dot+1:], '.') < 0 {
			return
		}
		domain = domain[dot+1:]
	}
}

func (c *collector) add(kind identifier.Kind, normal []byte) {
	if len(c.keys) == cap(c.keys) {
		c.keys = c.flush(c.keys)
		for k := range c.counts {
			c.shown[k].Store(c.counts[k])
		}
	}
	c.keys = append(c.keys, c.fingerprint(byte(kind), normal))
}

// domainCache remembers domains seen lately: most addresses of a dump are at a few of them. Forgetting one costs a
// repeated key.
type domainCache struct {
	slots [1 << 12]cachedDomain
}

type cachedDomain struct {
	n    uint8
	text [47]byte
}

// has tells whether a domain was seen lately, and remembers it.
func (d *domainCache) has(domain []byte) bool {
	if len(domain) > len(d.slots[0].text) || len(domain) < 8 {
		return false
	}
	// The first bytes tell domains apart well enough; a hash of all of them would cost as much as it saves.
	head := binary.LittleEndian.Uint64(domain) + uint64(len(domain))
	slot := &d.slots[head*0x9e3779b97f4a7c15>>(64-12)]
	if int(slot.n) == len(domain) && bytes.Equal(slot.text[:slot.n], domain) {
		return true
	}
	slot.n = uint8(copy(slot.text[:], domain))
	return false
}
