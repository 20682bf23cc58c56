package cyber

import (
	"errors"
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// TestFitsGravity: a finding fits one of the severities and exposes one of the classes that are named; none named means
// all.
func TestFitsGravity(t *testing.T) {
	card := []Exposed{ExposedEmail, ExposedCard}
	for name, c := range map[string]struct {
		filter FindingFilter
		want   bool
	}{
		"nothing is asked for":            {FindingFilter{}, true},
		"its severity":                    {FindingFilter{Severities: []Severity{SeverityLow, SeverityHigh}}, true},
		"others":                          {FindingFilter{Severities: []Severity{SeverityLow, SeverityMedium}}, false},
		"one of its classes":              {FindingFilter{Classes: []Exposed{ExposedPassword, ExposedCard}}, true},
		"other classes":                   {FindingFilter{Classes: []Exposed{ExposedPassword}}, false},
		"its severity, but other classes": {FindingFilter{Severities: []Severity{SeverityHigh}, Classes: []Exposed{ExposedCPF}}, false},
		"its class, but another severity": {FindingFilter{Severities: []Severity{SeverityLow}, Classes: card}, false},
	} {
		if c.filter.FitsGravity(SeverityHigh, card) != c.want {
			t.Errorf("%s: %t", name, !c.want)
		}
		if (FindingGroup{Severity: SeverityHigh, Exposes: card, Count: 3}).Fits(c.filter) != c.want {
			t.Errorf("%s, a group: %t", name, !c.want)
		}
	}
}

func TestCountFindings(t *testing.T) {
	groups := []FindingGroup{{Count: 3, Alerted: true}, {Count: 4}, {Count: 5, Alerted: true}}
	alerted := CountFindings(groups, func(g FindingGroup) bool { return g.Alerted })
	none := CountFindings(groups, func(FindingGroup) bool { return false })
	if alerted != 8 || none != 0 {
		t.Error(alerted, none)
	}
}

// TestStateOfFinding: what was retracted was never true, so it is not counted as resolved.
func TestStateOfFinding(t *testing.T) {
	for resolution, want := range map[Resolution]FindingState{
		"":                FindingOpen,
		ResolvedRetracted: FindingRetracted,
		ResolvedOther:     FindingResolved,
	} {
		if got := (Finding{Resolution: resolution}).State(); got != want {
			t.Errorf("%q is %s, want %s", resolution, got, want)
		}
	}
}

// TestNewEnrolledAsset: what a subscription names is watched as a value that was sent by itself is, but for its reason:
// a live partner's waits for a token and is matched with the corpora, a sandbox's is matched with the made-up breach.
func TestNewEnrolledAsset(t *testing.T) {
	print := func(kind byte, normal []byte) uint64 { return uint64(kind)<<32 | uint64(len(normal)) }
	for name, c := range map[string]struct {
		value  EnrolledValue
		stored string
		normal string
	}{
		"an e-mail as it was written":       {EnrolledValue{identifier.Email, "Ana@Exemplo.com.br"}, "Ana@Exemplo.com.br", "ana@exemplo.com.br"},
		"a CPF without right check digits":  {EnrolledValue{identifier.CPF, "12345678901"}, "12345678901", "12345678901"},
		"a phone of Brazil":                 {EnrolledValue{identifier.Phone, "11987654321"}, "+5511987654321", "+5511987654321"},
		"a phone abroad, without its plus":  {EnrolledValue{identifier.Phone, "351912345678"}, "+351912345678", "+351912345678"},
		"a phone that begins as one abroad": {EnrolledValue{identifier.Phone, "5511987654321"}, "+5511987654321", "+5511987654321"},
	} {
		for _, mode := range []partner.Mode{partner.Live, partner.Sandbox} {
			a, err := NewEnrolledAsset("pt_1", mode, "u", c.value, print, modelNow)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			want := a
			want.Value, want.Normal, want.Source = c.stored, c.normal, NamedBySubscription
			difftest.Check(t, name, a, want)
			if isLive := mode == partner.Live; a.Paced != isLive || a.Matched != isLive || a.HasToken {
				t.Errorf("%s, %s: %+v", name, mode, a)
			}
			// Once it is read back it is the same value.
			if again, err := identifier.ParseValue(a.Kind, a.Value, identifier.Waived); err != nil || again != c.normal {
				t.Errorf("%s is read back as %q, %v", name, again, err)
			}
		}
	}
	if _, err := NewEnrolledAsset("pt_1", partner.Live, "u", EnrolledValue{Kind: identifier.Email}, print, modelNow); !errors.Is(
		err,
		ErrAssetInvalid,
	) {
		t.Error(err)
	}
}

// TestPaceIfResumed: while first looks are stopped, the time until which values wait is told for the pace of the
// partner's size; otherwise for the pace that it has.
func TestPaceIfResumed(t *testing.T) {
	for _, s := range []partner.Settings{
		{FirstLooksPerHour: partner.LooksBySize, People: 100_000},
		{FirstLooksPerHour: 7, People: 100_000},
	} {
		if got := paceIfResumed(s); got != PaceOf(s) {
			t.Errorf("%+v: %+v", s, got)
		}
	}
	stopped := partner.Settings{FirstLooksPerHour: partner.NoFirstLooks, People: 100_000}
	if got := paceIfResumed(stopped); got.PerHour != 500 || got.Onboarding != 300_000 {
		t.Errorf("%+v", got)
	}
}
