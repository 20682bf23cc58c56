package operator_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// brokenCeremony is an answer with one rule of Web Authentication broken.
type brokenCeremony struct {
	name string
	bend func(*Answer)
}

func key(cose []byte) func(*Answer) {
	return func(a *Answer) { a.Key = cose }
}

func client(name string, value any) func(*Answer) {
	return func(a *Answer) { a.Client[name] = value }
}

// extensions adds what a browser may ask an authenticator for by itself.
func extensions(a *Answer) {
	a.Flags |= flagED
	a.Extensions = cborMap(cborText("credProtect"), cborInt(2))
}

// both are rules of registrations and log-ins alike.
func both() []brokenCeremony {
	flags := func(set, unset byte) func(*Answer) {
		return func(a *Answer) { a.Flags = a.Flags&^unset | set }
	}
	other := base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	return []brokenCeremony{
		{"not a public key", func(a *Answer) { a.Type = "password" }},
		{"id and rawId differ", func(a *Answer) { a.RawID = []byte("another") }},
		{"no id", func(a *Answer) { a.ID, a.RawID = nil, nil }},
		{"challenge of another", client("challenge", other)},
		{"no challenge", client("challenge", "")},
		{
			"challenge spelt otherwise",
			func(a *Answer) { a.Client["challenge"] = a.Client["challenge"].(string) + "\n" },
		},
		{"origin of another", client("origin", "https://console.example.com.evil.example")},
		{"origin without TLS", client("origin", "http://console.example.com")},
		{"origin with a port", client("origin", consoleOrigin+":8443")},
		{"inside another page", client("crossOrigin", true)},
		{"below another page", client("topOrigin", "https://evil.example")},
		{"client data cut off", func(a *Answer) {
			a.Finish = func(client, data, signature []byte) ([]byte, []byte, []byte) {
				return client[:len(client)-1], data, signature
			}
		}},
		{"for another site", func(a *Answer) { a.Site = "example.com" }},
		{"nobody present", flags(0, flagUP)},
		{"nobody verified", flags(0, flagUV)},
		{"backed up without eligibility", flags(flagBS, 0)},
		{"trailing bytes", func(a *Answer) { a.Trailing = []byte{0} }},
		{"extensions without their flag", func(a *Answer) { extensions(a); a.Flags &^= flagED }},
		{"flag of extensions without any", flags(flagED, 0)},
		{"extensions that are no map", func(a *Answer) { a.Flags |= flagED; a.Extensions = cborText("credProtect") }},
		{"bytes after extensions", func(a *Answer) { extensions(a); a.Trailing = []byte{0} }},
	}
}

// registrations are rules of registrations alone.
func registrations() []brokenCeremony {
	d := newDevice(consoleOrigin, ES256)
	x, y := d.Key[10:42], d.Key[45:77]
	ed := newDevice(consoleOrigin, EdDSA).Key
	modulus := func(bits uint) []byte { return new(big.Int).SetBit(big.NewInt(1), int(bits-1), 1).Bytes() }
	e := []byte{1, 0, 1}
	long := bytes.Repeat([]byte("i"), 1024)
	m, text, n := cborMap, cborText, cborInt
	okp := func(point string) []byte {
		return m(n(1), n(1), n(3), n(EdDSA), n(-1), n(6), n(-2), cborBytes(mustValue(hex.DecodeString(point))))
	}
	cut := func(at int) func(*Answer) {
		return func(a *Answer) {
			a.Finish = func(client, _, _ []byte) ([]byte, []byte, []byte) {
				return client, m(text("fmt"), text("none"), text("attStmt"), m(), text("authData"), cborBytes(a.Data()[:at])), nil
			}
		}
	}
	return []brokenCeremony{
		{"answer to a log-in", client("type", "webauthn.get")},
		{"no credential", func(a *Answer) { a.Flags &^= flagAT }},
		{"credential cut off", func(a *Answer) { a.AttestedID, a.Key = nil, nil }},
		{"id of the authenticator is another", func(a *Answer) { a.AttestedID = []byte("another") }},
		{"id too long", func(a *Answer) { a.ID, a.RawID, a.AttestedID = long, long, long }},
		{"id of the authenticator too long", func(a *Answer) { a.AttestedID = long }},
		{"key cut off", func(a *Answer) { a.Key = a.Key[:len(a.Key)-1] }},
		{"key is no map", key(text("key"))},
		{"key of another algorithm", key(coseEC(2, -35, 1, x, y))},
		{"key without algorithm", key(m(n(1), n(2), n(-1), n(1), n(-2), cborBytes(x), n(-3), cborBytes(y)))},
		{"key of another type", key(coseEC(1, -7, 1, x, y))},
		{"key of another curve", key(coseEC(2, -7, 2, x, y))},
		{"point not on the curve", key(coseEC(2, -7, 1, x, x))},
		{"point at infinity", key(coseEC(2, -7, 1, make([]byte, 32), make([]byte, 32)))},
		{"point cut short", key(coseEC(2, -7, 1, x[:31], y))},
		{"point cut elsewhere", key(coseEC(2, -7, 1, x[:31], slices.Concat(x[31:], y)))},
		{"key with a member twice", key(slices.Concat([]byte{0xa6}, d.Key[1:], n(3), n(-7)))},
		{"Ed25519 as another curve", key(bytes.Replace(ed, []byte{0x20, 0x06}, []byte{0x20, 0x07}, 1))},
		{"Ed25519 cut short", key(m(n(1), n(1), n(3), n(-8), n(-1), n(6), n(-2), cborBytes(ed[len(ed)-31:])))},
		{"short RSA", key(coseRSA(modulus(2047), e))},
		{"endless RSA", key(coseRSA(modulus(4097), e))},
		{"even RSA", key(coseRSA(new(big.Int).SetBit(big.NewInt(0), 2047, 1).Bytes(), e))},
		{"RSA with exponent one", key(coseRSA(modulus(2048), []byte{1}))},
		{"RSA with exponent three", key(coseRSA(modulus(2048), []byte{3}))},
		{"RSA with an even exponent", key(coseRSA(modulus(2048), []byte{1, 0, 2}))},
		{"RSA with an endless exponent", key(coseRSA(modulus(2048), modulus(2048)))},
		{"RSA with an exponent that begins wide", key(coseRSA(modulus(2048), []byte{1, 0, 0, 0, 0, 0, 1, 0, 1}))},
		{"a statement where there is none", func(a *Answer) { a.Statement = m(text("x"), n(1)) }},
		{"a statement that is no map", func(a *Answer) { a.Statement = n(1) }},
		{"object with more after it", func(a *Answer) {
			a.Finish = func(client, data, signature []byte) ([]byte, []byte, []byte) {
				return client, append(data, 0), signature
			}
		}},
		{"object without format", func(a *Answer) {
			a.Finish = func(client, _, _ []byte) ([]byte, []byte, []byte) {
				return client, m(text("attStmt"), m(), text("authData"), cborBytes(a.Data())), nil
			}
		}},
		{"object without data", func(a *Answer) {
			a.Finish = func(client, _, _ []byte) ([]byte, []byte, []byte) {
				return client, m(text("fmt"), text("none"), text("attStmt"), m()), nil
			}
		}},
		{"data cut off", cut(54)},
		{"data cut off in the id", cut(60)},
		{"Ed25519 of order 1", key(okp("0100000000000000000000000000000000000000000000000000000000000000"))},
		{"Ed25519 of order 2", key(okp("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"))},
		{
			"Ed25519 of order 4, other sign",
			key(okp("0000000000000000000000000000000000000000000000000000000000000080")),
		},
		{"Ed25519 of order 8", key(okp("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"))},
	}
}

// logins are rules of log-ins alone.
func logins() []brokenCeremony {
	finish := func(change func(data, signature []byte) ([]byte, []byte)) func(*Answer) {
		return func(a *Answer) {
			a.Finish = func(client, data, signature []byte) ([]byte, []byte, []byte) {
				data, signature = change(data, signature)
				return client, data, signature
			}
		}
	}
	return []brokenCeremony{
		{"answer to a registration", client("type", "webauthn.create")},
		{"no user", func(a *Answer) { a.Handle = nil }},
		{"another's handle", func(a *Answer) { a.Handle = []byte("op_bia") }},
		{"another credential", func(a *Answer) { a.ID, a.RawID = []byte("another"), []byte("another") }},
		{"id too long", func(a *Answer) { a.ID = bytes.Repeat([]byte("i"), 1024); a.RawID = a.ID }},
		{"became eligible for backup", func(a *Answer) { a.Flags |= flagBE }},
		{"counter back", func(a *Answer) { a.Count = 3 }},
		{"counter as it was", func(a *Answer) { a.Count = 4 }},
		{"counter stopped", func(a *Answer) { a.Count = 0 }},
		{"data cut off", finish(func(d, s []byte) ([]byte, []byte) { return d[:36], s })},
		{"no data", finish(func(_, s []byte) ([]byte, []byte) { return nil, s })},
		{"no signature", finish(func(d, _ []byte) ([]byte, []byte) { return d, nil })},
		{"signature with more after it", finish(func(d, s []byte) ([]byte, []byte) { return d, append(s, 0) })},
		{"signature of another", finish(func(d, _ []byte) ([]byte, []byte) {
			return d, newDevice(consoleOrigin, ES256).Sign(d, nil)
		})},
	}
}

// TestBrokenRegistrations: a registration with one rule broken is refused.
func TestBrokenRegistrations(t *testing.T) {
	ctx := context.Background()
	e := storetest.Open(t, "sqlite")
	reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
	ana, _ := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
	for _, b := range slices.Concat(both(), registrations()) {
		options, token, err := reg.BeginPasskey(ctx, ana.ID, consoleOrigin)
		if err != nil {
			t.Fatal(err)
		}
		err = reg.AddPasskey(
			ctx,
			ana.ID,
			consoleOrigin,
			token,
			"x",
			newDevice(consoleOrigin, ES256).Create(options, b.bend),
		)
		if !errors.Is(err, operator.ErrPasskey) {
			t.Errorf("%s: %v", b.name, err)
		}
	}
	if kept, err := reg.ListPasskeys(ctx, ana.ID); err != nil || len(kept) != 0 {
		t.Error(len(kept), "passkeys were kept", err)
	}
}

// TestBrokenLogins: a log-in with one rule broken is refused, and the next one without is not.
func TestBrokenLogins(t *testing.T) {
	e := storetest.Open(t, "sqlite")
	reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
	ana, _ := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
	d := passkeyDesk{t, reg}
	device := newDevice(consoleOrigin, ES256)
	if err := d.add(ana.ID, device); err != nil {
		t.Fatal(err)
	}
	for device.Count < 4 {
		if _, _, err := d.login(device); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range slices.Concat(both(), logins()) {
		device.Count = 4
		_, _, err := d.login(device, b.bend)
		d.refused(b.name, err)
	}
	device.Count = 4
	if _, _, err := d.login(device); err != nil {
		t.Error(err)
	}
}
