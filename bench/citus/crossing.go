package main

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subject"
)

// crossing compares what concerns all partners, and so all machines.
func crossing(ctx context.Context, plain, spread *side) {
	here, there := crossers(ctx, plain.Store, plain.ids), crossers(ctx, spread.Store, spread.ids)
	for _, name := range slices.Sorted(maps.Keys(here)) {
		turn := func(run func() error) func() load.Result {
			load.Check(run()) // the first one also plans
			return func() load.Result { return load.Time(1, func() { load.Check(run()) }) }
		}
		compare(name, turn(here[name]), turn(there[name]))
	}
}

// crossers are the functions of the store whose statements read rows of all partners, by the names that docs/citus.md has
// for them. Each can be called again and again.
func crossers(ctx context.Context, s *store.Store, all []partner.ID) map[string]func() error {
	list := map[string]func() error{}
	for _, some := range []map[string]func() error{matches(ctx, s), lists(ctx, s, all), desk(ctx, s, all), chores(ctx, s), checks(ctx, s)} {
		maps.Copy(list, some)
	}
	return list
}

// none is what a function came to besides its error.
func none[T any](_ T, err error) error { return err }

// absent is the way of a look-up that finds nothing: on Citus it asks every machine.
func absent[T any](_ T, err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// matches are what breaches and values that are looked up in them ask.
func matches(ctx context.Context, s *store.Store) map[string]func() error {
	untraced := func(uint64) (leak.Held, error) { return leak.Held{}, nil }
	return map[string]func() error{
		"probes":           func() error { _, _, err := s.Breaches.Probes(ctx, leak.Place{}, 1000); return err },
		"PendingAssets":    func() error { return none(s.Breaches.PendingAssets(ctx, 100)) },
		"WithdrawFindings": func() error { return none(s.Breaches.WithdrawFindings(ctx, "sandbox", 100)) },
		"RestateFindings":  func() error { return none(s.Breaches.RestateFindings(ctx, "sandbox", "", 100)) },
		"RejudgeFindings": func() error {
			return none(s.Breaches.RejudgeFindings(ctx, "sandbox", time.Time{}, "", 100, untraced))
		},
		"TellHits":      func() error { return none(s.Breaches.TellHits(ctx, "sandbox", 100, untraced)) },
		"WatchedEmails": func() error { return none(s.Feeds.WatchedEmails(ctx, "", "", 100)) },
	}
}

// lists are what an operator looks at and searches for.
func lists(ctx context.Context, s *store.Store, all []partner.ID) map[string]func() error {
	nobody := partner.LongHash(site.CPF(1), "nobody's salt")
	return map[string]func() error{
		"Paces":        func() error { _, _, err := s.Monitoring.Paces(ctx, 0); return err },
		"Sources":      func() error { return none(s.Devices.Sources(ctx)) },
		"Shares":       func() error { return none(s.Devices.Shares(ctx)) },
		"unusual":      func() error { return none(s.Monitoring.Unusual(ctx)) },
		"findings":     func() error { _, _, err := s.Overview.FindingList(ctx, cyber.FindingFilter{Limit: 50}); return err },
		"AssetList":    func() error { _, _, err := s.Overview.AssetList(ctx, cyber.AssetFilter{Limit: 50}); return err },
		"DeliveryList": func() error { _, _, err := s.Overview.DeliveryList(ctx, alert.DeliveryFilter{Limit: 50}); return err },
		"PersonsOfCPF": func() error { return none(s.Subjects.PersonsOfCPF(ctx, all, site.CPF(1))) },
		"watchers": func() error {
			return none(s.Subjects.PersonsOfValue(ctx, all, identifier.Email, "ninguem@exemplo.com.br"))
		},
		"named":                 func() error { return none(s.Subjects.Named(ctx, all, subject.HitCase, "nowhere")) },
		"PersonsOfUser":         func() error { return none(s.Subjects.PersonsOfUser(ctx, all, nobody)) },
		"SubscriptionsOfHolder": func() error { return none(s.Subjects.SubscriptionsOfHolder(ctx, all, "00000000000191")) },
		"affectedPage": func() error {
			return s.Subjects.Affected(ctx, subject.Incident{Breach: "sandbox"}, func(subject.Affected) error { return nil })
		},
		"EndpointOwner": func() error { return absent(s.Alerts.EndpointOwner(ctx, "nowhere")) },
		"caseOwner":     func() error { _, _, err := s.Cases.CaseByID(ctx, "nowhere"); return absent(0, err) },
		"oneDevice":     func() error { return absent(s.Devices.DeviceByID(ctx, "nowhere")) },
		"KeyByDigest":   func() error { _, _, err := s.Partners.KeyByDigest(ctx, make([]byte, 32)); return absent(0, err) },
	}
}

// desk are what those who attend to people look at.
func desk(ctx context.Context, s *store.Store, all []partner.ID) map[string]func() error {
	return map[string]func() error{
		"Cases":      func() error { return none(s.Cases.Cases(ctx, cyber.CaseFilter{Limit: 50})) },
		"Lane":       func() error { return none(s.Cases.Lane(ctx, cyber.LaneFilter{Status: cyber.CaseOpen, Limit: 50})) },
		"DeskCounts": func() error { return none(s.Cases.DeskCounts(ctx, "", time.Now(), time.Now().Add(time.Hour))) },
		"Slots":      func() error { return none(s.Cases.Slots(ctx, "sv_ajuda_phishing", time.Now())) },
		"FreeSlots":  func() error { return none(s.Cases.FreeSlots(ctx, all[0], "sv_ajuda_phishing", time.Now(), 50)) },
		"DeleteSlot": func() error { return absent(0, s.Cases.DeleteSlot(ctx, "nowhere")) },
	}
}

// chores are what workers do by themselves.
func chores(ctx context.Context, s *store.Store) map[string]func() error {
	never := store.Retention{
		Attempts: time.Hour, Subscriptions: time.Hour, Cases: time.Hour, Devices: time.Hour, Scores: 24 * time.Hour, Jobs: time.Hour,
	}
	return map[string]func() error{
		"DueEndpoints": func() error { return none(s.Alerts.DueEndpoints(ctx)) },
		"EnabledEndpoints": func() error {
			return none(s.Alerts.EnabledEndpoints(ctx, []alert.EndpointRef{{Partner: partner.Numbered(1), Endpoint: "nowhere"}, {Partner: partner.Numbered(2), Endpoint: "nowhere"}}))
		},
		"dueWarnings": func() error {
			return none(s.Devices.GiveNotices(ctx, func(cyber.Device, time.Time) cyber.Notice { return cyber.Notice{} }))
		},
		"dueReminders": func() error { return none(s.Monitoring.RemindSteps(ctx, cyber.ReminderOf)) },
		"endAsVendorSays": func() error {
			return none(s.Devices.LoadPool(ctx, cyber.MacOS, []cyber.VendorKey{{Key: "known", Expires: time.Now().Add(time.Hour)}}))
		},
		"CountFigures":    func() error { return s.Overview.CountFigures(ctx, 0) },
		"Tombstones":      func() error { return none(s.Subjects.Tombstones(ctx)) },
		"begunErasures":   func() error { return none(s.Subjects.ResumeErasures(ctx, nil)) },
		"Sweep":           func() error { return none(s.Upkeep.Sweep(ctx, never)) },
		"SweepEvents":     func() error { return none(s.Alerts.SweepEvents(ctx, time.Hour)) },
		"SweepAnswers":    func() error { return none(s.Answers.SweepAnswers(ctx)) },
		"EndUnsubscribed": func() error { return none(s.Devices.EndUnsubscribed(ctx)) },
		"SealedUnder":     func() error { _, _, err := s.Upkeep.SealedUnder(ctx); return err },
		"SealedByOlder":   func() error { return none(s.Upkeep.SealedByOlder(ctx)) },
		"oldRows": func() (err error) {
			var p store.RewriteProgress
			for done := false; !done && err == nil; {
				done, err = s.Upkeep.RewriteSealed(ctx, &p, 500)
			}
			return err
		},
	}
}

// checks are those of the whole database that cross partners, by what docs/citus.md calls them.
func checks(ctx context.Context, s *store.Store) map[string]func() error {
	names := map[string]string{
		"references": "referenceQueries", "counts": "countQueries", "events": "eventQueries", "cases": "caseQueries", "statuses": "checkStatuses",
		"indexes": "checkAssetIndexes", "erasures": "erasedQueries", "grants": "checkGrants", "seals": "sealedRows",
	}
	list := map[string]func() error{}
	for _, check := range s.Upkeep.Checks() {
		if name := names[check.Name]; name != "" {
			list[name] = func() error { return check.Run(ctx, func(store.Problem) {}, func(int64) {}) }
		}
	}
	return list
}
