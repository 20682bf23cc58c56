package cyber

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/difftest"
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
	own      Device
	reports  int
}

func (c *cupboard) IssueKey(
	_ context.Context,
	_ partner.ID,
	r DeviceRequest,
	decide func(Holding) (NewKey, error),
) (Device, error) {
	next, err := decide(c.holding)
	c.issued, c.asked = next, r
	return Device{ID: next.ID, Key: next.Generated, Name: r.Name, ValidUntil: next.ValidUntil, Plan: next.Plan}, err
}

func (c *cupboard) PartnerDevices(_ context.Context, _ partner.ID, limit int) ([]Device, error) {
	return make([]Device, min(limit, c.devices)), nil
}

func (c *cupboard) EndOwnKey(_ context.Context, _ partner.ID, key KeyID, reason EndReason) (Device, error) {
	c.reason = reason
	return Device{ID: key}, nil
}

func (c *cupboard) DeviceByKey(_ context.Context, text string) (Device, error) {
	return Device{Key: text}, nil
}

func (c *cupboard) DeviceByID(_ context.Context, key KeyID) (Device, error) {
	return Device{ID: key, Partner: "p"}, nil
}

func (c *cupboard) MoveDevice(
	_ context.Context,
	id partner.ID,
	key KeyID,
	r DeviceRequest,
	next NewKey,
) (Device, error) {
	c.replaced = strings.TrimSpace(
		string(id) + " " + string(key) + " " + string(r.System) + " " + r.Name + " " + string(r.Mode),
	)
	return Device{ID: next.ID, Key: next.Generated}, nil
}

func (c *cupboard) UpdateSource(_ context.Context, system System, _ SourceChange) error {
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
		d, err := rules.IssueKey(t.Context(), "p", DeviceRequest{System: IOS, Name: " celular da Ana "})
		if !errors.Is(err, c.want) || s.issued.Plan != c.plan {
			t.Errorf("%s: plan %q, %v", name, s.issued.Plan, err)
		}
		if err == nil &&
			(!d.ValidUntil.Equal(modelNow.Add(c.holding.Plan.KeyValidity())) || d.Key == "" || !strings.HasPrefix(string(d.ID), "ek_") || d.Name != "celular da Ana") {
			t.Errorf("%s: %+v", name, d)
		}
	}
	rules, s := newCupboard()
	for _, bad := range []string{"", "  ", "a\nb", strings.Repeat("x", 101)} {
		if _, err := rules.IssueKey(
			t.Context(),
			"p",
			DeviceRequest{System: IOS, Name: bad},
		); !errors.Is(err, ErrDeviceInvalid) ||
			s.asked.System != "" {
			t.Errorf("a device called %q: %v", bad, err)
		}
	}
	dry := NewEndpoints(s, func() time.Time { return modelNow }, strings.NewReader(""))
	if _, err := dry.IssueKey(
		t.Context(),
		"p",
		DeviceRequest{System: IOS, Name: "x"},
	); err == nil ||
		s.asked.System != "" {
		t.Error("a key was made without randomness")
	}
}

// TestHoldingOf: which of a person's plans decides about keys, and when none of them gives any.
func TestHoldingOf(t *testing.T) {
	t.Parallel()
	in := func(id plan.ID, devices int) []Entitlement {
		return []Entitlement{{Plan: plan.Plan{ID: id, MaxDevices: devices}}}
	}
	bare, three, byDefault, bareDefault := in("bare", plan.NoDevices), in("three", 3), in("default", 1), in("none", plan.NoDevices)
	for name, c := range map[string]struct {
		e          Entitled
		plan       plan.ID
		subscribed bool
		excluded   bool
	}{
		"nothing":                           {Entitled{}, "", false, false},
		"a subscription":                    {Entitled{Subscribed: three, Default: byDefault}, "three", true, false},
		"the partner's default":             {Entitled{Default: byDefault}, "default", false, false},
		"a default without keys":            {Entitled{Default: bareDefault}, "none", false, true},
		"a subscription without keys":       {Entitled{Subscribed: bare}, "", false, true},
		"the default is not for such a one": {Entitled{Subscribed: bare, Default: byDefault}, "default", false, true},
		"one without and one with keys":     {Entitled{Subscribed: slices.Concat(bare, three)}, "three", true, false},
	} {
		h := NewHolding(7, c.e, true)
		want := h
		want.Plan.ID, want.Subscribed, want.Excluded, want.Live, want.Pooled = c.plan, c.subscribed, c.excluded, 7, true
		difftest.Check(t, name, h, want)
		if NewHolding(0, c.e, false).Pooled {
			t.Errorf("%s: from a pool", name)
		}
	}
}

// TestReplaceAndRevoke: what an operator does about somebody's key.
func TestReplaceAndRevoke(t *testing.T) {
	rules, s := newCupboard()
	if d, err := rules.ReplaceDevice(
		t.Context(),
		"ek_1",
		Android,
		" novo ",
	); err != nil || s.replaced != "p ek_1 android novo" || d.Key == "" ||
		d.ID == "" {
		t.Errorf("%q %+v %v", s.replaced, d, err)
	}
	s.replaced = ""
	if _, err := rules.ReplaceDevice(
		t.Context(),
		"ek_1",
		Android,
		"",
	); !errors.Is(err, ErrDeviceInvalid) ||
		s.replaced != "" {
		t.Errorf("a device without a name: %v", err)
	}
	dry := NewEndpoints(s, func() time.Time { return modelNow }, strings.NewReader(""))
	if _, err := dry.ReplaceDevice(t.Context(), "ek_1", Android, "x"); err == nil || s.replaced != "" {
		t.Error("a key was made without randomness")
	}
	if _, err := rules.RevokeDevice(t.Context(), "ek_1"); err != nil || s.reason != EndRevoked {
		t.Errorf("%s: %v", s.reason, err)
	}
	if d, err := rules.FindDevice(t.Context(), " ABC\n"); err != nil || d.Key != "ABC" {
		t.Errorf("%q: %v", d.Key, err)
	}
}

func (c *cupboard) FindOwnDevice(_ context.Context, id partner.ID, named string) (Device, error) {
	d := c.own
	d.Partner, d.Key = id, named
	return d, nil
}

func (c *cupboard) NoteReport(
	_ context.Context,
	_ partner.ID,
	_ KeyID,
	decide func(Device, time.Time) (Device, bool),
) (Device, error) {
	c.reports++
	d, _ := decide(c.own, modelNow)
	return d, nil
}

func (c *cupboard) SetInstallLink(_ context.Context, system System, link string) error {
	c.source = string(system) + " " + link
	return nil
}

// TestKeyStates: a key protects between its first report and its end.
func TestKeyStates(t *testing.T) {
	live := Device{ValidUntil: modelNow.Add(time.Hour)}
	active, ended := live, live
	active.ActivatedAt = modelNow
	ended.ActivatedAt, ended.EndedAt = modelNow, modelNow
	for _, c := range []struct {
		d    Device
		at   time.Time
		want KeyState
	}{{live, modelNow, KeyIssued}, {active, modelNow, KeyActive}, {ended, modelNow, KeyEnded}, {active, modelNow.Add(time.Hour), KeyEnded}, {live, modelNow.Add(time.Hour), KeyEnded}} {
		if got := c.d.KeyStateAt(c.at); got != c.want || c.d.ProtectsAt(c.at) != (got == KeyActive) {
			t.Errorf("%+v: %s, want %s", c.d, got, c.want)
		}
	}
}

// TestReports: the first report activates, whatever its kind; later ones are written every ten minutes, and the store
// is not asked for those that change nothing.
func TestReports(t *testing.T) {
	for name, c := range map[string]struct {
		activated, seen time.Duration // before now; 0 for never
		writes          int
	}{
		"the first":      {0, 0, 1},
		"soon after":     {time.Hour, 9 * time.Minute, 0},
		"ten minutes on": {time.Hour, 10 * time.Minute, 1},
	} {
		rules, s := newCupboard()
		s.own = Device{ID: "ek_1", ValidUntil: modelNow.Add(time.Hour)}
		if c.activated > 0 {
			s.own.ActivatedAt, s.own.SeenAt = modelNow.Add(-c.activated), modelNow.Add(-c.seen)
		}
		d, err := rules.ReportProtected(t.Context(), "p", " ABC ")
		if err != nil || s.reports != c.writes || d.ActivatedAt.IsZero() || c.writes == 1 && !d.SeenAt.Equal(modelNow) {
			t.Errorf("%s: %d writes, %+v, %v", name, s.reports, d, err)
		}
	}
	rules, s := newCupboard()
	s.own = Device{ID: "ek_1", ValidUntil: modelNow, ActivatedAt: modelNow.Add(-time.Hour), SeenAt: modelNow}
	if _, err := rules.ReportProtected(t.Context(), "p", "ABC"); err != nil || s.reports != 1 {
		t.Error("a report about a key that is over never met the store, which refuses it:", err)
	}
}

// TestPartnersOwnKeys: what a partner does about a key of its own. Its moves count against its share, an operator's do
// not.
func TestPartnersOwnKeys(t *testing.T) {
	rules, s := newCupboard()
	s.own = Device{ID: "ek_1"}
	if _, err := rules.MoveOwnDevice(
		t.Context(),
		"q",
		"ABC",
		DeviceRequest{System: IOS, Name: " novo ", Mode: partner.Live},
	); err != nil ||
		s.replaced != "q ek_1 ios novo live" {
		t.Errorf("%q %v", s.replaced, err)
	}
	if _, err := rules.MoveOwnDevice(t.Context(), "q", "ABC", DeviceRequest{System: IOS, Name: ""}); !errors.Is(err, ErrDeviceInvalid) {
		t.Error("a device without a name:", err)
	}
	s.own.EndReason = EndRevoked
	if _, err := rules.RevokeOwnDevice(t.Context(), "q", "ABC"); err != nil || s.reason != "" {
		t.Error("revoked twice:", s.reason, err)
	}
	s.own.EndReason = ""
	if _, err := rules.RevokeOwnDevice(t.Context(), "q", "ABC"); err != nil || s.reason != EndRevoked {
		t.Error(s.reason, err)
	}
}

// TestInstallLink: people are sent there, so nothing but https, and nothing that carries a password.
func TestInstallLink(t *testing.T) {
	rules, s := newCupboard()
	for _, good := range []string{"https://a.example/x?id=1", ""} {
		if err := rules.SetInstallLink(t.Context(), Linux, good); err != nil || s.source != "linux "+good {
			t.Errorf("%q: %q %v", good, s.source, err)
		}
	}
	s.source = ""
	for _, bad := range []string{"http://a.example", "javascript:alert(1)", "https://", "https://u:p@a.example", "a.example", "https://a.example/\n", "https://a.example/" + strings.Repeat("x", 500)} {
		if err := rules.SetInstallLink(t.Context(), Windows, bad); !errors.Is(err, ErrDeviceInvalid) || s.source != "" {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := rules.SetInstallLink(t.Context(), "symbian", "https://a.example"); !errors.Is(err, ErrDeviceInvalid) {
		t.Error(err)
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
		if list, more, err := rules.ListPartnerDevices(
			t.Context(),
			"p",
		); err != nil || len(list) != c.listed ||
			more != c.more {
			t.Errorf("of %d: %d, more %t: %v", c.have, len(list), more, err)
		}
	}
}

// TestSystems: the contract's four words, and which of them are phones.
func TestSystems(t *testing.T) {
	for word, mobile := range map[string]bool{"android": true, "ios": true, "windows": false, "macos": false} {
		if s, err := ParseSystem(word); err != nil || s.IsMobile() != mobile {
			t.Errorf("%s: mobile %t, %v", word, s.IsMobile(), err)
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
		{Source{Pooled: true, Free: 99, LowMark: 100}, true},
		{Source{Pooled: true, Free: 100, LowMark: 100}, false},
		{Source{Free: 0, LowMark: 100}, false},
		{Source{Pooled: true}, false},
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
		if err := rules.UpdateSource(
			t.Context(),
			IOS,
			SourceChange{LowMark: c.mark},
		); (err == nil) != c.ok ||
			(s.source == "ios") != c.ok {
			t.Errorf("%v: kept %q, %v", c.mark, s.source, err)
		}
	}
}

// TestSmallReaders: what stands beside a finding, a trace and a recommendation.
func TestSmallReaders(t *testing.T) {
	if !(Trace{}).TakenOn().IsZero() || !(Trace{Day: 1}).TakenOn().Equal(time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)) {
		t.Error("the day on which a credential was taken")
	}
	if id, user := (Found{Asset: Asset{Partner: "p", User: "u"}}).OwnerOfValue(); id != "p" || user != "u" {
		t.Error(id, user)
	}
	r := Recommendation{asset: &PostureAsset{Kind: identifier.Email, Value: "ana@exemplo.com.br"}}
	if (Recommendation{}).Value() != "" || r.Value() == "" || strings.Contains(r.Value(), "ana@exemplo") {
		t.Errorf("%q", r.Value())
	}
	if s := (Unasked{}).ProbeFingerprint(1); s.Epoch != 0 || s.Breaches != nil {
		t.Errorf("%+v", s)
	}
}
