package partner_test

import (
	"testing"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/partner/partnertest"
)

// TestOwnPartnerRefusesStrangers: to a partner's people there is no other partner, in no method of the store.
func TestOwnPartnerRefusesStrangers(t *testing.T) {
	// The list asks for the own partner, whoever is named: see TestPortalTenancy.
	partnertest.RefuseStrangers(t, partner.OwnStore("pt_1"), "pt_2", "ListPartners")
}
