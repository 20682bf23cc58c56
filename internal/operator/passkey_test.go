package operator_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

const consoleOrigin = "https://console.example.com"

// passkeyDesk is a console and an authenticator before it.
type passkeyDesk struct {
	t   *testing.T
	reg *operator.Registry
}

func (d passkeyDesk) add(id operator.ID, device *Device) error {
	d.t.Helper()
	options, token, err := d.reg.BeginPasskey(context.Background(), id, consoleOrigin)
	if err != nil {
		return err
	}
	return d.reg.AddPasskey(context.Background(), id, consoleOrigin, token, " Notebook ", device.Create(options))
}

// ask begins a log-in and has the device answer.
func (d passkeyDesk) ask(device *Device, bend ...func(*Answer)) (token string, answer []byte) {
	d.t.Helper()
	options, token, err := d.reg.BeginPasskeyLogin(context.Background(), consoleOrigin)
	if err != nil {
		d.t.Fatal(err)
	}
	return token, device.Use(options, bend...)
}

func (d passkeyDesk) login(device *Device, bend ...func(*Answer)) (operator.Operator, string, error) {
	d.t.Helper()
	token, answer := d.ask(device, bend...)
	return d.reg.PasskeyLogin(context.Background(), consoleOrigin, token, answer, "192.0.2.7")
}

func (d passkeyDesk) refused(what string, err error) {
	d.t.Helper()
	if !errors.Is(err, operator.ErrPasskey) {
		d.t.Errorf("%s: %v, expected a refusal", what, err)
	}
}

// A passkey is added, opens sessions alone, also for whom wrong passwords have locked out, and is kept with its counter
// and the time of its use.
func TestPasskeyLife(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
		d := passkeyDesk{t, reg}
		ana, _ := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
		device := newDevice(consoleOrigin, ES256)
		if err := d.add(ana.ID, device); err != nil {
			t.Fatal(err)
		}
		list, err := reg.ListPasskeys(ctx, ana.ID)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		want := list[0]
		want.Name, want.CreatedAt, want.UsedAt = "Notebook", e.Clock.Now(), time.Time{}
		difftest.Must(t, "the new passkey", list[0], want)
		if _, err := e.Store.Operators.UpdateOperator(
			ctx,
			ana.ID,
			operator.KeepSessions,
			func(o *operator.Operator, _ []operator.Operator) error {
				o.Failures, o.LockedUntil = 10, e.Clock.Now().Add(time.Hour)
				return nil
			},
		); err != nil {
			t.Fatal(err)
		}
		second := newDevice(consoleOrigin, RS256)
		if err := d.add(ana.ID, second); err != nil {
			t.Fatal(err)
		}
		for _, device := range []*Device{device, second, device} {
			e.Clock.Advance(time.Minute)
			o, session, err := d.login(device)
			if err != nil || o.ID != ana.ID || !o.LastLogin.Equal(e.Clock.Now()) {
				t.Fatal(o, err)
			}
			if _, who, err := reg.ResumeSession(ctx, session); err != nil || who.ID != ana.ID {
				t.Fatal(who, err)
			}
		}
		list, err = reg.ListPasskeys(ctx, ana.ID)
		if err == nil && string(list[0].ID) != string(device.ID) { // made in one moment
			list[0], list[1] = list[1], list[0]
		}
		if err != nil || !list[1].UsedAt.Before(list[0].UsedAt) || !list[0].UsedAt.Equal(e.Clock.Now()) ||
			list[0].Name != "Notebook" ||
			!strings.Contains(string(list[0].Credential), `"signCount":3`) {
			t.Fatal(list, string(list[0].Credential), err)
		}
		if err := reg.RemovePasskey(ctx, ana.ID, list[0].Text()); err != nil {
			t.Fatal(err)
		}
		_, _, err = d.login(device)
		d.refused("a passkey that was removed", err)
		for _, text := range []string{list[0].Text(), "no base64!"} {
			if err := reg.RemovePasskey(ctx, ana.ID, text); !errors.Is(err, operator.ErrNotFound) {
				t.Errorf("removed twice: %v", err)
			}
		}
	})
}

// What is no proof of a passkey opens nothing.
func TestPasskeyRefusals(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
		d := passkeyDesk{t, reg}
		ana, _ := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
		bia, _ := enrol(t, reg, "bia@exemplo.com.br", operator.Admin)
		device := newDevice(consoleOrigin, ES256)
		if err := d.add(ana.ID, device); err != nil {
			t.Fatal(err)
		}
		login := func(token string, answer []byte) error {
			_, _, err := reg.PasskeyLogin(ctx, consoleOrigin, token, answer, "192.0.2.7")
			return err
		}
		token, answer := d.ask(device)
		if err := login(token, answer); err != nil {
			t.Fatal(err)
		}
		d.refused("an answer twice", login(token, answer))
		other, _ := d.ask(device)
		d.refused("an answer to another ceremony", login(other, answer))
		token, _ = d.ask(device)
		d.refused("no answer", login(token, nil))
		token, answer = d.ask(device)
		e.Clock.Advance(5*time.Minute - time.Second)
		if err := login(token, answer); err != nil {
			t.Error("in time:", err)
		}
		token, answer = d.ask(device)
		e.Clock.Advance(5 * time.Minute)
		d.refused("an answer too late", login(token, answer))

		device.Count--
		device.Count--
		_, _, err := d.login(device)
		d.refused("a copy", err)
		device.Count += 2
		if _, _, err := d.login(device); err != nil {
			t.Error("the refusal of a copy has changed the counter:", err)
		}
		device.User = []byte(bia.ID)
		_, _, err = d.login(device)
		d.refused("another's handle", err)
		device.User = []byte("op_\x00\xff")
		_, _, err = d.login(device)
		d.refused("nobody's handle", err)
		device.User = []byte(ana.ID)

		d.refused("a passkey that somebody has", d.add(bia.ID, device))
		d.refused("a passkey that the person has", d.add(ana.ID, device))
		device.User = []byte(ana.ID)
		if _, err := reg.DisableOperator(ctx, ana.ID); err != nil {
			t.Fatal(err)
		}
		before, err := reg.ListPasskeys(ctx, ana.ID)
		if err != nil {
			t.Fatal(err)
		}
		token, answer = d.ask(device)
		d.refused("somebody who is disabled", login(token, answer))
		if after, err := reg.ListPasskeys(
			ctx,
			ana.ID,
		); err != nil || len(after) != 1 ||
			string(after[0].Credential) != string(before[0].Credential) {
			t.Error("a refusal has changed the passkey:", after, err)
		}
		if list, err := reg.ListPasskeys(ctx, bia.ID); err != nil || len(list) != 0 {
			t.Error("bia has", list, err)
		}
	})
}

// A passkey is made for the person who asked, under a name, at a site that has a name, and there are ten of them at
// most.
func TestPasskeysAreAdded(t *testing.T) {
	ctx := context.Background()
	e := storetest.Open(t, "sqlite")
	reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
	d := passkeyDesk{t, reg}
	ana, _ := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
	bia, _ := enrol(t, reg, "bia@exemplo.com.br", operator.Admin)
	for _, origin := range []string{"https://192.0.2.1", "https://a b"} {
		_, _, err := reg.BeginPasskey(ctx, ana.ID, origin)
		d.refused("no name", err)
		_, _, err = reg.BeginPasskeyLogin(ctx, origin)
		d.refused("no name", err)
		d.refused("no name", reg.AddPasskey(ctx, ana.ID, origin, "", "x", nil))
		_, _, err = reg.PasskeyLogin(ctx, origin, "", nil, "")
		d.refused("no name", err)
	}
	if _, _, err := reg.BeginPasskey(ctx, "op_nobody", consoleOrigin); !errors.Is(err, operator.ErrNotFound) {
		t.Error("a passkey for nobody:", err)
	}
	device := newDevice(consoleOrigin, EdDSA)
	options, token, err := reg.BeginPasskey(ctx, ana.ID, consoleOrigin)
	if err != nil {
		t.Fatal(err)
	}
	answer := device.Create(options)
	for _, name := range []string{"", " ", strings.Repeat("n", 61)} {
		if err := reg.AddPasskey(ctx, ana.ID, consoleOrigin, token, name, answer); !errors.Is(err, operator.ErrPasskeyName) {
			t.Errorf("name %q: %v", name, err)
		}
	}
	d.refused("a token that nobody gave", reg.AddPasskey(ctx, ana.ID, consoleOrigin, "token", "x", answer))
	d.refused("another site", reg.AddPasskey(ctx, ana.ID, "https://other.example", token, "x", answer))
	options, token, err = reg.BeginPasskey(ctx, ana.ID, consoleOrigin)
	if err != nil {
		t.Fatal(err)
	}
	d.refused("by somebody else", reg.AddPasskey(ctx, bia.ID, consoleOrigin, token, "x", device.Create(options)))
	options, token, err = reg.BeginPasskey(ctx, ana.ID, consoleOrigin)
	if err != nil {
		t.Fatal(err)
	}
	if err := reg.AddPasskey(ctx, "op_nobody", consoleOrigin, token, "x", device.Create(options)); !errors.Is(err, operator.ErrNotFound) {
		t.Error("a passkey for nobody:", err)
	}
	options, token, err = reg.BeginPasskey(ctx, ana.ID, consoleOrigin)
	if err != nil {
		t.Fatal(err)
	}
	if err := reg.AddPasskey(
		ctx,
		ana.ID,
		consoleOrigin,
		token,
		strings.Repeat("n", 60),
		device.Create(options),
	); err != nil {
		t.Fatal(err)
	}
	for range 9 {
		if err := d.add(ana.ID, newDevice(consoleOrigin, ES256)); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.add(ana.ID, newDevice(consoleOrigin, ES256)); !errors.Is(err, operator.ErrPasskeys) {
		t.Error("eleven passkeys:", err)
	}
	list, err := reg.ListPasskeys(ctx, ana.ID)
	if err != nil || len(list) != 10 {
		t.Fatal(len(list), err)
	}
	if err := reg.RemovePasskey(ctx, ana.ID, list[9].Text()); err != nil {
		t.Fatal(err)
	}
	options, _, err = reg.BeginPasskey(ctx, ana.ID, consoleOrigin)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(options)
	if err != nil || strings.Count(string(text), `"transports":["internal","hybrid"]`) != 9 ||
		!strings.Contains(string(text), list[0].Text()) {
		t.Errorf("an authenticator may make a second passkey: %s %v", text, err)
	}
	if !strings.Contains(string(text), `"timeout":300000`) ||
		!strings.Contains(string(text), `"name":"ana@exemplo.com.br"`) {
		t.Errorf("options: %s", text)
	}
}

// TestPasskeyCountsAtItsSite: a passkey is kept with the site where it was made, and counts at no other; where the site
// is not known there are none.
func TestPasskeyCountsAtItsSite(t *testing.T) {
	ctx := context.Background()
	e := storetest.Open(t, "sqlite")
	reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
	d := passkeyDesk{t, reg}
	ana, _ := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
	device := newDevice(consoleOrigin, ES256)
	if err := d.add(ana.ID, device); err != nil {
		t.Fatal(err)
	}
	kept, err := reg.ListPasskeys(ctx, ana.ID)
	if err != nil || len(kept) != 1 || kept[0].Site != "console.example.com" {
		t.Fatal(kept, err)
	}
	kept[0].Site = "console.outra.example"
	if err := e.Store.Operators.UpdatePasskey(ctx, kept[0]); err != nil {
		t.Fatal(err)
	}
	_, _, err = d.login(device)
	d.refused("a passkey of another site", err)
	_, _, err = reg.BeginPasskey(ctx, ana.ID, "")
	_, _, lerr := reg.BeginPasskeyLogin(ctx, "")
	if !errors.Is(err, operator.ErrPasskeySite) || !errors.Is(lerr, operator.ErrPasskeySite) {
		t.Error("without an address:", err, lerr)
	}
}
