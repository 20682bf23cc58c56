package operator

import (
	"context"
	"encoding/base32"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Recovery codes stand in for an authenticator app that was lost. Each has 120 random bits, so a fast digest is enough,
// and works once.
const (
	recoveryCodes = 10
	recoveryBytes = 15
)

// recoveryText spells recovery codes in letters and digits that are not mistaken for each other.
var recoveryText = base32.StdEncoding.WithPadding(base32.NoPadding)

// RecoveryCodes gives an operator new recovery codes in the place of those before, and returns them to be shown once.
func (r *Registry) RecoveryCodes(ctx context.Context, id ID) ([]string, error) {
	codes, digests := make([]string, recoveryCodes), make([][]byte, recoveryCodes)
	for i := range codes {
		text := recoveryText.EncodeToString(randomBytes(recoveryBytes))
		codes[i], digests[i] = text[:6]+"-"+text[6:12]+"-"+text[12:18]+"-"+text[18:], r.store.TokenDigest(text)
	}
	_, err := r.store.UpdateOperator(ctx, id, KeepSessions, func(o *Operator, _ []Operator) error {
		if !o.TOTPOn {
			return ErrInvalid.With("recovery", fault.NoSecondFactor)
		}
		o.Recovery = digests
		return nil
	})
	return codes, err
}
