package seal

import (
	"bytes"
	"encoding/hex"
	"path/filepath"
	"testing"
	"time"
)

// The secrets below are made up: 0x00.., 0x20.., 0x40.. and 0x60.. counting up, so that anybody can recompute what
// follows from them with other tools.
const golden = `{
    "aead": {"primaryKeyId": 439041101, "key": [{"keyData": {"typeUrl": "type.googleapis.com/google.crypto.tink.XChaCha20Poly1305Key",
      "value": "GiBgYWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+fw==", "keyMaterialType": "SYMMETRIC"},
      "status": "ENABLED", "keyId": 439041101, "outputPrefixType": "TINK"}]},
    "index": {"version": 1, "key": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="},
    "match": {"version": 1, "key": "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="},
    "mac": {"version": 1, "key": "QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaW1xdXl8="}
}
`

// goldenRoot is a key file, its key 0x80.. counting up.
const goldenRoot = `{
  "version": 2,
  "kind": "vigia root key",
  "note": "made up for a test",
  "key": "gIGCg4SFhoeIiYqLjI2Oj5CRkpOUlZaXmJmam5ydnp8="
}
`

var goldenAEADKey = counting(0x60)

func counting(from byte) []byte {
	b := make([]byte, secretSize)
	for i := range b {
		b[i] = from + byte(i)
	}
	return b
}

func writeGolden(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.json")
	writeFile(t, path, []byte(goldenRoot))
	return path
}

func goldenMaterial(t testing.TB) *material {
	t.Helper()
	m, err := decodeMaterial([]byte(golden))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// goldenKeys opens a ring that holds the golden secrets, by the golden root.
func goldenKeys(t testing.TB) *Keys {
	t.Helper()
	root, err := OpenRoot(writeGolden(t))
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewRing(root, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	key, err := root.unwrapKey(w.Roots[0], w.Installation)
	if err == nil {
		err = w.sealBody(goldenMaterial(t), key)
	}
	if err != nil {
		t.Fatal(err)
	}
	return open(t, root, &ringStore{ring: w})
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What databases and segments hold must keep its meaning in every later version. The figures were computed with other
// programs (Python's hmac, and SipHash written in it from the paper); only the sealed value was made by this package.
func TestStoredValuesKeepTheirMeaning(t *testing.T) {
	k := goldenKeys(t)
	m := goldenMaterial(t)
	if !bytes.Equal(m.Index.Key, counting(0)) || !bytes.Equal(m.Match.Key, counting(0x20)) ||
		!bytes.Equal(m.MAC.Key, counting(0x40)) {
		t.Fatal("the secrets were read into each other's place")
	}
	for _, c := range []struct {
		what string
		got  []byte
		want string
	}{
		{"blind index", k.BlindIndex("cpf", "p1", []byte("52998224725")), "97bbd1a9b7b7a9f7fff54c7bd4cf5453"},
		{"MAC", k.MAC("audit", []byte("ab"), []byte("c")), "1c6f2aa8c063a309480f5368a62b3245e640173391b76cea739d48dab44b572f"},
	} {
		if !bytes.Equal(c.got, unhex(t, c.want)) {
			t.Errorf("%s is %x, want %s", c.what, c.got, c.want)
		}
	}
	if k.root.ID() != "file:965e96fa3b623b53" {
		t.Errorf("the root is called %s", k.root.ID())
	}
	f := k.Fingerprint('e', []byte("maria.silva@exemplo.com.br"))
	if p := k.PairFingerprint(f, 0x5baa61e4c9); f != 0xfe13bcfdbdb97e5e || p != 0xd3b199e04ee7e0b7 {
		t.Errorf("fingerprint is %016x, pair %016x", f, p)
	}
	mustUnseal(
		t,
		k,
		home,
		unhex(
			t,
			"011a2b3c4d56a3a2c2d9c0eb761471f7d7b5ab3efa3db186ae6362ddcf80aa257034f7d29e5b2bc1c0770d21d03e29260a02f6f72683076e74684a0897b1054eae",
		),
		"maria@exemplo.com.br",
	)
}
