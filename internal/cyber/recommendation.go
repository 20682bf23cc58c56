package cyber

import (
	"cmp"
	"slices"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

// Mends names what a recommendation is about.
type Mends string

// What can be mended.
const (
	MendStealer  Mends = "stealer"
	MendPassword Mends = "password"
	MendCard     Mends = "card"
	MendSession  Mends = "session"
	MendIdentity Mends = "identity"
	MendMoney    Mends = "financial"
	MendHash     Mends = "password_hash"
	MendHealth   Mends = "health"
	MendPhish    Mends = "phish"
	MendContact  Mends = "contact"
	MendDevice   Mends = "device"
	MendWatch    Mends = "watch"
	MendAnswer   Mends = "answer"
)

// Recommendation is something to do, what it mends and what it wins.
type Recommendation struct {
	Mends Mends
	// Breach is the title of the breach.
	Breach string
	// asset is the person's value in the breach.
	asset *PostureAsset
	// Kind is what to watch.
	Kind identifier.Kind
	// Text is the catalogue's own sentence, for answers, and Language what it was translated to.
	Text     string
	Language partner.Language
	// Wins is by how much the two scores together would fall.
	Wins float64
}

// Value returns the person's value in the breach, masked; empty when the recommendation is not about one.
func (r Recommendation) Value() string {
	if r.asset == nil {
		return ""
	}
	return identifier.MaskValue(r.asset.Kind, r.asset.Value)
}

// maxRecommendations keeps the list within what a person reads.
const maxRecommendations = 20

// pickBestWins returns the recommendations that win most, the largest first; of equals the first.
func pickBestWins(list []Recommendation) []Recommendation {
	slices.SortStableFunc(list, func(a, b Recommendation) int { return cmp.Compare(b.Wins, a.Wins) })
	return list[:min(len(list), maxRecommendations)]
}

// recommendedMend says what to do about a breach: the worst of what it exposed decides.
func (b Breach) recommendedMend() Mends {
	switch {
	case b.Kind == SourceStealer:
		return MendStealer
	case b.Has(ExposedPassword):
		return MendPassword
	case b.Has(ExposedCard):
		return MendCard
	case b.Has(ExposedCookies):
		return MendSession
	case b.Has(ExposedDocument, ExposedCPF):
		return MendIdentity
	case b.Has(ExposedFinancial):
		return MendMoney
	case b.Has(ExposedPasswordHash):
		return MendHash
	case b.Has(ExposedHealth):
		return MendHealth
	case b.Kind == SourcePhish:
		return MendPhish
	}
	return MendContact
}
