package operator

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/vigiahq/vigia/internal/fault"
)

// A passkey is a way in of its own: the device holds the key and checks who holds the device, so it stands for password
// and second factor together. User verification is always asked for.

// Passkey is one credential of an operator.
type Passkey struct {
	// ID is what the authenticator calls it.
	ID       []byte
	Operator ID
	// Name is what the person calls it.
	Name      string
	CreatedAt time.Time
	UsedAt    time.Time
	// Credential is the public key and its counter, as the library keeps them.
	Credential []byte
}

// Text is the ID in an address.
func (p Passkey) Text() string { return base64.RawURLEncoding.EncodeToString(p.ID) }

const (
	// ceremonyFor is how long somebody may take at the authenticator.
	ceremonyFor = 5 * time.Minute
	mostKeys    = 10
	longestName = 60
)

// Faults of passkeys.
var (
	ErrPasskey     = fault.New(fault.Unauthenticated, "passkey.refused")
	ErrPasskeyName = fault.New(fault.Invalid, "passkey.name")
	ErrPasskeys    = fault.New(fault.Conflict, "passkey.too_many")
)

// passkeyUser is an operator as the library sees one.
type passkeyUser struct {
	Operator
	keys []webauthn.Credential
}

func (u passkeyUser) WebAuthnID() []byte                         { return []byte(u.ID) }
func (u passkeyUser) WebAuthnName() string                       { return u.Email }
func (u passkeyUser) WebAuthnDisplayName() string                { return u.Email }
func (u passkeyUser) WebAuthnCredentials() []webauthn.Credential { return u.keys }

func (r *Registry) passkeyUser(ctx context.Context, id ID) (passkeyUser, error) {
	o, err := r.store.OperatorByID(ctx, id)
	if err != nil {
		return passkeyUser{}, err
	}
	kept, err := r.store.Passkeys(ctx, id)
	if err != nil {
		return passkeyUser{}, err
	}
	u := passkeyUser{Operator: o, keys: make([]webauthn.Credential, len(kept))}
	for i, k := range kept {
		if err := json.Unmarshal(k.Credential, &u.keys[i]); err != nil {
			return passkeyUser{}, fmt.Errorf("read passkey: %w", err)
		}
	}
	return u, nil
}

// relyingParty is the console at an origin: a passkey works there and nowhere else.
func relyingParty(origin string) (*webauthn.WebAuthn, error) {
	u, err := url.Parse(origin)
	if err != nil {
		return nil, fmt.Errorf("origin of passkeys: %w", err)
	}
	w, err := webauthn.New(&webauthn.Config{
		RPDisplayName: "Vigia", RPID: u.Hostname(), RPOrigins: []string{origin}, AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired,
		},
	})
	if err != nil {
		return nil, ErrPasskey.Because(err)
	}
	return w, nil
}

// begin keeps what a ceremony is held against and returns the token that it is found by, once.
func (r *Registry) begin(ctx context.Context, session *webauthn.SessionData) (string, error) {
	state, err := json.Marshal(session)
	if err != nil {
		return "", fmt.Errorf("keep ceremony: %w", err)
	}
	token, digest, err := r.token()
	if err != nil {
		return "", err
	}
	return token, r.store.InsertCeremony(ctx, digest, state, r.now().Add(ceremonyFor))
}

func (r *Registry) take(ctx context.Context, token string) (session webauthn.SessionData, err error) {
	state, err := r.store.TakeCeremony(ctx, r.store.Digest(token), r.now())
	if err != nil {
		return session, orRefused(err, ErrPasskey)
	}
	return session, json.Unmarshal(state, &session)
}

// BeginPasskey asks an operator's authenticator for a new passkey: options for the browser, and the token of the
// ceremony.
func (r *Registry) BeginPasskey(ctx context.Context, id ID, origin string) (options any, token string, err error) {
	w, err := relyingParty(origin)
	if err != nil {
		return nil, "", err
	}
	u, err := r.passkeyUser(ctx, id)
	if err != nil {
		return nil, "", err
	}
	if len(u.keys) >= mostKeys {
		return nil, "", ErrPasskeys.With("passkeys: at most %d", mostKeys)
	}
	exclude := make([]protocol.CredentialDescriptor, len(u.keys))
	for i, k := range u.keys {
		exclude[i] = k.Descriptor()
	}
	creation, session, err := w.BeginRegistration(u, webauthn.WithExclusions(exclude))
	if err != nil {
		return nil, "", fmt.Errorf("begin passkey: %w", err)
	}
	token, err = r.begin(ctx, session)
	return creation.Response, token, err
}

// AddPasskey keeps the passkey that an authenticator made.
func (r *Registry) AddPasskey(ctx context.Context, id ID, origin, token, name string, response []byte) error {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > longestName {
		return ErrPasskeyName.With("name: 1 to %d characters", longestName)
	}
	w, err := relyingParty(origin)
	if err != nil {
		return err
	}
	session, err := r.take(ctx, token)
	if err != nil {
		return err
	}
	u, err := r.passkeyUser(ctx, id)
	if err != nil {
		return err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return ErrPasskey.Because(err)
	}
	made, err := w.CreateCredential(u, session, parsed)
	if err != nil {
		return ErrPasskey.Because(err)
	}
	kept, err := json.Marshal(made)
	if err != nil {
		return fmt.Errorf("keep passkey: %w", err)
	}
	return r.store.InsertPasskey(ctx, Passkey{ID: made.ID, Operator: id, Name: name, CreatedAt: r.now(), Credential: kept})
}

// BeginPasskeyLogin asks whoever is there for a passkey.
func (r *Registry) BeginPasskeyLogin(ctx context.Context, origin string) (options any, token string, err error) {
	w, err := relyingParty(origin)
	if err != nil {
		return nil, "", err
	}
	assertion, session, err := w.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return nil, "", fmt.Errorf("begin passkey log-in: %w", err)
	}
	token, err = r.begin(ctx, session)
	return assertion.Response, token, err
}

// PasskeyLogin opens a session for whoever's passkey answered. Whatever is wrong, the error is ErrPasskey; a lock that
// wrong passwords caused does not hold up a passkey, which cannot be guessed.
func (r *Registry) PasskeyLogin(ctx context.Context, origin, token string, response []byte, from string) (Operator, string, error) {
	w, err := relyingParty(origin)
	if err != nil {
		return Operator{}, "", err
	}
	session, err := r.take(ctx, token)
	if err != nil {
		return Operator{}, "", err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return Operator{}, "", ErrPasskey.Because(err)
	}
	var who passkeyUser
	_, used, err := w.ValidatePasskeyLogin(func(_, handle []byte) (webauthn.User, error) {
		who, err = r.passkeyUser(ctx, ID(handle))
		return who, err
	}, session, parsed)
	if err != nil || who.Disabled || used.Authenticator.CloneWarning {
		return Operator{}, "", ErrPasskey.Because(err)
	}
	if err := r.usedPasskey(ctx, who.ID, used); err != nil {
		return Operator{}, "", err
	}
	o, err := r.store.UpdateOperator(ctx, who.ID, KeepSessions, func(o *Operator, _ []Operator) error {
		if o.Disabled {
			return ErrPasskey
		}
		o.LastLogin = r.now()
		return nil
	})
	if err != nil {
		return Operator{}, "", err
	}
	opened, err := r.openSession(ctx, o.ID, from)
	return o, opened, err
}

// usedPasskey keeps the counter of a passkey, by which a copy of it shows.
func (r *Registry) usedPasskey(ctx context.Context, id ID, used *webauthn.Credential) error {
	kept, err := r.store.Passkeys(ctx, id)
	if err != nil {
		return err
	}
	for _, k := range kept {
		if bytes.Equal(k.ID, used.ID) {
			if k.Credential, err = json.Marshal(used); err != nil {
				return fmt.Errorf("keep passkey: %w", err)
			}
			k.UsedAt = r.now()
			return r.store.UpdatePasskey(ctx, k)
		}
	}
	return ErrPasskey
}

// Passkeys lists an operator's, oldest first.
func (r *Registry) Passkeys(ctx context.Context, id ID) ([]Passkey, error) {
	return r.store.Passkeys(ctx, id)
}

// RemovePasskey forgets one passkey of an operator.
func (r *Registry) RemovePasskey(ctx context.Context, id ID, text string) error {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return ErrNotFound
	}
	n, err := r.store.DeletePasskeys(ctx, id, raw)
	if err == nil && n == 0 {
		err = errors.Join(ErrNotFound)
	}
	return err
}
