package operator

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// A passkey is a way in of its own: the device holds the key and checks who holds the device, so it stands for password
// and second factor together. User verification is always asked for.

// Passkey is one credential of an operator.
type Passkey struct {
	// ID is what the authenticator calls it.
	ID       []byte
	Operator ID
	// Site is where it was made, and the only place where it counts: the rpId.
	Site string
	// Name is what the person calls it.
	Name      string
	CreatedAt time.Time
	UsedAt    time.Time
	// Credential is the public key and its counter: webauthn.Credential as JSON.
	Credential []byte
}

// Text returns the ID as it stands in an address.
func (p Passkey) Text() string { return base64.RawURLEncoding.EncodeToString(p.ID) }

const (
	// ceremonyFor is how long a person may take at the authenticator.
	ceremonyFor = 5 * time.Minute
	mostKeys    = 10
	longestName = 60
)

// Faults of passkeys.
var (
	ErrPasskey     = fault.New(fault.Unauthenticated, "passkey.refused")
	ErrPasskeyName = fault.New(fault.Invalid, "passkey.name")
	// ErrPasskeySite means that passkeys cannot be used, because the address they would be bound to is not known.
	ErrPasskeySite = fault.New(fault.Unavailable, "passkey.no_site")
	ErrPasskeys    = fault.New(fault.Conflict, "passkey.too_many")
)

// relyingParty returns the console at an origin, where passkeys are made and used. One that was made at a host name
// works there and nowhere else, with the person always verified by the device, and without attestation.
func relyingParty(origin string) (*webauthn.WebAuthn, error) {
	if origin == "" {
		return nil, ErrPasskeySite.With("public-url", fault.PublicURLForPasskeys)
	}
	u, err := url.Parse(origin)
	if err != nil {
		return nil, ErrPasskey.Because(fmt.Errorf("origin: %w", err))
	}
	name := strings.ToLower(u.Hostname())
	if _, err := netip.ParseAddr(name); err == nil || name == "" {
		return nil, ErrPasskey.Because(errors.New("origin: a passkey is bound to a host name, not to an address"))
	}
	host := name
	if port := u.Port(); port != "" &&
		port != map[string]string{"http": "80", "https": "443"}[u.Scheme] { // browsers leave the usual port out
		host += ":" + port
	}
	timeout := webauthn.TimeoutConfig{Timeout: ceremonyFor, TimeoutUVD: ceremonyFor}
	party, err := webauthn.New(&webauthn.Config{
		RPID:                  name,
		RPDisplayName:         "Vigia",
		RPOrigins:             []string{u.Scheme + "://" + host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey:        protocol.ResidentKeyRequirementRequired,
			RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification:   protocol.VerificationRequired,
		},
		Timeouts: webauthn.TimeoutsConfig{Login: timeout, Registration: timeout},
	})
	if err != nil {
		return nil, ErrPasskey.Because(fmt.Errorf("origin: %w", err))
	}
	return party, nil
}

// passkeyUser is an operator as the library sees one.
type passkeyUser struct {
	operator    Operator
	credentials []webauthn.Credential
}

func (u passkeyUser) WebAuthnID() []byte { return []byte(u.operator.ID) }

func (u passkeyUser) WebAuthnName() string { return u.operator.Email }

func (u passkeyUser) WebAuthnDisplayName() string { return u.operator.Email }

func (u passkeyUser) WebAuthnCredentials() []webauthn.Credential { return u.credentials }

// loadPasskeyUser returns an operator with the passkeys made at a site.
func (r *Registry) loadPasskeyUser(ctx context.Context, id ID, site string) (passkeyUser, []Passkey, error) {
	o, err := r.store.OperatorByID(ctx, id)
	if err != nil {
		return passkeyUser{}, nil, err
	}
	kept, err := r.store.ListPasskeys(ctx, id)
	if err != nil {
		return passkeyUser{}, nil, err
	}
	user := passkeyUser{operator: o}
	for _, k := range kept {
		var c webauthn.Credential
		if err := json.Unmarshal(k.Credential, &c); err != nil {
			return passkeyUser{}, nil, ErrPasskey.Because(fmt.Errorf("kept passkey: %w", err))
		}
		if k.Site == site {
			user.credentials = append(user.credentials, c)
		}
	}
	return user, kept, nil
}

// insertCeremony keeps what an answer is checked against and returns the token that it is found by, once.
func (r *Registry) insertCeremony(ctx context.Context, session *webauthn.SessionData) (string, error) {
	state, err := json.Marshal(session)
	if err != nil {
		return "", fmt.Errorf("keep ceremony: %w", err)
	}
	token, digest := r.newToken()
	return token, r.store.InsertCeremony(ctx, digest, state, r.now().Add(ceremonyFor))
}

// takeCeremony returns the state of a passkey ceremony and removes it, so that each token works once.
func (r *Registry) takeCeremony(ctx context.Context, token string) (session webauthn.SessionData, err error) {
	state, err := r.store.TakeCeremony(ctx, r.store.TokenDigest(token), r.now())
	if err != nil {
		return session, orRefused(err, ErrPasskey)
	}
	return session, json.Unmarshal(state, &session)
}

// BeginPasskey asks an operator's authenticator for a new passkey: options for the browser, and the token of the
// ceremony.
func (r *Registry) BeginPasskey(ctx context.Context, id ID, origin string) (options any, token string, err error) {
	party, err := relyingParty(origin)
	if err != nil {
		return nil, "", err
	}
	user, kept, err := r.loadPasskeyUser(ctx, id, party.Config.RPID)
	if err != nil {
		return nil, "", err
	}
	if len(kept) >= mostKeys {
		return nil, "", ErrPasskeys.With("passkeys", fault.AtMost, mostKeys)
	}
	creation, session, err := party.BeginRegistration(user, webauthn.WithCredentialParameters(offeredAlgorithms()),
		webauthn.WithExclusions(webauthn.Credentials(user.credentials).CredentialDescriptors()))
	if err != nil {
		return nil, "", fmt.Errorf("begin passkey: %w", err)
	}
	token, err = r.insertCeremony(ctx, session)
	return creation.Response, token, err
}

// AddPasskey keeps the passkey that an authenticator made.
func (r *Registry) AddPasskey(ctx context.Context, id ID, origin, token, name string, response []byte) error {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > longestName {
		return ErrPasskeyName.With("name", fault.Length, longestName)
	}
	party, err := relyingParty(origin)
	if err != nil {
		return err
	}
	session, err := r.takeCeremony(ctx, token)
	if err != nil {
		return err
	}
	user, _, err := r.loadPasskeyUser(ctx, id, party.Config.RPID)
	if err != nil {
		return err
	}
	answer, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return ErrPasskey.Because(err)
	}
	made, err := party.CreateCredential(user, session, answer)
	if err == nil {
		err = checkPasskeyKey(made.PublicKey)
	}
	if err != nil {
		return ErrPasskey.Because(err)
	}
	made.Attestation = webauthn.CredentialAttestation{} // none was asked for
	kept, err := json.Marshal(made)
	if err != nil {
		return fmt.Errorf("keep passkey: %w", err)
	}
	return r.store.InsertPasskey(
		ctx,
		Passkey{ID: made.ID, Operator: id, Site: party.Config.RPID, Name: name, CreatedAt: r.now(), Credential: kept},
	)
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
