package telemetry

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Shown is how much of an address stands in logs.
type Shown string

// The ways.
const (
	Whole   Shown = "full"
	Network Shown = "network" // the first 24 bits, or 48 of IPv6
	Nothing Shown = "none"
)

// Callers reads addresses. The zero value, and nil, believe no header and show addresses whole.
type Callers struct {
	// Proxies are the ranges whose X-Forwarded-For is believed.
	Proxies []netip.Prefix
	Shown   Shown
}

// CallerAddress returns the address that a request came from: the other side of the connection, or what the nearest
// trusted proxies say. It is the text of an address, or of whatever the connection has in its place.
func (c *Callers) CallerAddress(r *http.Request) string {
	peer := withoutPort(r.RemoteAddr)
	if c == nil || len(c.Proxies) == 0 {
		return peer
	}
	at, err := netip.ParseAddr(peer)
	if err != nil || !c.isTrusted(at) {
		return peer
	}
	// Every proxy appends who it was asked by, so the list is read from its end up to the first that is not ours.
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		if at = hop.Unmap(); !c.isTrusted(at) {
			break
		}
	}
	return at.String()
}

// ListenerURL returns the address at which the connection of a request came in, as the beginning of links, and whether
// only this machine can reach it.
func ListenerURL(r *http.Request) (at url.URL, local bool) {
	at.Scheme = "http"
	if r.TLS != nil {
		at.Scheme = "https"
	}
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		at.Host = addr.String()
		own, err := netip.ParseAddrPort(at.Host)
		local = err == nil && own.Addr().Unmap().IsLoopback()
	}
	return at, local
}

// isTrusted reports whether an address is that of a trusted proxy.
func (c *Callers) isTrusted(a netip.Addr) bool {
	return slices.ContainsFunc(c.Proxies, func(p netip.Prefix) bool { return p.Contains(a.Unmap().WithZone("")) })
}

// withoutPort cuts the port off; it allocates nothing, since every request of a partner passes here.
func withoutPort(remote string) string {
	i := strings.LastIndexByte(remote, ':')
	if i < 0 {
		return remote
	}
	return strings.Trim(remote[:i], "[]")
}

// AddressForLog returns the address as logs show it; empty when they show none.
func (c *Callers) AddressForLog(address string) string {
	switch {
	case c == nil || c.Shown == Whole || c.Shown == "":
		return address
	case c.Shown == Nothing:
		return ""
	}
	return cutToNetwork(address, 24, 48)
}

// cutToNetwork returns the network of an address, v4 or v6 bits long; "?" for text that is no address.
func cutToNetwork(address string, v4, v6 int) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return "?"
	}
	bits := v6
	if a = a.Unmap().WithZone(""); a.Is4() {
		bits = v4
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return "?"
	}
	return p.String()
}
