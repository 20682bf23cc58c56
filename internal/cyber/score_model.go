package cyber

import (
	"math"
	"time"
)

// The risk model. docs/risk-model.md explains it to people.

// exposedWeight is how many points a class of data is worth to a criminal, and whether it stays true for life.
var exposedWeight = map[Exposed]struct {
	points  float64
	forever bool
}{
	ExposedPassword:     {40, false},
	ExposedCard:         {40, false},
	ExposedCookies:      {35, false},
	ExposedDocument:     {25, true},
	ExposedFinancial:    {25, false},
	ExposedCPF:          {20, true},
	ExposedPasswordHash: {20, false},
	ExposedHealth:       {20, true},
	ExposedBirthDate:    {8, true},
	ExposedAddress:      {8, false},
	ExposedPhone:        {6, false},
	ExposedName:         {4, true},
	ExposedEmail:        {4, false},
	ExposedUsername:     {4, false},
	ExposedIP:           {2, false},
	ExposedOther:        {3, false},
}

// sourceFactor is how dangerous data of a source is: a stealer's log is fresh and whole, a combolist mostly copied.
var sourceFactor = map[SourceKind]float64{
	SourceStealer: 1.5, SourcePhish: 1.3, SourceBreach: 1, SourcePaste: 0.8, SourceCombolist: 0.7,
}

// ageFactor is what is left of data that people change, by the years since the breach.
var ageFactor = [...]struct {
	years  int
	factor float64
}{{1, 1}, {3, 0.8}, {5, 0.6}, {math.MaxInt32, 0.4}}

const (
	// furtherShare is what each class after the strongest counts.
	furtherShare = 0.25
	// identityBonus is for a government id together with a name, birth date or address: enough to open an account.
	identityBonus = 10
	unverified    = 0.8
	fabricated    = 0.1
	spamList      = 0.2
	// breachCeiling is the most that one breach can be worth: no single one makes 100.
	breachCeiling = 75
)

// riskPoints returns what one breach is worth, 0 to breachCeiling.
func (b Breach) riskPoints(now time.Time) float64 {
	age := breachAgeFactor(b.Date, now)
	strongest, further := 0.0, 0.0
	for _, e := range b.Exposes {
		w, ok := exposedWeight[e]
		if !ok {
			w = exposedWeight[ExposedOther]
		}
		points := w.points
		if !w.forever {
			points *= age
		}
		if points > strongest {
			strongest, points = points, strongest
		}
		further += points
	}
	points := strongest + furtherShare*further
	if b.Has(ExposedCPF, ExposedDocument) && b.Has(ExposedName, ExposedBirthDate, ExposedAddress) {
		points += identityBonus
	}
	if f, ok := sourceFactor[b.Kind]; ok {
		points *= f
	}
	if !b.Verified {
		points *= unverified
	}
	if b.Fabricated {
		points *= fabricated
	}
	if b.SpamList {
		points *= spamList
	}
	return min(points, breachCeiling)
}

// breachAgeFactor returns the factor for a breach of that day; a breach without a date counts as new.
func breachAgeFactor(date, now time.Time) float64 {
	for _, step := range ageFactor {
		if date.IsZero() || step.years == math.MaxInt32 || now.Before(date.AddDate(step.years, 0, 0)) {
			return step.factor
		}
	}
	return 1
}
