package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store"
)

// crossers are the functions of the store whose statements read rows of all partners, as far as they can be called again
// and again. Those of docs/citus.md that are not here are of the same shape as one that is.
func crossers(ctx context.Context, s *store.Store, all []partner.ID) map[string]func() error {
	never := store.Retention{
		Attempts: time.Hour, Subscriptions: time.Hour, Cases: time.Hour, Devices: time.Hour, Scores: 24 * time.Hour, Jobs: time.Hour,
	}
	list := map[string]func() error{
		"probes":           func() error { _, _, err := s.Breaches.Probes(ctx, leak.Place{}, 1000); return err },
		"PendingAssets":    func() error { _, err := s.Breaches.PendingAssets(ctx, 100); return err },
		"WithdrawFindings": func() error { _, err := s.Breaches.WithdrawFindings(ctx, "sandbox", 100); return err },
		"WatchedEmails":    func() error { _, err := s.Feeds.WatchedEmails(ctx, "", "", 100); return err },
		"Cases":            func() error { _, err := s.Cases.Cases(ctx, cyber.CaseFilter{Limit: 50}); return err },
		"Lane": func() error {
			_, err := s.Cases.Lane(ctx, cyber.LaneFilter{Status: cyber.CaseOpen, Limit: 50})
			return err
		},
		"DeskCounts": func() error {
			_, err := s.Cases.DeskCounts(ctx, "", time.Now(), time.Now().Add(time.Hour))
			return err
		},
		"DueEndpoints": func() error { _, err := s.Alerts.DueEndpoints(ctx); return err },
		"dueWarnings": func() error {
			_, err := s.Devices.WarnExpiring(ctx, func(cyber.Device, time.Time) cyber.Notice { return cyber.Notice{} })
			return err
		},
		"Paces":           func() error { _, _, err := s.Monitoring.Paces(ctx, 0); return err },
		"EndpointOwner":   func() error { _, err := s.Alerts.EndpointOwner(ctx, "nowhere"); return absent(err) },
		"caseOwner":       func() error { _, _, err := s.Cases.CaseByID(ctx, "nowhere"); return absent(err) },
		"Sources":         func() error { _, err := s.Devices.Sources(ctx); return err },
		"Shares":          func() error { _, err := s.Devices.Shares(ctx); return err },
		"unusual":         func() error { _, err := s.Monitoring.Unusual(ctx); return err },
		"standing":        func() error { return s.Overview.CountFigures(ctx, 0) },
		"findings":        func() error { _, _, err := s.Overview.FindingList(ctx, cyber.FindingFilter{Limit: 50}); return err },
		"DeliveryList":    func() error { _, _, err := s.Overview.DeliveryList(ctx, alert.DeliveryFilter{Limit: 50}); return err },
		"Tombstones":      func() error { _, err := s.Subjects.Tombstones(ctx); return err },
		"PersonsOfCPF":    func() error { _, err := s.Subjects.PersonsOfCPF(ctx, all, site.CPF(1)); return err },
		"Sweep":           func() error { _, err := s.Upkeep.Sweep(ctx, never); return err },
		"SweepEvents":     func() error { _, err := s.Alerts.SweepEvents(ctx, time.Hour); return err },
		"SweepAnswers":    func() error { _, err := s.Answers.SweepAnswers(ctx); return err },
		"EndUnsubscribed": func() error { _, err := s.Devices.EndUnsubscribed(ctx); return err },
		"SealedUnder":     func() error { _, _, err := s.Upkeep.SealedUnder(ctx); return err },
	}
	checks := map[string]string{
		"references": "", "counts": "", "events": "", "cases": "", "statuses": "checkStatuses", "indexes": "checkAssetIndexes",
		"erasures": "erasedQueries", "grants": "checkGrants",
	}
	for _, check := range s.Upkeep.Checks() {
		if name, crosses := checks[check.Name]; crosses {
			if name == "" {
				name = "check " + check.Name
			}
			list[name] = func() error { return check.Run(ctx, func(store.Problem) {}, func(int64) {}) }
		}
	}
	return list
}

// absent is the way of a look-up that finds nothing: on Citus it asks every machine.
func absent(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// crossing compares what concerns all partners, and so all machines: the middle of the turns.
func crossing(ctx context.Context, plain, spread *side) {
	fmt.Printf("%-28s %12s %12s %8s\n", "", "plain", "Citus", "times")
	of := func(s *side) map[string]func() error {
		var all []partner.ID
		for _, t := range s.tenants {
			all = append(all, t.id)
		}
		return crossers(ctx, s.Store, all)
	}
	there, here := of(spread), of(plain)
	for _, name := range slices.Sorted(maps.Keys(here)) {
		turn := func(run func() error) func() load.Result {
			load.Check(run()) // the first one also plans
			return func() load.Result { return load.Time(1, func() { load.Check(run()) }) }
		}
		seen := load.Turns(max(*rounds, 7), turn(here[name]), turn(there[name]))
		a, b := load.Median(seen[0].Elapsed()), load.Median(seen[1].Elapsed())
		fmt.Printf("%-28s %12v %12v %8.1f\n", name, a.Round(100*time.Microsecond), b.Round(100*time.Microsecond), float64(b)/float64(a))
	}
}
