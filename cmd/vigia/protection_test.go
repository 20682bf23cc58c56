package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// installation is a data folder with a partner, a key and a case in it.
type installation struct {
	data    string
	partner partner.ID
	device  cyber.Device
	opened  cyber.Case
}

func install(t *testing.T) installation {
	t.Helper()
	ctx := context.Background()
	in := installation{data: filepath.Join(t.TempDir(), "data")}
	a, err := app.OpenApp(ctx, config.Common{Data: in.data}, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := a.Partners.CreatePartner(ctx, "Banco Exemplo", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	in.partner = p.ID
	if in.device, err = a.Endpoints.IssueKey(
		ctx,
		p.ID,
		cyber.DeviceRequest{User: "u1", System: cyber.Android, Name: "Celular"},
	); err != nil {
		t.Fatal(err)
	}
	if in.opened, err = a.Cases.OpenCase(
		ctx,
		p.ID,
		cyber.CaseRequest{Service: "sv_ajuda_phishing", User: "u1"},
	); err != nil {
		t.Fatal(err)
	}
	if _, err := a.NewPersons(nil).ComputeScore(ctx, p.ID, "u1"); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return in
}

// ok runs a command that must succeed and returns its JSON.
func (in installation) ok(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := vigia(t, append(args, "--data", in.data, "--json")...)
	if code != exitOK {
		t.Fatalf("%v: %d %s", args, code, errs)
	}
	return out
}

func (in installation) fails(t *testing.T, want int, args ...string) {
	t.Helper()
	if code, out, errs := vigia(t, append(args, "--data", in.data, "--json")...); code != want {
		t.Errorf("%v: %d, want %d; %s %s", args, code, want, out, errs)
	}
}

func decodeList(t *testing.T, text string) (list []map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return list
}

// TestListCommands: the lists show what is there, as one JSON array, and people are masked in them.
func TestListCommands(t *testing.T) {
	in := install(t)
	cases := decodeList(t, in.ok(t, "case", "list", "--open", "--partner", string(in.partner)))
	if len(cases) != 1 || cases[0]["case_id"] != string(in.opened.ID) || cases[0]["late"] != false {
		t.Error(cases)
	}
	in.fails(t, exitUsage, "case", "list", "--status", "nenhum")
	if list := decodeList(
		t,
		in.ok(t, "message", "list", "--lang", "es"),
	); len(list) == 0 || list[0]["lang"] != "es" ||
		list[0]["text"] == "" {
		t.Error(list)
	}
	in.fails(t, exitNotFound, "subscription", "list", "--partner", "pt_x")
	in.fails(t, exitNotFound, "asset", "list", "--partner", "pt_x", "--user-hash", "u1")

	in, user := lawful(t)
	assets := in.ok(t, "asset", "list", "--partner", string(in.partner), "--user-hash", user)
	if list := decodeList(t, assets); len(list) != 2 || strings.Contains(assets, "ana@exemplo") {
		t.Error(assets)
	}
	events := decodeList(t, in.ok(t, "event", "list", "--partner", string(in.partner)))
	if len(events) == 0 || events[0]["id"] == "" {
		t.Fatal(events)
	}
	if one := decode(t, in.ok(t, "event", "list", "--partner", string(in.partner), "--event", events[0]["id"].(string))); len(one["deliveries"].([]any)) != 0 {
		t.Error(one)
	}
}

// TestPartnerShareCommand: a partner's share of keys and appointments is set one by one.
func TestPartnerShareCommand(t *testing.T) {
	in := install(t)
	id := string(in.partner)
	in.ok(t, "partner", "share", id, "--of", "android", "--quota", "5000", "--reserve", "1000")
	if list := decodeList(t, in.ok(t, "partner", "share", id, "--of", "appointments", "--quota", "40")); len(list) != 2 {
		t.Error(list)
	} else if out := fmt.Sprint(list); !strings.Contains(out, "reserved:1000") ||
		!strings.Contains(out, "quota:40") {
		t.Error(out)
	}
	in.fails(t, exitNotFound, "partner", "share", "pt_x", "--of", "android", "--quota", "1")
}
