package webhook

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

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
