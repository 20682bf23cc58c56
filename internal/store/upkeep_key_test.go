package store_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestManyBeginOneRing: of many processes that begin on an empty database at once all that have the same root open one
// ring, and of many with roots of their own one begins and the others are refused.
func TestManyBeginOneRing(t *testing.T) {
	for name, isShared := range map[string]bool{"one root": true, "roots of their own": false} {
		t.Run(name, func(t *testing.T) {
			for _, engine := range []sqldb.Engine{sqldb.SQLite, sqldb.PostgreSQL} {
				t.Run(string(engine), func(t *testing.T) { beginTogether(t, engine, isShared) })
			}
		})
	}
}

func beginTogether(t *testing.T, engine sqldb.Engine, isShared bool) {
	ctx := context.Background()
	folder := t.TempDir()
	address := storetest.NewAddress(t, engine, folder)
	root := func() *seal.Root {
		r, err := seal.CreateRootFile(filepath.Join(t.TempDir(), "keys.json"))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	same := root()
	const processes = 8
	var all sync.WaitGroup
	rings := make([]*seal.Keys, processes)
	for i := range processes {
		own := same
		if !isShared {
			own = root()
		}
		db, err := sqldb.OpenDatabase(ctx, address, sqldb.Options{MaxConns: 2})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		if _, err := store.Migrate(ctx, db, storetest.Start); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			keys, err := store.OpenKeys(ctx, db, own, storetest.Start)
			if rings[i] = keys; err != nil && (isShared || !errors.Is(err, seal.ErrWrongRoot)) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	opened := map[string]int{}
	for _, k := range rings {
		if k != nil {
			opened[k.Installation()]++
		}
	}
	want := 1
	if isShared {
		want = processes
	}
	for installation, n := range opened {
		if len(opened) != 1 || n != want {
			t.Errorf("%d have opened %s, of %v", n, installation, opened)
		}
	}
}

// sealAnew does the job of a worker after a rotation.
func sealAnew(t *testing.T, e *storetest.Env) (rewritten int64) {
	t.Helper()
	p := store.RewriteProgress{}
	for {
		done, err := e.Upkeep.RewriteSealed(context.Background(), &p, 100)
		if err != nil {
			t.Fatal(err)
		}
		if done && !p.BeginAgain() {
			return p.Rewritten
		}
	}
}

// twin opens the database as another process does.
func twin(t *testing.T, e *storetest.Env) *storetest.Env {
	t.Helper()
	return storetest.ReopenStore(t, e.Address, e.Folder, e.Keys.Root(), e.Clock)
}

const gone = 20 * time.Second

// mustDropKeys drops the old keys.
func mustDropKeys(t *testing.T, e *storetest.Env) []uint32 {
	t.Helper()
	dropped, err := e.Upkeep.DropOldKeys(context.Background(), gone)
	if err != nil {
		t.Fatal(err)
	}
	return dropped
}

// TestRotationNeedsNoCopy: another process opens at once what was sealed under a key that it has not heard of, and
// writes under the new one.
func TestRotationNeedsNoCopy(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		other := twin(t, e)
		e.RotateKey(t)
		p, cred := e.NewPartner(t, partner.Live)
		if salt, err := other.Partners.OpenSalt(ctx, p.ID); err != nil || salt != cred.Salt {
			t.Error("what was sealed under the new key:", err)
		}
		third := twin(t, e)
		e.RotateKey(t)
		p, cred = third.NewPartner(t, partner.Live)
		if salt, err := other.Partners.OpenSalt(ctx, p.ID); err != nil || salt != cred.Salt {
			t.Error("what was sealed by one that had not heard of it:", err)
		}
		if e.Keys.PrimaryID() != third.Keys.PrimaryID() {
			t.Error("a transaction was committed under a former ring")
		}
	})
}

// TestPausedProcessAfterDrop: what a process has sealed before it was stopped cannot be written once its key is
// dropped, and what it seals after it wakes is sealed under the new one.
func TestPausedProcessAfterDrop(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, cred := e.NewPartner(t, partner.Live)
		stopped := twin(t, e)
		place := seal.Place{Table: "partner", Column: "salt", Partner: string(p.ID), Row: string(p.ID)}
		held, err := stopped.Keys.Seal(place, []byte(cred.Salt))
		if err != nil {
			t.Fatal(err)
		}
		write := func(value []byte) error {
			return stopped.DB.InTransaction(ctx, func(tx *sqldb.Tx) error {
				return tx.RunStatements(ctx, []sqldb.Statement{sqldb.NewStatement(`UPDATE partner SET salt = $1`, value)})
			})
		}
		e.RotateKey(t)
		if err := write(held); err != nil {
			t.Fatal("a rotation alone must not refuse what is under way:", err)
		}
		sealAnew(t, e)
		if dropped := mustDropKeys(t, e); len(dropped) != 1 {
			t.Fatal(dropped)
		}
		for _, wakes := range []string{"before it has looked", "after it has looked"} {
			if err := write(held); !errors.Is(err, seal.ErrKeyClosed) {
				t.Errorf("%s: %v", wakes, err)
			}
			if _, err := stopped.Upkeep.FollowRing(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if salt, err := e.Partners.OpenSalt(ctx, p.ID); err != nil || salt != cred.Salt {
			t.Fatal("it was written all the same:", err)
		}
		late := twin(t, e)
		e.RotateKey(t)
		sealAnew(t, e)
		mustDropKeys(t, e)
		registry := storetest.Registry(late.Store.Partners, late.Clock.Now)
		if _, _, err := registry.CreatePartner(ctx, "Banco", partner.Live, partner.Settings{}); !errors.Is(err, seal.ErrKeyClosed) {
			t.Error("what was sealed before the transaction:", err)
		}
		p, cred = late.NewPartner(t, partner.Live) // the refusal has made it look
		if salt, err := e.Partners.OpenSalt(ctx, p.ID); err != nil || salt != cred.Salt {
			t.Error("a partner made by a process that wakes:", err)
		}
	})
}

// TestDropWaitsForTransactions: a transaction that has looked at the ring before the keys were closed, and is not over,
// is waited for, and what it writes is seen.
func TestDropWaitsForTransactions(t *testing.T) {
	e := storetest.Open(t, sqldb.PostgreSQL)
	ctx := context.Background()
	p, cred := e.NewPartner(t, partner.Live)
	stopped := twin(t, e)
	place := seal.Place{Table: "partner", Column: "salt", Partner: string(p.ID), Row: string(p.ID)}
	held, err := stopped.Keys.Seal(place, []byte(cred.Salt))
	if err != nil {
		t.Fatal(err)
	}
	e.RotateKey(t)
	sealAnew(t, e)
	if _, err := stopped.Upkeep.FollowRing(ctx); err != nil {
		t.Fatal(err)
	}
	looked, over := make(chan struct{}), make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		// The guard's look comes last in a transaction; what stands between it and the commit is this one's.
		err := stopped.DB.InTransaction(ctx, func(tx *sqldb.Tx) error {
			_, err := tx.Tx.ExecContext(ctx, `UPDATE partner SET salt = $1`, held)
			close(looked)
			<-over
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-looked
	var drop sync.WaitGroup
	drop.Go(func() {
		if dropped, err := e.Upkeep.DropOldKeys(ctx, gone); !errors.Is(err, seal.ErrKeyNeeded) ||
			!strings.Contains(err.Error(), "partner.salt 1") {
			t.Errorf("dropped %v, %v", dropped, err)
		}
	})
	polltest.Until(t, "the keys to be closed", func() bool { return len(closedIn(t, e)) > 0 })
	close(over)
	writer.Wait()
	drop.Wait()
	if salt, err := e.Partners.OpenSalt(ctx, p.ID); err != nil || salt != cred.Salt {
		t.Error("what was written meanwhile is lost:", err)
	}
	sealAnew(t, e)
	mustDropKeys(t, e)
}

// closedIn returns the closed keys as another process sees them.
func closedIn(t *testing.T, e *storetest.Env) []uint32 {
	t.Helper()
	if _, err := e.Upkeep.FollowRing(context.Background()); err != nil {
		t.Fatal(err)
	}
	return e.Keys.ClosedIDs()
}

// TestDropIsRefused: a drop names what still needs the key, and loses nothing.
func TestDropIsRefused(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, cred := e.NewPartner(t, partner.Live)
		other := twin(t, e)
		holder := store.KeyHolder{ID: "h_1", Place: "berta:/data", Epoch: other.Keys.Epoch(), Root: "file:1"}
		note := func() {
			t.Helper()
			if err := other.Upkeep.NoteKeyHolder(ctx, holder, gone); err != nil {
				t.Fatal(err)
			}
		}
		refused := func(want string) {
			t.Helper()
			if dropped, err := e.Upkeep.DropOldKeys(ctx, gone); !errors.Is(err, seal.ErrKeyNeeded) ||
				!strings.Contains(err.Error(), want) || len(dropped) != 0 {
				t.Errorf("dropped %v, %v; want %q", dropped, err, want)
			}
		}
		if dropped := mustDropKeys(t, e); len(dropped) != 0 {
			t.Fatal("nothing to drop:", dropped)
		}
		note()
		e.RotateKey(t)
		refused("berta:/data")
		holder.Epoch = e.Keys.Epoch()
		note()
		refused("partner.salt 1")
		jobs, err := e.Jobs.ListJobs(ctx, seal.KindRewrite, 10)
		if err != nil || len(jobs) != 1 {
			t.Fatal("a refusal makes the one job that is needed:", jobs, err)
		}
		sealAnew(t, e)
		if dropped := mustDropKeys(t, e); len(dropped) != 1 || len(e.Keys.ListKeyIDs()) != 1 {
			t.Fatal(dropped, e.Keys.ListKeyIDs())
		}
		holder.Epoch = 0
		note()
		e.RotateKey(t)
		sealAnew(t, e)
		refused("berta:/data")
		e.Clock.Advance(2 * gone) // it has died
		mustDropKeys(t, e)
		if salt, err := other.Partners.OpenSalt(ctx, p.ID); err != nil || salt != cred.Salt {
			t.Error("what was sealed before is lost:", err)
		}
	})
}

// TestRewriteByAnOlderView: a worker that has not heard of the newest key ends its job, and under that key.
func TestRewriteByAnOlderView(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		for range 3 {
			e.NewPartner(t, partner.Live)
		}
		worker := twin(t, e)
		e.RotateKey(t)
		e.NewPartner(t, partner.Live) // its primary key is not the worker's
		sealAnew(t, worker)
		if _, old, err := e.Upkeep.SealedUnder(context.Background()); err != nil || old != 0 {
			t.Errorf("%d are left, %v", old, err)
		}
		mustDropKeys(t, e)
	})
}

// TestRootsOfDatabase: both roots open the keys until the old one is taken out, which waits for servers that were
// started with it.
func TestRootsOfDatabase(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, cred := e.NewPartner(t, partner.Live)
		next, err := seal.CreateRootFile(filepath.Join(t.TempDir(), "next.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Upkeep.AddRoot(ctx, next); err != nil {
			t.Fatal(err)
		}
		moved := storetest.ReopenStore(t, e.Address, e.Folder, next, e.Clock)
		for _, same := range []*storetest.Env{twin(t, e), moved} {
			same.RotateKey(t)
			if salt, err := same.Partners.OpenSalt(ctx, p.ID); err != nil || salt != cred.Salt {
				t.Fatal(err)
			}
		}
		holder := store.KeyHolder{ID: "h_1", Place: "berta:/data", Epoch: e.Keys.Epoch(), Root: e.Keys.Root().ID()}
		if err := e.Upkeep.NoteKeyHolder(ctx, holder, gone); err != nil {
			t.Fatal(err)
		}
		if _, err := moved.Upkeep.DropOtherRoots(ctx, gone); !errors.Is(err, seal.ErrKeyNeeded) ||
			!strings.Contains(err.Error(), "berta:/data") {
			t.Fatal(err)
		}
		if err := e.Upkeep.DropKeyHolder(ctx, holder.ID); err != nil {
			t.Fatal(err)
		}
		dropped, err := moved.Upkeep.DropOtherRoots(ctx, gone)
		if err != nil || len(dropped) != 1 || dropped[0] != e.Keys.Root().ID() {
			t.Fatal(dropped, err)
		}
		if _, err := store.OpenKeys(ctx, e.DB, e.Keys.Root(), storetest.Start); !errors.Is(err, seal.ErrWrongRoot) {
			t.Error("the root that was taken out:", err)
		}
		if _, err := moved.Upkeep.DropOtherRoots(ctx, gone); !errors.Is(err, seal.ErrKeyNeeded) {
			t.Error("the only root:", err)
		}
		if salt, err := moved.Partners.OpenSalt(ctx, p.ID); err != nil || salt != cred.Salt {
			t.Error(err)
		}
		// A process that still runs with the old root can write no more: it cannot know what is sealed now.
		if _, err := e.Upkeep.FollowRing(ctx); !errors.Is(err, seal.ErrWrongRoot) {
			t.Error(err)
		}
		registry := storetest.Registry(e.Store.Partners, e.Clock.Now)
		if _, _, err := registry.CreatePartner(ctx, "Banco", partner.Live, partner.Settings{}); err == nil {
			t.Error("it has written under a ring that it cannot open")
		}
	})
}

// TestUnopenableValuesAreFound: one value under a key that is not in the ring is found by the sample at both ends of a
// table, and counted by the check.
func TestUnopenableValuesAreFound(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		first, _ := e.NewPartner(t, partner.Live)
		e.NewPartner(t, partner.Live)
		if list, err := e.Upkeep.FindUnopenable(ctx); err != nil || len(list) != 0 {
			t.Fatal(list, err)
		}
		foreign, err := storetest.Open(t, sqldb.SQLite).Keys.Seal(seal.Place{Table: "partner"}, []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		err = e.DB.InTransaction(ctx, func(tx *sqldb.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE partner SET salt = $1 WHERE id = $2`, foreign, first.ID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if list, err := e.Upkeep.FindUnopenable(ctx); err != nil || len(list) != 1 ||
			!strings.Contains(list[0], "1 values of partner.salt under key") {
			t.Error(list, err)
		}
		if p := problems(t, ctx, e.Upkeep); len(p) == 0 || !strings.Contains(p[0].What, "1 values are sealed under key") {
			t.Error(p)
		}
	})
}
