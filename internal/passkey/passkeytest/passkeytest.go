// Package passkeytest is an authenticator and its browser in software, for tests of passkeys. It knows nothing of the
// code that judges its answers, and every part of an answer can be bent before it is put together and signed.
package passkeytest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"
)

// The algorithms that it can use, by their COSE numbers.
const (
	ES256 = -7
	EdDSA = -8
	RS256 = -257
)

// Flags of authenticator data.
const (
	UP = 1 << 0
	UV = 1 << 2
	BE = 1 << 3
	BS = 1 << 4
	AT = 1 << 6
	ED = 1 << 7
)

// Device holds one passkey.
type Device struct {
	// Origin is the page that its browser shows.
	Origin string
	// ID is what it calls the passkey, User whom it was made for.
	ID, User []byte
	// Count is its counter, which rises at each use unless it is zero.
	Count uint32
	// Key is its public key in COSE.
	Key    []byte
	signer crypto.Signer
}

// shared is the one RSA key of all devices: making one takes long.
var shared = must(rsa.GenerateKey(rand.Reader, 2048))

// New is a device with a key of an algorithm.
func New(origin string, algorithm int) *Device {
	d := &Device{Origin: origin, ID: make([]byte, 16), Count: 1}
	_, _ = rand.Read(d.ID)
	switch algorithm {
	case ES256:
		key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
		point := must(key.PublicKey.Bytes())
		d.signer, d.Key = key, EC(2, ES256, 1, point[1:33], point[33:])
	case EdDSA:
		public, key, err := ed25519.GenerateKey(rand.Reader)
		d.signer, d.Key = must(key, err), Map(Int(1), Int(1), Int(3), Int(EdDSA), Int(-1), Int(6), Int(-2), Bytes(public))
	case RS256:
		d.signer, d.Key = shared, RSA(shared.N.Bytes(), []byte{1, 0, 1})
	}
	return d
}

// Answer is all that is in an answer, before it is put together.
type Answer struct {
	// Type, ID and RawID are what the browser says of the credential.
	Type      string
	ID, RawID []byte
	// Client is the client data.
	Client map[string]any
	// Site is hashed into the authenticator data; AttestedID and Key are the new credential in them, Extensions and Trailing
	// follow.
	Site                 string
	Flags                byte
	Count                uint32
	AttestedID, Key      []byte
	Extensions, Trailing []byte
	// Format and Statement are of the attestation object.
	Format     string
	Statement  []byte
	Transports []string
	// Handle is the user handle of a log-in.
	Handle []byte
	// Finish changes what is about to be sent: client data, then the attestation object or authenticator data, then the
	// signature.
	Finish func(client, data, signature []byte) (client2, data2, signature2 []byte)
}

func (d *Device) answer(ceremony, challenge, site string) *Answer {
	return &Answer{
		Type: "public-key", ID: d.ID, RawID: d.ID, Site: site, Flags: UP | UV, Count: d.Count, AttestedID: d.ID, Key: d.Key, Format: "none", Statement: Map(),
		Client: map[string]any{"type": ceremony, "challenge": challenge, "origin": d.Origin, "crossOrigin": false},
		Finish: func(client, data, signature []byte) ([]byte, []byte, []byte) { return client, data, signature },
	}
}

// Data are the authenticator data.
func (a *Answer) Data() []byte {
	site := sha256.Sum256([]byte(a.Site))
	data := binary.BigEndian.AppendUint32(append(site[:], a.Flags), a.Count)
	if a.Flags&AT != 0 {
		data = append(data, make([]byte, 16)...)
		data = binary.BigEndian.AppendUint16(data, uint16(len(a.AttestedID)))
		data = slices.Concat(data, a.AttestedID, a.Key)
	}
	return slices.Concat(data, a.Extensions, a.Trailing)
}

// options are the members of what a browser is sent that it acts on.
type options struct {
	Challenge string `json:"challenge"`
	RP        struct {
		ID string `json:"id"`
	} `json:"rp"`
	RPID string `json:"rpId"`
	User struct {
		ID string `json:"id"`
	} `json:"user"`
}

func read(sent any) (o options) {
	text := must(json.Marshal(sent))
	if err := json.Unmarshal(text, &o); err != nil {
		panic(err)
	}
	return o
}

// Create makes the passkey that the options ask for.
func (d *Device) Create(sent any, bend ...func(*Answer)) []byte {
	o := read(sent)
	d.User = must(base64.RawURLEncoding.DecodeString(o.User.ID))
	a := d.answer("webauthn.create", o.Challenge, o.RP.ID)
	a.Flags, a.Transports = a.Flags|AT, []string{"internal", "hybrid"}
	for _, b := range bend {
		b(a)
	}
	object := Map(Text("fmt"), Text(a.Format), Text("attStmt"), a.Statement, Text("authData"), Bytes(a.Data()))
	client, object, _ := a.Finish(must(json.Marshal(a.Client)), object, nil)
	return must(json.Marshal(map[string]any{
		"id": text(a.ID), "rawId": text(a.RawID), "type": a.Type, "authenticatorAttachment": "platform", "clientExtensionResults": map[string]any{},
		"response": map[string]any{"clientDataJSON": text(client), "attestationObject": text(object), "transports": a.Transports},
	}))
}

// Use proves that the passkey is held, as the options ask.
func (d *Device) Use(sent any, bend ...func(*Answer)) []byte {
	o := read(sent)
	if d.Count != 0 {
		d.Count++
	}
	a := d.answer("webauthn.get", o.Challenge, o.RPID)
	a.Handle = d.User
	for _, b := range bend {
		b(a)
	}
	client, data := must(json.Marshal(a.Client)), a.Data()
	client, data, signature := a.Finish(client, data, d.Sign(data, client))
	return must(json.Marshal(map[string]any{
		"id": text(a.ID), "rawId": text(a.RawID), "type": a.Type, "authenticatorAttachment": "platform", "clientExtensionResults": map[string]any{},
		"response": map[string]any{
			"clientDataJSON": text(client), "authenticatorData": text(data), "signature": text(signature), "userHandle": text(a.Handle),
		},
	}))
}

// Sign signs authenticator data and client data, as a proof or a self attestation.
func (d *Device) Sign(data, client []byte) []byte {
	seen := sha256.Sum256(client)
	signed := slices.Concat(data, seen[:])
	if key, ok := d.signer.(ed25519.PrivateKey); ok {
		return ed25519.Sign(key, signed)
	}
	digest := sha256.Sum256(signed)
	return must(d.signer.Sign(rand.Reader, digest[:], crypto.SHA256))
}

// EC is a COSE key on a curve.
func EC(kind, algorithm, curve int, x, y []byte) []byte {
	return Map(Int(1), Int(kind), Int(3), Int(algorithm), Int(-1), Int(curve), Int(-2), Bytes(x), Int(-3), Bytes(y))
}

// RSA is a COSE key of RSA.
func RSA(modulus, exponent []byte) []byte {
	return Map(Int(1), Int(3), Int(3), Int(RS256), Int(-1), Bytes(modulus), Int(-2), Bytes(exponent))
}

// Int, Bytes, Text and Map write CBOR; a map takes keys and values in turn.
func Int(n int) []byte {
	if n < 0 {
		return head(1, -1-n)
	}
	return head(0, n)
}

// Bytes are a byte string.
func Bytes(b []byte) []byte { return append(head(2, len(b)), b...) }

// Text is a text string.
func Text(s string) []byte { return append(head(3, len(s)), s...) }

// Map is a map of keys and values in turn.
func Map(items ...[]byte) []byte { return append(head(5, len(items)/2), slices.Concat(items...)...) }

func head(major byte, n int) []byte {
	switch {
	case n < 24:
		return []byte{major<<5 | byte(n)}
	case n < 1<<8:
		return []byte{major<<5 | 24, byte(n)}
	}
	return []byte{major<<5 | 25, byte(n >> 8), byte(n)}
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
