// Package storetest opens real stores for tests: a SQLite file in a temporary folder, and a database of its own on the
// PostgreSQL that VIGIA_TEST_POSTGRES names (make gate starts a private one). Env is such a store with its keys, folder
// and a clock that the test moves; Each runs a test on both engines, where there is a PostgreSQL. The product may not
// import it.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/store"
)

// Clock is a clock that moves only when told to.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Start is where every clock begins.
var Start = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func NewClock() *Clock { return &Clock{now: Start} }

func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Env is an open store and what it was made of.
type Env struct {
	*store.Store
	DB      *sqldb.DB
	Keys    *seal.Keys
	Clock   *Clock
	Address string
	Folder  string
}

// Each runs fn on both engines, as subtests.
func Each(t *testing.T, fn func(t *testing.T, e *Env)) {
	t.Helper()
	for _, engine := range sqldbtest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) { fn(t, Open(t, engine)) })
	}
}

// Open makes a database of that engine that has only its tables, and opens a store on it.
func Open(t testing.TB, engine sqldb.Engine) *Env {
	t.Helper()
	folder := sqldbtest.Folder(t)
	root, err := seal.OpenOrCreateRoot(filepath.Join(folder, "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	return ReopenStore(t, newMigrated(t, engine, folder), folder, root, NewClock())
}

// ReopenStore opens a store on a database that may already be in use: a second replica, with keys of its own opening.
func ReopenStore(t testing.TB, address, folder string, root *seal.Root, clock *Clock) *Env {
	t.Helper()
	ctx := context.Background()
	db, err := sqldb.OpenDatabase(ctx, address, sqldb.Options{MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // a test may have closed it on purpose
	if _, err := store.Migrate(ctx, db, clock.Now()); err != nil {
		t.Fatal(err)
	}
	keys, err := store.OpenKeys(ctx, db, root, clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	s := store.NewStore(db, keys, clock.Now, leak.Judge{})
	return &Env{Store: s, DB: db, Keys: keys, Clock: clock, Address: address, Folder: folder}
}

// RotateKey makes a new key, as an operator does, and has no worker rewrite anything.
func (e *Env) RotateKey(t testing.TB) {
	t.Helper()
	if err := e.Upkeep.RotateKeys(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// NewAddress returns the address of an empty database; on Citus, of one whose tables are made and spread, by each node
// of the cluster in turn.
func NewAddress(t testing.TB, engine sqldb.Engine, folder string) string {
	t.Helper()
	address := sqldbtest.NewAddress(t, engine, folder)
	if engine != sqldb.PostgreSQL || !IsCitus() {
		return address
	}
	distributeTables(t, address)
	nodes := Nodes(t, address)
	return nodes[turn.Add(1)%int64(len(nodes))]
}

var turn atomic.Int64

// Nodes returns the addresses of a database by each node of its cluster; it has one node unless it is on Citus.
func Nodes(t testing.TB, address string) []string {
	t.Helper()
	nodes := []string{}
	for _, node := range append(strings.Fields(os.Getenv("VIGIA_TEST_CITUS")), os.Getenv("VIGIA_TEST_POSTGRES")) {
		of, err := url.Parse(address)
		at, err2 := url.Parse(node)
		if err = errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		of.Host = at.Host
		nodes = append(nodes, of.String())
	}
	return nodes
}

// IsCitus reports whether the test PostgreSQL spreads partners' tables over machines (scripts/with-citus starts such a
// one).
func IsCitus() bool { return os.Getenv("VIGIA_TEST_CITUS") != "" }

// distributeTables makes the tables of an empty schema and spreads them as an operator does, before anybody writes.
func distributeTables(t testing.TB, address string) {
	t.Helper()
	ctx := context.Background()
	db, err := sqldb.OpenDatabase(ctx, address, sqldb.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := store.Migrate(ctx, db, Start); err != nil {
		t.Fatal(err)
	}
	if _, err := store.NewStore(db, nil, time.Now, leak.Judge{}).Distribute(ctx); err != nil {
		t.Fatal(err)
	}
}

// AllScopes are those of a key that may do everything.
var AllScopes = []partner.Scope{
	partner.ScopeCyber,
	partner.ScopeSubscriptions,
	partner.ScopeCredentials,
	partner.ScopeManage,
	partner.ScopePrivacy,
}

// NewPartner registers a partner and returns it with its salt and its key, which may do everything.
func (e *Env) NewPartner(t testing.TB, mode partner.Mode) (partner.Partner, partner.Credentials) {
	t.Helper()
	registry := Registry(e.Store.Partners, e.Clock.Now)
	name := fmt.Sprintf("Parceiro %s", mode)
	p, cred, err := registry.CreatePartner(context.Background(), name, mode, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return p, cred
}

// Registry makes partners whose first key may do everything, which saves tests a second key.
func Registry(s store.Partners, now func() time.Time) *partner.Registry {
	return partner.NewRegistry(widened{s}, now, nil)
}

type (
	// partners gives the embedded field of widened an unexported name.
	partners = store.Partners
	// widened overrides InsertPartner, so that the first key gets all scopes.
	widened struct{ partners }
)

// InsertPartner stores a new partner with a first key that has all scopes.
func (w widened) InsertPartner(ctx context.Context, p partner.Partner, salt string, first partner.Key) error {
	first.Scopes = AllScopes
	return w.partners.InsertPartner(ctx, p, salt, first)
}

// TellMatched does what a match does with a breach that holds the values with these fingerprints and no others, some
// values at a time. It returns how many were told each time.
func (e *Env) TellMatched(ctx context.Context, breach string, batch int, asked ...leak.Probes) (told []int, err error) {
	held := map[uint64]bool{}
	for _, of := range asked {
		for _, f := range of.Fingerprints {
			held[f] = true
		}
	}
	for _, of := range asked {
		watchers, err := e.Breaches.ListWatchers(ctx, of)
		if err != nil {
			return told, err
		}
		for some := range slices.Chunk(watchers, batch) {
			values, err := e.Breaches.ListUntold(ctx, breach, of.Partner, some)
			if err != nil {
				return told, err
			}
			var hits []leak.Hit
			for _, v := range values {
				if held[v.Fingerprint] {
					hits = append(hits, leak.Hit{Asset: v.Asset, Seen: cyber.Seen{Breach: breach}})
				}
			}
			n, err := e.Breaches.TellHits(ctx, of.Partner, hits)
			if err != nil {
				return told, err
			}
			told = append(told, n)
		}
	}
	return told, nil
}
