package cyber

import (
	"context"
	"slices"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

// ErrNotAsked means that not every breach can be asked now.
var ErrNotAsked = fault.New(fault.Unavailable, "corpora.not_asked")

// CheckCredential tells whether a password, by the first 40 bits of its SHA-1, is known together with one of the values
// that are watched for a person. Of somebody who is not watched nothing is known.
func (m *Monitoring) CheckCredential(ctx context.Context, who Owner, user partner.UserHash, password uint64) (bool, error) {
	if who.Mode == partner.Sandbox {
		watched, err := m.store.AssetsOfUser(ctx, who.Partner, user)
		leaked := slices.ContainsFunc(watched, func(a Asset) bool {
			normal, err := identifier.Parse(a.Kind, a.Value, identifier.Waived)
			return err == nil && a.Kind == identifier.Email && sandboxLeak(a.Kind, normal) // of no other the record holds one
		})
		return leaked && password == SandboxPassword, err
	}
	fingerprints, err := m.store.FingerprintsOfUser(ctx, who.Partner, user)
	if err != nil || len(fingerprints) == 0 {
		return false, err
	}
	return m.corpora.Holds(fingerprints, password)
}
