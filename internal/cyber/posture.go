package cyber

import (
	"cmp"
	"slices"
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
	Kind    identifier.Kind
	Value   string
	Status  Status
	AddedAt time.Time
	// Waits reports that the value has not had its first look into past breaches.
	Waits bool
	// Breaches are what JoinBreachNames wrote of its findings.
	Breaches string
	// open are the same, looked up and judged.
	open []*judged
}

// PostureDevice is a protected device: one with a live key that was activated on it, or with a live key where devices
// do not report activations.
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

// countLooks counts the first looks of the person's values.
func (p *Posture) countLooks() (l PersonLooks) {
	for _, a := range p.Assets {
		l.addValue(a.Waits, a.AddedAt)
	}
	return l
}

func (p *Posture) watchesKind(k identifier.Kind) bool {
	return slices.ContainsFunc(p.Assets, func(a PostureAsset) bool { return a.Kind == k })
}

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
