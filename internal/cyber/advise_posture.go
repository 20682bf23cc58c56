package cyber

import (
	"cmp"
	"slices"
	"time"

	"vigia/internal/identifier"
)

// Posture is where a person stands at one moment: what advice and score are made from, and nothing else is. Both are pure
// functions of it, of the catalogue and of the time.
type Posture struct {
	Assets  []PostureAsset
	Devices []PostureDevice
	// Answers are the latest answers to validation questions.
	Answers map[ContentID]string
	// OpenCases counts cases that are not resolved, closed or cancelled; WaitingCases those of them that wait for the person.
	OpenCases, WaitingCases int
	// Last is the score of the latest day on which it changed; its zero value means that there was none.
	Last ScoreDay
}

// PostureAsset is a watched value and the breaches in which it was found and is not resolved.
type PostureAsset struct {
	Kind   identifier.Kind
	Value  string
	Status Status
	// Breaches are the names of the breaches.
	Breaches []string
	// open are the same, looked up and judged.
	open []*judged
}

// PostureDevice is a device with a live key.
type PostureDevice struct {
	System     System
	ValidUntil time.Time
}

// judged is a breach with everything that the model says of it, so that it is said once and not for each person.
type judged struct {
	Breach
	severity int
	usable   bool
	exposes  classes
	mends    Mends
	points   float64
}

// classes is a set of Exposed: a bit for each, in the order of AllExposed.
type classes uint32

func classesOf(list []Exposed) (set classes) {
	for i, e := range AllExposed() {
		if slices.Contains(list, e) {
			set |= 1 << i
		}
	}
	return set
}

// judge applies the model to a breach.
func judge(b Breach, now time.Time) *judged {
	return &judged{
		Breach: b, severity: severityOrder(SeverityOf(b)), usable: b.Usable(), exposes: classesOf(b.Exposes), mends: b.mends(), points: b.points(now),
	}
}

// exposure is one breach with open findings of the person: however many of their values are in it, it counts once.
type exposure struct {
	*judged
	assets []*PostureAsset
}

// exposures joins findings by breach, the worst first: by severity, then the latest, then by name.
func (p *Posture) exposures() []exposure {
	total := 0
	for i := range p.Assets {
		total += len(p.Assets[i].open)
	}
	list, at := make([]exposure, 0, total), make(map[*judged]int, total)
	room := make([]*PostureAsset, 0, total) // of all the lists of assets, which are mostly of one
	for i := range p.Assets {
		a := &p.Assets[i]
		for _, b := range a.open {
			if n, ok := at[b]; ok {
				list[n].assets = append(list[n].assets, a)
				continue
			}
			at[b] = len(list)
			room = append(room, a)
			list = append(list, exposure{judged: b, assets: room[len(room)-1 : len(room) : len(room)]})
		}
	}
	slices.SortFunc(list, func(a, b exposure) int {
		return cmp.Or(cmp.Compare(b.severity, a.severity), b.Date.Compare(a.Date), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// asset is the value by which an exposure is named: the first one added, of the wanted kinds if there are any; nil when it
// has none of them.
func (e exposure) asset(kinds []identifier.Kind) *PostureAsset {
	for _, a := range e.assets {
		if len(kinds) == 0 || slices.Contains(kinds, a.Kind) {
			return a
		}
	}
	return nil
}

func (p *Posture) watches(k identifier.Kind) bool {
	return slices.ContainsFunc(p.Assets, func(a PostureAsset) bool { return a.Kind == k })
}

// protected tells whether a device of the type has a live key.
func (p *Posture) protected(d DeviceType) bool {
	return slices.ContainsFunc(p.Devices, func(x PostureDevice) bool {
		return d == DeviceAll || (d == DeviceMobile) == x.System.Mobile()
	})
}

func (p *Posture) keyEndsBy(t time.Time) bool {
	return slices.ContainsFunc(p.Devices, func(x PostureDevice) bool { return !x.ValidUntil.After(t) })
}

// status is the worst status of the person's values.
func (p *Posture) status() Status {
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
