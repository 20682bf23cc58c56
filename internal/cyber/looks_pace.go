package cyber

import (
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// The first look of a value into the published breaches takes a token of the partner, because its result is what a
// hostile partner would fish for. Adding a value is free. Until its first look a value takes part in no match at all,
// so that nothing is learned without a token.
const (
	// LookBurst is how many tokens a partner has at most, apart from those of its size and those granted by an
	// operator.
	LookBurst = 1000
	// minLooksPerHour is how many tokens return in an hour unless the partner's size or the operator says more.
	minLooksPerHour = 200
	// looksPerPerson is how many first looks the size of a partner gives for each person, once: an e-mail, a CPF, a
	// phone.
	looksPerPerson = 3
	// peoplePerLook is how many people of its size let one token return to a partner in an hour.
	peoplePerLook = 200
	// LookSubscriptionAge is how long a subscription must have been in force, and known to the service, to give its
	// partner one more token a day: a partner could enrol made-up people with dates of the past.
	LookSubscriptionAge = 30 * 24 * time.Hour
	// LookOverdueAfter is how long a value may wait for its first look before operator and partner are told that it is
	// not protected yet.
	LookOverdueAfter = 24 * time.Hour
	// MaxGrant bounds what an operator may grant at once.
	MaxGrant = 1_000_000_000
)

// LookPace is how many first looks a partner gets.
type LookPace struct {
	// PerHour is how many tokens return in an hour; 0 means that the operator has stopped first looks.
	PerHour int64
	// Onboarding is how many first looks the partner's size gives, once.
	Onboarding int64
}

// PaceOf returns the pace that the settings of a partner give.
func PaceOf(s partner.Settings) LookPace {
	pace := LookPace{PerHour: int64(s.FirstLooksPerHour), Onboarding: looksPerPerson * int64(s.People)}
	switch s.FirstLooksPerHour {
	case partner.LooksBySize:
		pace.PerHour = max(minLooksPerHour, int64(s.People)/peoplePerLook)
	case partner.NoFirstLooks:
		pace.PerHour = 0
	}
	return pace
}

// paceIfResumed returns the pace at which first looks go on, or would if the operator let them go on now: then it is
// that of the partner's size.
func paceIfResumed(s partner.Settings) LookPace {
	if s.FirstLooksPerHour == partner.NoFirstLooks {
		s.FirstLooksPerHour = partner.LooksBySize
	}
	return PaceOf(s)
}

// IsStopped reports whether the operator has stopped first looks.
func (p LookPace) IsStopped() bool { return p.PerHour == 0 }
