package cyber

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

// cupboard is a store of keys that remembers what it was asked to do.
type cupboard struct {
	DeviceStore
	holding  Holding
	issued   NewKey
	asked    DeviceRequest
	reason   EndReason
	replaced string
	devices  int
	source   string
}

func (c *cupboard) IssueKey(_ context.Context, _ partner.ID, r DeviceRequest, decide func(Holding) (NewKey, error)) (Device, error) {
	next, err := decide(c.holding)
	c.issued, c.asked = next, r
	return Device{ID: next.ID, Key: next.Generated, Name: r.Name, ValidUntil: next.ValidUntil, Plan: next.Plan}, err
}

func (c *cupboard) PartnerDevices(_ context.Context, _ partner.ID, limit int) ([]Device, error) {
	return make([]Device, min(limit, c.devices)), nil
}

func (c *cupboard) EndKey(_ context.Context, key KeyID, reason EndReason) (Device, error) {
	c.reason = reason
	return Device{ID: key}, nil
}

func (c *cupboard) DeviceByKey(_ context.Context, text string) (Device, error) {
	return Device{Key: text}, nil
}

func (c *cupboard) ReplaceDevice(_ context.Context, key KeyID, system System, name string, next NewKey) (Device, error) {
	c.replaced = string(key) + " " + string(system) + " " + name
	return Device{ID: next.ID, Key: next.Generated}, nil
}

func (c *cupboard) SetSource(_ context.Context, system System, _ *bool, _ *int64) error {
	c.source = string(system)
	return nil
}

func newCupboard() (*Endpoints, *cupboard) {
	c := &cupboard{}
	return NewEndpoints(c, func() time.Time { return modelNow }, nil), c
}

// TestIssueKeepsToThePlan: how many devices a person may have, how long a key lasts, and whether it ends with the
// subscription, is the plan's to say.
func TestIssueKeepsToThePlan(t *testing.T) {
	three := plan.Plan{ID: "ouro", MaxDevices: 3, KeysEndWithSubscription: true}
	for name, c := range map[string]struct {
		holding Holding
		want    error
		plan    plan.ID
	}{
		"no plan, no bound":           {Holding{Live: 500}, nil, ""},
		"the last that is allowed":    {Holding{Live: 2, Plan: three, Subscribed: true}, nil, "ouro"},
		"one too many":                {Holding{Live: 3, Plan: three, Subscribed: true}, ErrDeviceLimit, ""},
		"by the partner's default":    {Holding{Live: 2, Plan: three}, nil, ""},
		"a plan that does not end it": {Holding{Plan: plan.Plan{ID: "x"}, Subscribed: true}, nil, ""},
	} {
		rules, s := newCupboard()
		s.holding = c.holding
		d, err := rules.Issue(t.Context(), "p", DeviceRequest{System: IOS, Name: " celular da Ana "})
		if !errors.Is(err, c.want) || s.issued.Plan != c.plan {
			t.Errorf("%s: plan %q, %v", name, s.issued.Plan, err)
		}
		if err == nil && (!d.ValidUntil.Equal(modelNow.Add(c.holding.Plan.KeyValidity())) || d.Key == "" || !strings.HasPrefix(string(d.ID), "ek_") || d.Name != "celular da Ana") {
			t.Errorf("%s: %+v", name, d)
		}
	}
	rules, s := newCupboard()
	for _, bad := range []string{"", "  ", "a\nb", strings.Repeat("x", 101)} {
		if _, err := rules.Issue(t.Context(), "p", DeviceRequest{System: IOS, Name: bad}); !errors.Is(err, ErrDeviceInvalid) || s.asked.System != "" {
			t.Errorf("a device called %q: %v", bad, err)
		}
	}
	dry := NewEndpoints(s, func() time.Time { return modelNow }, strings.NewReader(""))
	if _, err := dry.Issue(t.Context(), "p", DeviceRequest{System: IOS, Name: "x"}); err == nil || s.asked.System != "" {
		t.Error("a key was made without randomness")
	}
}

// TestReplaceAndRevoke: what an operator does about somebody's key.
func TestReplaceAndRevoke(t *testing.T) {
	rules, s := newCupboard()
	if d, err := rules.Replace(t.Context(), "ek_1", Android, " novo "); err != nil || s.replaced != "ek_1 android novo" || d.Key == "" || d.ID == "" {
		t.Errorf("%q %+v %v", s.replaced, d, err)
	}
	s.replaced = ""
	if _, err := rules.Replace(t.Context(), "ek_1", Android, ""); !errors.Is(err, ErrDeviceInvalid) || s.replaced != "" {
		t.Errorf("a device without a name: %v", err)
	}
	dry := NewEndpoints(s, func() time.Time { return modelNow }, strings.NewReader(""))
	if _, err := dry.Replace(t.Context(), "ek_1", Android, "x"); err == nil || s.replaced != "" {
		t.Error("a key was made without randomness")
	}
	if _, err := rules.Revoke(t.Context(), "ek_1"); err != nil || s.reason != EndRevoked {
		t.Errorf("%s: %v", s.reason, err)
	}
	if d, err := rules.Find(t.Context(), " ABC\n"); err != nil || d.Key != "ABC" {
		t.Errorf("%q: %v", d.Key, err)
	}
}

// TestDevicesOfAPartner: at most a thousand are listed, and whoever reads is told that there are more.
func TestDevicesOfAPartner(t *testing.T) {
	for _, c := range []struct {
		have, listed int
		more         bool
	}{{0, 0, false}, {999, 999, false}, {1000, 1000, false}, {1001, 1000, true}} {
		rules, s := newCupboard()
		s.devices = c.have
		if list, more, err := rules.All(t.Context(), "p"); err != nil || len(list) != c.listed || more != c.more {
			t.Errorf("of %d: %d, more %t: %v", c.have, len(list), more, err)
		}
	}
}

// TestSystems: the contract's four words, and which of them are phones.
func TestSystems(t *testing.T) {
	for word, mobile := range map[string]bool{"android": true, "ios": true, "windows": false, "macos": false} {
		if s, err := ParseSystem(word); err != nil || s.Mobile() != mobile {
			t.Errorf("%s: mobile %t, %v", word, s.Mobile(), err)
		}
	}
	for _, bad := range []string{"", "linux", "iOS"} {
		if _, err := ParseSystem(bad); !errors.Is(err, ErrDeviceInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestLowPool: a pool is low when fewer than its mark are left; generated keys never run out.
func TestLowPool(t *testing.T) {
	for _, c := range []struct {
		s    Source
		want bool
	}{
		{Source{Pooled: true, Free: 99, LowMark: 100}, true}, {Source{Pooled: true, Free: 100, LowMark: 100}, false},
		{Source{Free: 0, LowMark: 100}, false}, {Source{Pooled: true}, false},
	} {
		if c.s.Low() != c.want {
			t.Errorf("%+v: low %t", c.s, !c.want)
		}
	}
	mark := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		mark *int64
		ok   bool
	}{{nil, true}, {mark(0), true}, {mark(1_000_000_000), true}, {mark(-1), false}, {mark(1_000_000_001), false}} {
		rules, s := newCupboard()
		if err := rules.SetSource(t.Context(), IOS, nil, c.mark); (err == nil) != c.ok || (s.source == "ios") != c.ok {
			t.Errorf("%v: kept %q, %v", c.mark, s.source, err)
		}
	}
}

// TestSmallReaders: what stands beside a finding, a trace and a recommendation.
func TestSmallReaders(t *testing.T) {
	if !(Trace{}).TakenOn().IsZero() || !(Trace{Day: 1}).TakenOn().Equal(time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)) {
		t.Error("the day on which a credential was taken")
	}
	if id, user := (Found{Asset: Asset{Partner: "p", User: "u"}}).Owner(); id != "p" || user != "u" {
		t.Error(id, user)
	}
	r := Recommendation{asset: &PostureAsset{Kind: identifier.Email, Value: "ana@exemplo.com.br"}}
	if (Recommendation{}).Value() != "" || r.Value() == "" || strings.Contains(r.Value(), "ana@exemplo") {
		t.Errorf("%q", r.Value())
	}
	if s := (Unasked{}).Probe(1); s.Epoch != 0 || s.Breaches != nil {
		t.Errorf("%+v", s)
	}
}
