package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// lawful is an installation in which one person has a subscription, watched values, a device and a case.
func lawful(t *testing.T) (in installation, user string) {
	t.Helper()
	ctx := context.Background()
	in = installation{data: filepath.Join(t.TempDir(), "data")}
	a, err := app.OpenApp(ctx, config.Common{Data: in.data}, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, cred, err := a.Partners.CreatePartner(ctx, "Banco Exemplo", partner.Sandbox, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	in.partner = p.ID
	_, d512 := partner.PersonDigests("52998224725", cred.Salt)
	user = hex.EncodeToString(d512[1:])
	for _, value := range []string{"ana@vazamento.test", "ana@exemplo.com.br"} {
		if _, err := a.Monitoring.AddAsset(
			ctx,
			cyber.AssetRequest{
				Owner: cyber.Owner{Partner: p.ID, Mode: p.Mode},
				User:  partner.UserHash(user),
				Type:  "email",
				Value: value,
			},
		); err != nil {
			t.Fatal(err)
		}
	}
	if in.device, err = a.Endpoints.IssueKey(
		ctx,
		p.ID,
		cyber.DeviceRequest{User: partner.UserHash(user), System: cyber.Android, Name: "Celular"},
	); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	file := write(
		t,
		filepath.Join(t.TempDir(), "lote.jsonl"),
		fmt.Sprintf(itemJSON, "52998224725")+fmt.Sprintf(itemJSON, "11144477735"),
	)
	in.ok(t, "subscription", "import", file, "--partner", string(p.ID))
	return in, user
}

func TestSubjectCommands(t *testing.T) {
	in, user := lawful(t)
	out := in.ok(t, "subject", "export", "--cpf", "529.982.247-25")
	held := decodeList(t, out)
	difftest.Must(t, "how many partners hold something", len(held), 1)
	counts := map[string]int{}
	for _, of := range []string{"watched_values", "findings", "subscriptions"} {
		counts[of] = len(held[0][of].([]any))
	}
	difftest.Check(t, "what is held", counts, map[string]int{"watched_values": 2, "findings": 1, "subscriptions": 1})
	if !strings.Contains(out, "ana@exemplo.com.br") || strings.Contains(out, "11144477735") {
		t.Error(out)
	}
	text := filepath.Join(t.TempDir(), "ana.txt")
	if code, _, errs := vigia(
		t,
		"subject",
		"export",
		"--user-hash",
		user,
		"--partner",
		string(in.partner),
		"--out",
		text,
		"--data",
		in.data,
	); code != 0 {
		t.Fatal(errs)
	}
	raw, err := os.ReadFile(text)
	if err != nil || !strings.Contains(string(raw), "Vazamentos encontrados") ||
		!strings.Contains(string(raw), "Ana Souza") {
		t.Error(string(raw), err)
	}
	if info, err := os.Stat(text); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	in.fails(t, exitNotFound, "subject", "export", "--cpf", "12345678909")
	in.fails(t, exitUsage, "subject", "export", "--cpf", "123")
	in.fails(t, exitUsage, "subject", "export", "--user-hash", user)
	in.fails(t, exitUsage, "subject", "erase", "--cpf", "52998224725")
	in.fails(t, exitUsage, "subject", "erase", "--cpf", "52998224725", "--reason", "ninguém confirma")
	in.fails(t, exitUsage, "subject", "erase", "--cpf", "52998224725", "--reason", " ")

	// The trail says who asked, and never whose CPF it was.
	trail := in.ok(t, "audit", "list", "--limit", "100")
	if strings.Contains(trail, "52998224725") || strings.Contains(trail, "529.982.247-25") ||
		strings.Contains(trail, user) ||
		!strings.Contains(trail, "***.***.247-**") {
		t.Error(trail)
	}
	erased := decode(t, in.ok(t, "subject", "erase", "--cpf", "52998224725", "--reason", "pedido 1", "--yes"))
	if erased["scrubbed"] != true || erased["rows"].(float64) < 8 {
		t.Error(erased)
	}
	in.fails(t, exitNotFound, "subject", "export", "--cpf", "52998224725")
	if log := in.ok(t, "subject", "log"); strings.Count(log, "\n") != 1 || strings.Contains(log, "52998224725") {
		t.Error(log)
	}
	logFile := filepath.Join(in.data, "erasures.jsonl")
	if replayed := decode(
		t,
		in.ok(t, "subject", "replay", logFile),
	); replayed["erasures"] != 1.0 ||
		replayed["rows"] != 0.0 {
		t.Error(replayed)
	}
	in.fails(t, exitUsage, "subject", "replay", write(t, filepath.Join(t.TempDir(), "x"), "{\n"))
	if checked := decode(t, in.ok(t, "check")); checked["sound"] != true {
		t.Error(checked)
	}
}

func TestBackupCommands(t *testing.T) {
	in, _ := lawful(t)
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	made := decode(t, in.ok(t, "backup", file))
	if parts, _ := made["parts"].([]any); len(parts) != 2 || parts[0] != "database" ||
		made["archive_bytes"].(float64) < 1000 {
		t.Error(made)
	}
	in.fails(t, exitConflict, "backup", file)
	to := filepath.Join(t.TempDir(), "new")
	if code, _, _ := vigia(t, "restore", file, "--data", to, "--json"); code != exitNotFound {
		t.Error("restored without keys:", code)
	}
	code, out, errs := vigia(
		t,
		"restore",
		file,
		"--data",
		to,
		"--key-file",
		filepath.Join(in.data, "keys.json"),
		"--json",
	)
	if code != 0 || len(decode(t, out)["problems"].([]any)) != 0 {
		t.Fatal(code, out, errs)
	}
	if code, _, _ := vigia(
		t,
		"restore",
		file,
		"--data",
		to,
		"--key-file",
		filepath.Join(in.data, "keys.json"),
		"--json",
	); code != exitConflict {
		t.Error("restored over an installation:", code)
	}
	code, out, errs = vigia(t, "check", "--data", to, "--key-file", filepath.Join(in.data, "keys.json"))
	if code != 0 || !strings.HasPrefix(out, "sound  true") {
		t.Error(code, out, errs)
	}
	if err := os.Chmod(filepath.Join(to, "vigia.db"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, out, errs = vigia(
		t,
		"check",
		"--data",
		to,
		"--key-file",
		filepath.Join(in.data, "keys.json"),
		"--json",
	); code != exitFailure ||
		len(decode(t, out)["problems"].([]any)) == 0 ||
		decode(t, errs)["error"] != "check.problems" {
		t.Error(code, out, errs)
	}
}
