package sqldb

import (
	"crypto/tls"
	"fmt"
	"net/netip"
	"strings"

	"github.com/jackc/pgx/v5"
)

// unverifiedHost returns a host of the address that an attacker on the network could impersonate: it is neither a
// socket nor this machine, and its certificate is not checked. It returns "" when there is none.
func unverifiedHost(cfg *pgx.ConnConfig) string {
	if answersUnchecked(cfg.Host, cfg.TLSConfig) {
		return cfg.Host
	}
	for _, f := range cfg.Fallbacks { // other hosts, and what is tried when the server knows no TLS
		if answersUnchecked(f.Host, f.TLSConfig) {
			return f.Host
		}
	}
	return ""
}

// answersUnchecked reports whether a server at host is neither local nor proved by a certificate that is checked.
func answersUnchecked(host string, secure *tls.Config) bool {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" {
		return false
	}
	if a, err := netip.ParseAddr(host); err == nil && a.Unmap().IsLoopback() {
		return false
	}
	// verify-ca skips the standard library's check, which includes the name, and makes its own of the chain.
	return secure == nil || secure.InsecureSkipVerify && secure.VerifyPeerCertificate == nil
}

// Unverified reports whether a PostgreSQL address is reached without checking who answers.
func Unverified(address string) bool {
	cfg, err := pgx.ParseConfig(address)
	return isPostgres(address) && err == nil && unverifiedHost(cfg) != ""
}

// isPostgres reports whether the address is one of PostgreSQL; everything else is the path of a SQLite file.
func isPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// refuseUnverified keeps the password and the rows from being sent to a server whose identity is not checked.
func refuseUnverified(cfg *pgx.ConnConfig, insecure bool) error {
	if host := unverifiedHost(cfg); host != "" && !insecure {
		return fmt.Errorf(
			"database: the certificate of %+q would not be checked, so that anybody on the way could answer in its "+
				"place. "+
				"Add sslmode=verify-full to the address (and sslrootcert=FILE for a certificate authority of your "+
				"own), or say --database-insecure",
			host,
		)
	}
	return nil
}
