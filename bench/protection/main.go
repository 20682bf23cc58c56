// Command protection measures score and advice of people with many open findings through the whole stack, on both
// engines, against the point get: GET /subscriptions/{plan_id}/{beneficiary_cpf}. The sides run in turns against one
// server. PostgreSQL is the one that VIGIA_TEST_POSTGRES names (scripts/with-postgres starts a private one).
//
//	go run ./bench/protection [-engine sqlite] [-findings 200]
//
// It exits with 1 when a side falls under its bar.
package main

import (
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var (
	engine   = flag.String("engine", "", "sqlite or postgres; both unless given")
	findings = flag.Int("findings", 200, "open findings of each person, each in a breach of its own")
	people   = flag.Int("people", 20, "people who are asked about in turn")
	rounds   = flag.Int("rounds", 5, "rounds of each side, taken in turns; the best counts")
	conns    = flag.Int("c", 32, "connections")
	each     = flag.Duration("d", 2*time.Second, "length of a round")
	profile  = flag.String("cpuprofile", "", "write a profile of the last engine here")
)

// bar is the least share of the point get's requests a second.
const bar = 0.30

// bench is a service and who there is to ask about.
type bench struct {
	*site.Service
	cpfs, hashes []string
}

func main() {
	load.Main(func(ctx context.Context) {
		for _, e := range site.Engines(*engine) {
			measure(ctx, e)
		}
	})
}

func measure(ctx context.Context, engine string) {
	folder, remove := load.Folder()
	defer remove()
	b := &bench{Service: site.NewService(ctx, filepath.Join(folder, "data"), engine)}
	defer b.Close()
	b.Listen(ctx, "api", 16)
	begin := time.Now()
	b.populate(ctx)
	if engine == "postgres" { // what autovacuum does in its own time: without figures the planner guesses
		db := load.Must(sqldb.Open(ctx, b.Database, sqldb.Options{}))
		_, err := db.Reader().ExecContext(ctx, `VACUUM ANALYZE`)
		load.Check(err, db.Close())
	}
	fmt.Printf("\n%s: %d people with %d findings each, made in %v\n", engine, *people, *findings, time.Since(begin).Round(time.Second))
	defer load.Profile(*profile)()
	side := func(path func(n int) string) func() load.Result {
		return func() load.Result {
			return load.Run(ctx, b.API, *conns, *each, func() []byte {
				return load.Request("GET", b.API, path(rand.IntN(*people)), b.Header(), nil)
			})
		}
	}
	sides := load.Turns(*rounds,
		side(func(n int) string { return "/v1/subscriptions/" + site.Plan + "/" + b.cpfs[n] }),
		side(func(n int) string { return "/v1/cyber/score/" + b.hashes[n] }),
		side(func(n int) string { return "/v1/cyber/advise/" + b.hashes[n] }))
	get := sides[0].Best()
	fmt.Printf("  point get  %8.0f requests/s  p50 %v, CPU %v\n", get.Rate(), get.P50, sides[0].Cheapest())
	for i, name := range []string{"score", "advice"} {
		r, ratios := sides[i+1].Best(), load.Ratios(sides[i+1], sides[0])
		share := r.Rate() / get.Rate()
		fmt.Printf("  %-9s  %8.0f requests/s  p50 %v, CPU %v  %5.1f %% of the point get (bar %.0f %%: %s; rounds %.2f)\n",
			name, r.Rate(), r.P50, sides[i+1].Cheapest(), 100*share, 100*bar, load.Bar(share >= bar), ratios)
	}
}

type watched struct {
	kind  identifier.Kind
	value string
}

// populate makes people with a subscription, four watched values, a phone and some answers, and breaches that hold one
// value of each of them.
func (b *bench) populate(ctx context.Context) {
	var prints [4]leak.Probes // by value, one per person
	for n := range *people {
		cpf := site.CPF(n + 1)
		_, d512 := partner.Digests(cpf, b.Credentials.Salt)
		b.cpfs, b.hashes = append(b.cpfs, cpf), append(b.hashes, hex.EncodeToString(d512[1:]))
		values := [4]watched{
			{identifier.Email, fmt.Sprintf("pessoa.%d@exemplo.com.br", n)}, {identifier.CPF, cpf},
			{identifier.Phone, fmt.Sprintf("+55119%08d", 70000000+n)}, {identifier.Email, fmt.Sprintf("outra.%d@exemplo.com.br", n)},
		}
		b.addPerson(n, values)
		for i, v := range values {
			normal := load.Must(identifier.Parse(v.kind, v.value, identifier.Required))
			prints[i].Partner = b.Partner.ID
			prints[i].Fingerprints = append(prints[i].Fingerprints, b.Keys.Fingerprint(byte(v.kind), []byte(normal)))
		}
	}
	for i := range *findings {
		b.addBreach(ctx, i, prints[i%len(prints)])
	}
}

// addPerson does through the API what a partner would do for a person.
func (b *bench) addPerson(n int, values [4]watched) {
	post := func(path, format string, args ...any) { b.Ask("POST", path, fmt.Appendf(nil, format, args...)) }
	user := b.hashes[n]
	post("/v1/subscriptions", "[%s]", site.Item(n+1))
	post("/v1/cyber/epp", `{"operatingSystem":"android","type":"antivirus","deviceName":"Celular","userHash":%q}`, user)
	for _, v := range values {
		post("/v1/cyber/monitoring", `{"value":%q,"type":%q,"userHash":%q}`, v.value, v.kind, user)
	}
	for _, answer := range [][2]string{{"senhas-repetidas", "algumas"}, {"duas-etapas-email", "sms"}, {"limites-do-pix", "nao"}} {
		post("/v1/cyber/advise/"+user+"/answers", `{"catalogId":%q,"value":%q}`, answer[0], answer[1])
	}
}

// addBreach publishes a breach that holds these values and finds them.
func (b *bench) addBreach(ctx context.Context, i int, prints leak.Probes) {
	sets := [][]cyber.Exposed{
		{cyber.ExposedEmail, cyber.ExposedPassword, cyber.ExposedName}, {cyber.ExposedCPF, cyber.ExposedName, cyber.ExposedBirthDate, cyber.ExposedAddress},
		{cyber.ExposedPhone, cyber.ExposedName, cyber.ExposedUsername}, {cyber.ExposedEmail, cyber.ExposedPasswordHash, cyber.ExposedIP},
	}
	now := time.Now()
	name := fmt.Sprintf("vazamento-%03d", i)
	load.Check(b.Store.Breaches.InsertBreach(ctx, leak.Record{State: leak.Published, PublishedAt: now, Breach: cyber.Breach{
		Name: name, Title: fmt.Sprintf("Vazamento %03d", i), Date: now.AddDate(0, -i%90, 0), Exposes: sets[i%len(sets)], Kind: cyber.SourceBreach,
		Verified: true, AddedAt: now,
	}}))
	load.Must(b.Store.Breaches.KeepHits(ctx, name, []leak.Probes{prints}))
	untold := func(uint64) (leak.Held, error) { return leak.Held{}, nil }
	load.Must(b.Store.Breaches.TellHits(ctx, name, 10*len(prints.Fingerprints), untold))
}
