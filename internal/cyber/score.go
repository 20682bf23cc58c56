package cyber

import (
	"math"
	"slices"
)

// Score is a person's risk: 0 is best, 100 worst.
type Score struct {
	Breach, Assessment float64
	// Looks says on how many of the person's values the score rests: while some wait, the risk may be larger.
	Looks PersonLooks
	// Recommendations are in the order of what they win.
	Recommendations []Recommendation
}

// computeScore computes the score. It is deterministic, a new finding never lowers it, and resolving one never raises
// it.
func computeScore(p *Posture, s *catalogueIndex) Score {
	found := p.joinExposures()
	breach, wins := breachScore(found)
	status, usable := p.worstStatus(), 0
	for _, e := range found {
		if e.usable {
			usable++
		}
	}
	var list []Recommendation
	for i, e := range found {
		others := usable
		if e.usable {
			others--
		}
		win := wins[i] + alertShare(status) - alertShare(statusOfRest(len(found)-1, others))
		list = append(list, Recommendation{Mends: e.mends, Breach: e.Title, asset: e.assets[0], Wins: win})
	}
	assessment := alertShare(status)
	for _, gap := range postureGaps(p, s) {
		assessment += gap.Wins
		list = append(list, gap)
	}
	return Score{
		Breach:          roundToTenth(breach),
		Assessment:      roundToTenth(min(assessment, 100)),
		Looks:           p.countLooks(),
		Recommendations: pickBestWins(list),
	}
}

// breachScore joins the breaches as chances of harm are joined: 100 * (1 - product of (1 - points/100)). So each adds
// to what the others left, and their order does not matter. It also says what mending each alone would win.
func breachScore(found []*exposure) (score float64, wins []float64) {
	before, wins := make([]float64, len(found)+1), make([]float64, len(found)) // what the breaches up to each leave
	before[0] = 1
	for i, e := range found {
		before[i+1] = before[i] * (1 - e.points/100)
	}
	after := 1.0
	for i, e := range slices.Backward(found) {
		wins[i] = before[i] * after * e.points
		after *= 1 - e.points/100
	}
	return 100 * (1 - before[len(found)]), wins
}

// roundToTenth rounds to one decimal.
func roundToTenth(x float64) float64 { return math.Round(x*10) / 10 }
