package partner

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestRate: what a partner may ask a second, and at once, where the operator has said nothing.
func TestRate(t *testing.T) {
	for _, c := range []struct{ rate, burst, perSecond, atOnce int }{
		{0, 0, DefaultRatePerSecond, DefaultBurst}, {10, 0, 10, 20}, {0, 7, DefaultRatePerSecond, 7}, {10, 7, 10, 7},
	} {
		if perSecond, atOnce := (Settings{RatePerSecond: c.rate, Burst: c.burst}).RateLimit(); perSecond != c.perSecond ||
			atOnce != c.atOnce {
			t.Errorf("%+v: %d a second, %d at once", c, perSecond, atOnce)
		}
	}
}

// hosts are n hosts that differ.
func hosts(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("a%d.example", i)
	}
	return strings.Join(list, " ")
}

// longHost is a host of n characters, more than 200.
func longHost(n int) string {
	label := strings.Repeat("a", 63) + "."
	rest := n - 3*len(label)
	return strings.Repeat(label, 3) + strings.Repeat("a", rest-3) + ".br"
}

// TestSettings: what an operator may set, to the last that is allowed.
func TestSettings(t *testing.T) {
	for name, c := range map[string]struct {
		s  Settings
		ok bool
	}{
		"all defaults":      {Settings{}, true},
		"the highest rate":  {Settings{RatePerSecond: 1_000_000}, true},
		"too high a rate":   {Settings{RatePerSecond: 1_000_001}, false},
		"a negative rate":   {Settings{RatePerSecond: -1}, false},
		"the highest burst": {Settings{Burst: 1_000_000}, true},
		"too high a burst":  {Settings{Burst: 1_000_001}, false},
		"a negative burst":  {Settings{Burst: -1}, false},
		"the longest plan":  {Settings{DefaultPlan: strings.Repeat("p", 255)}, true},
		"too long a plan":   {Settings{DefaultPlan: strings.Repeat("p", 256)}, false},
		"50 sites":          {Settings{Sites: hosts(50)}, true},
		"51 sites":          {Settings{Sites: hosts(51)}, false},
		"the longest host":  {Settings{Sites: longHost(253)}, true},
		"too long a host":   {Settings{Sites: longHost(254)}, false},
		"a host with port":  {Settings{Sites: "a.example:443"}, false},
	} {
		if err := c.s.checkSettings(); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCallerAllows: who showed no key may nothing.
func TestCallerAllows(t *testing.T) {
	if (Caller{}).HasScope(ScopeCyberRead) {
		t.Error("a caller without a key may read")
	}
	c := Caller{key: &Key{Scopes: []Scope{ScopeCyber}}}
	if !c.HasScope(ScopeCyberRead) || c.HasScope(ScopeSubscriptions) {
		t.Error("a caller may other things than the key that was shown")
	}
}
