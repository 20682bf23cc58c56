package cyber

import "github.com/vigiahq/vigia/internal/identifier"

// The shares of the assessment score; they add up to 100.
const (
	shareDevices = 25
	shareAnswers = 35
	shareAlerts  = 15
	// alertPart is the share of open alerts when nothing usable was exposed.
	alertPart = 5
)

// shareWatched is for each kind of value that is not monitored, 25 together, in the order they are recommended.
var shareWatched = [...]struct {
	kind   identifier.Kind
	points float64
}{{identifier.CPF, 8}, {identifier.Email, 8}, {identifier.Phone, 5}, {identifier.Card, 4}}

// alertShare returns how many points of the assessment the worst status of the person's watched values adds.
func alertShare(s Status) float64 {
	switch s {
	case StatusCompromised:
		return shareAlerts
	case StatusAlert:
		return alertPart
	case StatusMonitored:
	}
	return 0
}

// statusOfRest returns the worst status that so many breaches leave, so many of them usable against the person: see
// ComputeStatus.
func statusOfRest(breaches, usable int) Status {
	switch {
	case usable > 0:
		return StatusCompromised
	case breaches > 0:
		return StatusAlert
	}
	return StatusMonitored
}

// postureGaps lists what is missing beyond breaches; Wins of all of them and the share of alerts are the assessment
// score.
func postureGaps(p *Posture, s *catalogueIndex) []Recommendation {
	var gaps []Recommendation
	if !p.isProtected(DeviceAll) {
		gaps = append(gaps, Recommendation{Mends: MendDevice, Wins: shareDevices})
	}
	for _, w := range shareWatched {
		if !p.watchesKind(w.kind) {
			gaps = append(gaps, Recommendation{Mends: MendWatch, Kind: w.kind, Wins: w.points})
		}
	}
	for i := range s.items {
		q := s.items[i].Question
		if q == nil {
			continue
		}
		if risk := q.Risk(p.Answers[s.items[i].ID]); risk > 0 {
			gaps = append(
				gaps,
				Recommendation{
					Mends:    MendAnswer,
					Text:     q.Mends,
					Language: s.items[i].Language,
					Wins:     shareAnswers * float64(risk) / float64(s.weight),
				},
			)
		}
	}
	return gaps
}
