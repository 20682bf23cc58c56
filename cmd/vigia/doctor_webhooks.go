package main

import "net/netip"

// webhooks looks at the ranges that were opened for outgoing calls.
func (p *checkup) webhooks() {
	const area = "webhooks"
	ranges, err := p.serve.OutgoingSettings().AllowedRanges()
	if err != nil {
		return // said under configuration
	}
	if len(ranges) == 0 {
		p.reportOK(area, "public addresses only")
		return
	}
	metadata := netip.MustParseAddr("169.254.169.254")
	for _, r := range ranges {
		switch {
		case r.Contains(metadata):
			p.reportProblem(
				area,
				r.String()+" opens the cloud's metadata service, which hands out credentials",
				"name the receivers' own networks",
			)
		case r.Bits() == 0 || r.Addr().Is4() && r.Bits() < 8 || r.Addr().Is6() && r.Bits() < 16:
			p.reportWarning(area, r.String()+" opens almost everything", "name the receivers' own networks")
		case r.Addr().IsLoopback():
			p.reportWarning(
				area,
				r.String()+" lets partners' addresses reach services of this machine",
				"for tests only",
			)
		default:
			p.reportOK(area, "%s may be reached", r)
		}
	}
}
