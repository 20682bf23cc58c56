package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
)

// score asks about people with many open findings.
func score(ctx context.Context, s *site.Service) {
	hashes := populate(ctx, s)
	if s.Database != "" { // what autovacuum does in its own time: without figures the planner guesses
		_, err := s.DB(ctx).Reader().ExecContext(ctx, `VACUUM ANALYZE`)
		load.Check(err)
	}
	side := func(name string, least float64, path func(n int) string) load.Side {
		return load.Side{Name: name, Least: least, Run: s.Load(ctx, func() (string, []byte) { return path(rand.IntN(*people)), nil })}
	}
	perSecond(fmt.Sprintf("%v, %d people with %d findings each", s, *people, *findings),
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
		_, d512 := partner.Digests(cpf, s.Credentials.Salt)
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
			normal := load.Must(identifier.Parse(v.kind, v.value, identifier.Required))
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
