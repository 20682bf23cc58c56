package cyber

import (
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

// Owner is whose request or command it is.
type Owner struct {
	Partner partner.ID
	Mode    partner.Mode
	// Pace is that of the first looks of what a live partner's own requests add. It is nil for an operator, whose
	// additions are not paced.
	Pace *LookPace
}

// NewOwner returns the owner of a partner's own requests.
func NewOwner(id partner.ID, mode partner.Mode, s partner.Settings) Owner {
	pace := PaceOf(s)
	return Owner{Partner: id, Mode: mode, Pace: &pace}
}

// hasPacedLooks reports whether first looks take tokens.
func (o Owner) hasPacedLooks() bool { return !o.Mode.Has(partner.Unpaced) && o.Pace != nil }

// Group is the kinds of values that one way of asking may name.
type Group []identifier.Kind

// The groups. What the contract takes is what its own operations add; domains, which the operator adds, it only lists.
// The extra kinds are neither taken nor shown by the contract's operations: they have routes of their own. An operator
// adds what no partner's request can: domains, and the extra kinds for partners that do not use those routes.
var (
	ContractAdds  = Group{identifier.Email, identifier.CPF, identifier.Phone, identifier.Card}
	ContractShows = append(slices.Clone(ContractAdds), identifier.Domain)
	ExtraKinds    = Group{identifier.PixKey, identifier.CNPJ}
	OperatorAdds  = Group{identifier.Domain, identifier.PixKey, identifier.CNPJ}
)

func (g Group) HasKind(k identifier.Kind) bool { return slices.Contains(g, k) }

// joinKinds lists the kinds of a group for an error.
func (g Group) joinKinds() string {
	words := make([]string, len(g))
	for i, k := range g {
		words[i] = k.String()
	}
	return strings.Join(words, ", ")
}
