package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subject"
)

// TestUnknownValuesAreRefused: a value that no rule knows, written past the program, is refused by whoever reads it.
func TestUnknownValuesAreRefused(t *testing.T) {
	ctx := context.Background()
	readCase := func(t *testing.T, w *lives) error {
		_, _, err := w.Cases.GetCase(ctx, w.caseOf(t))
		return err
	}
	readFindings := func(_ *testing.T, w *lives) error {
		_, err := w.Monitoring.FindingsOfUser(ctx, w.partner.ID, w.people[0].user)
		return err
	}
	readDevices := func(_ *testing.T, w *lives) error {
		_, err := w.Devices.ListDevices(ctx, w.partner.ID, w.people[0].user)
		return err
	}
	readAttempts := func(t *testing.T, w *lives) error {
		events, err := w.Alerts.EventsAfter(ctx, w.partner.ID, alert.Everything, 0, 100)
		if err != nil {
			return err
		}
		for _, e := range events.Events {
			if _, err := w.Alerts.ListAttempts(ctx, w.partner.ID, e.ID); err != nil {
				return err
			}
		}
		return nil
	}
	for _, c := range []struct {
		column, change string
		read           func(t *testing.T, w *lives) error
	}{
		{"support_case.status", `UPDATE support_case SET status = 'Inventado'`, readCase},
		{"support_case.status, empty", `UPDATE support_case SET status = ''`, readCase},
		{"support_case.ending_to", `UPDATE support_case SET ending_to = 'Inventado'`, readCase},
		{"case_move.to_status", `UPDATE case_move SET to_status = 'Inventado'`, readCase},
		{"case_move.from_status", `UPDATE case_move SET from_status = 'Inventado'`, readCase},
		{"case_move.kind", `UPDATE case_move SET kind = 'invented'`, readCase},
		{"finding.resolution", `UPDATE finding SET resolution = 'invented'`, readFindings},
		{"asset.kind of a finding", `UPDATE asset SET kind = 99`, readFindings},
		{"asset.kind", `UPDATE asset SET kind = 99`, func(_ *testing.T, w *lives) error {
			_, err := w.Monitoring.AssetsOfUser(ctx, w.partner.ID, w.people[0].user)
			return err
		}},
		{"asset_history.status", `UPDATE asset_history SET status = 'inventado'`, func(_ *testing.T, w *lives) error {
			_, err := w.rights().ExportPerson(ctx, subject.Person{CPF: w.people[0].cpf})
			return err
		}},
		{"epp_key.system", `UPDATE epp_key SET system = 'invented'`, readDevices},
		{"epp_key.end_reason", `UPDATE epp_key SET end_reason = 'invented'`, readDevices},
		{"attempt.failure", `UPDATE attempt SET failure = 'invented'`, readAttempts},
	} {
		t.Run(c.column, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, e *storetest.Env) {
				w := newLives(t, e, 1)
				if err := c.read(t, w); err != nil {
					t.Fatal("before:", err)
				}
				if err := storetest.Write(ctx, e, c.change); err != nil {
					t.Fatal(err)
				}
				if err := c.read(t, w); !errors.Is(err, sqldb.ErrUnknownValue) {
					t.Errorf("what was written past the program is read: %v", err)
				}
			})
		})
	}
}
