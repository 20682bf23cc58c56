package webhook

import "net/netip"

// deniedV4 is what is not the public internet in IPv4: the special-purpose registry of IANA, multicast, and the one
// cloud service that hides behind a public-looking address.
var deniedV4 = prefixes(
	"0.0.0.0/8",          // this network; 0.0.0.0 connects to this very machine
	"10.0.0.0/8",         // private
	"100.64.0.0/10",      // carrier-grade NAT; holds the metadata service of Alibaba Cloud
	"127.0.0.0/8",        // loopback
	"168.63.129.16/32",   // host service of Azure
	"169.254.0.0/16",     // link-local; holds most metadata services
	"172.16.0.0/12",      // private
	"192.0.0.0/24",       // protocol assignments; holds the metadata service of Oracle Cloud
	"192.0.2.0/24",       // documentation 1
	"192.31.196.0/24",    // AS112
	"192.52.193.0/24",    // multicast tunnels (AMT)
	"192.88.99.0/24",     // 6to4 relays
	"192.168.0.0/16",     // private
	"192.175.48.0/24",    // AS112
	"198.18.0.0/15",      // benchmarking
	"198.51.100.0/24",    // documentation 2
	"203.0.113.0/24",     // documentation 3
	"224.0.0.0/4",        // multicast
	"240.0.0.0/4",        // reserved
	"255.255.255.255/32", // broadcast, inside the reserved block, named for the reader
)

// globalV6 is the only part of IPv6 given out for the internet. All the rest is refused by not being in it: loopback,
// unspecified, mapped and compatible IPv4, NAT64 (both prefixes), discard, segment routing, unique local (with the
// metadata service of AWS), link-local, site-local, multicast.
var globalV6 = netip.MustParsePrefix("2000::/3")

// deniedV6 is what is special within globalV6.
var deniedV6 = prefixes(
	"2001::/23",         // protocol assignments: Teredo, benchmarking, ORCHID
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4: carries any IPv4 address
	"2620:4f:8000::/48", // AS112
	"3ffe::/16",         // the former 6bone
	"3fff::/20",         // documentation
)

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		list[i] = netip.MustParsePrefix(t)
	}
	return list
}

func within(list []netip.Prefix, addr netip.Addr) bool {
	for _, p := range list {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// public tells whether addr, already unmapped, is an ordinary address of the internet. An address with a zone is in no
// prefix, hence never public.
func public(addr netip.Addr) bool {
	if addr.Is4() {
		return !within(deniedV4, addr)
	}
	return globalV6.Contains(addr) && !within(deniedV6, addr) && !isatap(addr)
}

// isatap tells whether addr carries an IPv4 address for an ISATAP tunnel in its lower half; any prefix may.
func isatap(addr netip.Addr) bool {
	b := addr.As16()
	return b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}
