package plan

import (
	"errors"
	"slices"
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
)

// TestBounds: each number and list of a plan is taken at its bound and refused one behind it.
func TestBounds(t *testing.T) {
	for name, c := range map[string]struct {
		set         func(*Plan, int)
		most, least int
		isList      bool // which has no fewer than none
	}{
		"devices":      {func(p *Plan, n int) { p.MaxDevices = n }, maxDevices, NoDevices, false},
		"days of keys": {func(p *Plan, n int) { p.KeyDays = n }, maxKeyDays, 0, false},
		"waiting days": {func(p *Plan, n int) { p.Coverage.WaitingDays = n }, maxWaitingDays, 0, false},
		"a sub-limit": {func(p *Plan, n int) {
			p.Coverage.Limit, p.Coverage.SubLimits = 500, []SubLimit{{Name: "Roubo", Limit: Money(n)}}
		}, 500, 0, false},
		"kinds of cover": {
			func(p *Plan, n int) { p.Coverage.Types = slices.Repeat([]string{"Roubo"}, n) }, maxList, 0, true,
		},
		"sub-limits": {
			func(p *Plan, n int) { p.Coverage.SubLimits = slices.Repeat([]SubLimit{{Name: "Roubo"}}, n) }, maxList, 0, true,
		},
	} {
		wrong := func(n int) error {
			p := Plan{ID: "ouro", Name: "Ouro", Coverage: Coverage{Plan: "Ouro"}}
			c.set(&p, n)
			return p.checkPlan()
		}
		if err := errors.Join(wrong(c.most), wrong(c.least)); err != nil {
			t.Errorf("%s at the bound: %v", name, err)
		}
		if err := wrong(c.most + 1); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s, one too many: %v", name, err)
		}
		if c.isList {
			continue
		}
		if err := wrong(c.least - 1); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s, one too few: %v", name, err)
		}
	}
}

// TestNoCoverage: a plan insures nothing without a limit and without a kind of loss; either is a cover.
func TestNoCoverage(t *testing.T) {
	for _, c := range []struct {
		coverage Coverage
		isNone   bool
	}{
		{Coverage{Plan: "Ouro", Conditions: "c"}, true},
		{Coverage{Limit: 1}, false},
		{Coverage{Types: []string{"Roubo"}}, false},
		{Coverage{Limit: 1, Types: []string{"Roubo"}}, false},
	} {
		if c.coverage.IsNone() != c.isNone {
			t.Errorf("%+v", c.coverage)
		}
	}
}

// TestStoredWatch: the numbers are in the rows of plans and subscriptions, so they never change.
func TestStoredWatch(t *testing.T) {
	for kind, stored := range map[identifier.Kind]Watch{identifier.Email: 1, identifier.CPF: 2, identifier.Phone: 4} {
		if got := NewWatch(kind); got != stored {
			t.Errorf("%v is stored as %d, was %d", kind, got, stored)
		}
	}
}
