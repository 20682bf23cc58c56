package app

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// certificate reads the TLS files again when they change, so that a renewal needs no restart.
type certificate struct {
	certFile, keyFile string
	mu                sync.Mutex
	loaded            *tls.Certificate
	modTime           time.Time
	checked           time.Time
}

// certificateCheck is how often the files of a certificate are looked at for a change.
const certificateCheck = time.Second

// currentCertificate returns the certificate as it is on disk.
func (c *certificate) currentCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded != nil && time.Since(c.checked) < certificateCheck {
		return c.loaded, nil
	}
	c.checked = time.Now()
	info, err := os.Stat(c.certFile)
	if err == nil && c.loaded != nil && info.ModTime().Equal(c.modTime) {
		return c.loaded, nil
	}
	pair, perr := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err = errors.Join(err, perr); err != nil {
		if c.loaded != nil { // a half-written renewal must not take the service down
			return c.loaded, nil
		}
		return nil, fmt.Errorf("TLS certificate: %w", err)
	}
	c.loaded, c.modTime = &pair, info.ModTime()
	return c.loaded, nil
}
