package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// BeginPasskeyLogin asks for any passkey of this site.
func (r *Registry) BeginPasskeyLogin(ctx context.Context, origin string) (options any, token string, err error) {
	party, err := relyingParty(origin)
	if err != nil {
		return nil, "", err
	}
	assertion, session, err := party.BeginDiscoverableLogin(
		webauthn.WithUserVerification(protocol.VerificationRequired),
	)
	if err != nil {
		return nil, "", fmt.Errorf("begin passkey log-in: %w", err)
	}
	token, err = r.insertCeremony(ctx, session)
	return assertion.Response, token, err
}

// PasskeyLogin opens a session for the holder of the passkey that answered. Whatever is wrong, the error is ErrPasskey;
// a lock that wrong passwords caused does not stop a passkey, which cannot be guessed.
func (r *Registry) PasskeyLogin(
	ctx context.Context, origin, token string, response []byte, from string,
) (Operator, string, error) {
	party, err := relyingParty(origin)
	if err != nil {
		return Operator{}, "", err
	}
	session, err := r.takeCeremony(ctx, token)
	if err != nil {
		return Operator{}, "", err
	}
	answer, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return Operator{}, "", ErrPasskey.Because(err)
	}
	var holder passkeyUser
	var passkeys []Passkey
	_, used, err := party.ValidatePasskeyLogin(func(_, handle []byte) (webauthn.User, error) {
		var err error
		holder, passkeys, err = r.loadPasskeyUser(ctx, ID(handle), party.Config.RPID)
		return holder, err
	}, session, answer)
	if err == nil && used.Authenticator.CloneWarning {
		err = errors.New("counter: has not risen, so there may be a copy of the authenticator")
	}
	if err != nil {
		return Operator{}, "", ErrPasskey.Because(err)
	}
	o, err := r.store.UpdateOperator(ctx, holder.operator.ID, KeepSessions, func(o *Operator, _ []Operator) error {
		if o.Disabled {
			return ErrPasskey
		}
		o.LastLogin = r.now()
		return nil
	})
	if err != nil {
		return Operator{}, "", err
	}
	k := passkeys[slices.IndexFunc(passkeys, func(k Passkey) bool { return bytes.Equal(k.ID, used.ID) })]
	if k.Credential, err = json.Marshal(used); err != nil { // with its counter, by which a copy shows
		return Operator{}, "", fmt.Errorf("keep passkey: %w", err)
	}
	k.UsedAt = r.now()
	if err := r.store.UpdatePasskey(ctx, k); err != nil {
		return Operator{}, "", err
	}
	opened, err := r.openSession(ctx, o.ID, from)
	return o, opened, err
}
