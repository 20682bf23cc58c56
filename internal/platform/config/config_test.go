package config_test

import (
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

var update = flag.Bool("update", false, "write docs/configuration.md anew")

func TestManual(t *testing.T) {
	const path = "../../../docs/configuration.md"
	if *update {
		if err := os.WriteFile(path, []byte(configurationPage()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != configurationPage() {
		t.Errorf("docs/configuration.md is stale (%v): run go generate ./internal/platform/config", err)
	}
}

func good() (config.Common, config.Serve) {
	return config.Common{Data: "data"}, config.Serve{
		Listen: "127.0.0.1:8080", ConsoleListen: "127.0.0.1:8081", Roles: []string{"api"}, MaxConnections: 8,
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	c, s := good()
	if err := s.CheckServe(c); err != nil {
		t.Fatal(err)
	}
	c.Data, c.Database = "", "mysql://x"
	s = config.Serve{
		Listen: "nowhere", ConsoleListen: "nowhere", Roles: []string{"api", "janitor"}, TLSCert: "/does/not/exist",
		WebhookAllow: []string{"10.0.0.0/33"}, StopTime: -1, MaxConnections: 1,
	}
	err := s.CheckServe(c)
	var problems config.Problems
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	for _, name := range []string{
		"--data", "--database", "--listen", "--console-listen", "--roles", "--tls-cert and --tls-key", "--webhook-allow",
		"--tls-cert: /does/not/exist cannot be read: no such file",
		"--stop-time", "--max-connections",
	} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named in:\n%v", name, err)
		}
	}
	if strings.Contains(err.Error(), "mysql://x") {
		t.Error("a database address can hold a password and must not be repeated")
	}
}

// TestSecurityContact: a contact that nobody could follow, or that would add lines to security.txt, is refused.
func TestSecurityContact(t *testing.T) {
	for contact, fits := range map[string]bool{
		"":                                true,
		"mailto:seguranca@exemplo.com.br": true,
		"https://exemplo.com.br/falhas":   true,
		"seguranca@exemplo.com.br":        false,
		"http://exemplo.com.br/falhas":    false,
		"mailto:seguranca":                false,
		"https://exemplo.com.br/\nPolicy: https://outro.example": false,
	} {
		c, s := good()
		s.SecurityContact = contact
		if err := s.CheckServe(c); (err == nil) != fits {
			t.Errorf("%q: %v", contact, err)
		}
	}
}

func TestListenersDiffer(t *testing.T) {
	c, s := good()
	s.ConsoleListen = s.Listen
	if s.CheckServe(c) == nil {
		t.Error("the console may not share the partners' address")
	}
	s.Listen, s.ConsoleListen = "127.0.0.1:0", "127.0.0.1:0"
	if err := s.CheckServe(c); err != nil {
		t.Error("two free ports differ:", err)
	}
}

// TestNamedSecretsAreRead checks that the _FILE variant of each secret variable is read, those of commands included.
func TestNamedSecretsAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("of the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"VIGIA_DATABASE",
		"VIGIA_DATABASE_READ",
		"VIGIA_METRICS_TOKEN",
		"VIGIA_API_KEY",
		"VIGIA_EPP_CALLBACK_SECRET",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "")
			t.Setenv(name+"_FILE", path)
			if err := config.LoadSecretFiles(); err != nil || os.Getenv(name) != "of the file" {
				t.Error(os.Getenv(name), err)
			}
		})
	}
}

func TestSecretFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	if err := os.WriteFile(path, []byte("postgres://u:p@h/d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VIGIA_DATABASE", "")
	t.Setenv("VIGIA_DATABASE_FILE", path)
	if err := config.LoadSecretFiles(); err != nil || os.Getenv("VIGIA_DATABASE") != "postgres://u:p@h/d" {
		t.Error(os.Getenv("VIGIA_DATABASE"), err)
	}
	if err := config.LoadSecretFiles(); err == nil {
		t.Error("both forms at once must be refused")
	}
	t.Setenv("VIGIA_DATABASE", "")
	t.Setenv("VIGIA_DATABASE_FILE", path+".missing")
	if err := config.LoadSecretFiles(); err == nil {
		t.Error("a missing file must be refused")
	}
}

// TestSettingsFile: a command takes the service's settings, but what was said in its environment counts more.
func TestSettingsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "environment")
	text := "# of the " +
		"service\nVIGIA_DATA=/var/lib/vigia\n\nVIGIA_ROLES=\"api,worker\"\nVIGIA_LISTEN=:1\nPATH=/nowhere\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"VIGIA_SETTINGS_FILE": path, "VIGIA_DATA": "", "VIGIA_ROLES": "", "VIGIA_LISTEN": ":2"} {
		t.Setenv(name, value)
	}
	before := os.Getenv("PATH")
	if err := config.LoadSettingsFile(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"VIGIA_DATA": "/var/lib/vigia", "VIGIA_ROLES": "api,worker", "VIGIA_LISTEN": ":2", "PATH": before,
	} {
		difftest.Check(t, name, os.Getenv(name), want)
	}
	if err := os.WriteFile(path, []byte("VIGIA_DATA\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := config.LoadSettingsFile(); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Error(err)
	}
}

func TestLevel(t *testing.T) {
	if (config.Serve{LogLevel: "warn"}).SlogLevel() != slog.LevelWarn ||
		(config.Serve{LogLevel: "?"}).SlogLevel() != slog.LevelInfo {
		t.Error("levels")
	}
}
