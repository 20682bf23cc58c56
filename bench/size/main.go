// Command size measures what things take on disk, for docs/scaling.md:
//
//	scripts/with-postgres go run ./bench/size                  # both engines, and sets of fingerprints
//	go run ./bench/size -only sets -keys 100000000             # larger sets
//
// Subscriptions and values are made by the rules, as partners' requests make them, and what the database grows by is
// divided by their number. Sizes do not depend on how busy the machine is.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var (
	engines = flag.String("engines", "sqlite,postgres", "the engines to measure, one after the other")
	people  = flag.Int("people", 20_000, "people to enrol")
	values  = flag.Int("values", 10_000, "values to watch")
	keys    = flag.Int("keys", 10_000_000, "keys of a set")
)

func main() {
	load.Main("rounds=1",
		load.Step{Name: "rows", Run: measureRows},
		load.Step{Name: "sets", Run: measureSets},
	)
}

// databaseSize is how an engine tells the size of all tables with their indexes.
var databaseSize = map[string]string{
	"sqlite": `SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()`,
	"postgres": `SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class
		WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`,
}

func measureRows(ctx context.Context) {
	for engine := range strings.SplitSeq(*engines, ",") {
		load.Scope(func() {
			s := site.New(ctx, engine)
			db := s.DB(ctx)
			measureGrowth(ctx, db, engine, "subscription with its person", *people, func() { s.Import(ctx, *people) })
			measureGrowth(ctx, db, engine, "watched value with its history", *values, func() { watchValues(ctx, s) })
		})
	}
}

// measureGrowth prints what the database grows by for each of n things.
func measureGrowth(ctx context.Context, db *sqldb.DB, engine, what string, n int, add func()) {
	before := site.Count(ctx, db, databaseSize[engine])
	add()
	grown := site.Count(ctx, db, databaseSize[engine]) - before
	fmt.Printf("       %-34s %-9s %5d bytes, of %d\n", what, engine, grown/int64(n), n)
}

// watchValues has each of the first people watch an address.
func watchValues(ctx context.Context, s *site.Service) {
	salt := load.Must(s.Store.Partners.OpenSalt(ctx, s.Partner.ID))
	owner := cyber.Owner{Partner: s.Partner.ID, Mode: s.Partner.Mode}
	load.Parallel(8, func(worker int) {
		for n := worker; n < *values; n += 8 {
			load.Must(s.Monitoring.AddAsset(ctx, cyber.AssetRequest{
				Owner: owner,
				User:  partner.UserHash(client.UserHash(site.CPF(n), salt)),
				Type:  "email",
				Value: fmt.Sprintf("outra%d@exemplo.com.br", n),
			}))
		}
	})
}

// measureSets writes sets of random keys. A key takes about two bits and the logarithm of the distance to the next one,
// so one in a set of twice the size takes a bit less.
func measureSets(context.Context) {
	for _, set := range []struct {
		what  string
		width segment.Width
		mask  uint64
	}{
		{what: "leaked identifier, 64 bits", width: segment.Bits64, mask: 1<<64 - 1},
		{what: "breached password, 40 bits", width: segment.Bits40, mask: 1<<40 - 1},
	} {
		load.Scope(func() {
			path := load.File("set")
			w := load.Must(segment.CreateSegment(path, segment.Options{Width: set.width}))
			defer w.Abort()
			source := rand.New(rand.NewPCG(1, 2))
			batch := make([]uint64, 0, 1<<16)
			for left := *keys; left > 0; left -= len(batch) {
				batch = batch[:0]
				for range min(left, cap(batch)) {
					batch = append(batch, source.Uint64()&set.mask)
				}
				load.Check(w.AddKeys(batch))
			}
			load.Must(w.Commit(context.Background()))
			r := load.Must(segment.Open(path))
			defer func() { load.Check(r.Close()) }()
			fmt.Printf("       %-44s %5.2f bytes, of %d\n", set.what, float64(r.Size())/float64(r.Count()), r.Count())
		})
	}
}
