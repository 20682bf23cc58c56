package operator_test

import (
	"context"
	"errors"
	"testing"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestPartnerRolesCoverNothing: no role of a partner is one of the service, and none of the service has rights of a
// partner's person.
func TestPartnerRolesCoverNothing(t *testing.T) {
	for _, r := range operator.PartnerRoles() {
		for _, need := range append(operator.ListRoles(), operator.PartnerRoles()...) {
			if r.Covers(need) {
				t.Errorf("%s covers %s", r, need)
			}
		}
		if !r.May(operator.Look) || r.May(operator.NoRight) {
			t.Error(r)
		}
	}
	for _, r := range operator.ListRoles() {
		for _, right := range []operator.Right{
			operator.NoRight,
			operator.Look,
			operator.Integrate,
			operator.Attend,
			operator.Approve,
			operator.Answer,
		} {
			if r.May(right) {
				t.Errorf("%s has right %d", r, right)
			}
		}
	}
	if operator.Attendant.May(operator.Integrate) || operator.Developer.May(operator.Attend) ||
		operator.PartnerViewer.May(operator.Attend) ||
		!operator.Developer.May(operator.Integrate) ||
		!operator.Attendant.May(operator.Attend) {
		t.Error("rights are not where they belong")
	}
}

// TestOfficerIsGivenByAnAdministrator: who hands out people's data is chosen by who answers for the partner's people. An
// officer looks, answers people, and gives nobody a right that is not theirs.
func TestOfficerIsGivenByAnAdministrator(t *testing.T) {
	for _, by := range operator.PartnerRoles() {
		if got, want := by.MayGive(operator.Officer), by == operator.PartnerAdmin || by == operator.Officer; got != want {
			t.Errorf("%s gives the role of an officer: %t", by, got)
		}
		if got, want := by.May(operator.Answer), by == operator.Officer; got != want {
			t.Errorf("%s answers people: %t", by, got)
		}
	}
	for _, other := range []operator.Role{operator.PartnerAdmin, operator.Developer, operator.Attendant, operator.Viewer} {
		if operator.Officer.MayGive(other) {
			t.Errorf("an officer gives %s", other)
		}
	}
}

// TestInvite: a partner's person is the partner's for ever, and who is confined to a partner sees and changes nobody
// else.
func TestInvite(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
		live, _ := e.NewPartner(t, partner.Live)
		another, _ := e.NewPartner(t, partner.Live)
		ana, _ := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
		dev, _, err := reg.InvitePartnerOperator(ctx, live.ID, "dev@aurora.example", operator.Developer)
		if err != nil {
			t.Fatal(err)
		}
		bia, _, err := reg.InvitePartnerOperator(ctx, another.ID, "bia@boreal.example", operator.Attendant)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := reg.InvitePartnerOperator(ctx, live.ID, "eva@aurora.example", operator.Admin); !errors.Is(err, operator.ErrInvalid) {
			t.Error("a partner's person with a role of the service:", err)
		}
		if _, _, err := reg.CreateOperator(ctx, "eva@aurora.example", operator.Developer); !errors.Is(err, operator.ErrInvalid) {
			t.Error("an operator with a partner's role:", err)
		}
		if _, _, err := reg.InvitePartnerOperator(ctx, "", "eva@aurora.example", operator.Developer); err == nil {
			t.Error("a person of no partner")
		}
		if _, err := reg.ChangeRole(ctx, dev.ID, operator.Admin); !errors.Is(err, operator.ErrInvalid) {
			t.Error("a partner's person became an admin:", err)
		}
		if _, err := reg.ChangeRole(ctx, ana.ID, operator.Developer); !errors.Is(err, operator.ErrInvalid) {
			t.Error("an admin became a partner's person:", err)
		}
		if kept, err := reg.OperatorByID(
			ctx,
			dev.ID,
		); err != nil || kept.Partner != live.ID ||
			kept.Role != operator.Developer {
			t.Error(kept, err)
		}
		onlyOwn(t, reg.ForPartner(live.ID, operator.Developer), dev, bia, ana)

		trail := operator.NewTrail(e.Store.Audit, e.Clock.Now)
		for _, line := range []struct{ who, about string }{
			{string(dev.ID), "x"}, {string(bia.ID), "y"}, {string(ana.ID), "z"}, {string(ana.ID), string(dev.ID)},
		} {
			if err := trail.RecordAction(
				ctx,
				operator.Actor{Name: line.who, From: "192.0.2.9"},
				"partner.show",
				line.about,
				"why",
			); err != nil {
				t.Fatal(err)
			}
		}
		lines, err := trail.ForPartner(live.ID, reg).ListEntries(ctx, operator.Filter{Action: "partner.show", Limit: 10})
		if err != nil || len(lines) != 2 {
			t.Fatal(lines, err)
		}
		want := lines[0]
		want.Name, want.From, want.Detail, want.Subject = operator.TheService, "", "", string(dev.ID)
		difftest.Check(t, "what the service did, without who and where", lines[0], want)
		if lines[1].Name != string(dev.ID) || lines[1].From != "192.0.2.9" {
			t.Error(lines[1])
		}
	})
}

// onlyOwn tries everything on somebody of another partner and on an operator.
func onlyOwn(t *testing.T, reg *operator.Registry, own operator.Operator, others ...operator.Operator) {
	t.Helper()
	ctx := context.Background()
	if list, err := reg.ListOperators(ctx); err != nil || len(list) != 1 || list[0].ID != own.ID {
		t.Error(list, err)
	}
	if _, err := reg.DisableOperator(ctx, own.ID); err != nil {
		t.Error(err)
	}
	for _, o := range others {
		for name, try := range map[string]func() error{
			"read":     func() error { _, err := reg.OperatorByID(ctx, o.ID); return err },
			"by mail":  func() error { _, err := reg.FindByEmail(ctx, o.Email); return err },
			"disable":  func() error { _, err := reg.DisableOperator(ctx, o.ID); return err },
			"enable":   func() error { _, err := reg.EnableOperator(ctx, o.ID); return err },
			"reset":    func() error { _, _, err := reg.ResetAccess(ctx, o.ID); return err },
			"role":     func() error { _, err := reg.ChangeRole(ctx, o.ID, operator.PartnerViewer); return err },
			"log out":  func() error { _, err := reg.DeleteSessions(ctx, o.ID); return err },
			"sessions": func() error { _, err := reg.ListSessions(ctx, o.ID); return err },
			"passkeys": func() error { _, err := reg.ListPasskeys(ctx, o.ID); return err },
		} {
			if err := try(); !errors.Is(err, operator.ErrNotFound) {
				t.Errorf("%s of %s: %v", name, o.Email, err)
			}
		}
	}
	if _, _, err := reg.InvitePartnerOperator(
		ctx,
		others[0].Partner,
		"x@boreal.example",
		operator.Developer,
	); err == nil {
		t.Error("somebody was invited to another partner")
	}
	if _, _, err := reg.CreateOperator(ctx, "x@boreal.example", operator.Admin); err == nil {
		t.Error("an admin was made")
	}
}
