// Package passkey is a relying party of Web Authentication, Level 3: it asks a browser for a new passkey, judges what
// comes back, and judges later proofs that somebody holds it.
//
// It does what one console needs and refuses the rest: one origin, passkeys that the device itself offers, the person
// always verified, no attestation. It keeps nothing and reads no clock: who keeps a Ceremony hands it out once and for a
// short time, and who keeps a Credential sees to it that no two people have the same. Each check below is a step of
// "Registering a New Credential" or "Verifying an Authentication Assertion", and its error says which.
package passkey

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Site is where passkeys are made and used. One that was made at a site works there and nowhere else.
type Site struct{ origin, name string }

// NewSite is the site at an origin, such as https://console.example.com.
func NewSite(origin string) (Site, error) {
	u, err := url.Parse(origin)
	if err != nil {
		return Site{}, fmt.Errorf("origin: %w", err)
	}
	name := strings.ToLower(u.Hostname())
	if _, err := netip.ParseAddr(name); err == nil || name == "" {
		return Site{}, errors.New("origin: a passkey is bound to a name, and an address is none")
	}
	port := u.Port()
	if port == map[string]string{"http": "80", "https": "443"}[u.Scheme] { // browsers leave it out
		port = ""
	}
	if port != "" {
		port = ":" + port
	}
	return Site{origin: u.Scheme + "://" + name + port, name: name}, nil
}

// Name is the site's name, which authenticators know as the ID of the relying party (rpId).
func (s Site) Name() string { return s.name }

// User is whom a passkey is made for.
type User struct {
	// Handle comes back at each log-in; it tells nothing about the person.
	Handle []byte
	Name   string
}

// Ceremony is what an answer is held against.
type Ceremony struct {
	Challenge []byte `json:"challenge"`
	// User is the handle of whom a passkey is made for; empty at a log-in, where the answer says it.
	User []byte `json:"user,omitempty"`
}

const challengeSize = 32

func newCeremony(random io.Reader, user []byte) (Ceremony, error) {
	c := Ceremony{Challenge: make([]byte, challengeSize), User: user}
	if _, err := io.ReadFull(random, c.Challenge); err != nil {
		return Ceremony{}, fmt.Errorf("make challenge: %w", err)
	}
	return c, nil
}

// Credential is what a passkey is known by.
type Credential struct {
	// ID is what the authenticator calls it. It is kept beside the rest.
	ID []byte `json:"-"`
	// Key is the public key, as the authenticator wrote it.
	Key []byte `json:"key"`
	// Count is how often it was used, if the authenticator counts.
	Count uint32 `json:"count"`
	// BackupEligible is a passkey that may be on several devices; BackedUp is one that is.
	BackupEligible bool `json:"backup_eligible"`
	BackedUp       bool `json:"backed_up"`
	// Transports are ways to the authenticator, a hint for browsers.
	Transports []string `json:"transports"`
}

// Text is a credential without its ID, as it is kept.
func (c Credential) Text() ([]byte, error) { return json.Marshal(c) }

// ReadCredential reads what was kept under an ID. What another program wrote is an error.
func ReadCredential(id, text []byte) (c Credential, err error) {
	if err := json.Unmarshal(text, &c, json.RejectUnknownMembers(true)); err != nil {
		return Credential{}, fmt.Errorf("kept in a form that is not ours: %w", err)
	}
	if _, err := verifier(c.Key); err != nil {
		return Credential{}, fmt.Errorf("kept in a form that is not ours: %w", err)
	}
	c.ID = id
	return c, nil
}

// BeginRegistration asks for a new passkey: options for the browser, and what its answer is held against. An
// authenticator that has one of those to exclude makes no other.
func (s Site) BeginRegistration(random io.Reader, user User, exclude []Credential, within time.Duration) (map[string]any, Ceremony, error) {
	c, err := newCeremony(random, user.Handle)
	return s.creation(user, exclude, c.Challenge, within), c, err
}

// Register judges the answer to BeginRegistration. Who calls it has asked that user holds the session in which it came,
// and sees to it that the ID is nobody else's.
func (s Site) Register(c Ceremony, user, answer []byte) (Credential, error) {
	if len(user) == 0 || !bytes.Equal(c.User, user) {
		return Credential{}, errors.New("ceremony: begun for somebody else")
	}
	var a createdAnswer
	if err := json.Unmarshal(answer, &a); err != nil {
		return Credential{}, fmt.Errorf("answer: %w", err)
	}
	if err := a.check(); err != nil {
		return Credential{}, err
	}
	if err := s.checkClient(a.Response.ClientDataJSON, "webauthn.create", c.Challenge); err != nil {
		return Credential{}, err
	}
	authenticator, err := attested(a.Response.AttestationObject)
	if err != nil {
		return Credential{}, err
	}
	made, err := s.report(authenticator, true)
	if err != nil {
		return Credential{}, err
	}
	// The ID that the browser tells is the one that the authenticator tells.
	if !bytes.Equal(made.id, a.RawID) {
		return Credential{}, errors.New("credential id: not that of the authenticator")
	}
	// The key is of an algorithm that was offered, and one that can be used.
	if _, err := verifier(made.key); err != nil {
		return Credential{}, err
	}
	return Credential{
		ID: made.id, Key: made.key, Count: made.count, BackupEligible: made.has(backupEligible), BackedUp: made.has(backedUp),
		Transports: slices.DeleteFunc(slices.Clone(transports), func(t string) bool { return !slices.Contains(a.Response.Transports, t) }),
	}, nil
}

// attested takes the authenticator data out of an attestation object.
//
// No attestation is asked for. A browser then takes the statement out (format none), unless the passkey's own key
// signed it. Either way it could only tell which make of authenticator it is, which nobody here asks, and who wanted to
// forge one could send none instead. So a statement of any format has to be well formed and is not judged.
func attested(object []byte) ([]byte, error) {
	m, err := wholeMap(object)
	if err != nil {
		return nil, fmt.Errorf("attestation object: %w", err)
	}
	format, isText := m["fmt"].(string)
	statement, isMap := m["attStmt"].(map[any]any)
	data, isBytes := m["authData"].([]byte)
	switch {
	case !isText || !isMap || !isBytes:
		return nil, errors.New("attestation object: fmt, attStmt or authData is missing")
	case format == "none" && len(statement) != 0:
		return nil, errors.New("attestation statement: there is one where there is none")
	}
	return data, nil
}

// BeginLogin asks whoever is there for a passkey.
func (s Site) BeginLogin(random io.Reader, within time.Duration) (map[string]any, Ceremony, error) {
	c, err := newCeremony(random, nil)
	return s.request(c.Challenge, within), c, err
}

// Assertion is the answer to BeginLogin: a claim, until Verify has judged it.
type Assertion struct {
	// User and ID say whose passkey it is, and which.
	User, ID []byte
	answer   usedAnswer
}

// ReadAssertion reads an answer, so that the credential can be looked up.
func ReadAssertion(answer []byte) (a Assertion, err error) {
	if err := json.Unmarshal(answer, &a.answer); err != nil {
		return Assertion{}, fmt.Errorf("answer: %w", err)
	}
	if err := a.answer.check(); err != nil {
		return Assertion{}, err
	}
	if len(a.answer.Response.UserHandle) == 0 {
		return Assertion{}, errors.New("user handle: missing")
	}
	a.User, a.ID = a.answer.Response.UserHandle, a.answer.RawID
	return a, nil
}

// Verify judges an assertion by the owner's credential of that ID, and returns the credential as it is to be kept from
// now on.
func (s Site) Verify(c Ceremony, a Assertion, owner []byte, kept Credential) (Credential, error) {
	if len(c.User) != 0 {
		return Credential{}, errors.New("ceremony: begun to make a passkey")
	}
	// The user whom the handle names is the owner of the credential that the ID names.
	if len(owner) == 0 || !bytes.Equal(a.User, owner) {
		return Credential{}, errors.New("user handle: not that of the owner")
	}
	if !bytes.Equal(a.ID, kept.ID) {
		return Credential{}, errors.New("credential id: another")
	}
	answer := a.answer.Response
	if err := s.checkClient(answer.ClientDataJSON, "webauthn.get", c.Challenge); err != nil {
		return Credential{}, err
	}
	used, err := s.report(answer.AuthenticatorData, false)
	if err != nil {
		return Credential{}, err
	}
	// What may be on several devices was so from the beginning.
	if used.has(backupEligible) != kept.BackupEligible {
		return Credential{}, errors.New("flags: backup eligibility has changed")
	}
	// The key signed what the authenticator says and what the browser saw.
	verify, err := verifier(kept.Key)
	if err != nil {
		return Credential{}, err
	}
	seen := sha256.Sum256(answer.ClientDataJSON)
	if !verify(slices.Concat(answer.AuthenticatorData, seen[:]), answer.Signature) {
		return Credential{}, errors.New("signature: wrong")
	}
	// Who counts, counts up; otherwise there are two who count.
	if used.count <= kept.Count && (used.count != 0 || kept.Count != 0) {
		return Credential{}, errors.New("counter: has not risen, so there may be a copy")
	}
	kept.Count, kept.BackedUp = used.count, used.has(backedUp)
	return kept, nil
}

// checkClient judges what the browser saw: which ceremony, whose challenge, on which page.
func (s Site) checkClient(text []byte, ceremony string, challenge []byte) error {
	var c collected
	if err := json.Unmarshal(text, &c); err != nil {
		return fmt.Errorf("client data: %w", err)
	}
	switch {
	case c.Type != ceremony:
		return errors.New("client data: another type of ceremony")
	case len(challenge) != challengeSize || subtle.ConstantTimeCompare(c.Challenge, challenge) != 1:
		return errors.New("client data: another challenge")
	case c.Origin != s.origin:
		return errors.New("client data: another origin")
	case c.CrossOrigin || len(c.TopOrigin) != 0: // the console stands in no other site's frame
		return errors.New("client data: inside a page of another origin")
	}
	return nil
}
