package webhook

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

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

// Guard decides which addresses may be dialled. One guard serves webhooks, feeds and their tests. It denies by default:
// only public addresses on listed ports pass, and whatever the operator opened. Set its fields before the first use;
// afterwards it is safe for many goroutines.
type Guard struct {
	// Ports may be dialled on public addresses. NewGuard sets 443 alone. In the ranges that the operator opened every
	// port may be dialled.
	Ports []uint16
	// Resolver answers names; nil means the resolver of the system.
	Resolver *net.Resolver

	allow []netip.Prefix
}

// NewGuard makes a guard that also lets the ranges of allow pass, at any port and without TLS. What allow names wins
// over every denied range, so 0.0.0.0/0 would open all.
func NewGuard(allow []netip.Prefix) *Guard {
	opened := make([]netip.Prefix, 0, len(allow))
	for _, p := range allow {
		opened = append(opened, p.Masked())
	}
	return &Guard{Ports: []uint16{443}, allow: opened}
}

// DialContext connects to address if the guard accepts what it resolves to. It serves protocols that are secured on
// top; the client of Guard.NewClient uses a stricter one for plain HTTP.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return g.guardedDialer(secured, 0).DialContext(ctx, network, address)
}

// channel says whether what is sent is encrypted. Unencrypted traffic may go to opened ranges only.
type channel bool

const (
	secured channel = true
	plain   channel = false
)

// guardedDialer checks in ControlContext, that is after resolving and for each address tried: there is no moment
// between check and use in which a name could change its mind.
func (g *Guard) guardedDialer(ch channel, timeout time.Duration) *net.Dialer {
	return &net.Dialer{
		Timeout:  timeout,
		Resolver: g.Resolver,
		ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
			if network != "tcp4" && network != "tcp6" {
				return ErrAddress.Because(fmt.Errorf("network %s", network))
			}
			target, err := netip.ParseAddrPort(address)
			if err != nil {
				return ErrAddress.Because(err)
			}
			return g.permitAddress(target, ch)
		},
	}
}

// permitAddress returns an error for an address that may not be dialled. Saving a URL and dialling both call it.
func (g *Guard) permitAddress(target netip.AddrPort, ch channel) error {
	addr := target.Addr().Unmap()
	if containsAddress(g.allow, addr) {
		return nil
	}
	switch {
	case !isPublicAddress(addr):
		return ErrAddress.Because(fmt.Errorf("%s is not a public address", addr))
	case ch == plain:
		return ErrAddress.Because(fmt.Errorf("%s is public and the URL is not https", addr))
	case !slices.Contains(g.Ports, target.Port()):
		return ErrAddress.Because(fmt.Errorf("port %d is not open to public addresses", target.Port()))
	}
	return nil
}

// internet is the library's reading of IANA's registries of special addresses, which it follows, and what hides behind
// public-looking ones: the host service of Azure, and the former 6bone.
var internet = ssrf.New(
	ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32")),
	ssrf.WithDeniedV6Prefixes(netip.MustParsePrefix("3ffe::/16")),
)

// containsAddress reports whether a range of the list holds the address.
func containsAddress(list []netip.Prefix, addr netip.Addr) bool {
	for _, p := range list {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// isPublicAddress reports whether addr, already unmapped, is an ordinary address of the internet. An address with a
// zone is in no prefix, hence never public.
func isPublicAddress(addr netip.Addr) bool {
	return addr.IsValid() && internet.SafeAddr(addr) == nil && !isISATAPAddress(addr)
}

// isISATAPAddress reports whether addr carries an IPv4 address for an ISATAP tunnel in its lower half; any prefix may.
func isISATAPAddress(addr netip.Addr) bool {
	b := addr.As16()
	return addr.Is6() && b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}
