// Command citus measures what it costs to spread partners over machines, and what happens when one of them dies or
// rows move:
//
//	PG_BIN=/usr/lib/postgresql/17/bin scripts/with-citus go run ./bench/citus -rounds 5 -seconds 3
//
// The two sides are two schemas of one coordinator: one whose tables are spread over two workers, and one whose tables
// stay where they are, which is plain PostgreSQL. They take turns. The spread side has a service on every node, and a
// partner is asked for by way of the coordinator and by way of the node that holds its rows. Nodes, services and clients
// share one machine, so that a second machine's processors are not in the figures: what is measured is the price alone.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subject"
)

var people = flag.Int("people", 2000, "subscriptions and watched values of each of four partners before the measurement")

// side is a service over one of the two schemas.
type side struct {
	*site.Service
	db      *sqldb.DB
	ids     []partner.ID
	tenants []load.Server // the API, by partner, at the node that holds its rows
	homes   load.Server   // all of tenants
	person  atomic.Int64  // the last made-up person
	watched atomic.Int64
}

const tenants = 4

func main() {
	load.Main("seconds=3 c=8", load.Part{Name: "overhead,crossing,rebalance,kill,coordinator", Run: measure})
}

// restarted are nodes that the script which made them does not know any more; the tables are dropped before they stop.
var restarted []*node

func measure(ctx context.Context) {
	load.Defer(func() {
		for _, n := range restarted {
			_, _ = n.control("stop", "-m", "immediate")
		}
	})
	plain, spread := newSide(ctx, false), newSide(ctx, true)
	for _, step := range []struct {
		name string
		work func(ctx context.Context, plain, spread *side)
	}{{"overhead", overhead}, {"crossing", crossing}, {"rebalance", rebalance}, {"kill", killWorker}, {"coordinator", killCoordinator}} {
		if load.Wanted(step.name) {
			step.work(ctx, plain, spread)
		}
	}
}

// newSide makes a service with four partners, and people of each. The replicas at the workers are opened when the people
// are there and their tables analyzed, as in an operator's cluster: Citus keeps a session's plan of a shard as it was made
// first, and one made for an empty table reads the whole of it.
func newSide(ctx context.Context, spread bool) *side {
	s := &side{Service: site.New(ctx, "postgres")}
	s.db = s.DB(ctx)
	s.Listen(ctx, "api", 32)
	if spread {
		fmt.Printf("%d tables spread\n", load.Must(s.Store.Distribute(ctx)))
	}
	for range tenants {
		p, c := s.NewPartner(ctx, site.NoLimits)
		s.ids, s.Headers = append(s.ids, p.ID), append(s.Headers, site.Header(c))
	}
	load.Parallel(tenants, func(i int) {
		at := load.Server{Addresses: s.Addresses, Header: s.Headers[i]}
		for n := 0; n < *people; n += 1000 {
			at.Ask("POST", "/v1/subscriptions", s.items(1000))
		}
		for range *people {
			at.Ask("POST", "/v1/cyber/monitoring", s.value())
		}
	})
	load.Check(s.db.InTransaction(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(ctx, `ANALYZE`)
		return err
	}))
	replicas := map[int64]string{} // by the port of their node
	if spread {
		for _, worker := range workers() {
			c, at := s.Common, load.Must(url.Parse(s.Database))
			at.Host = worker.Host
			c.Database = at.String()
			replica := site.Open(ctx, c)
			replica.Listen(ctx, "api", 32)
			replicas[load.Must(strconv.ParseInt(worker.Port(), 10, 64))] = replica.Addresses[0]
		}
	}
	for i, id := range s.ids {
		home := s.Addresses[0]
		if spread {
			home = replicas[site.Count(ctx, s.db, `SELECT nodeport FROM citus_shards WHERE table_name = 'subscription'::regclass
				AND shardid = get_shard_id_for_distribution_column('subscription', $1::integer)`, id.Number())]
		}
		s.tenants = append(s.tenants, load.Server{Addresses: []string{home}, Header: s.Headers[i]})
		s.homes.Addresses = append(s.homes.Addresses, home)
	}
	s.homes.Headers = s.Headers
	return s
}

// items are subscriptions of people who have none yet.
func (s *side) items(n int) []byte {
	last := int(s.person.Add(int64(n)))
	return site.Items(last-n+1, last+1, site.Item)
}

// value is a watched value that nobody watches yet.
func (s *side) value() []byte { return site.Watched(int(s.watched.Add(1))) }

// overhead compares requests of partners, each of which is about one partner and so one machine.
func overhead(ctx context.Context, plain, spread *side) {
	for _, c := range []struct {
		name, path string
		body       func(s *side) []byte // nil for a GET
		least      float64
	}{
		{"create one", "/v1/subscriptions", func(s *side) []byte { return s.items(1) }, 0.5},
		{"bulk of 100", "/v1/subscriptions", func(s *side) []byte { return s.items(100) }, 0},
		{"list of 100", "/v1/subscriptions?page_size=100", nil, 0},
		{"monitoring", "/v1/cyber/monitoring", (*side).value, 0.5},
		{"monitoring of a person", fmt.Sprintf("/v1/cyber/monitoring/%064x", 1), nil, 0.5},
	} {
		run := func(s *side, at load.Server) func() load.Result {
			return at.Load(ctx, func() (path string, body []byte) {
				if c.body != nil {
					body = c.body(s)
				}
				return c.path, body
			})
		}
		load.PerSecond(c.name, load.Side{Name: "plain", Run: run(plain, plain.Server)}, load.Side{Name: "the coordinator", Run: run(spread, spread.Server)},
			load.Side{Name: "the partner's node", Run: run(spread, spread.homes), Least: c.least})
	}
}

// crossing compares what concerns all partners, and so all machines.
func crossing(ctx context.Context, plain, spread *side) {
	here, there := crossers(ctx, plain.Store, plain.ids), crossers(ctx, spread.Store, spread.ids)
	for _, name := range slices.Sorted(maps.Keys(here)) {
		turn := func(run func()) func() load.Result {
			once := func() { // a look-up that finds nothing is one too: on Citus it asks every machine
				if err := load.Try(run); fault.KindOf(err) != fault.NotFound {
					load.Check(err)
				}
			}
			once() // the first one also plans
			return func() load.Result { return load.Time(1, once) }
		}
		load.PerSecond(name, load.Side{Name: "plain", Run: turn(here[name])}, load.Side{Name: "Citus", Run: turn(there[name])})
	}
}

// crossers are the functions of the store whose statements read rows of all partners, by their names in
// internal/app/tenancy_sql_test.go. Each can be called again and again.
func crossers(ctx context.Context, s *store.Store, all []partner.ID) map[string]func() {
	nobody := partner.LongUserHash(site.CPF(1), "nobody's salt")
	untraced := func(uint64) (leak.Held, error) { return leak.Held{}, nil }
	list := map[string]func(){
		// What breaches and values that are looked up in them ask.
		"probes":           func() { load.Must2(s.Breaches.ListProbes(ctx, leak.Place{}, 1000)) },
		"DueLooks":         func() { load.Must(s.Breaches.ListDueLooks(ctx, 100)) },
		"WithdrawFindings": func() { load.Must(s.Breaches.WithdrawFindings(ctx, "sandbox", 100)) },
		"RestateFindings":  func() { load.Must(s.Breaches.RestateFindings(ctx, "sandbox", "", 100)) },
		"RejudgeFindings":  func() { load.Must(s.Breaches.RejudgeFindings(ctx, "sandbox", time.Time{}, "", 100, untraced)) },
		"TellHits":         func() { load.Must(s.Breaches.TellHits(ctx, "sandbox", 100, untraced)) },
		"WatchedEmails":    func() { load.Must(s.Feeds.WatchedEmails(ctx, "", "", 100)) },
		// What an operator looks at and searches for.
		"LookHours":             func() { load.Must(s.Monitoring.ListLookHours(ctx, 0)) },
		"Sources":               func() { load.Must(s.Devices.ListSources(ctx)) },
		"Shares":                func() { load.Must(s.Devices.ListShares(ctx)) },
		"StoppedLooks":          func() { load.Must(s.Monitoring.StoppedLooks(ctx)) },
		"WaitingPartners":       func() { load.Must(s.Monitoring.WaitingPartners(ctx)) },
		"findings":              func() { load.Must2(s.Overview.FindingList(ctx, cyber.FindingFilter{Limit: 50})) },
		"AssetList":             func() { load.Must2(s.Overview.ListAssets(ctx, cyber.AssetFilter{Limit: 50})) },
		"DeliveryList":          func() { load.Must2(s.Overview.DeliveryList(ctx, alert.DeliveryFilter{Limit: 50})) },
		"PersonsOfCPF":          func() { load.Must(s.Subjects.PersonsOfCPF(ctx, all, site.CPF(1))) },
		"watchers":              func() { load.Must(s.Subjects.PersonsOfValue(ctx, all, identifier.Email, "ninguem@exemplo.com.br")) },
		"named":                 func() { load.Must(s.Subjects.FindByID(ctx, all, subject.HitCase, "nowhere")) },
		"PersonsOfUser":         func() { load.Must(s.Subjects.PersonsOfUser(ctx, all, nobody)) },
		"SubscriptionsOfHolder": func() { load.Must(s.Subjects.SubscriptionsOfHolder(ctx, all, "00000000000191")) },
		"affectedPage": func() {
			told := func(subject.Affected) error { return nil }
			load.Check(s.Subjects.Affected(ctx, subject.Incident{Breach: "sandbox"}, told))
		},
		"EndpointOwner": func() { load.Must(s.Alerts.EndpointOwner(ctx, "nowhere")) },
		"caseOwner":     func() { load.Must2(s.Cases.GetCase(ctx, "nowhere")) },
		"oneDevice":     func() { load.Must(s.Devices.DeviceByID(ctx, "nowhere")) },
		"KeyByDigest":   func() { load.Must2(s.Partners.KeyByDigest(ctx, make([]byte, 32))) },
		// What those who attend to people look at.
		"Cases": func() { load.Must(s.Cases.ListCases(ctx, cyber.CaseFilter{Limit: 50})) },
		"Lane":  func() { load.Must(s.Cases.ListLane(ctx, cyber.LaneFilter{Status: cyber.CaseOpen, Limit: 50})) },
		"WaitingCases": func() {
			load.Must(s.Cases.WaitingCases(ctx, cyber.LaneFilter{}, "", time.Now(), time.Now().Add(time.Hour)))
		},
		"Slots":      func() { load.Must(s.Cases.ListSlots(ctx, "sv_ajuda_phishing", time.Now())) },
		"FreeSlots":  func() { load.Must(s.Cases.ListFreeSlots(ctx, all[0], "sv_ajuda_phishing", time.Now(), 50)) },
		"DeleteSlot": func() { load.Check(s.Cases.DeleteSlot(ctx, "nowhere")) },
	}
	maps.Copy(list, chores(ctx, s))
	names := map[string]string{ // checks of the whole database, by what that test calls them
		"references": "referenceQueries", "counts": "countQueries", "events": "eventQueries", "cases": "caseQueries",
		"statuses": "checkStatuses", "indexes": "checkAssetIndexes", "erasures": "erasedQueries", "grants": "checkGrants",
		"seals": "sealedRows",
	}
	for _, check := range s.Upkeep.ListChecks() {
		if name := names[check.Name]; name != "" {
			list[name] = func() { load.Check(check.Run(ctx, func(store.Problem) {}, func(int64) {})) }
		}
	}
	return list
}

// chores are what workers do by themselves.
func chores(ctx context.Context, s *store.Store) map[string]func() {
	const hour = time.Hour
	never := store.Retention{Attempts: hour, Subscriptions: hour, Cases: hour, Devices: hour, Scores: 24 * hour, Jobs: hour}
	nowhere := func(n int64) alert.EndpointRef {
		return alert.EndpointRef{Partner: partner.NumberedID(n), Endpoint: "nowhere"}
	}
	return map[string]func(){
		"DueEndpoints":     func() { load.Must(s.Alerts.DueEndpoints(ctx)) },
		"EnabledEndpoints": func() { load.Must(s.Alerts.EnabledEndpoints(ctx, []alert.EndpointRef{nowhere(1), nowhere(2)})) },
		"dueWarnings": func() {
			load.Must(s.Devices.GiveNotices(ctx, func(cyber.Device, time.Time) cyber.Notice { return cyber.Notice{} }))
		},
		"dueReminders": func() { load.Must(s.Monitoring.RemindSteps(ctx, cyber.ReminderOf)) },
		"endAsVendorSays": func() {
			load.Must(s.Devices.LoadKeyPool(ctx, cyber.MacOS, []cyber.VendorKey{{Key: "known", Expires: time.Now().Add(hour)}}))
		},
		"CountFigures":    func() { load.Check(s.Overview.CountFigures(ctx, 0)) },
		"Tombstones":      func() { load.Must(s.Subjects.Tombstones(ctx)) },
		"begunErasures":   func() { load.Must(s.Subjects.ResumeErasures(ctx, nil)) },
		"Sweep":           func() { load.Must(s.Upkeep.SweepExpired(ctx, never)) },
		"SweepEvents":     func() { load.Must(s.Alerts.SweepEvents(ctx, hour)) },
		"SweepAnswers":    func() { load.Must(s.Answers.SweepAnswers(ctx)) },
		"EndUnsubscribed": func() { load.Must(s.Devices.EndUnsubscribed(ctx)) },
		"SealedUnder":     func() { load.Must2(s.Upkeep.SealedUnder(ctx)) },
		"SealedByOlder":   func() { load.Must(s.Upkeep.SealedByOlder(ctx)) },
		"oldRows":         func() { site.SealAnew(ctx, s) },
	}
}
