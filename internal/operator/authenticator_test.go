package operator_test

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
	flagUP = 1 << 0
	flagUV = 1 << 2
	flagBE = 1 << 3
	flagBS = 1 << 4
	flagAT = 1 << 6
	flagED = 1 << 7
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

// sharedRSAKey is the one coseRSA key of all devices: making one takes long.
var sharedRSAKey = mustValue(rsa.GenerateKey(rand.Reader, 2048))

// newDevice returns a device with a key of an algorithm.
func newDevice(origin string, algorithm int) *Device {
	d := &Device{Origin: origin, ID: make([]byte, 16), Count: 1}
	_, _ = rand.Read(d.ID)
	switch algorithm {
	case ES256:
		key := mustValue(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
		point := mustValue(key.PublicKey.Bytes())
		d.signer, d.Key = key, coseEC(2, ES256, 1, point[1:33], point[33:])
	case EdDSA:
		public, key, err := ed25519.GenerateKey(rand.Reader)
		d.signer, d.Key = mustValue(key, err), cborMap(cborInt(1), cborInt(1), cborInt(3), cborInt(EdDSA), cborInt(-1), cborInt(6), cborInt(-2), cborBytes(public))
	case RS256:
		d.signer, d.Key = sharedRSAKey, coseRSA(sharedRSAKey.N.Bytes(), []byte{1, 0, 1})
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
	// Site is hashed into the authenticator data; AttestedID and Key are the new credential in them, Extensions and
	// Trailing follow.
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
		Type:       "public-key",
		ID:         d.ID,
		RawID:      d.ID,
		Site:       site,
		Flags:      flagUP | flagUV,
		Count:      d.Count,
		AttestedID: d.ID,
		Key:        d.Key,
		Format:     "none",
		Statement:  cborMap(),
		Client:     map[string]any{"type": ceremony, "challenge": challenge, "origin": d.Origin, "crossOrigin": false},
		Finish:     func(client, data, signature []byte) ([]byte, []byte, []byte) { return client, data, signature },
	}
}

// Data are the authenticator data.
func (a *Answer) Data() []byte {
	site := sha256.Sum256([]byte(a.Site))
	data := binary.BigEndian.AppendUint32(append(site[:], a.Flags), a.Count)
	if a.Flags&flagAT != 0 {
		data = append(data, make([]byte, 16)...)
		data = binary.BigEndian.AppendUint16(data, uint16(len(a.AttestedID)))
		data = slices.Concat(data, a.AttestedID, a.Key)
	}
	return slices.Concat(data, a.Extensions, a.Trailing)
}

// browserOptions are the members of what a browser is sent that it acts on.
type browserOptions struct {
	Challenge string `json:"challenge"`
	RP        struct {
		ID string `json:"id"`
	} `json:"rp"`
	RPID string `json:"rpId"`
	User struct {
		ID string `json:"id"`
	} `json:"user"`
}

func readOptions(sent any) (o browserOptions) {
	text := mustValue(json.Marshal(sent))
	if err := json.Unmarshal(text, &o); err != nil {
		panic(err)
	}
	return o
}

// Create makes the passkey that the options ask for.
func (d *Device) Create(sent any, bend ...func(*Answer)) []byte {
	o := readOptions(sent)
	d.User = mustValue(base64.RawURLEncoding.DecodeString(o.User.ID))
	a := d.answer("webauthn.create", o.Challenge, o.RP.ID)
	a.Flags, a.Transports = a.Flags|flagAT, []string{"internal", "hybrid"}
	for _, b := range bend {
		b(a)
	}
	object := cborMap(
		cborText("fmt"),
		cborText(a.Format),
		cborText("attStmt"),
		a.Statement,
		cborText("authData"),
		cborBytes(a.Data()),
	)
	client, object, _ := a.Finish(mustValue(json.Marshal(a.Client)), object, nil)
	return mustValue(json.Marshal(map[string]any{
		"id":                      base64Text(a.ID),
		"rawId":                   base64Text(a.RawID),
		"type":                    a.Type,
		"authenticatorAttachment": "platform",
		"clientExtensionResults":  map[string]any{},
		"response": map[string]any{
			"clientDataJSON":    base64Text(client),
			"attestationObject": base64Text(object),
			"transports":        a.Transports,
		},
	}))
}

// Use proves that the passkey is held, as the options ask.
func (d *Device) Use(sent any, bend ...func(*Answer)) []byte {
	o := readOptions(sent)
	if d.Count != 0 {
		d.Count++
	}
	a := d.answer("webauthn.get", o.Challenge, o.RPID)
	a.Handle = d.User
	for _, b := range bend {
		b(a)
	}
	client, data := mustValue(json.Marshal(a.Client)), a.Data()
	client, data, signature := a.Finish(client, data, d.Sign(data, client))
	return mustValue(json.Marshal(map[string]any{
		"id":                      base64Text(a.ID),
		"rawId":                   base64Text(a.RawID),
		"type":                    a.Type,
		"authenticatorAttachment": "platform",
		"clientExtensionResults":  map[string]any{},
		"response": map[string]any{
			"clientDataJSON":    base64Text(client),
			"authenticatorData": base64Text(data),
			"signature":         base64Text(signature),
			"userHandle":        base64Text(a.Handle),
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
	return mustValue(d.signer.Sign(rand.Reader, digest[:], crypto.SHA256))
}

// coseEC is a COSE key on a curve.
func coseEC(kind, algorithm, curve int, x, y []byte) []byte {
	return cborMap(
		cborInt(1),
		cborInt(kind),
		cborInt(3),
		cborInt(algorithm),
		cborInt(-1),
		cborInt(curve),
		cborInt(-2),
		cborBytes(x),
		cborInt(-3),
		cborBytes(y),
	)
}

// coseRSA is a COSE key of coseRSA.
func coseRSA(modulus, exponent []byte) []byte {
	return cborMap(
		cborInt(1),
		cborInt(3),
		cborInt(3),
		cborInt(RS256),
		cborInt(-1),
		cborBytes(modulus),
		cborInt(-2),
		cborBytes(exponent),
	)
}

// cborInt, cborBytes, cborText and cborMap write CBOR; a map takes keys and values in turn.
func cborInt(n int) []byte {
	if n < 0 {
		return cborHead(1, -1-n)
	}
	return cborHead(0, n)
}

// cborBytes are a byte string.
func cborBytes(b []byte) []byte { return append(cborHead(2, len(b)), b...) }

// cborText is a base64Text string.
func cborText(s string) []byte { return append(cborHead(3, len(s)), s...) }

// cborMap is a map of keys and values in turn.
func cborMap(items ...[]byte) []byte {
	return append(cborHead(5, len(items)/2), slices.Concat(items...)...)
}

func cborHead(major byte, n int) []byte {
	switch {
	case n < 24:
		return []byte{major<<5 | byte(n)}
	case n < 1<<8:
		return []byte{major<<5 | 24, byte(n)}
	}
	return []byte{major<<5 | 25, byte(n >> 8), byte(n)}
}

func base64Text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func mustValue[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
