package operator

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/passkey"
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
	// Credential is the public key and its counter: passkey.Credential as text.
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
	// ErrPasskeySite means that passkeys cannot be used, because the address they would be bound to is not known.
	ErrPasskeySite = fault.New(fault.Unavailable, "passkey.no_site")
	ErrPasskeys    = fault.New(fault.Conflict, "passkey.too_many")
)

// site is the console at an origin; empty is one that is not known.
func site(origin string) (passkey.Site, error) {
	if origin == "" {
		return passkey.Site{}, ErrPasskeySite.With("public-url: must be given for passkeys outside this machine")
	}
	s, err := passkey.NewSite(origin)
	if err != nil {
		return s, ErrPasskey.Because(err)
	}
	return s, nil
}

// begin keeps what a ceremony is held against and returns the token that it is found by, once.
func (r *Registry) begin(ctx context.Context, c passkey.Ceremony) (string, error) {
	state, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("keep ceremony: %w", err)
	}
	token, digest, err := r.token()
	if err != nil {
		return "", err
	}
	return token, r.store.InsertCeremony(ctx, digest, state, r.now().Add(ceremonyFor))
}

func (r *Registry) take(ctx context.Context, token string) (c passkey.Ceremony, err error) {
	state, err := r.store.TakeCeremony(ctx, r.store.Digest(token), r.now())
	if err != nil {
		return c, orRefused(err, ErrPasskey)
	}
	return c, json.Unmarshal(state, &c)
}

// BeginPasskey asks an operator's authenticator for a new passkey: options for the browser, and the token of the
// ceremony.
func (r *Registry) BeginPasskey(ctx context.Context, id ID, origin string) (options any, token string, err error) {
	s, err := site(origin)
	if err != nil {
		return nil, "", err
	}
	o, err := r.store.OperatorByID(ctx, id)
	if err != nil {
		return nil, "", err
	}
	kept, err := r.store.Passkeys(ctx, id)
	if err != nil {
		return nil, "", err
	}
	if len(kept) >= mostKeys {
		return nil, "", ErrPasskeys.With("passkeys: at most %d", mostKeys)
	}
	exclude := make([]passkey.Credential, len(kept))
	for i, k := range kept {
		if exclude[i], err = passkey.ReadCredential(k.ID, k.Credential); err != nil {
			return nil, "", ErrPasskey.Because(err)
		}
	}
	options, ceremony, err := s.BeginRegistration(r.random, passkey.User{Handle: []byte(o.ID), Name: o.Email}, exclude, ceremonyFor)
	if err != nil {
		return nil, "", fmt.Errorf("begin passkey: %w", err)
	}
	token, err = r.begin(ctx, ceremony)
	return options, token, err
}

// AddPasskey keeps the passkey that an authenticator made.
func (r *Registry) AddPasskey(ctx context.Context, id ID, origin, token, name string, response []byte) error {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > longestName {
		return ErrPasskeyName.With("name: 1 to %d characters", longestName)
	}
	s, err := site(origin)
	if err != nil {
		return err
	}
	ceremony, err := r.take(ctx, token)
	if err != nil {
		return err
	}
	if _, err := r.store.OperatorByID(ctx, id); err != nil {
		return err
	}
	made, err := s.Register(ceremony, []byte(id), response)
	if err != nil {
		return ErrPasskey.Because(err)
	}
	kept, err := made.Text()
	if err != nil {
		return fmt.Errorf("keep passkey: %w", err)
	}
	return r.store.InsertPasskey(ctx, Passkey{ID: made.ID, Operator: id, Site: s.Name(), Name: name, CreatedAt: r.now(), Credential: kept})
}

// BeginPasskeyLogin asks whoever is there for a passkey.
func (r *Registry) BeginPasskeyLogin(ctx context.Context, origin string) (options any, token string, err error) {
	s, err := site(origin)
	if err != nil {
		return nil, "", err
	}
	options, ceremony, err := s.BeginLogin(r.random, ceremonyFor)
	if err != nil {
		return nil, "", fmt.Errorf("begin passkey log-in: %w", err)
	}
	token, err = r.begin(ctx, ceremony)
	return options, token, err
}

// PasskeyLogin opens a session for whoever's passkey answered. Whatever is wrong, the error is ErrPasskey; a lock that
// wrong passwords caused does not hold up a passkey, which cannot be guessed.
func (r *Registry) PasskeyLogin(ctx context.Context, origin, token string, response []byte, from string) (Operator, string, error) {
	s, err := site(origin)
	if err != nil {
		return Operator{}, "", err
	}
	ceremony, err := r.take(ctx, token)
	if err != nil {
		return Operator{}, "", err
	}
	answer, err := passkey.ReadAssertion(response)
	if err != nil {
		return Operator{}, "", ErrPasskey.Because(err)
	}
	who, k, err := r.holder(ctx, answer)
	if err != nil {
		return Operator{}, "", ErrPasskey.Because(err)
	}
	if k.Site != s.Name() {
		return Operator{}, "", ErrPasskey.Because(errors.New("credential: made at another site"))
	}
	kept, err := passkey.ReadCredential(k.ID, k.Credential)
	if err != nil {
		return Operator{}, "", ErrPasskey.Because(err)
	}
	used, err := s.Verify(ceremony, answer, []byte(who.ID), kept)
	if err != nil {
		return Operator{}, "", ErrPasskey.Because(err)
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
	if k.Credential, err = used.Text(); err != nil { // with its counter, by which a copy shows
		return Operator{}, "", fmt.Errorf("keep passkey: %w", err)
	}
	k.UsedAt = r.now()
	if err := r.store.UpdatePasskey(ctx, k); err != nil {
		return Operator{}, "", err
	}
	opened, err := r.openSession(ctx, o.ID, from)
	return o, opened, err
}

// holder finds whom an answer claims to be of, and which passkey of theirs.
func (r *Registry) holder(ctx context.Context, answer passkey.Assertion) (Operator, Passkey, error) {
	o, err := r.store.OperatorByID(ctx, ID(answer.User))
	if err != nil {
		return Operator{}, Passkey{}, err
	}
	kept, err := r.store.Passkeys(ctx, o.ID)
	if err != nil {
		return Operator{}, Passkey{}, err
	}
	for _, k := range kept {
		if bytes.Equal(k.ID, answer.ID) {
			return o, k, nil
		}
	}
	return Operator{}, Passkey{}, ErrNotFound
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
