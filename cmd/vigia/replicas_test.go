package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

func long() bool { return os.Getenv("VIGIA_TEST_LONG") != "" }

// balancer spreads connections, not requests, over the servers that say that they are ready: all it knows of them is a
// TCP address and /readyz.
type balancer struct {
	listener net.Listener
	servers  []*server
	ready    []atomic.Bool
	next     atomic.Int64
}

const balancerLooks = 50 * time.Millisecond

func newBalancer(t *testing.T, servers ...*server) *balancer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{listener: l, servers: servers, ready: make([]atomic.Bool, len(servers))}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() { stop(); _ = l.Close() })
	for i := range servers {
		b.look(i)
		go func() {
			for ctx.Err() == nil {
				time.Sleep(balancerLooks)
				b.look(i)
			}
		}()
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go b.carry(conn)
		}
	}()
	return b
}

func (b *balancer) look(i int) {
	client := http.Client{Timeout: time.Minute} // slow is not gone
	res, err := client.Get("http://" + b.servers[i].console + "/readyz")
	if err == nil {
		_ = res.Body.Close()
	}
	b.ready[i].Store(err == nil && res.StatusCode == http.StatusOK)
}

// dial reaches a server that is ready. Where none is it asks again for a while, as balancers do: while one is replaced
// the other is alone, and a starved one may say no for a moment.
func (b *balancer) dial() net.Conn {
	first := int(b.next.Add(1))
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(balancerLooks) {
		for i := range b.servers {
			n := (first + i) % len(b.servers)
			if !b.ready[n].Load() {
				continue
			}
			if server, err := net.Dial("tcp", b.servers[n].address); err == nil {
				return server
			}
		}
	}
	return nil
}

// carry passes bytes both ways until both sides are done.
func (b *balancer) carry(client net.Conn) {
	defer func() { _ = client.Close() }()
	server := b.dial()
	if server == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(server, client)
		_ = server.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(client, server)
	_ = client.(*net.TCPConn).CloseWrite()
	_ = server.Close()
	_ = client.Close()
	<-done
}

// fleet is a number of servers on one PostgreSQL, with a partner and an administrator beside them.
type fleet struct {
	folder, database string
	servers          []*server
	admin            *app.App
	partner          partner.Partner
	key              string
}

func newFleet(t *testing.T, database string, replicas int, flags ...string) *fleet {
	t.Helper()
	gatetest.Needs(t, gatetest.Processes)
	f := &fleet{folder: filepath.Join(t.TempDir(), "data"), database: database}
	f.key = crashPartner(t, f.folder, database)
	for range replicas {
		s := newServer(t, binary(t, ""), f.folder, database)
		s.args = append(s.args, flags...)
		s.start(t)
		t.Cleanup(s.kill)
		f.servers = append(f.servers, s)
	}
	a, err := app.OpenApp(
		context.Background(),
		config.Common{Data: f.folder, Database: database},
		sqldb.Options{MaxConns: 4},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	f.admin = a
	list, err := a.Partners.ListPartners(context.Background())
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	f.partner = list[0]
	return f
}

// outcome is what came of one request.
type outcome struct {
	status int
	header http.Header
	body   string
	err    error
}

func ask(client *http.Client, method, url, key, body string, header ...string) outcome {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return outcome{err: err}
	}
	req.Header.Set("x-api-key", key)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := client.Do(req)
	if err != nil {
		return outcome{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return outcome{res.StatusCode, res.Header, string(text), err}
}

// strictClient keeps one connection for as long as the server lets it, and repeats nothing: a connection that breaks
// under a request is a failed request.
type strictClient struct {
	address string
	conn    net.Conn
	in      *bufio.Reader
}

func (c *strictClient) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

func (c *strictClient) ask(method, path, key, body string) (int, error) {
	if c.conn == nil {
		conn, err := net.Dial("tcp", c.address)
		if err != nil {
			return 0, err
		}
		c.conn, c.in = conn, bufio.NewReader(conn)
	}
	_, err := fmt.Fprintf(
		c.conn,
		"%s %s HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Length: %d\r\n\r\n%s",
		method,
		path,
		key,
		len(body),
		body,
	)
	if err != nil {
		return 0, err
	}
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if res.Close {
		c.close()
	}
	return res.StatusCode, err
}

// TestRollingRestart replaces both servers behind a plain TCP balancer, one after the other, while clients with
// connections of their own read and write: not one request fails.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	rounds := 1
	if long() {
		rounds = 25
	}
	f := newFleet(t, storetest.NewAddress(t, sqldb.PostgreSQL, ""), 2, gentle...)
	b := newBalancer(t, f.servers...)
	var stop atomic.Bool
	var served, next atomic.Int64
	var clients sync.WaitGroup
	for n := range 8 {
		clients.Go(func() {
			client := &strictClient{address: b.listener.Addr().String()}
			defer client.close()
			for i := 0; !stop.Load(); i++ {
				method, path, body := http.MethodGet, "/v1/cyber/services", ""
				if n%2 == 1 {
					method, path, body = http.MethodPost, "/v1/subscriptions", "["+strings.TrimSpace(
						fmt.Sprintf(itemJSON, madeUpCPF(next.Add(1))),
					)+"]"
				}
				if status, err := client.ask(method, path, f.key, body); err != nil || status != http.StatusOK {
					t.Errorf("request %d of client %d failed: %d %v", i, n, status, err)
					return
				}
				served.Add(1)
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	for range rounds {
		for i := range f.servers {
			b.restart(t, i)
		}
	}
	polltest.Until(t, "requests that were served: fewer would prove nothing", func() bool {
		return served.Load() >= int64(100*rounds) || t.Failed()
	})
	stop.Store(true)
	clients.Wait()
	page, err := f.admin.Store.Subscriptions.ActivePage(context.Background(), f.partner.ID, 0, 1)
	if err != nil || page.Total != next.Load() {
		t.Errorf("%d subscriptions, %d were acknowledged (%v)", page.Total, next.Load(), err)
	}
	t.Logf("%d restarts, %d requests, none failed", rounds*len(f.servers), served.Load())
}

// restart stops a server the way an operator does and starts it again.
func restart(t *testing.T, s *server) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("a server that was asked to stop ended with %v: %s", err, s.log.String())
	}
	s.start(t)
}

// restart is that for a server behind the balancer, and returns when the balancer knows that it is back.
func (b *balancer) restart(t *testing.T, i int) {
	t.Helper()
	restart(t, b.servers[i])
	polltest.Until(t, "the balancer finds the replica ready", b.ready[i].Load)
}

// gentle are the flags of a server that sends its clients on before it stops. The drain is how long a starved machine
// may take for that.
var gentle = []string{"--drain-time", "6s", "--stop-time", "60s"}

// TestPostgresCrash kills the database under two servers that are written to: what they answer meanwhile is 503 with a
// time to come back, and nothing acknowledged is lost or there twice.
func TestPostgresCrash(t *testing.T) {
	kills := 2
	if long() {
		kills = 20
	}
	pg := startPostgres(t)
	f := newFleet(t, pg.Address(), 2)
	o := &oracle{key: f.key, servers: f.servers}
	writers := o.persist(t, f.servers)
	var slowest time.Duration
	for range kills {
		time.Sleep(500 * time.Millisecond)
		refused := o.retried.Load()
		pg.KillServer()
		polltest.Until(t, "a client meets it", func() bool { return o.retried.Load() != refused || t.Failed() })
		pg.Start(t)
		slowest = max(slowest, untilServed(t, f))
	}
	o.stop.Store(true)
	writers.Wait()
	verifyAfterCrashes(t, o, sqldb.PostgreSQL, f.folder, kills)
	t.Logf("longest time from the database's return to a served write: %v", slowest)
}

// persist writes batch after batch until told to stop, each until it is acknowledged. Anything but 200, 409 and 503
// with a time to come back is a failure; so is a connection that breaks, because the servers themselves live on.
func (o *oracle) persist(t *testing.T, servers []*server) *sync.WaitGroup {
	t.Helper()
	var writers sync.WaitGroup
	client := &http.Client{Timeout: time.Minute}
	for range 4 {
		writers.Go(func() {
			for !o.stop.Load() {
				batch := o.next.Add(1) - 1
				for try := 0; ; try++ {
					url := "http://" + servers[(int(batch)+try)%len(servers)].address + "/v1/subscriptions"
					got := ask(
						client,
						http.MethodPost,
						url,
						o.key,
						crashBody(batch),
						"idempotency-key",
						fmt.Sprintf("batch-%d", batch),
					)
					if got.err == nil && got.status == http.StatusOK {
						if !strings.Contains(got.body, fmt.Sprintf(`"total_created_items":%d,`, crashItems)) {
							t.Errorf("batch %d: %.300s", batch, got.body)
						}
						o.acked.Add(1)
						time.Sleep(betweenBatches())
						break
					}
					later := got.status == http.StatusServiceUnavailable || got.status == http.StatusConflict
					if got.err != nil || !later || got.header.Get("retry-after") == "" {
						t.Errorf("batch %d: %d %v %.300s", batch, got.status, got.err, got.body)
						return
					}
					o.retried.Add(1)
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
	return &writers
}

// untilServed waits until both servers take a write again.
func untilServed(t *testing.T, f *fleet) time.Duration {
	t.Helper()
	start := time.Now()
	for i, s := range f.servers {
		for n := 0; ; n++ {
			got := ask(
				http.DefaultClient,
				http.MethodPost,
				"http://"+s.address+"/v1/subscriptions",
				f.key,
				"[]",
				"idempotency-key",
				fmt.Sprintf("probe-%d-%d-%d", start.UnixNano(), i, n),
			)
			if got.status == http.StatusOK {
				break
			}
			if time.Since(start) > 2*time.Minute {
				t.Fatalf("two minutes after the database came back: %d %v %.200s", got.status, got.err, got.body)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return time.Since(start)
}

// TestRevocation ends keys that are in use on two servers, every other one by a revocation and the rest by a roll whose
// overlap runs out: from two seconds after the end no request is accepted any more, and none is refused before it.
func TestRevocation(t *testing.T) {
	t.Parallel()
	const overlap = 3 * time.Second
	keys := 10
	if long() {
		keys = 100
	}
	ctx := context.Background()
	f := newFleet(t, storetest.NewAddress(t, sqldb.PostgreSQL, ""), 2)
	var wg sync.WaitGroup
	var late, used atomic.Int64
	for n := range keys {
		k, text, err := f.admin.Partners.CreateKey(ctx, f.partner.ID, "teste", partner.ContractScopes(), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		// When the key may be refused and when it must be, in nanoseconds: what is in between is the time that the
		// command takes.
		var may, must atomic.Int64
		var served sync.WaitGroup // by each server once
		for _, s := range f.servers {
			served.Add(1)
			first := sync.OnceFunc(served.Done)
			wg.Go(func() {
				defer first()
				for {
					start := time.Now()
					got := ask(http.DefaultClient, http.MethodGet, "http://"+s.address+"/v1/cyber/services", text, "")
					end, from, to := time.Now().UnixNano(), may.Load(), must.Load()
					over := to != 0 && start.UnixNano() > to+int64(2*time.Second)
					switch {
					case got.err != nil:
						t.Error(got.err)
						return
					case got.status == http.StatusOK && over:
						late.Add(1)
						return
					case got.status == http.StatusOK:
						used.Add(1)
						first()
					case from == 0:
						t.Errorf("key %d was refused before its end: %d", n, got.status)
						return
					case end < from-int64(time.Millisecond): // the database keeps microseconds
						t.Errorf("key %d was refused %v before its end: %d", n, time.Duration(from-end), got.status)
						return
					case over:
						return
					}
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		wg.Go(func() {
			served.Wait()
			time.Sleep(time.Second + time.Duration(n)*50*time.Millisecond)
			if n%2 == 0 {
				may.Store(time.Now().UnixNano())
				if _, err := f.admin.Partners.RevokeKey(ctx, f.partner.ID, k.ID); err != nil {
					t.Error(err)
				}
				must.Store(time.Now().UnixNano())
				return
			}
			may.Store(time.Now().Add(overlap).UnixNano())
			_, replacement, err := f.admin.Partners.RollKey(ctx, f.partner.ID, k.ID, overlap)
			if err != nil {
				t.Error(err)
			}
			must.Store(time.Now().Add(overlap).UnixNano())
			time.Sleep(overlap + 2*time.Second)
			for _, s := range f.servers {
				if got := ask(
					http.DefaultClient,
					http.MethodGet,
					"http://"+s.address+"/v1/cyber/services",
					replacement,
					"",
				); got.status != http.StatusOK {
					t.Errorf("the replacement of key %d is refused: %d %v", n, got.status, got.err)
				}
			}
		})
	}
	wg.Wait()
	if late.Load() > 0 || used.Load() < int64(2*keys) {
		t.Errorf("%d keys: %d accepted later than two seconds after, %d before", keys, late.Load(), used.Load())
	}
	t.Logf(
		"%d keys on %d servers: %d requests before, none accepted two seconds after",
		keys,
		len(f.servers),
		used.Load(),
	)
}

// TestSharedRate sends ten times a partner's rate to two servers: together they grant the rate and not twice as much,
// refuse the rest politely, and let another partner through.
func TestSharedRate(t *testing.T) {
	seconds := 4
	if long() {
		seconds = 60
	}
	const perSecond = 40
	ctx := context.Background()
	f := newFleet(t, storetest.NewAddress(t, sqldb.PostgreSQL, ""), 2)
	_, cred, err := f.admin.Partners.CreatePartner(
		ctx,
		"Outro",
		partner.Live,
		partner.Settings{RatePerSecond: 100_000, Burst: 100_000},
	)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.admin.Partners.UpdatePartner(
		ctx,
		f.partner.ID,
		func(p *partner.Partner) { p.Settings.RatePerSecond, p.Settings.Burst = perSecond, perSecond },
	)
	if err != nil {
		t.Fatal(err)
	}
	f.refuse(t) // both know of the new rate
	var alone, beside latencies
	for n := range 200 {
		start := time.Now()
		got := ask(
			http.DefaultClient,
			http.MethodGet,
			"http://"+f.servers[n%2].address+"/v1/cyber/services",
			cred.APIKey,
			"",
		)
		alone.add(time.Since(start), got)
	}
	// A process that a starved machine keeps from telling of itself is counted out for a while, and then the other
	// grants all: so the share has to be right in one of a few windows. Where each grants the whole rate it is wrong in
	// all of them. A window in which the clients did not get to ask for much more than the rate says nothing; the next
	// one has more of them.
	var told []string
	for clients, judged := 20, 0; judged < 5 && len(told) < 10 && !t.Failed(); {
		granted, refused, took := overload(t, f, clients, cred.APIKey, time.Duration(seconds)*time.Second, &beside)
		limit := int64(perSecond * (took.Seconds() + 1)) // the burst is one second's worth
		told = append(
			told,
			fmt.Sprintf("%d granted of a limit of %d, %d refused to %d clients", granted, limit, refused, clients),
		)
		if granted+refused < 2*limit {
			clients *= 2
			continue
		}
		judged++
		if granted <= limit*12/10 && granted >= limit/2 {
			t.Logf(
				"%s; the other partner's p50 and p99: alone %v and %v, beside it %v and %v",
				told,
				alone.at(0.5),
				alone.at(0.99),
				beside.at(0.5),
				beside.at(0.99),
			)
			return
		}
	}
	t.Errorf("at %d a second: %v", perSecond, told)
}

// refuse asks every server until it has refused the partner once.
func (f *fleet) refuse(t *testing.T) {
	t.Helper()
	for _, s := range f.servers {
		for deadline := time.Now().Add(time.Minute); ; {
			var wg sync.WaitGroup
			var refused atomic.Bool
			for range 100 { // at once, so that a slow machine does not stay below the rate
				wg.Go(func() {
					if got := ask(
						http.DefaultClient,
						http.MethodGet,
						"http://"+s.address+"/v1/cyber/services",
						f.key,
						"",
					); got.status == http.StatusTooManyRequests {
						refused.Store(true)
					}
				})
			}
			if wg.Wait(); refused.Load() {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("a server does not hear of the partner's rate")
			}
		}
	}
}

// overload sends far more than the partner's rate to all servers, and beside each request one of another partner, who
// is always served.
func overload(
	t *testing.T,
	f *fleet,
	clients int,
	other string,
	length time.Duration,
	beside *latencies,
) (granted, refused int64, took time.Duration) {
	t.Helper()
	var wg sync.WaitGroup
	var yes, no atomic.Int64
	begin := time.Now()
	for i := range clients {
		url := "http://" + f.servers[i%len(f.servers)].address + "/v1/cyber/services"
		wg.Go(func() {
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
			defer client.CloseIdleConnections()
			for time.Since(begin) < length {
				got := ask(client, http.MethodGet, url, f.key, "")
				switch {
				case got.status == http.StatusOK:
					yes.Add(1)
				case got.status == http.StatusTooManyRequests && got.header.Get("retry-after") != "":
					no.Add(1)
				default:
					t.Errorf("%d %v %v", got.status, got.header, got.err)
					return
				}
				start := time.Now()
				polite := ask(client, http.MethodGet, url, other, "")
				if beside.add(time.Since(start), polite); polite.status != http.StatusOK {
					t.Errorf("the other partner was refused too: %d %v", polite.status, polite.err)
					return
				}
				time.Sleep(40 * time.Millisecond)
			}
		})
	}
	wg.Wait()
	return yes.Load(), no.Load(), time.Since(begin)
}

// TestStandbyAnswersLists reads a list from a standby and a single thing from the database, and goes on when the
// standby is gone.
func TestStandbyAnswersLists(t *testing.T) {
	primary := startPostgres(t)
	standby := primary.NewStandby(t, "lists")
	f := newFleet(t, primary.Address(), 1, "--database-read", standby.Address())
	url := "http://" + f.servers[0].address + "/v1/subscriptions"
	if got := ask(http.DefaultClient, http.MethodPost, url, f.key, crashBody(0)); got.status != http.StatusOK {
		t.Fatal(got.status, got.body, got.err)
	}
	total := func() string {
		got := ask(http.DefaultClient, http.MethodGet, url, f.key, "")
		if got.status != http.StatusOK {
			t.Fatal(got.status, got.body, got.err)
		}
		_, rest, _ := strings.Cut(got.body, `"total_items":`)
		n, _, _ := strings.Cut(rest, ",")
		return n
	}
	wait := func(want string) {
		t.Helper()
		for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if total() == want {
				return
			}
		}
		t.Fatalf("the list has %s items, want %s", total(), want)
	}
	wait("50")
	follows(t, primary, standby) // until it has the tables the database itself answers
	// A standby that stands still shows that the list is read from it, and that nothing else is.
	pause(t, standby, true)
	if got := ask(http.DefaultClient, http.MethodPost, url, f.key, crashBody(1)); got.status != http.StatusOK {
		t.Fatal(got.status, got.body, got.err)
	}
	if n := total(); n != "50" {
		t.Errorf("the list has %s items: it was not read from the standby", n)
	}
	if got := ask(
		http.DefaultClient,
		http.MethodGet,
		url+"/ouro/"+madeUpCPF(crashItems),
		f.key,
		"",
	); got.status != http.StatusOK {
		t.Errorf("what was just written is not there: %d", got.status)
	}
	pause(t, standby, false)
	wait("100")
	standby.KillServer()
	if n := total(); n != "100" {
		t.Errorf("without the standby the list has %s items", n)
	}
}

// follows waits until a standby has all that its primary has by now.
func follows(t *testing.T, primary, standby *postgresServer) {
	t.Helper()
	one := func(s *postgresServer, query string, into any, args ...any) {
		t.Helper()
		db, err := sqldb.OpenDatabase(context.Background(), s.Address(), sqldb.Options{MaxConns: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if err := db.ReadPool().QueryRowContext(context.Background(), query, args...).Scan(into); err != nil {
			t.Fatal(err)
		}
	}
	var written string
	one(primary, `SELECT CAST(pg_current_wal_lsn() AS TEXT)`, &written)
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var there bool
		if one(standby, `SELECT pg_last_wal_replay_lsn() >= CAST(CAST($1 AS TEXT) AS pg_lsn)`, &there, written); there {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the standby does not follow")
		}
	}
}

// pause stops a standby from following, or lets it go on.
func pause(t *testing.T, s *postgresServer, stop bool) {
	t.Helper()
	db, err := sqldb.OpenDatabase(context.Background(), s.Address(), sqldb.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	query := `SELECT pg_wal_replay_resume()`
	if stop {
		query = `SELECT pg_wal_replay_pause()`
	}
	if _, err := db.ReadPool().ExecContext(context.Background(), query); err != nil {
		t.Fatal(err)
	}
}

// TestFailover kills a primary whose commits wait for a standby, and promotes the standby: nothing acknowledged is
// lost. Before the kill the standby is cut off for a moment, so that there is something to lose: where commits do not
// wait, the same trial has to find a loss, which is counted. It runs at full size only.
func TestFailover(t *testing.T) {
	if !long() {
		return
	}
	const rounds = 5
	var slowest time.Duration
	for range rounds {
		o, took := failover(t, true)
		slowest = max(slowest, took)
		verifyAfterCrashes(t, o, sqldb.PostgreSQL, "", 1)
	}
	t.Logf("%d failovers, longest time from the kill to a served write: %v", rounds, slowest)
	o, _ := failover(t, false)
	seen, _ := o.listed(t)
	want := int(o.next.Load()) * crashItems
	if len(seen) == want {
		t.Error("a standby that nobody waited for lost nothing: this trial cannot tell the two apart")
	}
	t.Logf("without waiting for the standby: %d of %d acknowledged items lost", want-len(seen), want)
}

func failover(t *testing.T, synchronous bool) (*oracle, time.Duration) {
	t.Helper()
	primary := startPostgres(t)
	standby := primary.NewStandby(t, "second")
	if synchronous {
		primary.Configure(t, "synchronous_standby_names = 'second'")
		primary.ReloadSettings(t)
	}
	address := fmt.Sprintf(
		"postgres://vigia@%s,%s/postgres?sslmode=disable&target_session_attrs=read-write&connect_timeout=2",
		primary.Host(),
		standby.Host(),
	)
	f := newFleet(t, address, 2)
	o := &oracle{key: f.key, servers: f.servers}
	writers := o.persist(t, f.servers)
	time.Sleep(time.Second)
	cutOff(t, standby)
	time.Sleep(time.Second)
	start := time.Now()
	primary.KillServer()
	standby.PromoteStandby(t)
	untilServed(t, f)
	took := time.Since(start)
	time.Sleep(500 * time.Millisecond)
	o.stop.Store(true)
	writers.Wait()
	return o, took
}

// cutOff keeps a standby from hearing more of its primary.
func cutOff(t *testing.T, s *postgresServer) {
	t.Helper()
	db, err := sqldb.OpenDatabase(context.Background(), s.Address(), sqldb.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, query := range []string{`ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=1'`, `SELECT pg_reload_conf()`} {
		if _, err := db.ReadPool().ExecContext(context.Background(), query); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWorkerDeath kills the worker that is at a job, and another one takes it up and ends it. A lease lasts half a
// minute, so this takes that long and runs at full size only; TestJobLife of the store shows the same with a clock of
// its own.
func TestWorkerDeath(t *testing.T) {
	if !long() {
		return
	}
	ctx := context.Background()
	f := newFleet(t, storetest.NewAddress(t, sqldb.PostgreSQL, ""), 1)
	url := "http://" + f.servers[0].address + "/v1/subscriptions"
	for batch := range int64(400) {
		if got := ask(http.DefaultClient, http.MethodPost, url, f.key, crashBody(batch)); got.status != http.StatusOK {
			t.Fatal(got.status, got.body, got.err)
		}
	}
	victim := f.worker(t)
	if err := f.admin.Store.Upkeep.RotateKeys(ctx); err != nil {
		t.Fatal(err)
	}
	for {
		jobs, err := f.admin.Store.Jobs.ListJobs(ctx, "keys.rewrite", 1)
		if err != nil {
			t.Fatal(err)
		}
		if jobs[0].State == "running" && len(jobs[0].Progress) > 2 {
			break
		}
		if jobs[0].State == "done" {
			t.Fatal("the job was done before its worker could be killed: give it more to do")
		}
		time.Sleep(time.Millisecond)
	}
	victim.kill()
	killed := time.Now()
	f.worker(t)
	for {
		_, old, err := f.admin.Store.Upkeep.SealedUnder(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if old == 0 {
			break
		}
		if time.Since(killed) > time.Minute {
			t.Fatalf("a minute after its worker's death a job still has %d values to rewrite", old)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("taken up and ended %v after the kill", time.Since(killed))
}

// worker starts a process that only works.
func (f *fleet) worker(t *testing.T) *server {
	t.Helper()
	s := newServer(t, binary(t, ""), f.folder, f.database)
	s.args[slices.Index(s.args, "--roles")+1] = "worker"
	s.start(t)
	t.Cleanup(s.kill)
	return s
}
