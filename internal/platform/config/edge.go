package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Bounds of the settings at the edge of the service.
const (
	leastToken     = 16
	mostStrangers  = 1_000_000
	mostUploadMiB  = 1 << 20
	usualUploadMiB = 4096
)

// edgeProblems checks the settings at the network edge: proxies, public addresses, the metrics token, the rate limit of
// unauthenticated callers and the limit of uploads.
func (s Serve) edgeProblems() Problems {
	var p Problems
	if _, err := s.ParseProxies(); err != nil {
		p = append(p, err.Error())
	}
	if _, err := s.ParsePublicURL(); err != nil {
		p = append(p, err.Error())
	}
	if _, err := s.ParsePageURL(); err != nil && s.PageURL != "" {
		p = append(p, err.Error())
	}
	p.addProblemIf(
		s.SecurityContact != "" && !isContact(s.SecurityContact),
		"--security-contact: expected mailto:NAME@HOST or an https address",
	)
	p.addProblemIf(
		s.MetricsToken != "" && len(s.MetricsToken) < leastToken,
		fmt.Sprintf("--metrics-token: at least %d characters", leastToken),
	)
	p.addProblemIf(
		s.StrangerRate < 0 || s.StrangerRate > mostStrangers,
		fmt.Sprintf("--stranger-rate: 0 (no limit) to %d", mostStrangers),
	)
	p.addProblemIf(
		s.UploadLimit < 0 || s.UploadLimit > mostUploadMiB,
		fmt.Sprintf("--upload-limit: 0 (%d) to %d MiB", usualUploadMiB, mostUploadMiB),
	)
	return p
}

// isContact reports whether a text is one line that security.txt takes as a contact.
func isContact(text string) bool {
	u, err := url.Parse(text) // which refuses control characters
	if err != nil || strings.Contains(text, " ") {
		return false
	}
	return u.Scheme == "https" && u.Host != "" || u.Scheme == "mailto" && strings.Contains(u.Opaque, "@")
}

// ParseProxies parses --trusted-proxies.
func (s Serve) ParseProxies() ([]netip.Prefix, error) {
	return parseRanges("--trusted-proxies", s.TrustedProxies)
}

// parseRanges reads ranges of addresses that a flag names.
func parseRanges(flag string, texts []string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, text := range texts {
		p, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %q is no address range such as 10.1.0.0/16", flag, text)
		}
		list = append(list, p.Masked())
	}
	return list, nil
}

// ParsePublicURL parses --public-url; the zero URL means that nothing was said.
func (s Serve) ParsePublicURL() (url.URL, error) { return parseOrigin("--public-url", s.PublicURL) }

// ParsePageURL parses --page-url, in the same way; without it --public-url counts.
func (s Serve) ParsePageURL() (url.URL, error) {
	if s.PageURL == "" {
		return s.ParsePublicURL()
	}
	return parseOrigin("--page-url", s.PageURL)
}

// parseOrigin reads an address without a path that a flag names.
func parseOrigin(flag, text string) (url.URL, error) {
	if text == "" {
		return url.URL{}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" ||
		u.Scheme != "https" && u.Scheme != "http" {
		return url.URL{}, errors.New(flag + ": expected https://host or https://host:port, and nothing behind it")
	}
	return url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

// UploadBytes returns --upload-limit in bytes.
func (s Serve) UploadBytes() int64 {
	return int64(cmp.Or(s.UploadLimit, usualUploadMiB)) << 20
}
