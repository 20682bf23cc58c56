package cyber

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
)

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
