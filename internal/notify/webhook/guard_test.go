package webhook

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"code.dny.dev/ssrf"
)

// What is not the public internet, written down by hand from IANA's registries: a second opinion on the library's list.
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

func permitted(g *Guard, addr netip.Addr, port uint16, ch channel) bool {
	return g.permitAddress(netip.AddrPortFrom(addr, port), ch) == nil
}

// TestRanges looks at both ends of every denied range and at the addresses just outside.
func TestRanges(t *testing.T) {
	g := NewGuard(nil)
	for _, p := range append(append([]netip.Prefix{}, deniedV4...), deniedV6...) {
		for _, addr := range []netip.Addr{p.Masked().Addr(), lastOf(p)} {
			if permitted(g, addr, 443, secured) {
				t.Errorf("%s of %s passes", addr, p)
			}
		}
	}
	for _, text := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
		"168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
		"191.255.255.255", "192.0.1.0", "192.0.3.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
		"223.255.255.255", "2000::", "2001:200::1", "2606:4700::1111", "2a00:1450::1", "2003::1", "3ffd::1", "3fff:1000::1",
	} {
		if !permitted(g, netip.MustParseAddr(text), 443, secured) {
			t.Errorf("public %s is refused", text)
		}
	}
	for _, text := range []string{
		"::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1",
		"64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::7f00:1", "100::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1",
		"fe80::1%lo", "2606:4700::1111%lo", "fec0::1", "ff02::1", "4000::1", "2001::7f00:1", "2001:2::1", "2001:10::1", "2002:7f00:1::",
		"2a00:1450::5efe:7f00:1", "2a00:1450::200:5efe:a00:1",
	} {
		if permitted(g, netip.MustParseAddr(text), 443, secured) {
			t.Errorf("%s passes", text)
		}
	}
	if !permitted(g, netip.MustParseAddr("::ffff:8.8.8.8"), 443, secured) {
		t.Error("a mapped public address is refused")
	}
	if permitted(g, netip.Addr{}, 443, secured) {
		t.Error("no address at all passes")
	}
}

func lastOf(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	addr, _ := netip.AddrFromSlice(b)
	return addr
}

// TestSecondOpinion compares with the list above: what one refuses the other does too. Half of the addresses lie near a
// range of either.
func TestSecondOpinion(t *testing.T) {
	g, global := NewGuard(nil), netip.MustParsePrefix("2000::/3")
	random := rand.New(rand.NewPCG(3, 4))
	near := slices.Concat(ssrf.IPv4DeniedPrefixes, ssrf.IPv6DeniedPrefixes, deniedV4, deniedV6)
	refused := 0
	for range 200_000 {
		addr := randomAddr(random, near)
		plain := addr.Unmap()
		want := plain.Is4() && !containsAddress(deniedV4, plain) ||
			global.Contains(plain) && !containsAddress(deniedV6, plain) && !isISATAPAddress(plain)
		if got := permitted(g, addr, 443, secured); got != want {
			t.Fatalf("%s passes: %v", addr, got)
		}
		if !want {
			refused++
		}
	}
	if refused < 50_000 || refused > 190_000 {
		t.Errorf("%d of 200000 refused", refused)
	}
}

func randomAddr(random *rand.Rand, near []netip.Prefix) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], random.Uint64())
	binary.BigEndian.PutUint64(b[8:], random.Uint64())
	p := near[random.IntN(len(near))]
	if random.IntN(2) == 0 {
		// The prefix with its last bit perhaps flipped: inside, or the neighbour.
		base := p.Masked().Addr().AsSlice()
		for i := range p.Bits() {
			mask := byte(0x80 >> (i % 8))
			b[i/8] = b[i/8]&^mask | base[i/8]&mask
		}
		b[(p.Bits()-1)/8] ^= byte(random.IntN(2)) * byte(0x80>>((p.Bits()-1)%8))
	} else if random.IntN(2) == 0 {
		b[0] = 0x20 | b[0]&0x1f
	}
	if p.Addr().Is4() {
		return netip.AddrFrom4([4]byte(b[:4]))
	}
	return netip.AddrFrom16(b)
}

func TestAllowedRanges(t *testing.T) {
	g := NewGuard([]netip.Prefix{netip.MustParsePrefix("10.1.2.3/16"), netip.MustParsePrefix("fd00::/8")})
	for text, want := range map[string]bool{
		"10.1.0.0": true, "10.1.255.255": true, "::ffff:10.1.9.9": true, "fd12::1": true,
		"10.2.0.0": false, "10.0.255.255": false, "127.0.0.1": false, "fc00::1": false, "64:ff9b::a01:203": false, "2002:a01:203::": false,
	} {
		for _, port := range []uint16{1, 22, 80, 443, 65535} {
			for _, ch := range []channel{secured, plain} {
				if got := permitted(g, netip.MustParseAddr(text), port, ch); got != want {
					t.Errorf("%s port %d %v: %v", text, port, ch, got)
				}
			}
		}
	}
}

func TestPorts(t *testing.T) {
	g := NewGuard(nil)
	public := netip.MustParseAddr("93.184.216.34")
	for port := range 65536 {
		if got := permitted(g, public, uint16(port), secured); got != (port == 443) {
			t.Fatalf("port %d: %v", port, got)
		}
	}
	if err := g.permitAddress(netip.AddrPortFrom(public, 443), plain); !errors.Is(err, ErrAddress) {
		t.Errorf("plain HTTP to a public address: %v", err)
	}
	g.Ports = append(g.Ports, 8443)
	if !permitted(g, public, 8443, secured) || permitted(g, public, 8444, secured) {
		t.Error("the operator's list of ports is not kept to")
	}
}
