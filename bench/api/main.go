// Command api measures requests of partners through the whole stack, in process unless said otherwise:
//
//	services  GET /cyber/services (by wrk) and POST /cyber/password-check beside a bare handler that writes the same bytes
//	get       a point get beside a bare handler with one select by primary key
//	bulk      bulk requests beside raw loads of the rows that they store
//	memory    what one bulk request takes
//	score     score and advice of people with many open findings beside a point get
//	scale     lists, gets and adds on a long list beside a short one; its last page beside its first, also while many are
//	          past their date and not swept; how long server processes take to start, and their memory then
//	replicas  bulk requests and lists of one partner on one server process and on two, with -against also on one of
//	          another checkout (PostgreSQL)
//
// scripts/with-postgres starts a private PostgreSQL.
package main

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/password"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var (
	items    = flag.Int("items", 10_000, "items of the bulk request")
	findings = flag.Int("findings", 200, "open findings of each person, each in a breach of its own")
	people   = flag.Int("people", 20, "people with findings who are asked about in turn")
	few      = flag.Int64("few", 50_000, "subscriptions and watched values of the short list")
	many     = flag.Int64("n", 5_000_000, "subscriptions of the long list")
	values   = flag.Int64("values", 2_000_000, "watched values beside it")
)

func main() {
	load.Main("rounds=7",
		load.Part{Name: "services", Run: services}, load.Part{Name: "get", Run: site.Each(get)},
		load.Part{Name: "bulk", Run: site.Each(bulk)}, load.Part{Name: "memory", Run: site.Each(memory)},
		load.Part{Name: "score", Run: site.Each(score)}, load.Part{Name: "scale", Run: scale},
		load.Part{Name: "replicas", Run: replicas})
}

// bare starts a handler on its own, which the whole stack is compared with.
func bare(header string, answer func(r *http.Request) ([]byte, error)) load.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := answer(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("content-type", "application/json; charset=utf-8")
		w.Header().Set("content-length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	}))
	load.Defer(s.Close)
	return load.Server{Addresses: []string{s.Listener.Addr().String()}, Header: header}
}

func services(ctx context.Context) {
	const path, passwords = "/v1/cyber/services", "/v1/cyber/password-check"
	ask := []byte(`{"passwordHashPrefix":"5BAA61E4C9"}`)
	s := site.New(ctx, "sqlite")
	importPasswords(ctx, s)
	s.Listen(ctx, "api", 8)
	body, checked := s.Ask("GET", path, nil), s.Ask("POST", passwords, ask)
	plain := bare(s.Header, func(r *http.Request) ([]byte, error) {
		if r.Method == http.MethodPost {
			return checked, nil
		}
		return body, nil
	})
	load.PerSecond("GET /cyber/services, by wrk", load.Side{Name: "bare handler", Run: plain.Wrk(path)},
		load.Side{Name: "whole stack", Run: s.Wrk(path), Least: 0.75})
	check := func() (string, []byte) { return passwords, ask }
	load.PerSecond("POST /cyber/password-check", plain.Side(ctx, "bare handler", 0, check), s.Side(ctx, "whole stack", 0.60, check))
}

// importPasswords loads a small corpus: the built-in sample is no corpus for a live partner. What is measured is the
// stack around the look-up.
func importPasswords(ctx context.Context, s *site.Service) {
	var lines []byte
	for i := range 100_000 {
		lines = fmt.Appendf(lines, "%X:1\n", sha1.Sum(strconv.AppendInt(nil, int64(i), 10)))
	}
	lines = fmt.Appendf(lines, "%X:5000\n", sha1.Sum([]byte("password")))
	file := load.File("hashes.txt")
	load.Check(os.WriteFile(file, lines, 0o600))
	load.Must(s.Passwords.ImportCorpus(ctx, password.Import{Algorithm: password.SHA1, Inputs: load.Must(password.ListInputs(file)), Source: "made up"}))
}

const list = "/v1/subscriptions"

const subscribed = 1000 // people who can be asked for

// one is the path of a person's subscription.
func one(n int) string { return list + "/" + site.Plan + "/" + site.CPF(n) }

func get(ctx context.Context, s *site.Service) {
	s.Ask("POST", list, site.Items(1, subscribed+1, site.Item))
	db := s.DB(ctx)
	plain := bare(s.Header, func(r *http.Request) (body []byte, err error) {
		var plan string
		var start, expiry int64
		seq, err := strconv.ParseInt(r.URL.Path[1:], 10, 64)
		if err == nil {
			err = db.ReadPool().QueryRowContext(r.Context(), `SELECT plan_id, start_day, expiry_day, body FROM subscription
				WHERE partner_id = $1 AND seq = $2`, s.Partner.ID.Number(), seq).Scan(&plan, &start, &expiry, &body)
		}
		return body, err
	})
	load.PerSecond(fmt.Sprint(s, ", get"),
		plain.Side(ctx, "bare select", 0, func() (string, []byte) { return fmt.Sprint("/", 1+rand.IntN(subscribed)), nil }),
		s.Side(ctx, "whole stack", 0.60, func() (string, []byte) { return one(1 + rand.IntN(subscribed)), nil }))
}

// memory tells how far the resident set grows during one bulk request, from its state before to its highest point.
func memory(_ context.Context, s *site.Service) {
	s.Ask("POST", list, site.Items(1, 11, site.Item)) // warms
	body := site.Items(100, 100+*items, site.Item)
	debug.FreeOSMemory()
	load.Check(os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)) // forgets the highest point so far
	before := load.Memory("self", "VmRSS")
	s.Ask("POST", list, body)
	more := load.Memory("self", "VmHWM") - before
	load.Bar(more <= 64<<20, "%v, memory: one request of %d items, %.1f MiB: %.1f MiB more at its highest than before; at most 64", s, *items,
		float64(len(body))/(1<<20), float64(more)/(1<<20))
}

// bulk compares requests with raw loads of the very rows that the request before stored, into another installation: it
// has the same tables and indexes, and both grow alike.
func bulk(ctx context.Context, s *site.Service) {
	from, raw, sent := s.DB(ctx), site.New(ctx, s.String()).DB(ctx), 0
	request := func() load.Result {
		sent += *items
		body := site.Items(sent-*items, sent, site.Item)
		return load.Time(*items, func() { s.Ask("POST", list, body) })
	}
	request()
	load.Compare(fmt.Sprintf("%v, bulk of %d items", s, *items), "rows/s", load.Result.Rate,
		load.Side{Name: "raw load", Run: func() load.Result {
			id := s.Partner.ID.Number()
			people, subscriptions := stored(ctx, from, id, "person"), stored(ctx, from, id, "subscription")
			return load.Time(*items, func() {
				load.Check(raw.InTransaction(ctx, func(tx *sqldb.Tx) error { return errors.Join(people(tx), subscriptions(tx)) }))
			})
		}},
		load.Side{Name: "request", Run: request, Least: 0.4})
}

// stored reads the rows of a table that the last request filled, and returns how to write them.
func stored(ctx context.Context, db *sqldb.DB, id int64, table string) (write func(tx *sqldb.Tx) error) {
	found := load.Must(db.ReadPool().QueryContext(ctx, `SELECT `+table+`.* FROM subscription
		JOIN person ON person.partner_id = subscription.partner_id AND person.cpf = subscription.cpf
		WHERE subscription.partner_id = $1 AND seq > (SELECT last FROM subscription_counter WHERE partner_id = $1) - $2
		ORDER BY seq`, id, *items))
	defer func() { _ = found.Close() }()
	columns, rows := load.Must(found.Columns()), [][]any(nil)
	for found.Next() {
		row, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			to[i] = &row[i]
		}
		load.Check(found.Scan(to...))
		for i, v := range row {
			if bytes, ok := v.([]byte); ok && bytes == nil {
				row[i] = []byte{} // an empty one, which would be written as none
			}
		}
		rows = append(rows, row)
	}
	if load.Check(found.Err()); len(rows) != *items {
		load.Fail("%d of %d rows of the last request are there", len(rows), *items)
	}
	return func(tx *sqldb.Tx) error {
		next := func(i int64) ([]any, error) { return rows[i], nil }
		return site.LoadInto(ctx, tx, table, strings.Join(columns, " "), 0, int64(len(rows))-1, next)
	}
}

// score asks about people with many open findings.
func score(ctx context.Context, s *site.Service) {
	hashes := populate(ctx, s)
	if s.Database != "" { // what autovacuum does in its own time: without figures the planner guesses
		_, err := s.DB(ctx).ReadPool().ExecContext(ctx, `VACUUM ANALYZE`)
		load.Check(err)
	}
	side := func(name string, least float64, path func(n int) string) load.Side {
		return s.Side(ctx, name, least, func() (string, []byte) { return path(rand.IntN(*people)), nil })
	}
	load.PerSecond(fmt.Sprintf("%v, %d people with %d findings each", s, *people, *findings),
		side("point get", 0, func(n int) string { return one(n + 1) }),
		side("score", 0.30, func(n int) string { return "/v1/cyber/score/" + hashes[n] }),
		side("advice", 0.30, func(n int) string { return "/v1/cyber/advise/" + hashes[n] }))
}

// populate makes people with a subscription, four watched values, a phone and some answers, and breaches that hold one
// value of each of them.
func populate(ctx context.Context, s *site.Service) (hashes []string) {
	var prints [4]leak.Probes // by value, one per person
	for n := range *people {
		cpf := site.CPF(n + 1)
		_, d512 := partner.PersonDigests(cpf, s.Credentials.Salt)
		user := hex.EncodeToString(d512[1:])
		hashes = append(hashes, user)
		post := func(path, format string, args ...any) { s.Ask("POST", path, fmt.Appendf(nil, format, args...)) }
		post(list, "[%s]", site.Item(n+1))
		post("/v1/cyber/epp", `{"operatingSystem":"android","type":"antivirus","deviceName":"Celular","userHash":%q}`, user)
		for i, v := range []struct {
			kind  identifier.Kind
			value string
		}{
			{identifier.Email, fmt.Sprintf("pessoa.%d@exemplo.com.br", n)}, {identifier.CPF, cpf},
			{identifier.Phone, fmt.Sprintf("+55119%08d", 70000000+n)}, {identifier.Email, fmt.Sprintf("outra.%d@exemplo.com.br", n)},
		} {
			post("/v1/cyber/monitoring", `{"value":%q,"type":%q,"userHash":%q}`, v.value, v.kind, user)
			normal := load.Must(identifier.ParseValue(v.kind, v.value, identifier.Required))
			prints[i].Partner = s.Partner.ID
			prints[i].Fingerprints = append(prints[i].Fingerprints, s.Keys.Fingerprint(byte(v.kind), []byte(normal)))
		}
		for _, answer := range [][2]string{{"senhas-repetidas", "algumas"}, {"duas-etapas-email", "sms"}, {"limites-do-pix", "nao"}} {
			post("/v1/cyber/advise/"+user+"/answers", `{"catalogId":%q,"value":%q}`, answer[0], answer[1])
		}
	}
	for i := range *findings {
		addBreach(ctx, s, i, prints[i%len(prints)])
	}
	return hashes
}

// addBreach publishes a breach that holds these values and finds them.
func addBreach(ctx context.Context, s *site.Service, i int, prints leak.Probes) {
	sets := [][]cyber.Exposed{
		{cyber.ExposedEmail, cyber.ExposedPassword, cyber.ExposedName}, {cyber.ExposedCPF, cyber.ExposedName, cyber.ExposedBirthDate, cyber.ExposedAddress},
		{cyber.ExposedPhone, cyber.ExposedName, cyber.ExposedUsername}, {cyber.ExposedEmail, cyber.ExposedPasswordHash, cyber.ExposedIP},
	}
	now, name := time.Now(), fmt.Sprintf("vazamento-%03d", i)
	load.Check(s.Store.Breaches.InsertBreach(ctx, leak.Record{State: leak.Published, PublishedAt: now, Breach: cyber.Breach{
		Name: name, Title: name, Date: now.AddDate(0, -i%90, 0), Exposes: sets[i%len(sets)], Kind: cyber.SourceBreach, Verified: true, AddedAt: now,
	}}))
	load.Must(s.Store.Breaches.KeepHits(ctx, name, []leak.Probes{prints}))
	untold := func(uint64) (leak.Held, error) { return leak.Held{}, nil }
	load.Must(s.Store.Breaches.TellHits(ctx, name, 10*len(prints.Fingerprints), untold))
}
