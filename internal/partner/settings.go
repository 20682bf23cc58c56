package partner

import (
	"errors"
	"slices"
	"strconv"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Settings are what an operator tunes per partner. The zero value of each field means the service's default.
type Settings struct {
	// RatePerSecond and Burst shape the token bucket of the partner's requests.
	RatePerSecond int
	Burst         int
	// DefaultPlan covers people without a subscription in force; empty means none.
	DefaultPlan string
	// MaskCards answers beneficiaries' cards with all but the last four digits hidden.
	MaskCards bool
	// Sites are hosts of the partner's own, in lower case with spaces between them: a credential for one of them, or
	// for a host under one, is a key to its house.
	Sites string
	// WatchedSites are hosts of others that the operator watches for the partner, written the same way.
	WatchedSites string
	// People is how many people the contract with the partner covers. It decides how many first looks the partner gets:
	// see package cyber.
	People int
	// FirstLooksPerHour is how many new values may be looked up in past breaches in an hour, LooksBySize or
	// NoFirstLooks.
	FirstLooksPerHour int
	// SandboxOf is the live partner whose people try things out at this one; only a sandbox partner has it.
	SandboxOf ID
	// Officer is the name and contact of the partner's data protection officer, for the letter that a person gets of
	// their data.
	Officer string
}

// What FirstLooksPerHour says besides a number.
const (
	LooksBySize  = 0  // as many as the number of people gives
	NoFirstLooks = -1 // none: the operator has stopped them
)

// ParseLooksPerHour reads what a person writes for FirstLooksPerHour: nothing or "auto" for LooksBySize, 0 for
// NoFirstLooks, else the number.
func ParseLooksPerHour(text string) (int, error) {
	if text == "" || text == "auto" {
		return LooksBySize, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxLooksPerHour {
		return 0, ErrInvalid.With("first looks", fault.LooksPerHour)
	}
	if n == 0 {
		return NoFirstLooks, nil
	}
	return n, nil
}

// Bounds of settings.
const (
	maxLooksPerHour = 1_000_000_000
	maxPeople       = 300_000_000
)

// Defaults of Settings, as decided for the contract.
const (
	DefaultRatePerSecond = 200
	DefaultBurst         = 400
)

// RateLimit returns the partner's requests per second and burst with defaults filled in.
func (s Settings) RateLimit() (perSecond, burst int) {
	perSecond, burst = s.RatePerSecond, s.Burst
	if perSecond == 0 {
		perSecond = DefaultRatePerSecond
	}
	if burst == 0 {
		burst = 2 * perSecond
	}
	return perSecond, burst
}

// checkSettings refuses settings out of their bounds.
func (s Settings) checkSettings() error {
	isNoHost := func(h string) bool { return !hostName.MatchString(h) || len(h) > 253 }
	return errors.Join(
		fault.When(
			s.RatePerSecond < 0 || s.RatePerSecond > 1_000_000,
			ErrInvalid.With("rate", fault.RequestsPerSecond),
		),
		fault.When(s.Burst < 0 || s.Burst > 1_000_000, ErrInvalid.With("burst", fault.RequestsAtOnce)),
		fault.When(s.FirstLooksPerHour < NoFirstLooks || s.FirstLooksPerHour > maxLooksPerHour,
			ErrInvalid.With("first looks", fault.LooksPerHour)),
		fault.When(s.People < 0 || s.People > maxPeople, ErrInvalid.With("people", fault.PeopleOfPartner, maxPeople)),
		fault.When(!IsPrintableLine(s.Officer, 0, 200), ErrInvalid.With("officer", fault.PlainAtMost, 200)),
		fault.When(len(s.DefaultPlan) > 255, ErrInvalid.With("default plan", fault.AtMostCharacters, 255)),
		fault.When(
			len(s.ListSites()) > mostSites || len(s.WatchedList()) > mostSites,
			ErrInvalid.With("site", fault.AtMost, mostSites),
		),
		fault.When(
			slices.ContainsFunc(slices.Concat(s.ListSites(), s.WatchedList()), isNoHost),
			ErrInvalid.With("site", fault.HostName),
		),
	)
}
