package stored_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// childVariable makes this test program an importer that its parent kills: address, folder, dump, breach and, of a
// renewal, its way, one a line.
const childVariable = "VIGIA_LEAK_TEST_CHILD"

func TestImportChild(t *testing.T) {
	orders := strings.Split(os.Getenv(childVariable), "\n")
	if len(orders) < 4 {
		return // not a child; the parents are TestKilledImports and TestKilledRenewals
	}
	root, err := seal.OpenRoot(orders[1] + "/keys.json")
	if err != nil {
		t.Fatal(err)
	}
	clock := storetest.NewClock()
	v := &env{dumptest.OpenEnv(t, storetest.ReopenStore(t, orders[0], orders[1], root, clock))}
	crashSettings(v)
	inputs, err := intake.ListInputs(context.Background(), nil, []string{orders[2]})
	if err != nil {
		t.Fatal(err)
	}
	spec := intake.Spec{Breach: dumptest.MakeBreach(orders[3], cyber.SourceBreach, cyber.ExposedEmail), Inputs: inputs}
	if len(orders) > 4 {
		_, err = v.Importer.AppendToBreach(context.Background(), spec)
	} else {
		_, err = v.Importer.ImportBreach(context.Background(), spec)
	}
	if err != nil && !errors.Is(err, leak.ErrBreachExists) { // killed during the match: the import itself is done
		t.Fatal(err)
	}
	clock.Advance(time.Hour) // the lease of a killed worker is over
	v.RunJobs()
}

func crashSettings(v *env) {
	v.Importer.PartBytes = 400_000
	v.Importer.SpanBytes = 150_000
}

// TestKilledImports kills an import at any moment, again and again, until it gets through: the segment holds exactly
// what an undisturbed import finds, and each finding and each alert is there once.
func TestKilledImports(t *testing.T) {
	kills, size, people := 2, 2<<20, 90
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		kills, size, people = 50, 24<<20, 300
	}
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		crashSettings(v)
		v.LoadPublished()
		text, _ := madeUpDump(3, size, e.Keys.Fingerprint)
		for i := range people { // people of whom every third is in the dump
			address := fmt.Sprintf("pessoa%d@exemplo.com.br", i)
			v.Watch(v.Live, fmt.Sprint("u", i/3), "email", address)
			if i%3 == 0 {
				at := len(text) / people * i
				at += strings.IndexByte(string(text[at:]), '\n') + 1
				text = slices.Insert(text, at, []byte(address+":senha\n")...)
			}
		}
		path := v.File("dump.txt", string(text))
		start := time.Now()
		calm := v.Import(dumptest.MakeBreach("calmo", cyber.SourceBreach, cyber.ExposedEmail), path)
		want := v.keysOf(calm.Record)
		v.RunJobs()
		undisturbed := time.Since(start)
		killed, breaches := 0, 1
		for ; killed < kills; breaches++ {
			name := fmt.Sprint("morto-", breaches)
			killed += v.killUntilDone(name, path, undisturbed)
			r, err := v.Breaches.BreachByName(context.Background(), name)
			if err != nil {
				t.Fatal(err)
			}
			if r.Pairs == "" || r.PairsDigest != calm.PairsDigest {
				t.Fatalf("%s: %d pairs, undisturbed %d", name, r.Tally.Pairs, calm.Tally.Pairs)
			}
			if got := v.keysOf(r); !slices.Equal(got, want) {
				t.Fatalf("%s: %d keys, undisturbed %d", name, len(got), len(want))
			}
		}
		// What was imported so far is one dump, so it was news once. Another password is news to all whose line is told
		// as a record: most of them.
		again := v.File("again.txt", strings.ReplaceAll(string(text), ":senha\n", ":outra\n"))
		killed += v.killUntilDone("outra-senha", again, undisturbed)
		t.Logf("%d kills over %d imports", killed, breaches)
		v.checkOnce(people/3, breaches+1)
	})
}

// killUntilDone starts the child and kills it after a random time, until one gets through; it returns the number of
// kills.
func (v *env) killUntilDone(name, path string, undisturbed time.Duration) int {
	v.T.Helper()
	return v.killChild([]string{path, name}, undisturbed, func() {})
}

// killChild does so with orders, and calls after after each kill.
func (v *env) killChild(orders []string, undisturbed time.Duration, after func()) int {
	v.T.Helper()
	for kills := 0; ; kills++ {
		child := exec.Command(os.Args[0], "-test.run", "^TestImportChild$")
		child.Env = append(
			os.Environ(),
			childVariable+"="+strings.Join(append([]string{v.Address, v.Folder}, orders...), "\n"),
		)
		var output strings.Builder
		child.Stdout, child.Stderr = &output, &output
		if err := child.Start(); err != nil {
			v.T.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- child.Wait() }()
		// Later tries get more time, so that a slow machine gets through in the end.
		limit := 50*time.Millisecond + rand.N(undisturbed*time.Duration(1+kills/6))
		select {
		case err := <-done:
			if err != nil {
				v.T.Fatalf("the import failed by itself: %v\n%s", err, output.String())
			}
			return kills
		case <-time.After(limit):
			killing := child.Process.Kill()
			err := <-done
			if killing == nil {
				after()
				continue
			}
			if !errors.Is(killing, os.ErrProcessDone) || err != nil { // it may have ended at that very moment
				v.T.Fatalf("%v; the import: %v\n%s", killing, err, output.String())
			}
			return kills
		}
	}
}

// checkOnce: one finding per value and breach, one alert per person and breach.
func (v *env) checkOnce(people, breaches int) {
	v.T.Helper()
	news := 0
	v.Clock.Advance(2 * time.Hour)
	v.RunJobs()
	for i := range people {
		all, err := v.Monitoring.ListFindings(
			context.Background(),
			v.Live.Partner,
			partner.UserHash(fmt.Sprint("u", i)),
		)
		if err != nil {
			v.T.Fatal(err)
		}
		if len(all) != breaches {
			v.T.Fatalf("person %d has %d findings of %d breaches", i, len(all), breaches)
		}
		for _, f := range all {
			if !f.Quiet {
				news++
			}
		}
	}
	told := v.EventsOf(v.Live)
	if leaks, changes := dumptest.CountLines(told, "leak "), dumptest.CountLines(told, "status "); leaks != news ||
		news < people*9/5 || news > 2*people || changes != people {
		v.T.Errorf("%d alerts and %d changes of status, wanted %d and %d", leaks, changes, news, people)
	}
	if left, err := v.Jobs.ListJobs(context.Background(), leak.KindMatch, 1000); err != nil || len(left) != breaches {
		v.T.Errorf("%d match jobs, %v", len(left), err)
	}
}
