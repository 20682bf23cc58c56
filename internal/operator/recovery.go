package operator

import (
	"context"
	"crypto/subtle"
	"encoding/base32"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
)

// Recovery codes stand in for an authenticator app that was lost. Each has 120 random bits, so a fast digest is enough,
// and works once.
const (
	recoveryCodes = 10
	recoveryBytes = 15
)

var recoveryText = base32.StdEncoding.WithPadding(base32.NoPadding)

// RecoveryCodes gives an operator new recovery codes in the place of those before, and returns them to be shown once.
func (r *Registry) RecoveryCodes(ctx context.Context, id ID) ([]string, error) {
	codes, digests := make([]string, recoveryCodes), make([][]byte, recoveryCodes)
	for i := range codes {
		raw := make([]byte, recoveryBytes)
		if _, err := io.ReadFull(r.random, raw); err != nil {
			return nil, fmt.Errorf("make recovery code: %w", err)
		}
		text := recoveryText.EncodeToString(raw)
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

// secondFactor reports whether a code is right, and uses it up: that of the app, or one of the recovery codes.
func (r *Registry) secondFactor(o *Operator, code string, now time.Time, recovered *bool) bool {
	if !o.TOTPOn {
		return true
	}
	if step, ok := findStep(o.TOTP, code, now, o.TOTPStep); ok {
		o.TOTPStep = step
		return true
	}
	given := r.store.TokenDigest(strings.ToUpper(strings.ReplaceAll(code, "-", "")))
	for i, digest := range o.Recovery {
		if subtle.ConstantTimeCompare(digest, given) == 1 {
			o.Recovery, *recovered = slices.Delete(slices.Clone(o.Recovery), i, i+1), true
			return true
		}
	}
	return false
}
