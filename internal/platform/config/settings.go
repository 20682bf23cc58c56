package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// settingsFile is where the packages have the service's settings, as NAME=VALUE lines that systemd reads as well.
const settingsFile = "/etc/vigia/environment"

// LoadSettingsFile sets the VIGIA_ variables of the settings file that are not set yet, so that a command that is run
// as the service's user works on the service's data. A user who may not read the file has settings of their own.
// VIGIA_SETTINGS_FILE names another file.
func LoadSettingsFile() error {
	path := cmp.Or(os.Getenv("VIGIA_SETTINGS_FILE"), settingsFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return nil
	}
	if err != nil {
		return Problems{"VIGIA_SETTINGS_FILE: " + causeText(err)}
	}
	var p Problems
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		switch {
		case line == "" || line[0] == '#' || ok && !strings.HasPrefix(name, "VIGIA_"):
		case !ok:
			p = append(p, fmt.Sprintf("%s: line %d is not NAME=VALUE", path, i+1))
		case os.Getenv(name) == "" && os.Getenv(name+"_FILE") == "":
			if err := os.Setenv(name, strings.Trim(value, `"'`)); err != nil {
				p = append(p, fmt.Sprintf("%s: line %d: %v", path, i+1, err))
			}
		}
	}
	return p.problemsAsError()
}

// SecretVariables may be given as NAME_FILE, the path of a file that holds the value.
var SecretVariables = []string{
	"VIGIA_DATABASE",
	"VIGIA_DATABASE_READ",
	"VIGIA_METRICS_TOKEN",
	"VIGIA_API_KEY",
	"VIGIA_EPP_CALLBACK_SECRET",
}

// LoadSecretFiles sets each secret variable from its _FILE variant. It refuses both at once: the administrator should
// not have to guess which one counts.
func LoadSecretFiles() error {
	var p Problems
	for _, name := range SecretVariables {
		path := os.Getenv(name + "_FILE")
		if path == "" {
			continue
		}
		if os.Getenv(name) != "" {
			p = append(p, name+" and "+name+"_FILE: give one of them")
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			p = append(p, name+"_FILE: "+causeText(err))
			continue
		}
		if err := os.Setenv(name, strings.TrimSpace(string(text))); err != nil {
			p = append(p, name+"_FILE: "+err.Error())
		}
	}
	return p.problemsAsError()
}

// causeText names the file that cannot be read by its whole path, and why.
func causeText(err error) string {
	var cause *os.PathError
	if !errors.As(err, &cause) {
		return err.Error()
	}
	path := cause.Path
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	return path + " cannot be read: " + cause.Err.Error()
}
