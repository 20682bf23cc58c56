package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// vigia runs a command as a user would and returns its exit code and what it wrote.
func vigia(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = runCommand(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// TestPartnerHasASize: a live partner is made with the number of people that its contract covers, and keeps one; a
// sandbox needs none.
func TestPartnerHasASize(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	at := func(args ...string) []string { return append(args, "--data", data, "--json") }
	const rule = "people: how many people the contract covers, from 1 to"
	if code, _, errs := vigia(t, at("partner", "create", "Banco")...); code == 0 || !strings.Contains(errs, rule) {
		t.Errorf("without a size: %d %s", code, errs)
	}
	if code, _, errs := vigia(t, at("partner", "create", "Testes", "--sandbox")...); code != 0 {
		t.Errorf("a sandbox: %d %s", code, errs)
	}
	code, out, errs := vigia(t, at("partner", "create", "Banco", "--people", "5")...)
	if code != 0 {
		t.Fatal(code, errs)
	}
	id, _ := decode(t, out)["partner_id"].(string)
	if code, _, errs := vigia(t, at("partner", "set", id, "--people", "0")...); code == 0 || !strings.Contains(errs, rule) {
		t.Errorf("emptied: %d %s", code, errs)
	}
	if _, out, _ := vigia(t, at("partner", "show", id)...); decode(t, out)["people"] != 5.0 {
		t.Error(out)
	}
}

// TestFirstLookCommands: an operator sets a partner's pace of first looks and grants more, which the audit trail tells.
func TestFirstLookCommands(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	at := func(args ...string) []string { return append(args, "--data", data, "--json") }
	_, out, _ := vigia(t, at("partner", "create", "--name", "Banco Exemplo", "--people", "1000")...)
	id, _ := decode(t, out)["partner_id"].(string)
	if code, out, _ := vigia(
		t,
		at("partner", "set", id, "--first-looks-per-hour", "500")...); code != 0 ||
		decode(t, out)["first_looks_per_hour"] != 500.0 {
		t.Error(code, out)
	}
	if code, out, _ := vigia(
		t,
		at("partner", "grant-looks", id, "--count", "300000")...); code != 0 || decode(t, out)["granted"] != 300000.0 ||
		decode(t, out)["left"] != 304000.0 {
		t.Error(code, out)
	}
	if code, out, _ := vigia(
		t,
		at("partner", "set", id, "--people", "100000", "--first-looks-per-hour", "auto")...); code != 0 ||
		decode(t, out)["first_looks_per_hour"] != 500.0 ||
		decode(t, out)["people"] != 100000.0 {
		t.Error(code, out)
	}
	if code, out, _ := vigia(t, at("partner", "set", id, "--first-looks-per-hour", "0")...); code != 0 ||
		decode(t, out)["first_looks_per_hour"] != 0.0 {
		t.Error(code, out)
	}
	if code, out, _ := vigia(t, at("partner", "grant-looks", id, "--count", "1")...); code != 0 ||
		decode(t, out)["stopped"] != true || decode(t, out)["left"] != 0.0 {
		t.Error(code, out)
	}
	if code, _, errs := vigia(t, at("partner", "set", id, "--first-looks-per-hour", "muitas")...); code == 0 ||
		!strings.Contains(errs, "auto, 0 (none) or a number") {
		t.Error(code, errs)
	}
	if code, _, errs := vigia(
		t,
		at("partner", "grant-looks", id, "--count", "0")...); code == 0 ||
		!strings.Contains(errs, "count: 1 to") {
		t.Error(code, errs)
	}
	_, trail, _ := vigia(t, at("audit", "list")...)
	for _, line := range []string{"partner.grant-looks", "--count=300000", "--first-looks-per-hour=500"} {
		if !strings.Contains(trail, line) {
			t.Errorf("the trail does not say %q: %s", line, trail)
		}
	}
}

func TestPartnerAndKeyCommands(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	at := func(args ...string) []string { return append(args, "--data", data, "--json") }
	code, out, errs := vigia(t, at("partner", "create", "--name", "Banco Exemplo", "--sandbox")...)
	if code != 0 {
		t.Fatal(errs)
	}
	made := decode(t, out)
	id, _ := made["partner_id"].(string)
	if key, _ := made["api_key"].(string); !strings.HasPrefix(key, "vg_test_") || made["salt"] == "" || id == "" {
		t.Fatal(out)
	}
	if _, out, _ := vigia(
		t,
		at("partner", "show", id)...); strings.Contains(out, "api_key") ||
		strings.Contains(out, "salt") {
		t.Error("secrets are shown once:", out)
	}
	if code, out, _ := vigia(
		t,
		at(
			"partner",
			"set",
			id,
			"--rate",
			"7",
			"--mask-cards",
		)...); code != 0 || decode(t, out)["rate_per_second"] != 7.0 ||
		decode(t, out)["mask_cards"] != true {
		t.Error(code, out)
	}
	if code, _, errs := vigia(t, at("partner", "suspend", id)...); code != exitUsage || !strings.Contains(errs, "--yes") {
		t.Error("a partner was suspended without a question:", code, errs)
	}
	if code, out, _ := vigia(t, at("partner", "suspend", id, "--yes")...); code != 0 || decode(t, out)["suspended"] != true {
		t.Error(code, out)
	}
	if code, out, _ := vigia(t, at("partner", "resume", id)...); code != 0 || decode(t, out)["suspended"] != false {
		t.Error(code, out)
	}
	code, out, errs = vigia(
		t,
		at("key", "create", "--partner", id, "--scopes", "cyber:read", "--expires", "24h", "--label", "painel")...,
	)
	if code != 0 {
		t.Fatal(errs)
	}
	key := decode(t, out)["key_id"].(string)
	code, out, errs = vigia(t, at("key", "roll", "--partner", id, "--key", key, "--overlap", "1h")...)
	if code != 0 || decode(t, out)["api_key"] == "" {
		t.Fatal(errs)
	}
	if code, out, _ := vigia(
		t,
		at("key", "revoke", "--partner", id, "--key", key, "--keep-children")...); code != 0 ||
		decode(t, out)["state"] != "revoked" {
		t.Error(code, out)
	}
	var list []map[string]any
	if _, out, _ := vigia(
		t,
		at("key", "list", "--partner", id)...); json.Unmarshal([]byte(out), &list) != nil ||
		len(list) != 3 {
		t.Error(out)
	}
	if code, _, errs := vigia(
		t,
		at("partner", "show", "pt_x")...); code != exitNotFound ||
		decode(t, errs)["error"] != "partner.not_found" {
		t.Error(code, errs)
	}
	if code, _, errs := vigia(
		t,
		at("key", "create", "--partner", id, "--scopes", "everything")...); code != exitUsage ||
		!strings.Contains(errs, "unknown scope") {
		t.Error(code, errs)
	}
}

func TestKeysCommands(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if code, _, errs := vigia(t, "partner", "create", "--name", "x", "--people", "1000", "--data", data); code != 0 {
		t.Fatal(errs)
	}
	_, out, _ := vigia(t, "keys", "status", "--data", data, "--json")
	before := decode(t, out)
	code, out, errs := vigia(t, "keys", "rotate", "--data", data, "--json")
	if code != 0 {
		t.Fatal(errs)
	}
	after := decode(t, out)
	if before["primary"] == after["primary"] || after["sealed_by_older"].(float64) < 1 ||
		len(after["keys"].([]any)) != 2 {
		t.Error(before, after)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"partner"}, {"partner", "create"}, {"serve", "--nonsense"}, {"nonsense"}} {
		if code, _, errs := vigia(t, args...); code != exitUsage || !strings.Contains(errs, "--help") {
			t.Errorf("%v: exit %d\n%s", args, code, errs)
		}
	}
	code, _, errs := vigia(
		t,
		"serve",
		"--data",
		filepath.Join(t.TempDir(), "d"),
		"--listen",
		"x",
		"--roles",
		"api,cook",
		"--webhook-allow",
		"ten",
	)
	if code != exitUsage || !strings.Contains(errs, "3 problems") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// TestAllProblemsAtOnce: whatever is wrong with a configuration is listed together, by whichever step finds it.
func TestAllProblemsAtOnce(t *testing.T) {
	t.Setenv("VIGIA_KEEP_JOBS", "muitos")
	t.Setenv("VIGIA_LOG_LEVEL", "loud")
	t.Setenv("VIGIA_METRICS_TOKEN_FILE", filepath.Join(t.TempDir(), "missing"))
	code, _, errs := vigia(
		t,
		"serve",
		"--data",
		filepath.Join(t.TempDir(), "d"),
		"--max-connections",
		"abc",
		"--drain-time",
		"5",
		"--log-format",
		"xml",
		"--listen",
		"x",
		"--roles",
		"cook",
		"--epp-callback-secret",
		"oi",
		"--kms",
		"gcp",
		"--corpora",
		"ftp://x",
		"--log-file",
		"/nowhere/at/all/log",
	)
	for _, flag := range []string{
		"VIGIA_METRICS_TOKEN_FILE", "--keep-jobs", "--log-level", "--max-connections", "--drain-time", "--log-format", "--listen", "--roles", "--epp-callback-secret",
		"--kms", "--corpora", "--log-file",
	} {
		if strings.Count(errs, "\n  - "+flag+": ") != 1 {
			t.Errorf("%s is not listed once", flag)
		}
	}
	if code != exitUsage || !strings.Contains(errs, "12 problems") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// TestHelp: every command explains itself, and those that take more than an id show an example.
func TestHelp(t *testing.T) {
	code, out, _ := vigia(t, "--help")
	if code != 0 || !strings.Contains(out, "vigia demo") {
		t.Fatal(code, out)
	}
	for _, args := range [][]string{{"demo"}, {"serve"}, {"partner", "create"}, {"key", "create"}} {
		if code, out, _ := vigia(t, append(args, "--help")...); code != 0 || !strings.Contains(out, "Example") {
			t.Errorf("%v: exit %d\n%s", args, code, out)
		}
	}
}

func TestVersionAndMigrate(t *testing.T) {
	if code, out, _ := vigia(
		t,
		"version",
		"--json",
	); code != 0 || decode(t, out)["version"] == "" ||
		decode(t, out)["commit"] == "" {
		t.Error(code, out)
	}
	if code, out, _ := vigia(
		t,
		"version",
	); code != 0 || !strings.HasPrefix(out, "vigia ") ||
		!strings.Contains(out, ", commit ") {
		t.Error(code, out)
	}
	data := filepath.Join(t.TempDir(), "data")
	if code, out, _ := vigia(
		t,
		"version",
		"--check",
		"--data",
		data,
	); code != 0 ||
		!strings.Contains(out, "0001_service") {
		t.Error("an empty folder:", code, out)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("a check made the data folder")
	}
	if code, out, _ := vigia(t, "migrate", "--data", data); code != 0 || !strings.Contains(out, "up to date") {
		t.Error(code, out)
	}
	if code, out, _ := vigia(
		t,
		"version",
		"--check",
		"--data",
		data,
		"--json",
	); code != 0 ||
		len(decode(t, out)["migrations"].([]any)) != 0 {
		t.Error("a migrated database:", code, out)
	}
	if _, err := os.Stat(filepath.Join(data, "vigia.db")); err != nil {
		t.Error(err)
	}
}

// TestWrongFolder: a command that needs an installation says that there is none, and makes nothing.
func TestWrongFolder(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for _, args := range [][]string{{"partner", "list"}, {"breach", "list"}, {"case", "list"}, {"audit", "verify"}, {"keys", "status"}} {
		if code, out, errs := vigia(
			t,
			append(args, "--data", data)...); code != exitNotFound ||
			!strings.Contains(errs, "no installation in "+data) {
			t.Errorf("%v: exit %d\n%s%s", args, code, out, errs)
		}
	}
	if _, err := os.Stat(data); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the folder was made:", err)
	}
}

// TestNewInstallationIsTold: a command that begins an installation says so, where it is and where its keys are, and
// asks first where somebody can answer. The second command on it says nothing.
func TestNewInstallationIsTold(t *testing.T) {
	data := filepath.Join(t.TempDir(), "typo")
	create := []string{"partner", "create", "--name", "Banco Exemplo", "--people", "1000", "--data", data}
	code, _, errs := vigia(t, create...)
	if code != exitOK || !strings.Contains(errs, data) || !strings.Contains(errs, filepath.Join(data, "keys.json")) {
		t.Error("an installation was begun in silence:", code, errs)
	}
	if code, _, errs := vigia(t, create...); code != exitOK || errs != "" {
		t.Error("the installation is there already:", code, errs)
	}
	for answer, begun := range map[string]bool{"y\n": true, "n\n": false, "\n": false, "": false} {
		c := &config.Common{Data: filepath.Join(t.TempDir(), "data")}
		var asked bytes.Buffer
		o := &output{w: &asked, err: &asked, person: strings.NewReader(answer)}
		a, err := openAppForCommand(context.Background(), c, o)
		if (err == nil) != begun || !strings.Contains(asked.String(), "Begin a new one there? [y/N]") {
			t.Errorf("%q: %v, asked %s", answer, err, asked.String())
		}
		if err == nil {
			_ = a.Close()
		}
		if _, err := os.Stat(c.Data); (err == nil) != begun {
			t.Errorf("%q: the folder: %v", answer, err)
		}
	}
}

// TestUnknownPlan: a plan that is not there is not found, and no forgery.
func TestUnknownPlan(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	_, out, _ := vigia(t, "partner", "create", "--name", "Banco Exemplo", "--people", "1000", "--data", data, "--json")
	id, _ := decode(t, out)["partner_id"].(string)
	code, _, errs := vigia(t, "plan", "show", "--partner", id, "nenhum", "--data", data, "--json")
	if code != exitNotFound || decode(t, errs)["error"] != "plan.not_found" {
		t.Error(code, errs)
	}
}

// TestAuditSaysWhatWasGiven: a flag that may be left out stands in the trail as it was given.
func TestAuditSaysWhatWasGiven(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if code, _, errs := vigia(
		t,
		"partner",
		"create",
		"--name",
		"Banco Exemplo",
		"--sandbox",
		"--data",
		data,
	); code != 0 {
		t.Fatal(errs)
	}
	if code, _, errs := vigia(
		t,
		"breach",
		"edit",
		"--name",
		"nada",
		"--title",
		"Outro",
		"--no-verified",
		"--data",
		data,
	); code != exitNotFound {
		t.Fatal(code, errs)
	}
	_, out, _ := vigia(t, "audit", "list", "--data", data, "--json")
	if !strings.Contains(out, "--title=Outro") || !strings.Contains(out, "--verified=false") ||
		strings.Contains(out, "0x") {
		t.Error(out)
	}
}

// TestKeyExpiresByTheDatabasesClock: how long a key lives is counted on the clock that judges it, not on that of the
// machine on which the command runs.
func TestKeyExpiresByTheDatabasesClock(t *testing.T) {
	ctx := context.Background()
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	c := config.Common{Data: filepath.Join(t.TempDir(), "data")}
	a, err := app.OpenAppAt(ctx, c, sqldb.Options{}, func() time.Time { return now })
	must(t, err)
	defer func() { _ = a.Close() }()
	p, _, err := a.Partners.CreatePartner(ctx, "Banco Exemplo", partner.Live, partner.Settings{})
	must(t, err)
	var out bytes.Buffer
	command := &keyCreateCmd{Partner: p.ID, Scopes: []string{"cyber"}, Expires: 5 * time.Minute}
	must(t, command.Run(ctx, a, &output{w: &out, json: true}))
	shown := decode(t, out.String())
	if shown["expires_at"] != "2026-01-02T12:05:00Z" || shown["state"] != "live" {
		t.Errorf("a key of five minutes: %v, %v", shown["expires_at"], shown["state"])
	}
}
