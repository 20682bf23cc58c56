package passkey

import (
	"bytes"
	"encoding/base64"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// octets are bytes as browsers write them in JSON: base64url without padding, in exactly one spelling.
type octets []byte

// MarshalText writes them.
func (o octets) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(nil, o), nil
}

// UnmarshalText reads them.
func (o *octets) UnmarshalText(text []byte) error {
	raw, err := base64.RawURLEncoding.AppendDecode(nil, text)
	if err != nil || !bytes.Equal(base64.RawURLEncoding.AppendEncode(nil, raw), text) { // the decoder skips line ends
		return errors.New("expected base64url")
	}
	*o = raw
	return nil
}

const (
	publicKey = "public-key"
	required  = "required"
)

// transports are the ways to an authenticator that the specification names.
var transports = []string{"ble", "hybrid", "internal", "nfc", "smart-card", "usb"}

// creation is what a browser is sent, as PublicKeyCredential.parseCreationOptionsFromJSON reads it.
func (s Site) creation(user User, exclude []Credential, challenge []byte, within time.Duration) map[string]any {
	parameters, excluded := []map[string]any{}, []map[string]any{}
	for _, a := range algorithms {
		parameters = append(parameters, map[string]any{"type": publicKey, "alg": a})
	}
	for _, k := range exclude {
		excluded = append(excluded, map[string]any{"type": publicKey, "id": octets(k.ID), "transports": append([]string{}, k.Transports...)})
	}
	return map[string]any{
		"rp":                     map[string]any{"id": s.name, "name": "Vigia"},
		"user":                   map[string]any{"id": octets(user.Handle), "name": user.Name, "displayName": user.Name},
		"challenge":              octets(challenge),
		"timeout":                within.Milliseconds(),
		"pubKeyCredParams":       parameters,
		"excludeCredentials":     excluded,
		"authenticatorSelection": map[string]any{"residentKey": required, "requireResidentKey": true, "userVerification": required},
		"attestation":            "none",
	}
}

// request is the same for PublicKeyCredential.parseRequestOptionsFromJSON.
func (s Site) request(challenge []byte, within time.Duration) map[string]any {
	return map[string]any{"rpId": s.name, "challenge": octets(challenge), "timeout": within.Milliseconds(), "userVerification": required}
}

// What a browser answers, as PublicKeyCredential.toJSON writes it. Members that are not here tell nothing that counts:
// extensions among them, since none is asked for.

type answer struct {
	ID    octets `json:"id"`
	RawID octets `json:"rawId"`
	Type  string `json:"type"`
}

const longestID = 1023

func (a answer) check() error {
	switch {
	case a.Type != publicKey:
		return errors.New("answer: not of type public-key")
	case !bytes.Equal(a.ID, a.RawID):
		return errors.New("credential id: id and rawId differ")
	case len(a.RawID) == 0 || len(a.RawID) > longestID:
		return errors.New("credential id: 1 to 1023 bytes")
	}
	return nil
}

type createdAnswer struct {
	answer
	Response struct {
		ClientDataJSON    octets   `json:"clientDataJSON"`
		AttestationObject octets   `json:"attestationObject"`
		Transports        []string `json:"transports"`
	} `json:"response"`
}

type usedAnswer struct {
	answer
	Response struct {
		ClientDataJSON    octets `json:"clientDataJSON"`
		AuthenticatorData octets `json:"authenticatorData"`
		Signature         octets `json:"signature"`
		UserHandle        octets `json:"userHandle"`
	} `json:"response"`
}

// collected is what a browser saw and had signed. More members may come.
type collected struct {
	Type        string         `json:"type"`
	Challenge   octets         `json:"challenge"`
	Origin      string         `json:"origin"`
	CrossOrigin bool           `json:"crossOrigin"`
	TopOrigin   jsontext.Value `json:"topOrigin"`
}
