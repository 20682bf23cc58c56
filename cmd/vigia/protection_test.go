package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
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
	a, err := app.Open(ctx, config.Common{Data: in.data}, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := a.Partners.Create(ctx, "Banco Exemplo", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	in.partner = p.ID
	if in.device, err = a.Endpoints.Issue(ctx, p.ID, cyber.DeviceRequest{User: "u1", System: cyber.Android, Name: "Celular"}); err != nil {
		t.Fatal(err)
	}
	if in.opened, err = a.Cases.Open(ctx, p.ID, cyber.CaseRequest{Service: "sv_ajuda_phishing", User: "u1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Persons(nil).Score(ctx, p.ID, "u1"); err != nil {
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

func TestEppCommands(t *testing.T) {
	in := install(t)
	keys := filepath.Join(t.TempDir(), "chaves.csv")
	if err := os.WriteFile(keys, []byte("key\nVENDOR-1\nVENDOR-2\nVENDOR-2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := decode(t, in.ok(t, "epp", "load", "--os", "android", keys)); got["read"] != 3.0 || got["new"] != 2.0 {
		t.Error(got)
	}
	android := decodeList(t, in.ok(t, "epp", "status"))[0]
	if android["os"] != "android" || android["source"] != "pool" || android["free"] != 2.0 || android["live"] != 1.0 || android["low"] != true {
		t.Error(android)
	}
	if got := decodeList(t, in.ok(t, "epp", "source", "--os", "android", "--low-below", "1"))[0]; got["low"] != false {
		t.Error(got)
	}
	if got := decode(t, in.ok(t, "epp", "show", in.device.Key)); got["key_id"] != string(in.device.ID) || got["device"] != "Celular" {
		t.Error(got)
	}
	next := decode(t, in.ok(t, "epp", "replace", string(in.device.ID), "--os", "android", "--device", "Celular novo"))
	if next["epp_key"] != "VENDOR-1" {
		t.Error(next)
	}
	if got := decode(t, in.ok(t, "epp", "show", string(in.device.ID))); got["end_reason"] != "moved" {
		t.Error(got)
	}
	if next["state"] != "issued" || next["activated_at"] != "" {
		t.Error(next)
	}
	in.ok(t, "epp", "install", "--os", "linux", "--link", "https://instalar.exemplo.com.br/linux")
	if list := decodeList(t, in.ok(t, "epp", "install")); len(list) != 5 || list[4]["link"] != "https://instalar.exemplo.com.br/linux" {
		t.Error(list)
	}
	in.fails(t, exitUsage, "epp", "install", "--os", "linux", "--link", "http://instalar.exemplo.com.br")
	in.fails(t, exitUsage, "epp", "install", "--os", "linux")
	in.ok(t, "epp", "revoke", next["key_id"].(string))
	in.fails(t, exitConflict, "epp", "revoke", next["key_id"].(string))
	in.fails(t, exitNotFound, "epp", "revoke", "ek_nada")
	in.fails(t, exitUsage, "epp", "load", "--os", "symbian", keys)
	in.fails(t, exitUsage, "epp", "load", "--os", "ios", filepath.Join(t.TempDir(), "nada.csv"))
}

func TestCaseCommands(t *testing.T) {
	in := install(t)
	id := string(in.opened.ID)
	if list := decodeList(t, in.ok(t, "case", "list", "--open", "--partner", string(in.partner))); len(list) != 1 || list[0]["case_id"] != id {
		t.Error(list)
	}
	if got := decode(t, in.ok(t, "case", "assign", id, "bruna")); got["assignee"] != "bruna" {
		t.Error(got)
	}
	if got := decode(t, in.ok(t, "case", "move", id, "em-andamento", "--note", "começamos", "--by", "bruna")); got["status"] != "Em andamento" {
		t.Error(got)
	}
	in.fails(t, exitConflict, "case", "move", id, "fechado")
	in.fails(t, exitUsage, "case", "move", id, "pendente")
	in.fails(t, exitNotFound, "case", "show", "cs_nada")
	shown := in.ok(t, "case", "show", id)
	if got := decode(t, shown); got["user_hash"] != "u1" || !strings.Contains(shown, "começamos") || len(got["history"].([]any)) != 2 || len(got["may_move_to"].([]any)) != 3 {
		t.Error(shown)
	}
	if code, out, errs := vigia(t, "case", "show", id, "--data", in.data); code != 0 || !strings.Contains(out, "Aberto -> Em andamento bruna começamos") {
		t.Error(code, out, errs)
	}
	in.ok(t, "case", "target", "sv_ajuda_phishing", "24h")
	q := decode(t, in.ok(t, "case", "question", "add", "sv_ajuda_phishing", "--text", "Clicou no link, ou não?", "--required", "--option", "Sim, cliquei", "--option", "Não"))
	if list := decodeList(t, in.ok(t, "case", "question", "list")); len(list) != 1 || len(list[0]["options"].([]any)) != 2 {
		t.Error(list)
	}
	in.ok(t, "case", "question", "remove", q["question_id"].(string))
	got := decode(t, in.ok(t, "case", "slot", "add", "sv_ajuda_phishing", "2199-12-01T09:00", "--every", "30m", "--until", "2199-12-01T12:00"))
	slots := decodeList(t, in.ok(t, "case", "slot", "list", "sv_ajuda_phishing"))
	if got["new"] != 7.0 || len(slots) != 7 || slots[0]["starts"] != "2199-12-01T12:00:00Z" {
		t.Error(got, slots)
	}
	in.ok(t, "case", "slot", "remove", slots[0]["slot_id"].(string))
	in.fails(t, exitUsage, "case", "slot", "add", "sv_ajuda_phishing", "1999-12-01T09:00")
	in.fails(t, exitNotFound, "case", "slot", "add", "sv_nada", "2199-12-01T09:00")
}

func TestContentCommands(t *testing.T) {
	in := install(t)
	all := decodeList(t, in.ok(t, "content", "list"))
	if len(all) < 40 {
		t.Fatal(len(all), "items")
	}
	file := filepath.Join(t.TempDir(), "catalogo.yaml")
	in.ok(t, "content", "export", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "O banco não liga pedindo senha", "Banco nenhum pede senha", 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil || changed == string(text) {
		t.Fatal(err)
	}
	in.ok(t, "content", "import", file)
	if got := decode(t, in.ok(t, "content", "show", "falsa-central")); got["title"] != "Banco nenhum pede senha" {
		t.Error(got)
	}
	in.ok(t, "content", "reset", "falsa-central")
	if got := decode(t, in.ok(t, "content", "show", "falsa-central")); got["title"] != "O banco não liga pedindo senha" {
		t.Error(got)
	}
	if got := decode(t, in.ok(t, "content", "edit", "qr-code", "--rank", "999", "--title", "Outro")); got["rank"] != 999.0 || got["title"] != "Outro" {
		t.Error(got)
	}
	if got := decode(t, in.ok(t, "content", "retire", "qr-code")); got["retired"] != true {
		t.Error(got)
	}
	if got := decode(t, in.ok(t, "content", "retire", "qr-code", "--offer")); got["retired"] != false {
		t.Error(got)
	}
	fresh := filepath.Join(t.TempDir(), "novo.yaml")
	if err := os.WriteFile(fresh, []byte("- {id: novo-item, type: tip, device: all, rank: 5, title: Novo, body: Texto.}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in.ok(t, "content", "add", fresh)
	in.fails(t, exitConflict, "content", "add", fresh)
	in.fails(t, exitNotFound, "content", "show", "nada")
	in.fails(t, exitUsage, "content", "edit", "qr-code", "--rank", "0")
	if list := decodeList(t, in.ok(t, "content", "list")); len(list) != len(all)+1 || list[len(list)-1]["id"] != "novo-item" {
		t.Error(len(list))
	}
}

func TestScoreHistoryCommand(t *testing.T) {
	in := install(t)
	days := decodeList(t, in.ok(t, "score", "history", "--partner", string(in.partner), "--user-hash", "u1"))
	// The key is live and no device of the partner reports activations, so the person counts as protected.
	if len(days) != 1 || days[0]["breach_score"] != 0.0 || days[0]["assessment_score"] != 60.0 {
		t.Error(days)
	}
}
