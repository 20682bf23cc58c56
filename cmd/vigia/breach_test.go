package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestImportGoesOnWithItsMatch: an import that was killed after it published, and before its values were matched, goes
// on with the same command, also after its match was given up; another command finds the name taken.
func TestImportGoesOnWithItsMatch(t *testing.T) {
	t.Run("killed", func(t *testing.T) {
		goOnWithMatch(t, func(context.Context, *app.App) error { return nil })
	})
	t.Run("cancelled", func(t *testing.T) {
		goOnWithMatch(t, func(ctx context.Context, a *app.App) error {
			j, err := a.Store.Jobs.NewestJobOf(ctx, leak.KindMatch, "loja")
			if err != nil {
				return err
			}
			return a.Store.Jobs.CancelJob(ctx, j.ID)
		})
	})
}

func goOnWithMatch(t *testing.T, stop func(context.Context, *app.App) error) {
	t.Helper()
	ctx := context.Background()
	data := filepath.Join(t.TempDir(), "data")
	dump := write(t, filepath.Join(t.TempDir(), "dump.txt"), "ana@exemplo.com.br:senha\nbia@exemplo.com.br:senha\n")
	load := []string{
		"breach",
		"import",
		"--name",
		"loja",
		"--title",
		"Loja",
		"--date",
		"2026-01-02",
		"--exposes",
		"email",
		"--data",
		data,
		"--json",
		dump,
	}
	a, err := app.OpenApp(ctx, config.Common{Data: data}, sqldb.Options{})
	must(t, err)
	p, _, err := a.Partners.CreatePartner(ctx, "Banco Exemplo", partner.Live, partner.Settings{})
	must(t, err)
	_, err = a.Monitoring.AddAsset(
		ctx,
		cyber.AssetRequest{
			Owner: cyber.Owner{Partner: p.ID, Mode: p.Mode},
			User:  "ana",
			Type:  "email",
			Value: "ana@exemplo.com.br",
		},
	)
	must(t, err)
	inputs, err := intake.ListInputs(ctx, nil, []string{dump})
	must(t, err)
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	_, err = a.Leaks.Foreground.ImportBreach(
		ctx,
		intake.Spec{
			Inputs: inputs,
			Breach: cyber.Breach{Name: "loja", Title: "Loja", Date: day, Exposes: []cyber.Exposed{"email"}},
		},
	)
	must(t, err)
	must(t, stop(ctx, a))
	must(t, a.Close())
	other := slices.Clone(load)
	other[slices.Index(other, "Loja")] = "Outra"
	if code, _, errs := vigia(t, other...); code != exitConflict {
		t.Error(code, errs)
	}
	code, out, errs := vigia(t, load...)
	if code != exitOK || decode(t, out)["values_found"] != 1.0 {
		t.Fatal(code, out, errs)
	}
	if code, _, errs := vigia(t, load...); code != exitConflict {
		t.Error("an import that came to its end is taken again:", code, errs)
	}
}

// TestBreachCommands: a domain is watched, a dump with an address under it is imported without a server, edited and
// retracted.
func TestBreachCommands(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	at := func(args ...string) []string { return append(args, "--data", data, "--json") }
	must := func(args ...string) map[string]any {
		t.Helper()
		code, out, errs := vigia(t, at(args...)...)
		if code != exitOK {
			t.Fatalf("%v: exit %d, %s", args, code, errs)
		}
		return decode(t, out)
	}
	id, _ := must("partner", "create", "--name", "Banco Exemplo", "--people", "1000")["partner_id"].(string)
	watchDomain(t, data, partner.ID(id), "exemplo.com.br")
	status := func() string {
		t.Helper()
		_, out, _ := vigia(t, at("asset", "list", "--partner", id, "--user-hash", "empresa")...)
		var list []struct{ Masked, Status string }
		if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 1 {
			t.Fatal(out, err)
		}
		if strings.Contains(list[0].Masked, "exemplo") {
			t.Error("a value is shown whole:", list[0].Masked)
		}
		return list[0].Status
	}

	dump := filepath.Join(t.TempDir(), "dump.txt")
	if err := os.WriteFile(
		dump,
		[]byte("ana@rh.exemplo.com.br;529.982.247-25\nbia@outro.com.br\n"),
		0o600,
	); err != nil {
		t.Fatal(err)
	}
	load := []string{
		"breach",
		"import",
		"--name",
		"loja",
		"--title",
		"Loja",
		"--date",
		"2026-01-02",
		"--exposes",
		"email,phone",
		dump,
	}
	made := must(load...)
	found, _ := made["found"].(map[string]any)
	difftest.Check(t, "addresses", found["email"], any(2.0))
	difftest.Check(t, "CPFs", found["cpf"], any(1.0))
	want := maps.Clone(made)
	want["values_found"], want["state"] = 1.0, "published"
	difftest.Check(t, "the import", made, want)
	if got := status(); got != "alerta" {
		t.Error("after the import:", got)
	}
	if code, _, errs := vigia(t, at(load...)...); code != exitConflict || decode(t, errs)["error"] != "breach.exists" {
		t.Error(code, errs)
	}
	if must("breach", "verify", "--name", "loja")["keys"] != made["distinct"] {
		t.Error("verify counts otherwise than the import")
	}
	must("breach", "edit", "--name", "loja", "--exposes", "email,password", "--verified")
	if got := status(); got != "comprometido" {
		t.Error("after the edit:", got)
	}
	if must("breach", "retract", "--name", "loja")["state"] != "retracted" || status() != "monitorado" {
		t.Error("after the retraction:", status())
	}
	if files, err := filepath.Glob(filepath.Join(data, "corpora", "leak", "*")); err != nil || len(files) != 0 {
		t.Error("files left:", files, err)
	}
}

// watchDomain watches a company's domain, as the console does.
func watchDomain(t *testing.T, data string, id partner.ID, domain string) {
	t.Helper()
	a, err := app.OpenApp(t.Context(), config.Common{Data: data}, sqldb.Options{})
	must(t, err)
	added, err := a.Monitoring.AddAsset(
		t.Context(),
		cyber.AssetRequest{
			Owner: cyber.Owner{Partner: id, Mode: partner.Live},
			User:  "empresa",
			Group: cyber.OperatorAdds,
			Type:  "domain",
			Value: domain,
		},
	)
	must(t, err)
	if !added.IsNew {
		t.Error(domain, "was watched before")
	}
	must(t, a.Close())
}

func TestBreachCommandsRefuse(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	dump := filepath.Join(t.TempDir(), "dump.txt")
	if err := os.WriteFile(dump, []byte("ana@exemplo.com.br"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := []string{
		"breach",
		"import",
		"--name",
		"loja",
		"--title",
		"Loja",
		"--date",
		"2026-01-02",
		"--exposes",
		"email",
	}
	for what, args := range map[string][]string{
		"date":    append(append([]string{}, good[:6]...), "--date", "ontem", "--exposes", "email", dump),
		"exposes": append(append([]string{}, good[:8]...), "--exposes", "alma", dump),
		"inputs":  append(append([]string{}, good...), filepath.Join(data, "nada")),
		"address": append(append([]string{}, good...), "http://127.0.0.1:9/dump.txt"),
	} {
		code, _, errs := vigia(t, append(args, "--data", data)...)
		if code == exitOK || !strings.Contains(errs, "vigia: ") || strings.Contains(errs, "panic") {
			t.Errorf("%s: exit %d, %s", what, code, errs)
		}
	}
	for _, verb := range []string{"show", "edit", "retract", "verify"} {
		if code, _, errs := vigia(t, "breach", verb, "--name", "nada", "--data", data); code != exitNotFound {
			t.Errorf("%s: exit %d, %s", verb, code, errs)
		}
	}
	if code, _, errs := vigia(t, "breach", "retract", "--name", "sandbox", "--data", data); code != exitUsage {
		t.Errorf("the sandbox breach: exit %d, %s", code, errs)
	}
}

// TestDryRunShowsRecordsAndWritesNothing: the first ten records as an import understands them, by a mapping and without
// one.
func TestDryRunShowsRecordsAndWritesNothing(t *testing.T) {
	dir := t.TempDir()
	data, table, mapping := filepath.Join(dir, "data"), filepath.Join(dir, "t.csv"), filepath.Join(dir, "m.yaml")
	rows := "doc,mail,senha\n"
	for i := range 30 {
		rows += fmt.Sprintf("529.982.247-25,pessoa%d@exemplo.com.br,s%d\n", i, i)
	}
	rows = strings.Replace(rows, "529.982.247-25", "529.982.247-26", 1)
	for name, text := range map[string]string{
		table:   rows,
		mapping: "vigia_mapping: 1\nformat: csv\nfields:\n  doc: cpf_or_cnpj\n  mail: email\n  senha: password\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{
		"breach",
		"import",
		"--dry-run",
		"--data",
		data,
		"--name",
		"x",
		"--title",
		"x",
		"--date",
		"2026-01-01",
		"--json",
		table,
	}
	for _, mapped := range []bool{false, true} {
		if mapped {
			args = append(args, "--mapping", mapping)
		}
		code, out, errs := vigia(t, args...)
		records, _ := decode(t, out)["records"].([]any)
		difftest.Check(t, "the code", code, exitOK)
		difftest.Check(t, "how many records", len(records), 10)
		if !strings.Contains(out, "pessoa9@exemplo.com.br") || strings.Contains(out, "pessoa10@") {
			t.Errorf("%s %s", out, errs)
		}
		if left := decode(t, out)["values_left_out"]; mapped != (left == float64(1)) {
			t.Errorf("%v values left out: %s", left, out)
		}
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("a data folder was made")
	}
}
