package cyber

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/partner/partnertest"
)

// strangersCases is a store in which all cases are another partner's. What it does not have must not be reached.
type strangersCases struct{ CaseStore }

// errOwnOnly says that nothing but the own partner was asked for.
var errOwnOnly = errors.New("only the own partner's")

func askedFor(id partner.ID) error {
	if id != "pt_1" {
		panic("another partner's were asked for")
	}
	return errOwnOnly
}

func (strangersCases) GetCase(context.Context, CaseID) (Case, []CaseMove, error) {
	return Case{Partner: "pt_2"}, nil, nil
}

func (strangersCases) UpdateCase(_ context.Context, _ CaseKey, change func(*Case) (CaseChange, error)) (Case, error) {
	_, err := change(&Case{Partner: "pt_2"})
	return Case{}, err
}

func (strangersCases) ListCases(_ context.Context, f CaseFilter) ([]Case, error) {
	return nil, askedFor(f.Partner)
}

func (strangersCases) ListLane(_ context.Context, f LaneFilter) (Lane, error) {
	return Lane{}, askedFor(f.Partner)
}

func (strangersCases) WaitingCases(_ context.Context, f LaneFilter, _ string, _, _ time.Time) (WaitingCases, error) {
	return WaitingCases{}, askedFor(f.Partner)
}

// strangersDevices is a store in which all devices are another partner's.
type strangersDevices struct{ DeviceStore }

func (strangersDevices) DeviceByID(context.Context, KeyID) (Device, error) {
	return Device{Partner: "pt_2"}, nil
}

func (strangersDevices) DeviceByKey(context.Context, string) (Device, error) {
	return Device{Partner: "pt_2"}, nil
}

// TestOwnCasesAndDevicesRefuseStrangers: to a partner's people there are no cases and devices but the partner's, in no
// method of the stores.
func TestOwnCasesAndDevicesRefuseStrangers(t *testing.T) {
	// What services ask and ready answers are the same for all partners, and so are the addresses of programs.
	partnertest.RefuseStrangers(
		t,
		ownCases{strangersCases{}, "pt_1"},
		"pt_2",
		"ServiceTriage",
		"ListQuestions",
		"ReadyAnswers",
	)
	partnertest.RefuseStrangers(t, ownDevices{strangersDevices{}, "pt_1"}, "pt_2", "InstallLinks")
}
