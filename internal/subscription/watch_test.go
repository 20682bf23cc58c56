package subscription

import (
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

// TestChangedKinds: the kinds whose values differ, and no other: what is not said anew goes on as it was watched.
func TestChangedKinds(t *testing.T) {
	before := Subscription{Beneficiary: Beneficiary{
		Name: "Ana", CPF: "1", Email: "ana@exemplo.com.br", Phone: "+5511987654321", UserCard: "4",
	}}
	for name, c := range map[string]struct {
		change func(*Beneficiary)
		want   plan.Watch
	}{
		"nothing":           {func(*Beneficiary) {}, 0},
		"a name and a card": {func(b *Beneficiary) { b.Name, b.UserCard = "Bia", "5" }, 0},
		"an e-mail":         {func(b *Beneficiary) { b.Email = "bia@exemplo.com.br" }, plan.NewWatch(identifier.Email)},
		"a phone":           {func(b *Beneficiary) { b.Phone = "" }, plan.NewWatch(identifier.Phone)},
		"all": {
			func(b *Beneficiary) { b.CPF, b.Email, b.Phone = "2", "", "" },
			plan.NewWatch(plan.WatchedKinds...),
		},
	} {
		then := before
		c.change(&then.Beneficiary)
		if got := before.ChangedKinds(then); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestEnrolmentCountsWhatIsWatched: what the plan of each created item watches, by kind. Items that are refused, there
// already or over count for nothing.
func TestEnrolmentCountsWhatIsWatched(t *testing.T) {
	s := &fakeStore{there: []string{"00000000003"}, plans: []plan.Plan{
		{ID: "ouro", Watch: plan.NewWatch(identifier.Email, identifier.CPF)},
		{ID: "prata", Watch: plan.NewWatch(identifier.Email, identifier.Phone)},
		{ID: "base"},
	}}
	r := s.registry()
	e, err := r.BeginEnrolment(t.Context(), "pt_1", partner.Sandbox, 0)
	if err != nil {
		t.Fatal(err)
	}
	over := draftOf(5, "ouro")
	over.StartDate, over.ExpiryDate = NewTextField("2020-01-01"), NewTextField("2020-02-01")
	refused := draftOf(6, "ouro")
	refused.Name = NewTextField("")
	items := []*Draft{
		draftOf(1, "ouro"),
		draftOf(2, "prata"),
		draftOf(3, "ouro"), // there already
		draftOf(4, "base"),
		over,
		refused,
	}
	for i, d := range items {
		e.AddItem(i, d)
	}
	for _, dryRun := range []bool{true, false} {
		out, err := r.KeepEnrolment(t.Context(), e, dryRun)
		if err != nil || out.Created != 4 || out.Watched != (WatchCount{Email: 2, CPF: 1, Phone: 1}) {
			t.Errorf("%+v, %v", out, err)
		}
	}
}

func TestWatchCountAsText(t *testing.T) {
	for want, c := range map[string]WatchCount{
		"":                          {},
		"cpf=1":                     {CPF: 1},
		"email=2, phone=30":         {Email: 2, Phone: 30},
		"email=1, cpf=20, phone=30": {Email: 1, CPF: 20, Phone: 30},
	} {
		if got := c.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
