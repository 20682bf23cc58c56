package stored_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// replica is a worker with a machine of its own: its store, its folder, its copy of the files. The bucket is shared.
type replica struct {
	*env
	name     string
	spreader *intake.Spreader
	scanned  int
}

func newReplica(t *testing.T, e *storetest.Env, name, bucket string) *replica {
	t.Helper()
	own := storetest.ReopenStore(t, e.Address, e.Folder, e.Keys, e.Clock)
	files, err := library.OpenFiles(filepath.Join(e.Folder, name, "corpora"), bucket)
	if err != nil {
		t.Fatal(err)
	}
	v := &env{Env: own, T: t, Files: files, Importer: &intake.Importer{
		Store:       own.Breaches,
		Jobs:        own.Jobs,
		Files:       files,
		Dir:         filepath.Join(e.Folder, name, "import"),
		Fingerprint: e.Keys.Fingerprint,
		Pair:        e.Keys.PairFingerprint,
		Tables:      e.Keys,
		Now:         e.Clock.Now,
		Workers:     2,
	}}
	v.Matcher, v.Rules = leak.NewMatcher(own.Breaches, files, e.Keys, v.Importer.DropParts, e.Clock.Now), leak.NewBreaches(own.Breaches, e.Clock.Now)
	v.Matcher.Settle = 0
	v.Importer.SpanBytes = spreadPiece
	r := &replica{env: v, name: name, spreader: &intake.Spreader{Importer: v.Importer, Client: http.DefaultClient}}
	r.spreader.Every = time.Millisecond
	return r
}

const (
	spreadPiece = 40_000
	spreadPart  = 100_000
)

func sharedBucket(e *storetest.Env) string {
	dir := filepath.Join(e.Folder, "bucket")
	_ = os.MkdirAll(dir, 0o700)
	return "file://" + dir
}

func (r *replica) spread(name string, args ...string) error {
	r.T.Helper()
	inputs, err := intake.ListInputs(context.Background(), http.DefaultClient, args)
	if err != nil {
		r.T.Fatal(err)
	}
	return r.Importer.SpreadImport(
		context.Background(),
		intake.Spec{Breach: makeBreach(name, cyber.SourceBreach, cyber.ExposedEmail), Inputs: inputs},
		spreadPart,
	)
}

// claim takes one due job of a kind.
func (r *replica) claim(kind string) (job.Job, bool) {
	r.T.Helper()
	jobs, err := r.Jobs.ClaimJobs(context.Background(), r.name, []string{kind}, 1)
	if err != nil {
		r.T.Fatal(err)
	}
	if len(jobs) > 1 {
		r.T.Fatalf("%d jobs instead of one", len(jobs))
	}
	if len(jobs) == 0 {
		return job.Job{}, false
	}
	return jobs[0], true
}

// do runs a claimed job as a server does, and returns its error.
func (r *replica) do(j job.Job) error {
	r.T.Helper()
	ctx := context.Background()
	step := r.spreader.RunImportPart
	if j.Kind == intake.KindSpread {
		step = r.spreader.WatchParts
	}
	err := step(
		ctx,
		&job.Run{Job: j, Save: func(ctx context.Context, p any) error { return r.Jobs.SaveJob(ctx, r.name, j.ID, p) }},
	)
	state, reason := job.Done, ""
	switch {
	case errors.Is(err, job.ErrLost):
		return err
	case errors.Is(err, job.ErrCancelled):
		state = job.Cancelled
	case fault.KindOf(err) == fault.Invalid:
		state, reason = job.Failed, err.Error()
	case err != nil:
		state, reason = job.Ready, err.Error()
	}
	if ferr := r.Jobs.FinishJob(ctx, r.name, j, state, reason); ferr != nil {
		r.T.Fatal(ferr)
	}
	return err
}

// part scans one part, if there is one.
func (r *replica) part() bool {
	r.T.Helper()
	j, ok := r.claim(intake.KindPart)
	if ok {
		if err := r.do(j); err != nil {
			r.T.Fatalf("%s: %v", j.Subject, err)
		}
		r.scanned++
	}
	return ok
}

// finish merges and publishes what is scanned.
func (r *replica) finish(name string) leak.Record {
	r.T.Helper()
	j, ok := r.claim(intake.KindSpread)
	if !ok {
		r.T.Fatal("there is no import to watch")
	}
	parts, err := r.Breaches.ListParts(context.Background(), name)
	for _, p := range parts {
		if p.State != job.Done {
			r.T.Fatalf("%s is %s: %s, %v", p.Subject, p.State, p.Error, err)
		}
	}
	if err := r.do(j); err != nil {
		r.T.Fatal(err)
	}
	rec, err := r.Breaches.BreachByName(context.Background(), name)
	if err != nil {
		r.T.Fatal(err)
	}
	return rec
}

// spreadDumps are files of every kind that is read differently.
func spreadDumps(t *testing.T, e *storetest.Env, seed uint64) string {
	t.Helper()
	dir := filepath.Join(e.Folder, fmt.Sprint("dumps", seed))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	large, _ := madeUpDump(seed, 1_100_000, e.Keys.Fingerprint)
	packed, _ := madeUpDump(seed+1, 300_000, e.Keys.Fingerprint)
	exact, _ := madeUpDump(seed+2, 13*spreadPiece+1024+5000, e.Keys.Fingerprint)
	files := map[string][]byte{
		"large.txt": large, "packed.gz": gzipText(t, packed), "members.tar": tarOf(t, packed, 20_000),
		"exact.txt": exact[:13*spreadPiece+1024], // ends where a piece ends
		"mail.eml":  append([]byte("From someone\nMime-Version: 1.0\n\n"), packed...),
	}
	for i := range 5 {
		files[fmt.Sprint("small", i)] = large[i*5000 : i*5000+4000]
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// nothingLeft: no part is in a table, a bucket or a folder.
func nothingLeft(t *testing.T, e *storetest.Env, breach string, replicas ...*replica) {
	t.Helper()
	if parts, err := e.Breaches.ListParts(context.Background(), breach); err != nil || len(parts) != 0 {
		t.Errorf("%d rows left, %v", len(parts), err)
	}
	for _, r := range replicas {
		if names, err := r.Files.ListLocal(); err != nil ||
			slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, ".part-") }) {
			t.Errorf("%s keeps %v, %v", r.name, names, err)
		}
		if left, err := os.ReadDir(filepath.Join(r.Importer.Dir, ".spread")); len(left) > 0 {
			t.Errorf("%s keeps %v, %v", r.name, left, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(e.Folder, "bucket", "*.part-*")); err != nil || len(left) != 0 {
		t.Errorf("the bucket keeps %v, %v", left, err)
	}
}

// TestSpreadEqualsUnsplit: two workers with nothing in common but the database and a bucket share an import. Its file
// is that of an import in one process, byte for byte but for the name in it, and its counts are the same.
func TestSpreadEqualsUnsplit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		bucket := sharedBucket(e)
		a, b := newReplica(t, e, "a", bucket), newReplica(t, e, "b", bucket)
		dir := spreadDumps(t, e, 5)
		whole := a.Import(makeBreach("inteiro", cyber.SourceBreach, cyber.ExposedEmail), dir).Record
		if err := a.spread("partes", dir); err != nil {
			t.Fatal(err)
		}
		parts, err := e.Breaches.ListParts(context.Background(), "partes")
		if err != nil || len(parts) < 6 {
			t.Fatalf("%d parts, %v", len(parts), err)
		}
		a.part()
		// A watch that begins early waits for the last part.
		watch, _ := b.claim(intake.KindSpread)
		watched := make(chan error, 1)
		looked := make(chan struct{}, 1000)
		go func() {
			watched <- b.spreader.WatchParts(context.Background(), &job.Run{Job: watch, Save: func(ctx context.Context, p any) error {
				select {
				case looked <- struct{}{}:
				default:
				}
				return b.Jobs.SaveJob(ctx, b.name, watch.ID, p)
			}})
		}()
		<-looked
		<-looked // so it has seen one part done and the others waiting
		for more := true; more; {
			more = a.part()
			more = b.part() || more
		}
		if err := <-watched; err != nil {
			t.Fatal(err)
		}
		if a.scanned == 0 || b.scanned == 0 || a.scanned+b.scanned != len(parts) {
			t.Errorf("%d and %d of %d parts", a.scanned, b.scanned, len(parts))
		}
		got, err := b.Breaches.BreachByName(context.Background(), "partes")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(b.keysOf(got), a.keysOf(whole)) {
			t.Errorf("%d keys, in one process %d", got.Tally.Distinct, whole.Tally.Distinct)
		}
		if got.Pairs == "" || got.PairsDigest != whole.PairsDigest {
			t.Errorf("other pairs: %q and %q", got.Pairs, whole.Pairs)
		}
		if g, w := asJSON(t, got.Tally), asJSON(t, whole.Tally); g != w {
			t.Errorf("counts\n got %s\nwant %s", g, w)
		}
		if _, err := e.Jobs.NewestJobOf(context.Background(), leak.KindMatch, "partes"); err != nil {
			t.Error("no match follows:", err)
		}
		nothingLeft(t, e, "partes", a, b)
		if err := a.spread("partes", dir); !errors.Is(err, leak.ErrBreachExists) {
			t.Error("again:", err)
		}
	})
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSpreadReaches: objects of a bucket, plain and packed, and addresses are scanned where a worker finds them.
func TestSpreadReaches(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		a := newReplica(t, e, "a", sharedBucket(e))
		dir := spreadDumps(t, e, 9)
		files := http.FileServer(http.Dir(dir))
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("token") != "s3cr3t" { // a signed link
				w.WriteHeader(http.StatusForbidden)
				return
			}
			files.ServeHTTP(w, r)
		}))
		defer web.Close()
		inputs := []string{
			"file://" + dir + "/large.txt",
			"file://" + dir + "/members.tar",
			web.URL + "/packed.gz?token=s3cr3t",
		}
		whole := a.Import(
			makeBreach("inteiro", cyber.SourceBreach, cyber.ExposedEmail),
			dir+"/large.txt",
			dir+"/members.tar",
			dir+"/packed.gz",
		)
		if err := a.spread("longe", inputs...); err != nil {
			t.Fatal(err)
		}
		if err := a.spread("longe", inputs...); err != nil {
			t.Fatal("the same call again:", err)
		}
		noSecretInRows(t, e)
		for a.part() {
		}
		noSecretInRows(t, e)
		if a.scanned != 3 {
			t.Errorf("%d parts of three files", a.scanned)
		}
		got := a.finish("longe")
		if !slices.Equal(a.keysOf(got), a.keysOf(whole.Record)) || asJSON(t, got.Tally) != asJSON(t, whole.Tally) {
			t.Errorf("%d keys, in one process %d", got.Tally.Distinct, whole.Tally.Distinct)
		}
		if left, err := e.Breaches.SpreadAddresses(context.Background(), "longe"); err != nil || len(left) != 0 {
			t.Errorf("the address outlives the import: %d, %v", len(left), err)
		}
	})
}

// noSecretInRows: what signs a link is readable in no row.
func noSecretInRows(t *testing.T, e *storetest.Env) {
	t.Helper()
	for _, column := range []string{"args FROM job", "progress FROM job", "error FROM job", "addresses FROM import_source"} {
		rows, err := e.DB.ReadPool().Query("SELECT " + column)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for ; rows.Next(); n++ {
			var text []byte
			if err := rows.Scan(&text); err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(text, []byte("s3cr3t")) {
				t.Errorf("%s: %s", column, text)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil || n == 0 {
			t.Errorf("%s: %d rows, %v", column, n, err)
		}
	}
}

// TestSpreadFails: a part that cannot be read fails the import with a reason that names the file; when it can be read
// again, the same call goes on, and what was done is not done again.
func TestSpreadFails(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		a := newReplica(t, e, "a", sharedBucket(e))
		dir := spreadDumps(t, e, 15)
		gone := filepath.Join(dir, "packed.gz")
		if err := a.spread("falha", dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(gone, gone+"~"); err != nil {
			t.Fatal(err)
		}
		done := 0
		for tries := 0; ; {
			j, ok := a.claim(intake.KindPart)
			if !ok {
				if tries >= 8 {
					break
				}
				e.Clock.Advance(10 * time.Minute)
				continue
			}
			if err := a.do(j); err == nil {
				done++
			} else if tries++; tries > 8 {
				t.Fatalf("try %d: %v", tries, err)
			}
		}
		watch, _ := a.claim(intake.KindSpread)
		if err := a.do(watch); !errors.Is(err, intake.ErrInput) || !strings.Contains(err.Error(), gone) ||
			!strings.Contains(err.Error(), "8 tries") {
			t.Fatalf("the import: %v", err)
		}
		if err := os.Rename(gone+"~", gone); err != nil {
			t.Fatal(err)
		}
		if err := a.spread("falha", filepath.Join(dir, "large.txt")); !errors.Is(err, intake.ErrInput) {
			t.Error("with other inputs:", err)
		}
		if err := a.spread("falha", dir); err != nil {
			t.Fatal(err)
		}
		for a.part() {
		}
		if a.scanned == 0 || a.scanned >= done {
			t.Errorf("%d parts are scanned again after %d were done", a.scanned, done)
		}
		whole := a.Import(makeBreach("inteiro", cyber.SourceBreach, cyber.ExposedEmail), dir).Record
		if got := a.finish("falha"); !slices.Equal(a.keysOf(got), a.keysOf(whole)) {
			t.Error("the keys differ")
		}
		// A file that changes under the import can no longer be scanned as it was.
		if err := a.spread("mudou", dir); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "large.txt"), []byte("ana@exemplo.com.br"), 0o600); err != nil {
			t.Fatal(err)
		}
		var failed error
		for j, ok := a.claim(intake.KindPart); ok; j, ok = a.claim(intake.KindPart) {
			failed = errors.Join(failed, a.do(j))
		}
		if !errors.Is(failed, intake.ErrInput) || !strings.Contains(failed.Error(), "large.txt changed") {
			t.Error("a changed file:", failed)
		}
	})
}

// TestSpreadEnds: cancelling stops the parts and the same call goes on; retracting takes all of it away, even from a
// worker that is at a part and knows nothing of it.
func TestSpreadEnds(t *testing.T) {
	ctx := context.Background()
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		bucket := sharedBucket(e)
		a, b := newReplica(t, e, "a", bucket), newReplica(t, e, "b", bucket)
		dir := spreadDumps(t, e, 21)
		if err := a.spread("fim", dir); err != nil {
			t.Fatal(err)
		}
		a.part()
		watch, _ := b.claim(intake.KindSpread)
		if err := e.Jobs.CancelJob(ctx, watch.ID); err != nil {
			t.Fatal(err)
		}
		if err := b.do(watch); !errors.Is(err, job.ErrCancelled) {
			t.Fatal("the watch:", err)
		}
		if a.part() {
			t.Error("a part of a cancelled import is scanned")
		}
		if err := a.spread("fim", dir); err != nil {
			t.Fatal(err)
		}
		a.part()
		late, _ := b.claim(intake.KindPart) // by a worker that is slow
		if _, err := a.Rules.RetractBreach(ctx, "fim"); err != nil {
			t.Fatal(err)
		}
		a.RunJobs()
		if err := b.do(late); !errors.Is(err, job.ErrLost) && !errors.Is(err, job.ErrCancelled) {
			t.Error("the slow worker:", err)
		}
		if watch, ok := b.claim(intake.KindSpread); ok {
			if err := b.do(watch); !errors.Is(err, job.ErrCancelled) {
				t.Error("the watch of what was retracted:", err)
			}
		}
		nothingLeft(t, e, "fim", a, b)
		if r, err := e.Breaches.BreachByName(ctx, "fim"); err != nil || r.State != leak.Retracted {
			t.Error(r.State, err)
		}
		if err := a.spread("fim", dir); !errors.Is(err, leak.ErrRetracted) {
			t.Error("after the retraction:", err)
		}
	})
}

// TestSpreadChild is a worker that its parent kills.
func TestSpreadChild(t *testing.T) {
	orders := strings.Split(os.Getenv(childVariable), "\n")
	if len(orders) != 3 || orders[0] != "spread" {
		return // the parent is TestKilledPart
	}
	keys, err := seal.OpenKeyFile(orders[2] + "/keys.json")
	if err != nil {
		t.Fatal(err)
	}
	e := storetest.ReopenStore(t, orders[1], orders[2], keys, storetest.NewClock())
	r := newReplica(t, e, "child", sharedBucket(e))
	j, ok := r.claim(intake.KindPart)
	if !ok {
		t.Fatal("there is no part")
	}
	err = r.spreader.RunImportPart(context.Background(), &job.Run{Job: j, Save: func(ctx context.Context, p any) error {
		if err := r.Jobs.SaveJob(ctx, r.name, j.ID, p); err != nil {
			return err
		}
		fmt.Println("in the middle of", j.Subject)
		select {} // until it is killed
	}})
	t.Fatal("the part ended:", err)
}

// TestKilledPart kills a worker, as kill -9 does, while it is at a part. Nobody else gets the part before its lease is
// over; then another worker scans it, and the outcome is that of an undisturbed import.
func TestKilledPart(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		a := newReplica(t, e, "a", sharedBucket(e))
		dir := spreadDumps(t, e, 27)
		whole := a.Import(makeBreach("inteiro", cyber.SourceBreach, cyber.ExposedEmail), dir).Record
		if err := a.spread("morto", dir); err != nil {
			t.Fatal(err)
		}
		child := exec.Command(os.Args[0], "-test.run", "^TestSpreadChild$", "-test.v")
		child.Env = append(os.Environ(), childVariable+"="+strings.Join([]string{"spread", e.Address, e.Folder}, "\n"))
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		said := bufio.NewScanner(out)
		for said.Scan() && !strings.HasPrefix(said.Text(), "in the middle of ") {
		}
		victim := strings.TrimPrefix(said.Text(), "in the middle of ")
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // killed
		if victim == "" {
			t.Fatal("the worker did not get to a part")
		}
		for a.part() {
		}
		early := a.scanned
		e.Clock.Advance(job.Lease + time.Second)
		for a.part() {
		}
		if a.scanned != early+1 {
			t.Errorf("%d parts were taken up after the lease", a.scanned-early)
		}
		got := a.finish("morto")
		if !slices.Equal(a.keysOf(got), a.keysOf(whole)) || asJSON(t, got.Tally) != asJSON(t, whole.Tally) {
			t.Errorf("%s\nin one process %s", asJSON(t, got.Tally), asJSON(t, whole.Tally))
		}
		// The next part on the dead worker's machine clears its folder.
		child2 := newReplica(t, e, "child", sharedBucket(e))
		if err := child2.spread("depois", filepath.Join(dir, "packed.gz")); err != nil {
			t.Fatal(err)
		}
		for child2.part() {
		}
		child2.finish("depois")
		nothingLeft(t, e, "morto", a, child2)
	})
}
