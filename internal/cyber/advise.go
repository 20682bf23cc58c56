package cyber

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

// catalogueIndex is the catalogue made ready to be held against many findings.
type catalogueIndex struct {
	items []indexedItem
	// weight is the sum of all questions' weights.
	weight int
	// translated are the same items in other languages.
	translated map[partner.Language]*catalogueIndex
}

// indexedItem is an item prepared for matching: its condition as bit sets, and its texts split at their blanks, so that
// a request does neither.
type indexedItem struct {
	Item
	about    bool
	exposes  Classes
	severity int
	assets   kinds // none: any
	// title and body are the item's texts taken apart; more is what body ends with when other findings fit as well.
	title, body, more sentence
	// rendered is what an edge made of the item: see Advice.Rendered.
	render   sync.Once
	rendered any
}

// indexCatalogue prepares items, which are in order and not retired.
func indexCatalogue(items []Item) *catalogueIndex {
	s := &catalogueIndex{items: make([]indexedItem, len(items))}
	for i, it := range items {
		e := &s.items[i]
		e.Item, e.about, e.exposes, e.severity = it, it.When.aboutFinding(), NewClasses(it.When.Exposes), severityOrder(it.When.Severity)
		for _, k := range it.When.Assets {
			e.assets |= bitOfKind(k)
		}
		e.title, e.body, e.more = parseSentence(it.Title), parseSentence(it.Body), parseSentence(it.Body)
		if it.More != "" {
			e.more = parseSentence(it.Body + " " + it.More)
		}
		if it.Question != nil {
			s.weight += it.Question.WorstRisk()
		}
	}
	return s
}

// Advice is an item as it is said to one person.
type Advice struct {
	Item *Item
	// Title and Body have everything filled in. Personal tells that they differ from person to person.
	Title, Body string
	Personal    bool
	indexedItem *indexedItem
}

// RenderedItem returns what render makes of the item, made once for as long as the item is offered: thousands of people are
// told the same. render must not look at Title and Body of the advice.
func (a Advice) RenderedItem(render func(it *Item) any) any {
	a.indexedItem.render.Do(func() { a.indexedItem.rendered = render(&a.indexedItem.Item) })
	return a.indexedItem.rendered
}

// selectAdvice returns what applies to a person, in the order of the catalogue: most urgent first.
func selectAdvice(p *Posture, s *catalogueIndex, now time.Time) []Advice {
	sc := takeScratch()
	defer sc.releaseScratch()
	found := p.joinExposures(sc)
	groups := sc.groupAlike(found)
	list := make([]Advice, 0, len(s.items))
	for i := range s.items {
		it := &s.items[i]
		if it.Question != nil && it.Question.isSettledBy(p.Answers[it.ID]) || !it.When.holdsFor(p, len(found), now) {
			continue
		}
		if !it.about {
			list = append(list, Advice{Item: &it.Item, Title: it.Title, Body: it.Body, indexedItem: it})
			continue
		}
		if worst, others := it.pickExposure(groups); worst != nil {
			list = append(list, it.fillAdvice(worst, others))
		}
	}
	return list
}

// isSettledBy reports whether an answer leaves nothing to mend.
func (q ValidationQuestion) isSettledBy(answer string) bool { return q.Risk(answer) == 0 }

// holdsFor judges everything of a condition but the findings it picks.
func (c *Condition) holdsFor(p *Posture, breaches int, now time.Time) bool {
	switch {
	case breaches < c.OpenFindings, c.NoFindings && breaches > 0,
		c.NoDevice != "" && p.isProtected(c.NoDevice),
		c.HasDevice != "" && !p.isProtected(c.HasDevice),
		c.KeyEndsWithin > 0 && !p.hasKeyEndingBy(now.AddDate(0, 0, c.KeyEndsWithin)),
		c.NotWatched != 0 && p.watchesKind(c.NotWatched),
		c.Watched != 0 && !p.watchesKind(c.Watched),
		c.OpenCase && p.OpenCases == 0,
		c.WaitingCase && p.WaitingCases == 0:
		return false
	}
	for id, values := range c.Answered {
		if !slices.Contains(values, p.Answers[id]) {
			return false
		}
	}
	return true
}

// alike is exposures that no item tells apart: people with hundreds of findings have a handful of them.
type alike struct {
	worst    *exposure // the first
	severity int
	source   SourceKind
	exposes  Classes
	assets   kinds
	n        int
}

// groupAlike groups exposures, which are in order, by what items ask of them. The groups live in sc.
func (sc *scratch) groupAlike(found []exposure) []alike {
	sc.groups = sc.groups[:0]
next:
	for i := range found {
		e := &found[i]
		var assets kinds
		for _, a := range e.assets {
			assets |= bitOfKind(a.Kind)
		}
		for j := range sc.groups {
			g := &sc.groups[j]
			if g.severity == e.severity && g.exposes == e.exposes && g.assets == assets && g.source == e.Kind {
				g.n++
				continue next
			}
		}
		sc.groups = append(sc.groups, alike{e, e.severity, e.Kind, e.exposes, assets, 1})
	}
	return sc.groups
}

// pickExposure returns the worst exposure that fits, and how many others do.
func (it *indexedItem) pickExposure(groups []alike) (worst *exposure, others int) {
	for i := range groups {
		g := &groups[i]
		if !it.fitsGroup(g) {
			continue
		}
		if worst == nil {
			worst = g.worst
		}
		others += g.n
	}
	return worst, others - 1
}

// fitsGroup reports whether the item speaks of the exposures of a group.
func (it *indexedItem) fitsGroup(g *alike) bool {
	return (it.exposes == 0 || it.exposes&g.exposes != 0) && (it.assets == 0 || it.assets&g.assets != 0) &&
		g.severity >= it.severity && (len(it.When.Sources) == 0 || slices.Contains(it.When.Sources, g.source))
}

// fillAdvice puts the names into an item's text.
func (it *indexedItem) fillAdvice(worst *exposure, others int) Advice {
	a := worst.namingAsset(it.assets)
	var names [len(blanks)]string
	names[blankBreach], names[blankValue] = worst.Title, identifier.MaskValue(a.Kind, a.Value)
	names[blankDate], names[blankMore] = worst.Date.UTC().Format("01/2006"), strconv.Itoa(others)
	body := it.body
	if others > 0 {
		body = it.more
	}
	return Advice{Item: &it.Item, Title: it.title.fillBlanks(&names), Body: body.fillBlanks(&names), Personal: true, indexedItem: it}
}

// The blanks of an item's text.
const (
	blankBreach = iota
	blankValue
	blankDate
	blankMore
)

// blanks are how the places for names are written in the texts of the catalogue.
var blanks = [...]string{blankBreach: "{vazamento}", blankValue: "{valor}", blankDate: "{data}", blankMore: "{mais}"}

// sentence is a text taken apart at its blanks.
type sentence []piece

// piece is a stretch of fixed text and the blank that follows it.
type piece struct {
	text  string
	blank int // what follows the text; -1 for nothing
}

// parseSentence splits a text at its blanks.
func parseSentence(text string) (s sentence) {
	for {
		at, blank := len(text), -1
		for b, mark := range blanks {
			if i := strings.Index(text[:at], mark); i >= 0 {
				at, blank = i, b
			}
		}
		s = append(s, piece{text[:at], blank})
		if blank < 0 {
			return s
		}
		text = text[at+len(blanks[blank]):]
	}
}

// fillBlanks returns the sentence with names in its blanks.
func (s sentence) fillBlanks(names *[len(blanks)]string) string {
	n := 0
	for _, p := range s {
		if n += len(p.text); p.blank >= 0 {
			n += len(names[p.blank])
		}
	}
	var out strings.Builder
	out.Grow(n)
	for _, p := range s {
		out.WriteString(p.text)
		if p.blank >= 0 {
			out.WriteString(names[p.blank])
		}
	}
	return out.String()
}

// Posture is where a person stands at one moment: what advice and score are made from, and nothing else is. Both are
// pure functions of it, of the catalogue and of the time.
type Posture struct {
	Assets  []PostureAsset
	Devices []PostureDevice
	// Answers are the latest answers to validation questions.
	Answers map[ContentID]string
	// OpenCases counts cases that are not resolved, closed or cancelled; WaitingCases those of them that wait for the
	// person.
	OpenCases, WaitingCases int
	// Last is the score of the latest day on which it changed; its zero value means that there was none.
	Last ScoreDay
}

// PostureAsset is a watched value and the breaches in which it was found and is not resolved.
type PostureAsset struct {
	Kind   identifier.Kind
	Value  string
	Status Status
	// Breaches are what Names wrote of its findings.
	Breaches string
	// open are the same, looked up and judged.
	open []*judged
}

// PostureDevice is a protected device: one with a live key that was activated on it, or with a live key where devices do
// not report activations.
type PostureDevice struct {
	System     System
	ValidUntil time.Time
}

// judged is a breach with everything that the model says of it, so that it is said once and not for each person.
type judged struct {
	Breach
	severity int
	// urgency orders breaches in one comparison: by severity, then by date.
	urgency int64
	usable  bool
	exposes Classes
	mends   Mends
	points  float64
	// content numbers the contents of the breaches in one book; 0: like no other.
	content int
}

// judgeBreach applies the model to a breach.
func judgeBreach(b Breach, now time.Time) *judged {
	severity := severityOrder(b.severityLevel())
	const aboveAnyDate = 1 << 40 // seconds: some 34,000 years
	return &judged{
		Breach: b, severity: severity, urgency: int64(severity)*aboveAnyDate + b.Date.Unix(), usable: b.IsUsable(), exposes: NewClasses(b.Exposes),
		mends: b.recommendedMend(), points: b.riskPoints(now),
	}
}

// exposure is one breach with open findings of the person: however many of their values are in it, it counts once. So
// does a dump that was imported several times: copies are joined under the worst, and what is worst in any of them
// counts.
type exposure struct {
	*judged
	points  float64
	usable  bool
	exposes Classes
	assets  []*PostureAsset
}

// addExposureCopy adds a copy of the same dump.
func (e *exposure) addExposureCopy(copied *exposure) {
	e.points, e.usable, e.exposes = max(e.points, copied.points), e.usable || copied.usable, e.exposes|copied.exposes
	for _, a := range copied.assets {
		if !slices.Contains(e.assets, a) {
			e.assets = append(slices.Clip(e.assets), a)
		}
	}
}

// scratch is room for one computation. People with hundreds of findings would otherwise keep the collector busy.
type scratch struct {
	findings     []scratchFinding
	exposures    []exposure
	groups       []alike
	assets       []*PostureAsset
	before, wins []float64
	first        []int // by content: 1 and the place of its first exposure; 0 between two computations
}

// scratchFinding is a finding while advice is computed, with the index of the watched value that it belongs to.
type scratchFinding struct {
	*judged
	asset int
}

// scratches keep the memory of a selection for the next one: a score is computed for each row of a list.
var scratches = sync.Pool{New: func() any { return new(scratch) }}

// takeScratch returns a scratch from the pool; the caller must release it.
func takeScratch() *scratch { return scratches.Get().(*scratch) } //nolint:errcheck // the pool holds nothing else

// releaseScratch returns the room, without what would keep a person's data alive.
func (sc *scratch) releaseScratch() {
	clear(sc.findings)
	clear(sc.exposures)
	clear(sc.groups)
	clear(sc.assets)
	scratches.Put(sc)
}

// joinExposures joins findings by breach, the worst first: by severity, then the latest, then by name. They live in sc.
func (p *Posture) joinExposures(sc *scratch) []exposure {
	sc.findings, sc.exposures, sc.assets = sc.findings[:0], sc.exposures[:0], sc.assets[:0]
	for i := range p.Assets {
		for _, b := range p.Assets[i].open {
			sc.findings = append(sc.findings, scratchFinding{b, i})
		}
	}
	slices.SortFunc(sc.findings, func(a, b scratchFinding) int {
		switch {
		case a.judged == b.judged:
			return a.asset - b.asset // the order in which the values were added
		case a.urgency != b.urgency:
			return cmp.Compare(b.urgency, a.urgency)
		}
		return cmp.Compare(a.Name, b.Name)
	})
	sc.assets = slices.Grow(sc.assets, len(sc.findings))
	for i, f := range sc.findings {
		sc.assets = append(sc.assets, &p.Assets[f.asset])
		if last := len(sc.exposures) - 1; last >= 0 && sc.exposures[last].judged == f.judged {
			sc.exposures[last].assets = sc.assets[i-len(sc.exposures[last].assets) : i+1]
			continue
		}
		sc.exposures = append(sc.exposures, exposure{f.judged, f.judged.points, f.judged.usable, f.judged.exposes, sc.assets[i : i+1]})
	}
	return sc.joinCopies()
}

// joinCopies leaves one exposure of each content.
func (sc *scratch) joinCopies() []exposure {
	kept := sc.exposures[:0]
	for i := range sc.exposures {
		e := sc.exposures[i]
		if e.content >= len(sc.first) {
			sc.first = append(sc.first, make([]int, e.content+1-len(sc.first))...)
		}
		if at := sc.first[e.content]; e.content > 0 && at > 0 {
			kept[at-1].addExposureCopy(&e)
			continue
		}
		kept = append(kept, e)
		sc.first[e.content] = len(kept)
	}
	clear(sc.exposures[len(kept):])
	for i := range kept {
		sc.first[kept[i].content] = 0
	}
	sc.exposures = kept
	return kept
}

// kinds is a set of identifier.Kind.
type kinds uint32

// bitOfKind returns the bit of a kind of value.
func bitOfKind(k identifier.Kind) kinds { return 1 << k }

// namingAsset returns the value by which an exposure is named: the first one added, of the wanted kinds if there are
// any; nil when it has none of them.
func (e exposure) namingAsset(wanted kinds) *PostureAsset {
	for _, a := range e.assets {
		if wanted == 0 || wanted&bitOfKind(a.Kind) != 0 {
			return a
		}
	}
	return nil
}

// watchesKind reports whether a value of the kind is watched.
func (p *Posture) watchesKind(k identifier.Kind) bool {
	return slices.ContainsFunc(p.Assets, func(a PostureAsset) bool { return a.Kind == k })
}

// isProtected reports whether a device of the type is.
func (p *Posture) isProtected(d DeviceType) bool {
	return slices.ContainsFunc(p.Devices, func(x PostureDevice) bool {
		return d == DeviceAll || (d == DeviceMobile) == x.System.IsMobile()
	})
}

// hasKeyEndingBy reports whether a key of the person ends by t.
func (p *Posture) hasKeyEndingBy(t time.Time) bool {
	return slices.ContainsFunc(p.Devices, func(x PostureDevice) bool { return !x.ValidUntil.After(t) })
}

// worstStatus returns the worst status of the person's values.
func (p *Posture) worstStatus() Status {
	worst := StatusMonitored
	for i := range p.Assets {
		switch s := p.Assets[i].Status; {
		case s == StatusCompromised:
			return s
		case s == StatusAlert:
			worst = s
		}
	}
	return worst
}
