package webhook

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// maxURL bounds an endpoint's URL in bytes.
const maxURL = 2048

// target is an endpoint URL taken apart: every part has one possible meaning.
type target struct {
	host string // a name, or the text of literal
	port uint16
	// literal is valid when the host is an IP address in its normal notation.
	literal netip.Addr
	channel channel
}

// CheckTargetURL is called when an endpoint is saved: the URL must be well formed and every address its host has now
// must be allowed. It gives early feedback only; the check that counts is made again on the address really dialled, at
// each attempt.
func (g *Guard) CheckTargetURL(ctx context.Context, raw string) error {
	t, err := parseTarget(raw)
	if err != nil {
		return err
	}
	refused := ErrAddress.With("url", fault.HostResolves)
	addrs := []netip.Addr{t.literal}
	if !t.literal.IsValid() {
		if addrs, err = g.Resolver.LookupNetIP(ctx, "ip", t.host); err != nil {
			return refused.Because(err)
		}
	}
	if len(addrs) == 0 {
		return refused.Because(fmt.Errorf("the name has no address"))
	}
	for _, addr := range addrs {
		if err := g.permitAddress(netip.AddrPortFrom(addr, t.port), t.channel); err != nil {
			return refused.Because(err)
		}
	}
	return nil
}

// parseTarget checks the shape of a URL. It accepts less than the standards do: whatever two programs could read in two
// ways (user info, escapes in the host, numbers as hosts, letters beyond ASCII) is refused.
func parseTarget(raw string) (target, error) {
	if len(raw) > maxURL {
		return target{}, ErrURL.With("url", fault.BytesAtMost, maxURL)
	}
	for i := range len(raw) {
		if c := raw[i]; c <= ' ' || c > '~' || c == '\\' {
			return target{}, ErrURL.With("url", fault.PrintableASCII)
		}
	}
	u, err := url.Parse(raw)
	if err != nil {
		return target{}, ErrURL.With("url", fault.NotAURL).Because(err)
	}
	return parseTargetURL(u, strings.Contains(raw, "#"))
}

// parseTargetURL returns where a URL leads, or why it may not be called.
func parseTargetURL(u *url.URL, fragment bool) (target, error) {
	t := target{channel: u.Scheme == "https"}
	if u.Scheme != "https" && u.Scheme != "http" {
		return target{}, ErrURL.With("url", fault.SchemeHTTPS)
	}
	if u.User != nil {
		return target{}, ErrURL.With("url", fault.NoUserInURL)
	}
	if fragment || u.Fragment != "" {
		return target{}, ErrURL.With("url", fault.NoFragment)
	}
	if u.Opaque != "" || u.Host == "" {
		return target{}, ErrURL.With("url", fault.HostRequired)
	}
	if err := t.parsePort(u); err != nil {
		return target{}, err
	}
	if err := t.parseHost(u); err != nil {
		return target{}, err
	}
	return t, nil
}

// parsePort sets the port that a URL names or its scheme implies.
func (t *target) parsePort(u *url.URL) error {
	t.port = 80
	if t.channel == secured {
		t.port = 443
	}
	text := u.Port()
	if text == "" {
		if strings.HasSuffix(u.Host, ":") {
			return ErrURL.With("url", fault.PortEmpty)
		}
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != text {
		return ErrURL.With("url", fault.PortRange)
	}
	t.port = uint16(n)
	return nil
}

// parseHost sets the host that a URL names.
func (t *target) parseHost(u *url.URL) error {
	t.host = u.Hostname()
	if addr, err := netip.ParseAddr(t.host); err == nil {
		if addr.Zone() != "" {
			return ErrURL.With("url", fault.NoZone)
		}
		t.literal = addr
		return nil
	}
	if !isValidDNSName(t.host) {
		return ErrURL.With("url", fault.HostForm)
	}
	return nil
}

// isValidDNSName takes DNS names only. A last label that begins with a digit is refused: no top-level domain does, and
// old resolvers read such hosts (2130706433, 0x7f.1, 0177.0.0.1) as IPv4 addresses.
func isValidDNSName(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	for _, label := range labels {
		if !validLabel(label) {
			return false
		}
	}
	last := labels[len(labels)-1]
	return last[0] < '0' || last[0] > '9'
}

// validLabel reports whether a label of a host name is one that DNS can hold; the underscore is tolerated.
func validLabel(label string) bool {
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for i := range len(label) {
		c := label[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}
