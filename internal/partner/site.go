package partner

import (
	"regexp"
	"slices"
	"strings"
)

// mostSites bounds the hosts of one partner.
const mostSites = 50

// ListSites returns the hosts one by one.
func (s Settings) ListSites() []string { return strings.Fields(s.Sites) }

// WatchedList returns the watched hosts one by one.
func (s Settings) WatchedList() []string { return strings.Fields(s.WatchedSites) }

// JoinSiteList returns what Settings keep of hosts as people write them.
func JoinSiteList(hosts []string) string {
	list := make([]string, 0, len(hosts))
	for _, h := range hosts {
		list = append(list, strings.Fields(strings.ToLower(h))...)
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

// hostName is a domain of at least two labels, in lower case; international ones in their ASCII form.
var hostName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
