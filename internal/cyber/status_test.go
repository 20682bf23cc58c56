package cyber

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// TestSeverity: what was exposed and where it came from; what is made up or spam is never more than a nuisance.
func TestSeverity(t *testing.T) {
	for name, c := range map[string]struct {
		breach Breach
		want   Severity
		usable bool
	}{
		"address":               {Breach{Exposes: []Exposed{ExposedEmail}}, SeverityLow, false},
		"hash":                  {Breach{Exposes: []Exposed{ExposedPasswordHash}}, SeverityMedium, false},
		"CPF":                   {Breach{Exposes: []Exposed{ExposedCPF}}, SeverityMedium, false},
		"CPF and name":          {Breach{Exposes: []Exposed{ExposedCPF, ExposedName}}, SeverityHigh, true},
		"document and address":  {Breach{Exposes: []Exposed{ExposedDocument, ExposedAddress}}, SeverityHigh, true},
		"name and address":      {Breach{Exposes: []Exposed{ExposedName, ExposedAddress}}, SeverityLow, false},
		"password":              {Breach{Exposes: []Exposed{ExposedPassword}}, SeverityHigh, true},
		"card":                  {Breach{Exposes: []Exposed{ExposedCard}}, SeverityHigh, true},
		"password and card":     {Breach{Exposes: []Exposed{ExposedPassword, ExposedCard}}, SeverityCritical, true},
		"password and accounts": {Breach{Exposes: []Exposed{ExposedPassword, ExposedFinancial}}, SeverityCritical, true},
		"phish":                 {Breach{Kind: SourcePhish}, SeverityMedium, false},
		"stealer":               {Breach{Kind: SourceStealer}, SeverityCritical, true},
		"made up":               {Breach{Fabricated: true, Kind: SourceStealer}, SeverityLow, false},
		"spam":                  {Breach{SpamList: true, Exposes: []Exposed{ExposedPassword}}, SeverityLow, false},
	} {
		if got := SeverityOf(Finding{Breach: c.breach}); got != c.want || c.breach.IsUsable() != c.usable {
			t.Errorf("%s: %s, usable %t", name, got, c.breach.IsUsable())
		}
	}
}

// TestCover: subscriptions before the default before the demo's, the highest limit first, the older plan where two are
// alike.
func TestCover(t *testing.T) {
	ctx := context.Background()
	made := func(id plan.ID, limit plan.Money, age int) Entitlement {
		return Entitlement{
			Plan: plan.Plan{ID: id, Coverage: plan.Coverage{Limit: limit}, CreatedAt: modelNow.AddDate(0, 0, -age)},
		}
	}
	own := []Entitlement{made("b", 100, 1), made("a", 100, 1), made("old", 100, 2), made("best", 200, 0)}
	for name, c := range map[string]struct {
		entitled Entitled
		mode     partner.Mode
		origin   Origin
		ids      []plan.ID
	}{
		"subscribed": {Entitled{own, []Entitlement{made("d", 900, 1)}}, partner.Live, OriginSubscription, []plan.ID{"best", "old", "a", "b"}},
		"default":    {Entitled{nil, []Entitlement{made("d", 900, 1)}}, partner.Sandbox, OriginDefault, []plan.ID{"d"}},
		"demo":       {Entitled{}, partner.Sandbox, OriginDemo, []plan.ID{""}},
	} {
		list, origin, err := NewCover(fixedCover{c.entitled, nil}).ListCover(ctx, partner.Caller{Mode: c.mode}, "u")
		var ids []plan.ID
		for _, e := range list {
			ids = append(ids, e.ID)
		}
		if err != nil || origin != c.origin || !slices.Equal(ids, c.ids) {
			t.Errorf("%s: %v from %s, %v", name, ids, origin, err)
		}
	}
	if own[0].ID != "b" {
		t.Error("the list that was given was sorted in place")
	}
	if _, _, err := NewCover(fixedCover{}).ListCover(ctx, partner.Caller{Mode: partner.Live}, "u"); !errors.Is(err, ErrCoverageNotFound) {
		t.Error(err)
	}
	if _, _, err := NewCover(fixedCover{fail: errOnPurpose}).ListCover(ctx, partner.Caller{Mode: partner.Sandbox}, "u"); !errors.Is(err, errOnPurpose) {
		t.Error(err)
	}
	if best, subscribed, found := (Entitled{Subscribed: own}).BestPlan(); best.ID != "best" || !subscribed || !found {
		t.Error(best, subscribed, found)
	}
	if _, _, found := (Entitled{}).BestPlan(); found {
		t.Error("nothing is in force")
	}
	waits := Entitlement{Plan: plan.Plan{Coverage: plan.Coverage{WaitingDays: 30}}, From: modelNow}
	if got := waits.CoveredFrom(); !got.Equal(modelNow.AddDate(0, 0, 30)) || !(Entitlement{}).CoveredFrom().IsZero() {
		t.Error(got)
	}
}

// TestInsurancePassesOverPlansWithoutCoverage: such a plan hides neither the next one in force nor the partner's
// default.
func TestInsurancePassesOverPlansWithoutCoverage(t *testing.T) {
	bare := Entitlement{Plan: plan.Plan{ID: "bare", Coverage: plan.Coverage{Plan: "Sem seguro"}}}
	insured := Entitlement{Plan: plan.Plan{ID: "insured", Coverage: plan.Coverage{Plan: "Com seguro", Limit: 100}}}
	for name, c := range map[string]struct {
		entitled Entitled
		plan     plan.ID
		origin   Origin
		err      error
	}{
		"next plan in force": {
			entitled: Entitled{Subscribed: []Entitlement{bare, insured}, Default: []Entitlement{bare}}, plan: "insured", origin: OriginSubscription,
		},
		"default plan":        {entitled: Entitled{Subscribed: []Entitlement{bare}, Default: []Entitlement{insured}}, plan: "insured", origin: OriginDefault},
		"nothing insures":     {entitled: Entitled{Subscribed: []Entitlement{bare}, Default: []Entitlement{bare}}, err: ErrCoverageNotFound},
		"bare plan by itself": {entitled: Entitled{Default: []Entitlement{bare}}, err: ErrCoverageNotFound},
	} {
		list, origin, err := NewCover(fixedCover{entitled: c.entitled}).ListCover(context.Background(), partner.Caller{Mode: partner.Live}, "u")
		if !errors.Is(err, c.err) || origin != c.origin || c.err == nil && (len(list) != 1 || list[0].ID != c.plan) {
			t.Errorf("%s: %v %s %v", name, list, origin, err)
		}
	}
}

type fixedCover struct {
	entitled Entitled
	fail     error
}

func (f fixedCover) LoadEntitled(context.Context, partner.ID, partner.UserHash) (Entitled, error) {
	return f.entitled, f.fail
}

// wares is a catalogue of services.
type wares struct {
	ServiceStore
	list []Service
	read int
	fail error
}

func (w *wares) ListServices(context.Context) ([]Service, error) { w.read++; return w.list, w.fail }
func (w *wares) InsertService(_ context.Context, s Service) error {
	w.list = append(w.list, s)
	return w.fail
}

func (w *wares) UpdateService(_ context.Context, id ServiceID, change func(*Service) error) (Service, error) {
	for i := range w.list {
		if w.list[i].ID == id {
			one := w.list[i]
			if err := change(&one); err != nil {
				return Service{}, err
			}
			w.list[i] = one
			return one, nil
		}
	}
	return Service{}, ErrServiceNotFound
}

// TestServices: the offer is read once in two seconds, at once after a change, and without what is retired.
func TestServices(t *testing.T) {
	ctx, now := context.Background(), modelNow
	w := &wares{list: []Service{{ID: "sv_1", Name: "A", Description: "B"}, {ID: "sv_2", Retired: true}}}
	s := NewServices(w, func() time.Time { return now })
	offered := func(want int) {
		t.Helper()
		if list, err := s.ListOffered(ctx); err != nil || len(list) != want {
			t.Errorf("%d services, want %d (%v)", len(list), want, err)
		}
	}
	offered(1)
	offered(1)
	if w.read != 1 {
		t.Errorf("read %d times", w.read)
	}
	now = now.Add(offeredFor)
	if offered(1); w.read != 2 {
		t.Errorf("read %d times after %v", w.read, offeredFor)
	}
	made, err := s.AddService(ctx, " C ", "D")
	if err != nil || made.Name != "C" || made.Position != now.UnixMicro() {
		t.Fatal(made, err)
	}
	offered(2)
	if _, err := s.RetireService(ctx, made.ID); err != nil {
		t.Fatal(err)
	}
	offered(1)
	edited, err := s.EditService(
		ctx,
		"sv_1",
		func(sv *Service) { sv.ID, sv.CreatedAt, sv.Name = "other", now.Add(1), "E" },
	)
	if err != nil {
		t.Error(err)
	}
	want := edited
	want.ID, want.CreatedAt, want.Name = "sv_1", time.Time{}, "E"
	difftest.Check(t, "an edited service", edited, want)
	if _, err := s.EditService(ctx, "sv_1", func(sv *Service) { sv.Description = "" }); !errors.Is(err, ErrServiceInvalid) {
		t.Error(err)
	}
	if _, err := s.AddService(ctx, "", "D"); !errors.Is(err, ErrServiceInvalid) {
		t.Error(err)
	}
	w.fail, now = errOnPurpose, now.Add(time.Hour)
	if _, err := s.ListOffered(ctx); !errors.Is(err, errOnPurpose) {
		t.Error(err)
	}
	if _, err := s.AddService(ctx, "F", "G"); !errors.Is(err, errOnPurpose) {
		t.Error(err)
	}
}
