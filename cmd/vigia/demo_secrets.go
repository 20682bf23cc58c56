package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// demoSecrets is kept beside the demo's database, because the service itself keeps no key or password it could print
// again.
type demoSecrets struct {
	Sandbox demoTenant `json:"sandbox"`
	Live    demoTenant `json:"live"`
	// ConsolePassword is the administrator's as long as the database has ConsoleHash of it: people may choose another.
	ConsolePassword string `json:"console_password"`
	ConsoleHash     string `json:"console_hash"`
	// Past says that the made-up past was begun: it is made once.
	Past bool `json:"past"`
}

// demoTenant is what is known of one partner: its key, its salt, and its endpoints by their path at the receiver.
type demoTenant struct {
	PartnerID string              `json:"partner_id"`
	APIKey    string              `json:"api_key"`
	Salt      string              `json:"salt"`
	Endpoints map[string]demoHook `json:"endpoints"`
}

// demoHook is a webhook of the demo as it is kept for the next start.
type demoHook struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

// demoFile holds the demo's keys and passwords in its data folder, so that a second start shows the same ones.
const demoFile = "demo.json"

// readSecrets returns what an earlier demo kept; empty when there was none.
func readSecrets(data string) (demoSecrets, error) {
	var s demoSecrets
	raw, err := os.ReadFile(filepath.Join(data, demoFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read %s: %w", demoFile, err)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("read %s: %w", demoFile, err)
	}
	return s, nil
}

// writeSecrets keeps the demo's secrets in its data folder.
func (s demoSecrets) writeSecrets(data string) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(data, demoFile), append(raw, '\n'), 0o600)
}
