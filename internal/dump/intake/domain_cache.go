package intake

import (
	"bytes"
	"encoding/binary"

	"github.com/vigiahq/vigia/internal/corpus/segment"
)

// domainCache remembers domains seen lately: most addresses of a dump are at a few of them. Forgetting one costs a
// repeated key.
type domainCache struct {
	slots [1 << 12]cachedDomain
}

// cachedDomain is a slot of domainCache; domains that are longer than text are not cached.
type cachedDomain struct {
	label segment.LabelID
	n     uint8
	text  [47]byte
}

// sawLately reports whether a domain was seen lately with a label, and remembers it.
func (d *domainCache) sawLately(domain []byte, label segment.LabelID) bool {
	if len(domain) > len(d.slots[0].text) || len(domain) < 8 {
		return false
	}
	// The first bytes tell domains apart well enough; a hash of all of them would cost as much as it saves.
	head := binary.LittleEndian.Uint64(domain) + uint64(len(domain)) + uint64(label)<<8
	slot := &d.slots[head*0x9e3779b97f4a7c15>>(64-12)]
	if int(slot.n) == len(domain) && slot.label == label && bytes.Equal(slot.text[:slot.n], domain) {
		return true
	}
	slot.label, slot.n = label, uint8(copy(slot.text[:], domain))
	return false
}
