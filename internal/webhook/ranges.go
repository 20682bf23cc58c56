package webhook

import (
	"net/netip"

	"code.dny.dev/ssrf"
)

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
