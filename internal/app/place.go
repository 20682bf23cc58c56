package app

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

// Place names this machine and data folder for people.
func (a *App) Place() string {
	host, folder := a.findPlace()
	return host + ":" + folder
}

// leaseHolder names this machine and data folder as a holder of leases: only one process can be at an import there, so
// what a killed one left can be taken up at once.
func (a *App) leaseHolder() string {
	host, folder := a.findPlace()
	sum := sha256.Sum256([]byte(host + "\x00" + folder))
	return fmt.Sprintf("at_%x", sum[:12])
}

// findPlace returns this machine and the whole path of the data folder, as far as the system tells them.
func (a *App) findPlace() (host, folder string) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	folder, err = filepath.Abs(a.Config.Data)
	if err != nil {
		folder = a.Config.Data
	}
	return host, folder
}
