package cyber

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

// catalogueIndex is the catalogue that is offered, in order.
type catalogueIndex struct {
	items []Item
	// weight is the sum of all questions' weights.
	weight int
	// translated are the same items in other languages.
	translated map[partner.Language]*catalogueIndex
}

// indexCatalogue weighs items, which are in order and not retired.
func indexCatalogue(items []Item) *catalogueIndex {
	s := &catalogueIndex{items: items}
	for _, it := range items {
		if it.Question != nil {
			s.weight += it.Question.WorstRisk()
		}
	}
	return s
}

// Advice is an item as it is said to one person: Title and Body have everything filled in.
type Advice struct {
	Item        *Item
	Title, Body string
}

// selectAdvice returns what applies to a person, in the order of the catalogue: most urgent first.
func selectAdvice(p *Posture, s *catalogueIndex, now time.Time) []Advice {
	found := p.joinExposures()
	list := make([]Advice, 0, len(s.items))
	for i := range s.items {
		it := &s.items[i]
		if it.Question != nil && it.Question.isSettledBy(p.Answers[it.ID]) || !it.When.holdsFor(p, len(found), now) {
			continue
		}
		if !it.When.aboutFinding() {
			list = append(list, Advice{it, it.Title, it.Body})
			continue
		}
		fitting := slices.DeleteFunc(slices.Clone(found), func(e *exposure) bool { return !it.When.fitsExposure(e) })
		if len(fitting) > 0 {
			list = append(list, it.fillAdvice(fitting[0], len(fitting)-1))
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

// fitsExposure reports whether the item speaks of an exposure.
func (c *Condition) fitsExposure(e *exposure) bool {
	return (len(c.Exposes) == 0 || NewClasses(c.Exposes)&e.exposes != 0) && e.namingAsset(c.Assets) != nil &&
		e.severity >= severityOrder(c.Severity) && (len(c.Sources) == 0 || slices.Contains(c.Sources, e.Kind))
}

// breachBlank is how the place for a breach's name is written in the texts of the catalogue.
const breachBlank = "{vazamento}"

// fillAdvice puts the names into an item's text, for the worst exposure that it speaks of and the number of others.
func (it *Item) fillAdvice(worst *exposure, others int) Advice {
	a := worst.namingAsset(it.When.Assets)
	names := strings.NewReplacer(breachBlank, worst.Title, "{valor}", identifier.MaskValue(a.Kind, a.Value),
		"{data}", worst.Date.UTC().Format("01/2006"), "{mais}", strconv.Itoa(others))
	body := it.Body
	if others > 0 && it.More != "" {
		body += " " + it.More
	}
	return Advice{it, names.Replace(it.Title), names.Replace(body)}
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
	usable   bool
	exposes  Classes
	mends    Mends
	points   float64
	// content is the same for copies of one dump.
	content string
}

// judgeBreach applies the model to a breach.
func judgeBreach(b Breach, now time.Time) *judged {
	return &judged{
		Breach: b, severity: severityOrder(b.severityLevel()), usable: b.IsUsable(), exposes: NewClasses(b.Exposes),
		mends: b.recommendedMend(), points: b.riskPoints(now), content: b.contentKey(),
	}
}

// exposure is one breach with open findings of the person: however many of their values are in it, it counts once. So
// does a dump that was imported several times: copies are joined under the worst, and what is worst in any of them
// counts.
type exposure struct {
	judged
	assets []*PostureAsset
}

// addExposureCopy adds a copy of the same dump.
func (e *exposure) addExposureCopy(copied *exposure) {
	e.points, e.usable, e.exposes = max(e.points, copied.points), e.usable || copied.usable, e.exposes|copied.exposes
	for _, a := range copied.assets {
		if !slices.Contains(e.assets, a) {
			e.assets = append(e.assets, a)
		}
	}
}

// joinExposures joins findings by breach, the worst first: by severity, then the latest, then by name.
func (p *Posture) joinExposures() []*exposure {
	var all []*exposure
	byBreach := map[*judged]*exposure{}
	for i := range p.Assets {
		for _, b := range p.Assets[i].open {
			if byBreach[b] == nil {
				byBreach[b] = &exposure{judged: *b}
				all = append(all, byBreach[b])
			}
			byBreach[b].assets = append(byBreach[b].assets, &p.Assets[i])
		}
	}
	slices.SortFunc(all, func(a, b *exposure) int {
		return cmp.Or(cmp.Compare(b.severity, a.severity), b.Date.Compare(a.Date), cmp.Compare(a.Name, b.Name))
	})
	first := map[string]*exposure{}
	return slices.DeleteFunc(all, func(e *exposure) bool {
		worst := first[e.content]
		if worst == nil {
			first[e.content] = e
			return false
		}
		worst.addExposureCopy(e)
		return true
	})
}

// namingAsset returns the value by which an exposure is named: the first one added, of the wanted kinds if there are
// any; nil when it has none of them.
func (e *exposure) namingAsset(wanted []identifier.Kind) *PostureAsset {
	for _, a := range e.assets {
		if len(wanted) == 0 || slices.Contains(wanted, a.Kind) {
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
