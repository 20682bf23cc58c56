package intake

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"sync/atomic"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
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
	plain segment.LabelID,
	s *reader.Sighting,
	spelling identifier.Spellings,
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

// pairKeys is a batch of pairs on its way to the one who sorts.
type pairKeys []uint64

// pairCollector turns the digests of passwords that stand beside identifiers into pairs.
type pairCollector struct {
	// pair is seal.Keys.Pair; nil: no pairs are wanted.
	pair func(fingerprint, password uint64) uint64
	keys pairKeys
	// flush takes a full batch and returns an empty one.
	flush func(pairKeys) pairKeys
}

// addPasswordPair adds the fingerprint of a value and a password.
func (c *pairCollector) addPasswordPair(value, password uint64) {
	if len(c.keys) == cap(c.keys) {
		c.keys = c.flush(c.keys)
	}
	c.keys = append(c.keys, c.pair(value, password))
}

// Counted is how often a value stands in a dump.
type Counted struct {
	// Records hold the value, each counted once. Loose counts the places where it stands in no record that could be
	// told.
	Records, Loose int64
	// Skips are inputs, or members of archives, that could not be read to their end; the first hundred of them.
	Skips []container.Skip
}

// FingerprintOf returns the keyed fingerprint under which a value stands in segments.
func (im *Importer) FingerprintOf(kind identifier.Kind, value string) (uint64, error) {
	normal, err := identifier.ParseValue(kind, value, identifier.Required)
	if err != nil {
		return 0, err
	}
	return im.Fingerprint(byte(kind), identifier.MatchForm(kind, normal)), nil
}

// CountValue searches the inputs, as an import does, for the records that hold a value, and writes nothing. How many
// records held a value is not stored anywhere, so the caller must still have the dump.
func (im *Importer) CountValue(ctx context.Context, spec Spec, kind identifier.Kind, value string) (Counted, error) {
	normal, err := identifier.ParseValue(kind, value, identifier.Required)
	if err != nil {
		return Counted{}, err
	}
	form := identifier.MatchForm(kind, normal)
	if len(spec.Inputs) == 0 {
		return Counted{}, ErrInput.With("inputs", fault.NoFile)
	}
	run := newImportRun(im, &work{noPairs: true}, spec)
	counters := make([]counter, len(run.workers))
	for i, w := range run.workers {
		counters[i] = counter{kind: kind, form: form}
		w.found = counters[i].countSighting
	}
	stop := run.watchProgress()
	defer stop()
	err = run.scanInputs(ctx, run.discardKeys)
	all := Counted{Skips: run.skips}
	for i := range counters {
		all.Records += counters[i].records
		all.Loose += counters[i].loose
	}
	return all, err
}

// counter counts the records of one worker that hold a value.
type counter struct {
	kind           identifier.Kind
	form, room     []byte
	counted        bool // the record at hand was
	records, loose int64
}

// countSighting takes a sighting. Those of a record come together.
func (c *counter) countSighting(s *reader.Sighting) {
	if s.First {
		c.counted = false
	}
	if s.Kind != c.kind {
		return
	}
	normal := s.Normal
	if s.Kind == identifier.Email {
		box, spelling := identifier.AppendMailbox(c.room[:0], normal)
		if normal = box; spelling != 0 {
			c.room = box
		}
	}
	switch {
	case !bytes.Equal(normal, c.form):
	case !s.Told:
		c.loose++
	case !c.counted: // else it stands there twice
		c.records, c.counted = c.records+1, true
	}
}

// Understood is a record as an import would understand it.
type Understood struct {
	Values  []UnderstoodValue
	Told    bool
	Classes record.Classes
	Site    string
	Day     int32
	// Password says that its password would be known to credential-check.
	Password bool
}

// UnderstoodValue is an identifier of a record.
type UnderstoodValue struct {
	Kind   identifier.Kind
	Normal string
}

// errEnough ends a preview.
var errEnough = errors.New("enough records were seen")

// previewBytes is how much is read after the last record that is shown, to count what is left out of smaller inputs.
const previewBytes = 16 << 20

// PreviewRecords reads the inputs, at least until it has seen so many records, and returns these. If it came to the end
// of the inputs, it also returns what was counted. It writes nothing and needs neither keys nor a store: of the
// importer only its clock and what it allows are used.
func (im *Importer) PreviewRecords(ctx context.Context, spec Spec, most int) ([]Understood, *leak.Tally, error) {
	preview := &Importer{
		Now:              im.Now,
		Workers:          1,
		Limits:           im.Limits,
		Budget:           im.Budget,
		ReaderUnconfined: im.ReaderUnconfined,
		Fingerprint:      func(byte, []byte) uint64 { return 0 },
	}
	run := newImportRun(preview, &work{}, spec)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var seen []Understood
	full := false
	run.workers[0].found = func(s *reader.Sighting) {
		if s.First || len(seen) == 0 {
			if full = len(seen) == most; full {
				if run.scanned.Load() > previewBytes {
					stop(errEnough)
				}
				return
			}
			seen = append(seen, Understood{Told: s.Told, Site: string(s.Site), Day: s.Day})
		} else if full {
			return
		}
		u := &seen[len(seen)-1]
		u.Values = append(u.Values, UnderstoodValue{Kind: s.Kind, Normal: string(s.Normal)})
		u.Classes, u.Password = u.Classes|s.Classes, u.Password || s.HasPassword
	}
	err := run.scanInputs(ctx, run.discardKeys)
	if errors.Is(err, errEnough) {
		return seen, nil, nil
	}
	return seen, &run.checked.Tally, err
}

// ReadRecords has a reader read records that say what is in them. It returns what it says of the text, and the first
// line that is no record, or not wholly, with the reason.
func (im *Importer) ReadRecords(ctx context.Context, body []byte, m *stated.Mapping) (reader.Report, error) {
	input := ReaderInput(
		"records",
		"",
		int64(len(body)),
		func(context.Context) (io.ReadCloser, error) { return contentOf{bytes.NewReader(body)}, nil },
	)
	counting := &Importer{
		Now:              im.Now,
		Workers:          1,
		Limits:           im.Limits,
		Budget:           im.Budget,
		ReaderUnconfined: im.ReaderUnconfined,
	}
	run := newImportRun(counting, &work{noPairs: true}, Spec{Inputs: []Input{input}, Mapping: m})
	run.workers[0].found, run.onlyRecords = func(*reader.Sighting) {}, true
	err := run.scanInputs(ctx, run.discardKeys)
	if err != nil || run.ended == nil || run.ended.Records == nil {
		if len(run.skips) > 0 {
			err = errors.Join(err, ErrInput.Note("records: %s", run.skips[0].Reason))
		}
		return reader.Report{}, err
	}
	return *run.ended, nil
}

// contentOf is content that needs no closing.
type contentOf struct{ *bytes.Reader }

func (contentOf) Close() error { return nil }
