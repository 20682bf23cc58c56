package cyber

import (
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Faults of a check of credentials.
var (
	// ErrNotAsked means that not every breach can be asked now.
	ErrNotAsked = fault.New(fault.Unavailable, "corpora.not_asked")
	// ErrTooNew means that none of the person's values may be asked about yet.
	ErrTooNew = fault.New(fault.Conflict, "credential.too_new")
	// ErrGuesses means that every value of the person was asked about too often today.
	ErrGuesses = fault.New(fault.RateLimited, "credential.guesses")
)

const (
	// GuessesPerDay is how often a partner may ask about one value in a day of Brasília, under the names of all people
	// together: otherwise a leaked password could be guessed under those of made-up people. The limit is the partner's
	// own, so that no partner can tell that another asks, or keep it from asking. Over all partners together it is
	// guessesOfAll: several that work together must not guess for ever.
	GuessesPerDay = 20
	guessesOfAll  = 200
	// guessAge is how long a value must have been watched, unless the person was enrolled with it.
	guessAge = 24 * time.Hour
)

// GuessLimits are how often a value may be asked about in a day: by one partner, and by all of them together.
type GuessLimits struct{ OfPartner, OfAll int64 }

// EnrolledValue is what a subscription in force says of a person.
type EnrolledValue struct {
	Kind  identifier.Kind
	Value string
}

// ParseValue returns the normal form of the value by the rules of an enrolment, which has checked it.
func (v EnrolledValue) ParseValue() (string, error) {
	if v.Kind == identifier.Phone {
		return identifier.ParsePhoneWithCountryCode(v.Value)
	}
	return identifier.ParseValue(v.Kind, v.Value, identifier.Waived)
}

// CheckCredential reports whether a password, by the first 40 bits of its SHA-1, is known together with one of the
// values that are watched for a person. Of a person without any nothing is known. Values that were added lately, or
// wait for their first look, are left out.
func (m *Monitoring) CheckCredential(
	ctx context.Context, who Owner, user partner.UserHash, password uint64,
) (bool, error) {
	watched, err := m.store.AssetsOfUser(ctx, who.Partner, user)
	if err != nil || len(watched) == 0 {
		return false, err
	}
	if who.Mode.Has(partner.MagicValues) {
		leaked := slices.ContainsFunc(watched, func(a Asset) bool {
			normal, err := identifier.ParseValue(a.Kind, a.Value, identifier.Waived)
			return err == nil && a.Kind == identifier.Email &&
				sandboxLeak(a.Kind, normal) // of no other the record holds one
		})
		return leaked && password == SandboxPassword, nil
	}
	enrolled, err := m.store.EnrolledValues(ctx, who.Partner, user)
	if err != nil {
		return false, err
	}
	var fingerprints []uint64
	for _, a := range watched {
		normal, err := identifier.ParseValue(a.Kind, a.Value, identifier.Waived)
		isNew := m.now().Sub(a.AddedAt) < guessAge
		if err != nil || a.Waits && !a.IsDue || isNew && !isEnrolled(enrolled, a.Kind, normal) {
			continue
		}
		fingerprints = append(fingerprints, m.fingerprint(byte(a.Kind), identifier.MatchForm(a.Kind, normal)))
	}
	if len(fingerprints) == 0 {
		return false, ErrTooNew.With("userHash", fault.AskedTooSoon)
	}
	allowed, err := m.store.TakeGuesses(
		ctx,
		who.Partner,
		fingerprints,
		GuessLimits{OfPartner: GuessesPerDay, OfAll: guessesOfAll},
	)
	if err != nil {
		return false, err
	}
	if len(allowed) == 0 {
		return false, ErrGuesses.With("userHash", fault.AskedPerDay, GuessesPerDay)
	}
	return m.corpora.HoldsPair(ctx, allowed, password)
}

// isEnrolled reports whether a person was enrolled with a value.
func isEnrolled(enrolled []EnrolledValue, kind identifier.Kind, normal string) bool {
	return slices.ContainsFunc(enrolled, func(e EnrolledValue) bool {
		same, err := e.ParseValue()
		return err == nil && e.Kind == kind && same == normal
	})
}
