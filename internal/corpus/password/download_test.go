package password

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

const standInRanges = 300

// standIn behaves like the public range service, for the first few hundred ranges, and misbehaves on request.
type standIn struct {
	*httptest.Server
	mu       sync.Mutex
	lines    map[string]string // by range
	tags     map[string]string
	bodies   int // answers with a body
	asked    int
	modes    map[string]int
	attempts map[string]int
	// misbehave may answer in place of the stand-in; it says whether it did.
	misbehave func(w http.ResponseWriter, number string, attempt int) bool
}

func newStandIn(t *testing.T, a Algorithm) *standIn {
	s := &standIn{
		lines:    map[string]string{},
		tags:     map[string]string{},
		modes:    map[string]int{},
		attempts: map[string]int{},
	}
	rest := strings.Repeat("7", a.hexDigits()-10)
	for n := range standInRanges {
		var b strings.Builder
		for i := range 1 + n%5 {
			fmt.Fprintf(&b, "%05X%s:%d\r\n", i*997+n, rest, 1+i*400)
		}
		s.set(fmt.Sprintf("%05X", n), strings.TrimSuffix(b.String(), "\r\n"))
	}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *standIn) set(number, lines string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines[number] = lines
	s.tags[number] = fmt.Sprintf(`W/"%x"`, len(s.tags[number])*31+len(lines)*7919+len(s.lines))
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number, isRange := strings.CutPrefix(r.URL.Path, "/range/")
	if !isRange { // the look before a download whether the service can be reached
		return
	}
	s.mu.Lock()
	s.asked++
	s.modes[r.URL.Query().Get("mode")]++
	s.attempts[number]++
	attempt, lines, tag, misbehave := s.attempts[number], s.lines[number], s.tags[number], s.misbehave
	s.mu.Unlock()
	if misbehave != nil && misbehave(w, number, attempt) {
		return
	}
	if lines == "" || r.Header.Get("User-Agent") == "" {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	s.mu.Lock()
	s.bodies++
	s.mu.Unlock()
	_, _ = fmt.Fprint(w, lines)
}

// reset forgets what was asked and returns how many requests and bodies there were.
func (s *standIn) reset() (asked, bodies int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, bodies = s.asked, s.bodies
	s.asked, s.bodies = 0, 0
	clear(s.attempts)
	return asked, bodies
}

func (s *standIn) job(a Algorithm) Download {
	return Download{
		Algorithm: a, Base: s.URL, Parallel: 8, ranges: standInRanges,
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

// same fails unless the library's corpus is exactly what the stand-in serves.
func (s *standIn) same(t *testing.T, l *Library, a Algorithm) {
	t.Helper()
	var inputs []Input
	s.mu.Lock()
	for number, lines := range s.lines {
		inputs = append(inputs, text(number, lines))
	}
	s.mu.Unlock()
	reference := newLibrary(t)
	mustImport(t, reference, a, inputs...)
	got, errGot := l.readManifest()
	want, errWant := reference.readManifest()
	if err := errors.Join(errGot, errWant, l.VerifyFiles(ctx)); err != nil {
		t.Fatal(err)
	}
	g, w := got.Corpora[a.String()], want.Corpora[a.String()]
	if g.Digest != w.Digest || g.WideDigest != w.WideDigest || g.Entries == 0 || g.Widely == 0 {
		t.Fatalf(
			"the corpus is not what the service has: %d entries, %d widely; want %d, %d",
			g.Entries,
			g.Widely,
			w.Entries,
			w.Widely,
		)
	}
}

func TestDownloadThenOnlyWhatChanged(t *testing.T) {
	for _, a := range Algorithms {
		s, l := newStandIn(t, a), newLibrary(t)
		if _, err := l.DownloadCorpus(ctx, s.job(a)); err != nil {
			t.Fatal(err)
		}
		s.same(t, l, a)
		if mode := map[Algorithm]string{SHA1: "", NTLM: "ntlm"}[a]; s.modes[mode] != standInRanges {
			t.Errorf("%v: modes asked for: %v", a, s.modes)
		}
		s.reset()
		c, err := l.DownloadCorpus(ctx, s.job(a))
		if err != nil {
			t.Fatal(err)
		}
		if asked, bodies := s.reset(); asked != standInRanges || bodies != 0 {
			t.Errorf("nothing changed, but %d requests brought %d bodies", asked, bodies)
		}
		if c.Source != s.URL {
			t.Errorf("source %q", c.Source)
		}
		s.same(t, l, a)
		s.set(
			"00007",
			"ABCDE"+strings.Repeat("0", a.hexDigits()-10)+":5000\r\nABCDF"+strings.Repeat("0", a.hexDigits()-10)+":1",
		)
		if _, err := l.DownloadCorpus(ctx, s.job(a)); err != nil {
			t.Fatal(err)
		}
		if _, bodies := s.reset(); bodies != 1 {
			t.Errorf("one range changed, but %d were fetched", bodies)
		}
		s.same(t, l, a)
		checker := newChecker(t, l)
		expect(t, checker, "00007ABCDE", WidelyExposed)
		expect(t, checker, "00007ABCDF", Exposed)
	}
}

func TestDownloadResumes(t *testing.T) {
	s, l := newStandIn(t, SHA1), newLibrary(t)
	mustImport(t, l, SHA1, text("old", sha1Hex("old")))
	stop, cancel := context.WithCancel(ctx)
	job := s.job(SHA1)
	job.Progress = func(p Progress) {
		if p.Done == 100 {
			cancel()
		}
	}
	if _, err := l.DownloadCorpus(stop, job); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	expect(t, newChecker(t, l), sha1Hex("old"), Exposed)
	s.reset()
	if _, err := l.DownloadCorpus(ctx, s.job(SHA1)); err != nil {
		t.Fatal(err)
	}
	// Requests of the first download that were under way may have been counted late.
	if asked, _ := s.reset(); asked > standInRanges-100+8 {
		t.Errorf("%d requests after 100 of %d ranges were there", asked, standInRanges)
	}
	s.same(t, l, SHA1)
	if left, err := os.ReadDir(l.dir); err != nil || len(left) != 5 {
		t.Errorf("files: %v %v", left, err)
	}
}

// A journal that a crash cut or spoilt anywhere costs the ranges behind the damage, never the truth.
func TestDamagedJournal(t *testing.T) {
	s, l := newStandIn(t, SHA1), newLibrary(t)
	job := s.job(SHA1)
	job.Parallel = 1
	stop, cancel := context.WithCancel(ctx)
	job.Progress = func(p Progress) {
		if p.Done == 40 {
			cancel()
		}
	}
	if _, err := l.DownloadCorpus(stop, job); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	step := 151
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		step = 37
	}
	path := l.filePath("sha1.download")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += step {
		for _, flip := range []bool{true, false} {
			damaged := []byte(string(whole))
			if damaged[at] ^= 0xff; !flip {
				damaged = whole[:at]
			}
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			s.reset()
			job := s.job(SHA1)
			if _, err := l.DownloadCorpus(ctx, job); err != nil {
				t.Fatalf("damage at %d: %v", at, err)
			}
			s.same(t, l, SHA1)
			if err := os.Remove(l.filePath("manifest.json")); err != nil { // the next round starts without tags
				t.Fatal(err)
			}
		}
	}
}

func TestDownloadSurvivesFaults(t *testing.T) {
	s, l := newStandIn(t, SHA1), newLibrary(t)
	faults := []func(http.ResponseWriter, string){
		func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusInternalServerError) },
		func(w http.ResponseWriter, _ string) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		},
		func(w http.ResponseWriter, _ string) { // another date than the library's clock, 90 s later
			w.Header().Set("Retry-After", someday().Add(90*time.Second).Format(http.TimeFormat))
			w.WriteHeader(http.StatusServiceUnavailable)
		},
		func(w http.ResponseWriter, number string) { // cut
			w.Header().Set("Content-Length", "1000")
			_, _ = fmt.Fprint(w, s.lines[number])
			panic(http.ErrAbortHandler)
		},
		func(http.ResponseWriter, string) { panic(http.ErrAbortHandler) }, // reset
		func(w http.ResponseWriter, _ string) { _, _ = fmt.Fprint(w, "<html>please log in</html>") },
		func(w http.ResponseWriter, number string) { _, _ = fmt.Fprint(w, s.lines[number][:20]) },
		func(w http.ResponseWriter, _ string) { w.(http.Flusher).Flush() }, // chunked, and nothing in it
		func(w http.ResponseWriter, number string) { _, _ = fmt.Fprint(w, "0"+s.lines[number]) },
	}
	s.misbehave = func(w http.ResponseWriter, number string, attempt int) bool {
		var n int
		if _, err := fmt.Sscanf(number, "%X", &n); err != nil {
			t.Errorf("range %q: %v", number, err)
		}
		if attempt > 1+n%3 || n%2 == 0 {
			return false
		}
		faults[(n/2+attempt)%len(faults)](w, number)
		return true
	}
	s.Config.ErrorLog = nil
	job := s.job(SHA1)
	var mu sync.Mutex
	waits := map[time.Duration]int{}
	job.Chance = func() float64 { return 0 }
	job.Wait = func(_ context.Context, d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		waits[d]++
		return nil
	}
	if _, err := l.DownloadCorpus(ctx, job); err != nil {
		t.Fatal(err)
	}
	s.same(t, l, SHA1)
	for _, d := range []time.Duration{firstWait / 2, firstWait, 7 * time.Second, 90 * time.Second} {
		if waits[d] == 0 {
			t.Errorf("never waited %v: %v", d, waits)
		}
	}
}

// TestDownloadUnreachable: an address where no service answers is told by name, without the attempts of a range.
func TestDownloadUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	waited := false
	job := Download{
		Algorithm: SHA1,
		Base:      server.URL,
		Wait:      func(context.Context, time.Duration) error { waited = true; return nil },
	}
	_, err := newLibrary(t).DownloadCorpus(ctx, job)
	if !errors.Is(err, ErrRangeServer) ||
		!strings.Contains(err.Error(), "cannot reach "+strings.TrimPrefix(server.URL, "http://")) ||
		waited {
		t.Error(err, waited)
	}
}

func TestDownloadGivesUp(t *testing.T) {
	for name, status := range map[string]int{
		"for good":           http.StatusForbidden,
		"after all attempts": http.StatusBadGateway, "unasked 304": http.StatusNotModified,
	} {
		s, l := newStandIn(t, SHA1), newLibrary(t)
		mustImport(t, l, SHA1, text("old", sha1Hex("old")))
		s.misbehave = func(w http.ResponseWriter, number string, _ int) bool {
			if number == "00055" {
				w.WriteHeader(status)
			}
			return number == "00055"
		}
		_, err := l.DownloadCorpus(ctx, s.job(SHA1))
		if !errors.Is(err, ErrRangeServer) || fault.KindOf(err) != fault.Unavailable ||
			!strings.Contains(err.Error(), "00055") {
			t.Errorf("%s: %v", name, err)
		}
		expect(t, newChecker(t, l), sha1Hex("old"), Exposed)
	}
	l := newLibrary(t)
	for _, base := range []string{"ftp://x", "://", "nothing", "http://"} {
		if _, err := l.DownloadCorpus(ctx, Download{Algorithm: SHA1, Base: base}); !errors.Is(err, ErrInput) {
			t.Errorf("%q: %v", base, err)
		}
	}
}

// Tags that do not fit the corpus must not be believed: a range that the service calls unchanged would be taken from
// elsewhere.
func TestForeignTagsAreNotUsed(t *testing.T) {
	s, l := newStandIn(t, SHA1), newLibrary(t)
	if _, err := l.DownloadCorpus(ctx, s.job(SHA1)); err != nil {
		t.Fatal(err)
	}
	m, err := l.readManifest()
	if err != nil {
		t.Fatal(err)
	}
	tags := l.filePath(m.Corpora["sha1"].TagFile)
	whole, err := os.ReadFile(tags)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 97 {
		damaged := []byte(string(whole))
		damaged[at] ^= 1
		var table tagTable
		if decodeLine(damaged, &table) || decodeLine(whole[:at], &table) {
			t.Fatalf("damage at %d gave %d tags", at, len(table.Tags))
		}
	}
	other := newStandIn(t, SHA1) // same tags, another service
	if _, err := l.DownloadCorpus(ctx, other.job(SHA1)); err != nil {
		t.Fatal(err)
	}
	if _, bodies := other.reset(); bodies != standInRanges {
		t.Errorf("%d bodies from another service", bodies)
	}
	mustImport(t, l, SHA1, text("imported", sha1Hex("imported")))
	other.reset()
	if _, err := l.DownloadCorpus(ctx, other.job(SHA1)); err != nil {
		t.Fatal(err)
	}
	if _, bodies := other.reset(); bodies != standInRanges {
		t.Errorf("%d bodies after an import", bodies)
	}
	other.same(t, l, SHA1)
}

func TestImportDuringUpdateMakesItStartAgain(t *testing.T) {
	s, l := newStandIn(t, SHA1), newLibrary(t)
	if _, err := l.DownloadCorpus(ctx, s.job(SHA1)); err != nil {
		t.Fatal(err)
	}
	job := s.job(SHA1)
	job.Progress = func(p Progress) {
		if p.Done == 5 {
			mustImport(t, l, SHA1, text("x", sha1Hex("meanwhile")))
		}
		if p.Done == 6 {
			if _, err := l.DownloadCorpus(ctx, s.job(SHA1)); !errors.Is(err, ErrBusy) {
				t.Errorf("a second download: %v", err)
			}
		}
	}
	if _, err := l.DownloadCorpus(ctx, job); !errors.Is(err, ErrBusy) {
		t.Errorf("error %v", err)
	}
	expect(t, newChecker(t, l), sha1Hex("meanwhile"), Exposed)
	if _, err := l.DownloadCorpus(ctx, s.job(SHA1)); err != nil {
		t.Fatal(err)
	}
	s.same(t, l, SHA1)
}
