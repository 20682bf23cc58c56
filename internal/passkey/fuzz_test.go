package passkey

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"reflect"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/vigiahq/vigia/internal/passkey/passkeytest"
)

// oracle reads CBOR by the rules that cbor.go names.
var oracle = must(cbor.DecOptions{
	DupMapKey: cbor.DupMapKeyEnforcedAPF, MaxNestedLevels: deepest, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
	SimpleValues: must(cbor.NewSimpleValueRegistryFromDefaults(cbor.WithRejectedSimpleValue(23))), // undefined, which it would read as null
}.DecMode())

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// ours turns what the oracle read into what item reads; false when item has to refuse it.
func ours(v any) (any, bool) {
	switch v := v.(type) {
	case uint64:
		return int64(v), v <= math.MaxInt64
	case int64, []byte, string, bool, nil:
		return v, true
	case []any:
		list := []any{}
		for _, e := range v {
			e, ok := ours(e)
			if !ok {
				return nil, false
			}
			list = append(list, e)
		}
		return list, true
	case map[any]any:
		m := map[any]any{}
		for k, e := range v {
			k, ok := ours(k)
			if _, isBool := k.(bool); !ok || k == nil || isBool {
				return nil, false
			}
			if m[k], ok = ours(e); !ok {
				return nil, false
			}
		}
		return m, true
	}
	return nil, false // a float, a big number, bytes as a key, a simple value
}

func seeds(f *testing.F) {
	f.Helper()
	for _, algorithm := range []int{passkeytest.ES256, passkeytest.EdDSA, passkeytest.RS256} {
		f.Add(passkeytest.New("https://localhost", algorithm).Key)
	}
	for _, text := range []string{
		"", "a0", "80", "f4", "f5", "f6", "f7", "f8ff", "f93c00", "fb3ff0000000000000", "1bffffffffffffffff", "3bffffffffffffffff", "1b7fffffffffffffff",
		"3b7fffffffffffffff", "18", "19", "1900", "1a000000", "1b00000000000000", "58", "d8", "1800", "190000", "1a00000000", "1c", "5f41ff", "9fff", "bfff", "c000", "61ff", "a201010102", "a26161016161f5", "a1410101", "a1f401",
		"a18001", "a1f601", "8181818180", "818181818180", "a161618161628163", "9bffffffffffffffff", "bb7fffffffffffffff", "5bffffffffffffffff", "a363666d74646e6f6e65",
		"a301634f4b5003272067456432353531392158200000",
	} {
		f.Add(must(hex.DecodeString(text)))
	}
}

// FuzzCBOR holds our reader against a library: what ours takes, it takes with the same meaning and the same bytes left;
// what it takes and ours does not is something that authenticators do not write.
func FuzzCBOR(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		got, rest, err := item(b, 0)
		var read any
		left, failed := oracle.UnmarshalFirst(b, &read)
		want, takes := ours(read)
		switch {
		case err == nil && failed != nil:
			t.Fatalf("%x: taken as %v, the library says %v", b, got, failed)
		case err != nil && failed == nil && takes:
			t.Fatalf("%x: %v, the library reads %v", b, err, read)
		case err == nil && (!reflect.DeepEqual(got, want) || !bytes.Equal(rest, left)):
			t.Fatalf("%x: %v and %x left, the library reads %v and leaves %x", b, got, rest, read, left)
		}
	})
}

// FuzzKey tries keys that nobody made: they are refused or judge signatures, and take none that is no signature.
func FuzzKey(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, cose []byte) {
		verify, err := verifier(cose)
		if err == nil && verify([]byte("signed"), bytes.Repeat([]byte{1}, 256)) {
			t.Fatalf("%x takes a signature that is none", cose)
		}
	})
}

// FuzzAuthenticator tries authenticator data: what is taken is for this site, of a person who was verified, and read to
// its last byte.
func FuzzAuthenticator(f *testing.F) {
	s := Site{origin: "https://localhost", name: "localhost"}
	name := sha256.Sum256([]byte(s.name))
	device := passkeytest.New(s.origin, passkeytest.ES256)
	for _, flags := range []byte{passkeytest.UP | passkeytest.UV, passkeytest.UP, 0xff} {
		a := passkeytest.Answer{Site: s.name, Flags: flags | passkeytest.AT, AttestedID: device.ID, Key: device.Key, Extensions: passkeytest.Map()}
		f.Add(a.Data()[sha256.Size:], true)
		a.Flags = flags
		f.Add(a.Data()[sha256.Size:], false)
	}
	f.Fuzz(func(t *testing.T, rest []byte, made bool) {
		data := append(name[:], rest...)
		r, err := s.report(data, made)
		if err != nil {
			return
		}
		if !r.has(userPresent) || !r.has(userVerified) || r.has(hasCredential) != made || (len(r.id) > 0) != made || len(r.id) > longestID {
			t.Fatalf("%x: %+v", data, r)
		}
		if again, err := s.report(append(data, 0), made); err == nil {
			t.Fatalf("%x: %+v with a byte more", data, again)
		}
		if !made && !r.has(hasExtensions) && len(data) != 37 {
			t.Fatalf("%x: %d bytes", data, len(data))
		}
	})
}

// FuzzAnswers tries whole answers: none that was not made for the challenge is taken.
func FuzzAnswers(f *testing.F) {
	s := Site{origin: "https://localhost", name: "localhost"}
	device := passkeytest.New(s.origin, passkeytest.ES256)
	f.Add(device.Create(s.creation(User{Handle: []byte("u")}, nil, []byte("c"), 0)))
	f.Add(device.Use(s.request([]byte("c"), 0)))
	f.Add([]byte(`{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":"e30","userHandle":"AA"}}`))
	kept := Credential{ID: device.ID, Key: device.Key}
	challenge := bytes.Repeat([]byte{9}, challengeSize)
	f.Fuzz(func(t *testing.T, answer []byte) {
		if made, err := s.Register(Ceremony{Challenge: challenge, User: []byte("u")}, []byte("u"), answer); err == nil {
			if _, err := verifier(made.Key); err != nil {
				t.Fatalf("%s: a passkey that cannot be used: %v", answer, err)
			}
		}
		a, err := ReadAssertion(answer)
		if err != nil {
			return
		}
		kept.ID = a.ID
		if _, err := s.Verify(Ceremony{Challenge: challenge}, a, a.User, kept); err == nil {
			t.Fatalf("%s: taken", answer)
		}
	})
}
