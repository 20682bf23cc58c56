package operator

import (
	"context"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/partner/partnertest"
)

// strangers is a store in which everybody is another partner's. What it does not have must not be reached.
type strangers struct{ Store }

func (strangers) OperatorByID(context.Context, ID) (Operator, error) {
	return Operator{Partner: "pt_2", Role: PartnerViewer}, nil
}

func (strangers) OperatorByEmail(context.Context, string) (Operator, error) {
	return Operator{Partner: "pt_2"}, nil
}

func (strangers) OperatorByInvite(context.Context, []byte) (Operator, error) {
	return Operator{Partner: "pt_2"}, nil
}

func (strangers) SessionByDigest(context.Context, []byte) (Session, Operator, error) {
	return Session{}, Operator{Partner: "pt_2"}, nil
}

func (strangers) UpdateOperator(
	_ context.Context,
	_ ID,
	_ EndSessions,
	change func(*Operator, []Operator) error,
) (Operator, error) {
	return Operator{}, change(&Operator{Partner: "pt_2"}, nil)
}

func (strangers) ListOperators(context.Context) ([]Operator, error) {
	return []Operator{{Partner: "pt_2"}, {}}, nil
}

// TestOwnPeopleRefuseStrangers: to a partner's people, whatever their role, no account but their partner's exists.
func TestOwnPeopleRefuseStrangers(t *testing.T) {
	for _, role := range PartnerRoles() {
		own := ownPeople{inner: strangers{}, id: "pt_1", by: role}
		// A token's digest and a ceremony name nobody; the list is looked at below.
		partnertest.RefuseStrangers(t, own, "pt_2", "TokenDigest", "InsertCeremony", "TakeCeremony", "ListOperators")
		if list, err := own.ListOperators(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
	}
}

// colleagues is a store in which everybody is the own partner's and has one role.
type colleagues struct {
	Store
	role Role
}

func (c colleagues) OperatorByID(context.Context, ID) (Operator, error) {
	return Operator{Partner: "pt_1", Role: c.role}, nil
}

func (c colleagues) UpdateOperator(
	_ context.Context,
	_ ID,
	_ EndSessions,
	change func(*Operator, []Operator) error,
) (Operator, error) {
	o := Operator{Partner: "pt_1", Role: c.role}
	return o, change(&o, nil)
}

func (colleagues) InsertOperator(context.Context, Operator) error { return nil }

func (colleagues) DeletePasskeys(context.Context, ID, []byte) (int64, error) { return 0, nil }

func (colleagues) DeleteSessions(context.Context, ID) (int64, error) { return 0, nil }

func (colleagues) TokenDigest(string) []byte { return []byte("digest") }

// TestNoRightIsGivenThatIsNotHeld: nobody invites, resets, ends or changes an account with a right that they do not
// hold; the administrator of a partner gives all of its roles.
func TestNoRightIsGivenThatIsNotHeld(t *testing.T) {
	gives := map[Role][]Role{
		PartnerAdmin:  PartnerRoles(),
		Developer:     {Developer, PartnerViewer},
		Attendant:     {Attendant, PartnerViewer},
		PartnerViewer: {PartnerViewer},
	}
	now := func() time.Time { return time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC) }
	for by, may := range gives {
		for _, role := range PartnerRoles() {
			reg := NewRegistry(colleagues{role: role}, nil, now).ForPartner("pt_1", by)
			want := false
			for _, given := range may {
				want = want || given == role
			}
			for name, try := range map[string]func() error{
				"invite": func() error {
					_, _, err := reg.InvitePartnerOperator(t.Context(), partner.ID("pt_1"), "ana@aurora.example", role)
					return err
				},
				"reset":   func() error { _, _, err := reg.ResetAccess(t.Context(), "op_1"); return err },
				"log out": func() error { _, err := reg.DeleteSessions(t.Context(), "op_1"); return err },
				"promote": func() error {
					_, err := NewRegistry(colleagues{role: PartnerViewer}, nil, now).ForPartner("pt_1", by).ChangeRole(t.Context(), "op_1", role)
					return err
				},
				"demote": func() error { _, err := reg.ChangeRole(t.Context(), "op_1", PartnerViewer); return err },
			} {
				if err := try(); (err == nil) != want {
					t.Errorf("%s: %s of %s: %v", by, name, role, err)
				}
			}
		}
	}
}
