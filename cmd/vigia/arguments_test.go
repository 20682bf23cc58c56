package main

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
)

// TestOldFlagsNameThings: what names a thing is an argument; the flag that it used to be is taken in both spellings, in
// any place, beside other arguments.
func TestOldFlagsNameThings(t *testing.T) {
	for given, want := range map[string]string{
		"breach import --name loja --title L dump.zip":    "breach import loja --title L dump.zip",
		"breach import dump.zip --name=loja":              "breach import loja dump.zip",
		"--data x breach show --name loja --json":         "--data x breach show loja --json",
		"plan create --partner pt_1 --id ouro --name O":   "plan create ouro --partner pt_1 --name O",
		"breach show loja":                                "breach show loja",
		"partner set pt_1 --name Outro":                   "partner set pt_1 --name Outro",
		"operator disable --email ana@exemplo.com.br":     "operator disable ana@exemplo.com.br",
		"breach explain --name l --email a@b.c -- --name": "breach explain l --email a@b.c -- --name",
		"help breach import":                              "breach import --help",
		"help":                                            "--help",
	} {
		got := takeOldFlags(askForHelp(strings.Fields(given)))
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %s, want %s", given, strings.Join(got, " "), want)
		}
	}
}

// TestHelpIsEverywhere: help is found as people of other programs look for it, and a group without a command shows
// what it has.
func TestHelpIsEverywhere(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"help"}, exitOK, "Run an installation"},
		{[]string{"help", "partner", "create"}, exitOK, "--people"},
		{[]string{"--version"}, exitOK, "vigia v"},
		{[]string{"partner"}, exitUsage, "grant-looks"},
		{[]string{"--data", "x", "breach"}, exitUsage, "retract"},
		{nil, exitUsage, "Run an installation"},
		{[]string{"partner", "creat"}, exitUsage, `did you mean "create"`},
		{[]string{"nonsense"}, exitUsage, "unexpected argument nonsense"},
	} {
		code, out, errs := vigia(t, c.args...)
		said := out
		if c.code != exitOK {
			said = errs
		}
		if code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("vigia %s: exit %d\n%s%s", strings.Join(c.args, " "), code, out, errs)
		}
	}
}

// TestNotFoundSaysWhereToLook: what is not there is named, with the command that lists what is.
func TestNotFoundSaysWhereToLook(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	_, out, _ := vigia(t, "partner", "create", "Banco", "--people", "1000", "--data", data, "--json")
	id, _ := decode(t, out)["partner_id"].(string)
	for command, says := range map[string]string{
		"partner show pt_nada":                    "there is no partner pt_nada; 'vigia partner list' lists them",
		"plan show ouro --partner " + id:          "there is no plan ouro; 'vigia plan list --partner " + id + "' lists them",
		"plan list --partner pt_nada":             "there is no partner pt_nada",
		"key list --partner pt_nada":              "there is no partner pt_nada",
		"event list --partner pt_nada":            "there is no partner pt_nada",
		"case list --partner pt_nada":             "there is no partner pt_nada",
		"message list --partner pt_nada":          "there is no partner pt_nada",
		"subscription list --partner pt_nada":     "there is no partner pt_nada",
		"webhook list --partner pt_nada":          "there is no partner pt_nada",
		"key revoke key_nada --partner " + id:     "there is no key key_nada; 'vigia key list --partner " + id + "'",
		"breach show nada":                        "there is no breach nada; 'vigia breach list' lists them",
		"feed show nada":                          "there is no feed nada; 'vigia feed list' lists them",
		"webhook show whe_nada":                   "there is no webhook whe_nada; 'vigia webhook list' lists them",
		"operator disable ana@exemplo.com.br":     "there is no operator ana@exemplo.com.br; 'vigia operator list'",
		"operator disable --email ana@exemplo.br": "there is no operator ana@exemplo.br; 'vigia operator list'",
	} {
		code, _, errs := vigia(t, append(strings.Fields(command), "--data", data)...)
		if code != exitNotFound || !strings.Contains(errs, says) {
			t.Errorf("vigia %s: exit %d, %s", command, code, errs)
		}
	}
}

// TestFilesThatCannotBeRead: a file that a command names and that is not there is a wrong call, told with its whole
// path; a damaged backup is a failure.
func TestFilesThatCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, "data")
	_, out, _ := vigia(t, "partner", "create", "Banco", "--people", "1000", "--data", data, "--json")
	id, _ := decode(t, out)["partner_id"].(string)
	gone := filepath.Join(folder, "nada.csv")
	damaged := filepath.Join(folder, "quebrado.tar.gz")
	if err := os.WriteFile(damaged, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]int{
		"subscription import " + gone + " --partner " + id:               exitUsage,
		"plan create p --partner " + id + " --name P --coverage " + gone: exitUsage,
		"breach import l --title L --date 2026-01-01 " + gone:            exitUsage,
		"passwords import --algorithm sha1 " + gone:                      exitUsage,
		"restore " + gone:               exitUsage,
		"subject replay " + gone:        exitUsage,
		"subject export --cpf @" + gone: exitUsage,
		"feed add f --kind folder --target /srv/dumps --mapping " + gone:   exitUsage,
		"feed add f --kind folder --target " + gone:                        exitUsage,
		"restore " + damaged + " --data " + filepath.Join(folder, "outra"): exitFailure,
	} {
		args := strings.Fields(command)
		if !slices.Contains(args, "--data") {
			args = append(args, "--data", data)
		}
		code, _, errs := vigia(t, args...)
		if code != want {
			t.Errorf("vigia %s: exit %d, want %d: %s", command, code, want, errs)
		}
		if want == exitUsage && !strings.Contains(errs, gone+" cannot be read: no such file or directory\n") {
			t.Errorf("vigia %s does not name the file and why: %s", command, errs)
		}
	}
}

// TestRefusalsAreWords: what is refused is told in words without codes and causes, which are for logs: the value of a
// flag, a backup over a file, and what the partner API answers. What needs --yes shows what it would do.
func TestRefusalsAreWords(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	_, out, _ := vigia(t, "partner", "create", "Banco", "--people", "1000", "--data", data, "--json")
	id, _ := decode(t, out)["partner_id"].(string)
	taken := filepath.Join(t.TempDir(), "b.tar.gz")
	if err := os.WriteFile(taken, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("x-error-code", "key.refused")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"statusCode":403,"message":"Request Proibida."}`))
	}))
	defer api.Close()
	for command, want := range map[string]struct {
		code int
		says string
	}{
		"plan create p --name P --watch email,card --partner " + id: {exitUsage, "vigia: watch: one of email, cpf, phone\n"},
		"feed add l --kind list --target https://127.0.0.1:1/l":     {exitUsage, "the address is not public; --webhook-allow"},
		"feed add l --kind list --target https://127.0.0.1:1/l --webhook-allow 127.0.0.0/8": {
			exitUsage, "vigia: target: the address did not answer: dial tcp 127.0.0.1:1: connect: connection refused\n",
		},
		"partner suspend " + id: {exitUsage, "keys_turned_off  vg_live_"},
		"backup " + taken:       {exitConflict, "vigia: there is a file " + taken + " already\n"},
		"trigger case.rated --api-key x --api " + api.URL: {
			exitFailure, "vigia: the service answered 403 Request Proibida., key.refused\n",
		},
	} {
		code, _, errs := vigia(t, append(strings.Fields(command), "--data", data)...)
		if code != want.code || !strings.Contains(errs, want.says) {
			t.Errorf("vigia %s: exit %d, %s", command, code, errs)
		}
	}
}

// TestMisspeltVariables: a variable that looks like a setting of ours and is none is named, with the one that was
// probably meant; what Kubernetes injects is not.
func TestMisspeltVariables(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	t.Setenv("VIGIA_LISTN", ":1")
	t.Setenv("VIGIA_SERVICE_HOST", "10.0.0.1")
	t.Setenv("VIGIA_PORT_8080_TCP_ADDR", "10.0.0.1")
	t.Setenv("VIGIA_METRICS_TOKEN_FILE", "")
	code, _, errs := vigia(t, "partner", "create", "Banco", "--people", "1000", "--data", data)
	if code != exitOK || !strings.Contains(errs, "VIGIA_LISTN is no setting of Vigia and is ignored; did you mean VIGIA_LISTEN?") {
		t.Error(code, errs)
	}
	if strings.Contains(errs, "VIGIA_SERVICE_HOST") || strings.Contains(errs, "VIGIA_PORT") || strings.Contains(errs, "VIGIA_METRICS") {
		t.Error(errs)
	}
}

// TestPortInUse: an address that is taken is an error that says what to do.
func TestPortInUse(t *testing.T) {
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	data := filepath.Join(t.TempDir(), "data")
	code, _, errs := vigia(t, "serve", "--data", data, "--listen", taken.Addr().String(), "--console-listen", "127.0.0.1:0")
	if code != exitFailure || !strings.Contains(errs, taken.Addr().String()) || !strings.Contains(errs, "ss -ltnp") {
		t.Error(code, errs)
	}
}

// TestTwoServersOnOneFolder: the second server says that it is not alone, and doctor tells the two apart.
func TestTwoServersOnOneFolder(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	first, second := newServer(t, binary(t, ""), data, ""), newServer(t, binary(t, ""), data, "")
	first.start(t)
	second.start(t)
	list, err := app.ListServing(data)
	if err != nil {
		t.Error(err)
	}
	var serving []int
	for _, s := range list {
		serving = append(serving, s.PID)
	}
	difftest.Check(t, "the processes", serving, []int{first.cmd.Process.Pid, second.cmd.Process.Pid})
	_, out, _ := vigia(t, "doctor", "--data", data)
	if !strings.Contains(out, "number 1 on this data folder") || !strings.Contains(out, "number 2 on this data folder") {
		t.Error(out)
	}
	second.kill()
	if list, err = app.ListServing(data); err != nil || len(list) != 1 {
		t.Error("a server that was killed is still listed:", list, err)
	}
	first.kill()
	const warning = "another server runs on this data folder"
	if !strings.Contains(second.log.String(), warning) || strings.Contains(first.log.String(), warning) {
		t.Errorf("first\n%s\nsecond\n%s", first.log.String(), second.log.String())
	}
}

// TestCompletion loads the script of each shell into that shell and asks for what fits.
func TestCompletion(t *testing.T) {
	folder := t.TempDir()
	program := binary(t, "")
	if err := os.Symlink(program, filepath.Join(folder, "vigia")); err != nil {
		t.Fatal(err)
	}
	for _, shell := range []struct{ name, ask string }{
		{"bash", `source "$1"; COMP_WORDS=(vigia partner cr); COMP_CWORD=2; _vigia; printf '%s\n' "${COMPREPLY[@]}"`},
		{"zsh", `compdef() { :; }; _describe() { print -l -- ${(P)2}; }; source "$1"; words=(vigia partner cr); CURRENT=3; _vigia`},
		{"fish", `source $argv[1]; complete -C 'vigia partner cr'`},
	} {
		code, script, errs := vigia(t, "completion", shell.name)
		if code != exitOK {
			t.Fatal(errs)
		}
		file := filepath.Join(folder, shell.name)
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"-c", shell.ask, shell.name, file}
		if shell.name == "fish" {
			args = []string{"-c", shell.ask, file}
		}
		ask := exec.CommandContext(t.Context(), shell.name, args...)
		ask.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "HOME="+folder)
		got, err := ask.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(got), "create") {
			t.Errorf("%s: %v %s", shell.name, err, got)
		}
	}
	for words, want := range map[string]string{
		"key roll --":                   "--overlap",
		"completion ":                   "zsh",
		"passwords import --algorithm ": "ntlm",
		"br":                            "breach",
	} {
		var out bytes.Buffer
		args := append([]string{completeWord}, strings.Split(words, " ")...)
		if code := runCommand(t.Context(), args, &out, &out); code != exitOK || !strings.Contains(out.String(), want) {
			t.Errorf("%q: %d %s", words, code, out.String())
		}
	}
}

// TestManualPage: the page has every command and flag, and a formatter finds nothing wrong with it.
func TestManualPage(t *testing.T) {
	gatetest.Needs(t, gatetest.Programs)
	code, page, errs := vigia(t, "man")
	if code != exitOK {
		t.Fatal(errs)
	}
	format := exec.CommandContext(t.Context(), "groff", "-man", "-Tutf8", "-ww", "-K", "utf8")
	format.Stdin = strings.NewReader(page)
	var text, complaints bytes.Buffer
	format.Stdout, format.Stderr = &text, &complaints
	if err := format.Run(); err != nil || complaints.Len() > 0 {
		t.Error(err, complaints.String())
	}
	for _, n := range leaves(t) {
		if name := strings.ReplaceAll(n.Path(), "-", `\-`); !strings.Contains(page, ".SS "+name) {
			t.Errorf("%s is not in the manual", n.Path())
		}
	}
}
