package leak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/job"
)

var errAway = errors.New("the database is away")

// registers is a store that fails at will: failAt names the call that fails, or a call and how often it went well.
type registers struct {
	Store
	breach   Record
	watched  []int64
	late     []int64
	hits     []int64
	open     int         // findings that are not withdrawn yet
	others   []Candidate // values of the people who are listed
	findings []cyber.FindingID
	pending  []DueLook
	settled  []string
	segments []Segment
	epoch    int64
	mu       sync.Mutex // a match reads and writes at once
	calls    []string
	failAt   string
}

func (s *registers) call(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, name)
	if n := count(s.calls, name); s.failAt == name || s.failAt == fmt.Sprint(name, n) {
		return errAway
	}
	return nil
}

func count(list []string, what string) (n int) {
	for _, c := range list {
		if c == what {
			n++
		}
	}
	return n
}

func (s *registers) BreachByName(context.Context, string) (Record, error) {
	return s.breach, s.call("breach")
}

// above are the values of one partner behind a place, the last of them first.
func above(list []int64, after Place, limit int) (all []Probes, last Place) {
	var probes []uint64
	i, _ := slices.BinarySearch(list, after.At+1)
	for _, v := range list[i:min(len(list), i+limit)] {
		probes, after.At = append(probes, uint64(v)), v
	}
	slices.Reverse(probes)
	return []Probes{{"prt", probes}}, after
}

func (s *registers) ListProbes(_ context.Context, after Place, limit int) ([]Probes, Place, error) {
	probes, last := above(s.watched, after, limit)
	return probes, last, s.call("watched")
}

func (s *registers) ProbesSince(_ context.Context, since time.Time, after Place, limit int) ([]Probes, Place, error) {
	s.calls = append(s.calls, "since "+s.breach.PublishedAt.Sub(since).String())
	probes, last := above(s.late, after, limit)
	return probes, last, s.call("late")
}

func (s *registers) ListWatchers(_ context.Context, asked Probes) (list []Watcher, err error) {
	for _, f := range asked.Fingerprints {
		list = append(list, Watcher{cyber.AssetID(fmt.Sprintf("as%d", f)), "user"})
	}
	return list, s.call("watchers")
}

func (s *registers) ListUntold(_ context.Context, _ string, _ partner.ID, watchers []Watcher) ([]Candidate, error) {
	var list []Candidate
	for _, w := range watchers {
		if f := printOf(w.Asset); !slices.Contains(s.hits, f) {
			list = append(list, Candidate{w.Asset, uint64(f)})
		}
	}
	return append(list, s.others...), s.call("untold")
}

// printOf is the fingerprint of a value of registers.
func printOf(asset cyber.AssetID) (fingerprint int64) {
	if _, err := fmt.Sscanf(string(asset), "as%d", &fingerprint); err != nil {
		panic(err)
	}
	return fingerprint
}

func (s *registers) TellHits(_ context.Context, _ partner.ID, hits []Hit) (int, error) {
	before := len(s.hits)
	for _, h := range hits {
		s.hits = append(s.hits, printOf(h.Asset))
	}
	slices.Sort(s.hits[before:]) // they come in no order
	return len(hits), s.call("tell")
}

func (s *registers) WithdrawFindings(_ context.Context, _ string, limit int) (int, error) {
	n := min(s.open, limit)
	s.open -= n
	return n, s.call("withdraw")
}

func (s *registers) RestateFindings(
	_ context.Context,
	_ string,
	after cyber.FindingID,
	_ int,
) (cyber.FindingID, error) {
	for _, f := range s.findings {
		if f > after {
			return f, s.call("restate")
		}
	}
	return "", s.call("restate")
}

func (s *registers) RejudgeFindings(
	_ context.Context,
	_ string,
	since time.Time,
	after cyber.FindingID,
	_ int,
	_ Tracer,
) (Rejudged, error) {
	s.calls = append(s.calls, "rejudge since "+s.breach.ChangedAt().Sub(since).String())
	for _, f := range s.findings {
		if f > after {
			return Rejudged{Last: f, Checked: 1, Withdrawn: 1}, s.call("rejudge")
		}
	}
	return Rejudged{}, s.call("rejudge")
}

func (s *registers) ForgetFormer(_ context.Context, r Record) error {
	s.breach.Former = slices.DeleteFunc(s.breach.Former, func(f string) bool { return slices.Contains(r.Former, f) })
	return s.call("forget")
}

func (s *registers) CorporaEpoch(context.Context) (int64, error) { return s.epoch, s.call("epoch") }

func (s *registers) ListSegments(context.Context) ([]Segment, int64, error) {
	return s.segments, s.epoch, s.call("segments")
}

func (s *registers) ListDueLooks(_ context.Context, after DuePlace, limit int) ([]DueLook, error) {
	behind := slices.DeleteFunc(slices.Clone(s.pending), func(d DueLook) bool { return !d.Since.After(after.Since) })
	return behind[:min(limit, len(behind))], s.call("pending")
}

func (s *registers) SettleLooks(
	_ context.Context,
	_ partner.ID,
	epoch int64,
	looked []cyber.AssetID,
	hits []Hit,
) (int, error) {
	for _, asset := range looked {
		s.settled = append(s.settled, fmt.Sprint(asset, hits, epoch))
	}
	before := len(s.pending)
	if epoch != 0 {
		s.pending = slices.DeleteFunc(s.pending, func(d DueLook) bool { return slices.Contains(looked, d.Asset) })
	}
	return before - len(s.pending), s.call("settle")
}

// stuckRegisters are registers with a partner whose rows cannot be written.
type stuckRegisters struct{ *registers }

func (s stuckRegisters) SettleLooks(
	ctx context.Context,
	id partner.ID,
	epoch int64,
	looked []cyber.AssetID,
	hits []Hit,
) (int, error) {
	if id == "stuck" {
		return 0, errAway
	}
	return s.registers.SettleLooks(ctx, id, epoch, looked, hits)
}

// TestSettlePassesWhatIsStuck: values that cannot be settled do not hold up those of other partners, neither in their
// batch nor behind it, and are tried again.
func TestSettlePassesWhatIsStuck(t *testing.T) {
	l, s, _ := newLibrary(t)
	l.store = stuckRegisters{s}
	if err := l.LoadPublished(t.Context()); err != nil {
		t.Fatal(err)
	}
	const stuck, all = 2*dueBatch - 1, 3*dueBatch + 7
	for i := range all {
		due := DueLook{
			Asset:       cyber.AssetID(fmt.Sprint("as", i)),
			Fingerprint: 2,
			Since:       time.UnixMicro(int64(i + 1)),
		}
		if i < stuck {
			due.Partner = "stuck"
		}
		s.pending = append(s.pending, due)
	}
	settled, failures := 0, 0
	for range 4 { // as many calls as there are batches: the last begins with the oldest again
		done, err := l.SettleDueLooks(t.Context())
		if settled += done; err != nil {
			failures++
		}
	}
	if settled != all-stuck || failures != 3 || len(s.pending) != stuck {
		t.Errorf("%d settled, %d left, %d of four calls failed", settled, len(s.pending), failures)
	}
}

// foldersOfFiles are the folders of what filesWith made.
var foldersOfFiles sync.Map

// listSegments returns the names of the segments that are in the folder.
func listSegments(files *library.Files) ([]string, error) {
	dir, _ := foldersOfFiles.Load(files)
	paths, err := filepath.Glob(filepath.Join(dir.(string), "*.seg"))
	for i, path := range paths {
		paths[i] = filepath.Base(path)
	}
	return paths, err
}

// filesWith makes files, and in them segments of the given keys.
func filesWith(t *testing.T, segments map[string][]uint64) (*library.Files, map[string]Segment) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "corpora")
	files, err := library.OpenFiles(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	foldersOfFiles.Store(files, dir)
	made := map[string]Segment{}
	for name, keys := range segments {
		path := filepath.Join(t.TempDir(), name)
		w, err := segment.CreateSegment(path, segment.Options{Width: segment.Bits64})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.AddKeys(keys); err != nil {
			t.Fatal(err)
		}
		sum, err := w.Commit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := files.PublishFile(t.Context(), name+".seg", path); err != nil {
			t.Fatal(err)
		}
		made[name] = Segment{Breach: name, File: name + ".seg", Digest: sum.Digest.String()}
	}
	return files, made
}

var publication = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// ran is a job's run that remembers what was saved.
func ran(progress string, s *registers) (*job.Run, *[]string) {
	var saved []string
	return &job.Run{Job: job.Job{Subject: "loja", Progress: []byte(progress)}, Save: func(_ context.Context, p any) error {
		text, err := json.Marshal(p)
		saved = append(saved, string(text))
		return errors.Join(err, s.call("save"))
	}}, &saved
}

func newMatcher(t *testing.T) (*Matcher, *registers) {
	t.Helper()
	files, made := filesWith(t, map[string][]uint64{"loja": {2, 3, 5, 7}})
	s := &registers{watched: []int64{1, 2, 3, 4}, late: []int64{4, 5, 6}}
	s.breach = Record{
		Breach:      cyber.Breach{Name: "loja"},
		State:       Published,
		Segment:     "loja.seg",
		Digest:      made["loja"].Digest,
		Tally:       Tally{Measured: &Measured{}},
		PublishedAt: publication,
		RetractedAt: publication,
	}
	m := NewMatcher(s, files, sums{}, func() time.Time { return publication.Add(time.Hour) })
	return m, s
}

// TestMatchSteps: every watched value is probed and told of, then what was added around the publication; a match that
// was interrupted goes on where it was.
func TestMatchSteps(t *testing.T) {
	for name, c := range map[string]struct {
		progress string
		first    bool
		hits     []int64
		last     string
	}{
		"from the start":             {`{}`, false, []int64{2, 3, 5}, `{"phase":2,"after":{"partner":"","at":6},"probed":4,"again":3,"hits":3}`},
		"without a progress":         {``, false, []int64{2, 3, 5}, `{"phase":2,"after":{"partner":"","at":6},"probed":4,"again":3,"hits":3}`},
		"from the middle":            {`{"phase":1,"after":{"partner":"","at":2},"probed":2,"hits":1}`, false, []int64{3, 5}, `{"phase":2,"after":{"partner":"","at":6},"probed":4,"again":3,"hits":3}`},
		"at the second look":         {`{"phase":2,"after":{"partner":"","at":4},"probed":4,"hits":2}`, false, []int64{5}, `{"phase":2,"after":{"partner":"","at":6},"probed":4,"again":2,"hits":3}`},
		"without the second look":    {`{}`, true, []int64{2, 3}, `{"phase":2,"after":{"partner":"","at":0},"probed":4,"hits":2}`},
		"nothing left, without look": {`{"phase":2,"after":{"partner":"","at":4}}`, true, nil, ""},
	} {
		m, s := newMatcher(t)
		run, saved := ran(c.progress, s)
		step := m.MatchBreach
		if c.first {
			step = m.MatchFirst
		}
		if err := step(t.Context(), run); err != nil || !slices.Equal(s.hits, c.hits) {
			t.Errorf("%s: hits %v, %v", name, s.hits, err)
		}
		last := ""
		if n := len(*saved); n > 0 {
			last = (*saved)[n-1]
		}
		if last != c.last {
			t.Errorf("%s: %s, want %s", name, last, c.last)
		}
		if looked := count(s.calls, "since 1m0s"); (looked > 0) == c.first {
			t.Errorf("%s: %d second looks", name, looked)
		}
	}
}

// TestPeopleAreToldOfAllTheirValues: values of the people who watch what was met are asked of the breach, too, and those
// that it does not hold are nobody's news.
func TestPeopleAreToldOfAllTheirValues(t *testing.T) {
	m, s := newMatcher(t)
	s.watched = []int64{2, 3}
	s.others = []Candidate{{"as4", 4}, {"as7", 7}}
	run, saved := ran("{}", s)
	if err := m.MatchFirst(t.Context(), run); err != nil || !slices.Equal(s.hits, []int64{2, 3, 7}) {
		t.Errorf("hits %v, %v", s.hits, err)
	}
	if last := (*saved)[len(*saved)-1]; !strings.Contains(last, `"hits":3`) {
		t.Error(last)
	}
}

// TestMatchOfRenewed: of a breach whose content was renewed the findings are judged first, from where an interrupted
// match was, then its former files go; findings made around the renewal are judged once more at the second look.
func TestMatchOfRenewed(t *testing.T) {
	m, s := newMatcher(t)
	files, _ := filesWith(t, map[string][]uint64{"loja": {2, 3, 5, 7}, "antes": {1}})
	m.files = files
	s.findings = []cyber.FindingID{"fd_1", "fd_2"}
	s.breach.Renewals, s.breach.RenewedAt, s.breach.Former = 1, publication.Add(time.Minute), []string{"antes.seg"}
	run, saved := ran(`{"phase":0,"finding":"fd_1","after":{"partner":"","at":0}}`, s)
	if err := m.MatchBreach(t.Context(), run); err != nil || !slices.Equal(s.hits, []int64{2, 3, 5}) {
		t.Fatal(s.hits, err)
	}
	last := (*saved)[len(*saved)-1]
	if want := `{"phase":2,"after":{"partner":"","at":6},"probed":4,"again":3,"hits":3,"finding":"fd_2","checked":3,"withdrawn":3}`; last != want {
		t.Errorf("%s, want %s", last, want)
	}
	if names, err := listSegments(files); err != nil || !slices.Equal(names, []string{"loja.seg"}) ||
		len(s.breach.Former) != 0 {
		t.Errorf("left %v, former %v: %v", names, s.breach.Former, err)
	}
	if count(s.calls, "rejudge since 1m0s") != 3 ||
		slices.Index(s.calls, "rejudge") > slices.Index(s.calls, "watched") {
		t.Errorf("%v", s.calls)
	}
	for _, fails := range []string{"rejudge", "rejudge3", "forget"} {
		m, s := newMatcher(t)
		m.files = files
		s.findings, s.failAt = []cyber.FindingID{"fd_1"}, fails
		s.breach.Renewals, s.breach.Former = 1, []string{"antes.seg"}
		run, _ := ran("{}", s)
		if err := m.MatchBreach(t.Context(), run); !errors.Is(err, errAway) {
			t.Errorf("%s: %v", fails, err)
		}
	}
}

// TestMatchBatches: watched values are probed 500,000 at a time, and the last full batch has nothing behind it.
func TestMatchBatches(t *testing.T) {
	for n, batches := range map[int]int{probeBatch - 1: 1, probeBatch: 2, probeBatch + 1: 2} {
		m, s := newMatcher(t)
		s.watched = make([]int64, n)
		for i := range s.watched {
			s.watched[i] = int64(i) + 1
		}
		run, _ := ran("{}", s)
		if err := m.MatchFirst(
			t.Context(),
			run,
		); err != nil || count(s.calls, "watched") != batches ||
			len(s.hits) != 4 {
			t.Errorf("%d values: %d batches, hits %v, %v", n, count(s.calls, "watched"), s.hits, err)
		}
	}
}

// batchRegisters are registers that hand out the watched values of several partners in given batches, and note which
// partner is told of which.
type batchRegisters struct {
	*registers
	batches [][]Probes
	told    []string
}

func (s *batchRegisters) ListProbes(_ context.Context, after Place, _ int) ([]Probes, Place, error) {
	return s.batches[after.At], Place{At: after.At + 1}, s.call("watched")
}

func (s *batchRegisters) ListUntold(_ context.Context, _ string, _ partner.ID, of []Watcher) ([]Candidate, error) {
	var list []Candidate
	for _, w := range of {
		list = append(list, Candidate{w.Asset, uint64(printOf(w.Asset))})
	}
	return list, s.call("untold")
}

func (s *batchRegisters) TellHits(_ context.Context, id partner.ID, hits []Hit) (int, error) {
	for _, h := range hits {
		s.told = append(s.told, fmt.Sprint(id, " ", h.Asset))
	}
	return len(hits), s.call("tell")
}

// TestMatchBatchOfSharedValues: a full batch in which two partners watch one value is no shorter than any other full
// one, so the match goes on behind it; each of the two is told, and every value is counted.
func TestMatchBatchOfSharedValues(t *testing.T) {
	m, s := newMatcher(t)
	full := []Probes{{Partner: "a"}, {Partner: "b", Fingerprints: []uint64{2}}}
	for f := range uint64(probeBatch - 1) {
		full[0].Fingerprints = append(full[0].Fingerprints, f+100)
	}
	full[0].Fingerprints[0] = 2
	behind := []Probes{{Partner: "b", Fingerprints: []uint64{7}}}
	shared := &batchRegisters{registers: s, batches: [][]Probes{full, behind}}
	m.store = shared
	run, saved := ran("{}", s)
	if err := m.MatchFirst(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a as2", "b as2", "b as7"}; !slices.Equal(shared.told, want) {
		t.Errorf("told %v, want %v", shared.told, want)
	}
	last := (*saved)[len(*saved)-1]
	if want := fmt.Sprintf(`"probed":%d`, probeBatch+1); !strings.Contains(last, want) {
		t.Errorf("%s, want %s", last, want)
	}
}

// TestMatchOfNothing: a breach that is not published, or has no values of its own, is not matched.
func TestMatchOfNothing(t *testing.T) {
	for name, change := range map[string]func(*Record){
		"importing": func(r *Record) { r.State = Importing }, "retracted": func(r *Record) { r.State = Retracted }, "without values": func(r *Record) { r.Segment = "" },
	} {
		m, s := newMatcher(t)
		change(&s.breach)
		run, saved := ran("{}", s)
		if err := m.MatchBreach(t.Context(), run); err != nil || len(s.hits) != 0 || len(*saved) != 0 {
			t.Errorf("%s: %v, %v", name, s.hits, err)
		}
	}
	m, s := newMatcher(t)
	s.breach.Digest = "another"
	run, _ := ran("{}", s)
	if err := m.MatchBreach(t.Context(), run); err == nil || len(s.hits) != 0 {
		t.Errorf("a file that is another one was probed: %v", err)
	}
	run, _ = ran("{", s)
	if err := m.MatchBreach(t.Context(), run); err == nil {
		t.Error("a progress that cannot be read was taken for none")
	}
}

// TestStepsStop: whatever cannot be read or written ends a step with that error, and the step can be repeated.
func TestStepsStop(t *testing.T) {
	type step func(*Matcher, context.Context, *job.Run) error
	for _, c := range []struct {
		failAt string
		step   step
		state  State
		after  string // what must not be reached any more
	}{
		{"breach", (*Matcher).MatchBreach, Published, "watched"},
		{"watched", (*Matcher).MatchBreach, Published, "watchers"},
		{"watchers", (*Matcher).MatchBreach, Published, "untold"},
		{"rejudge", (*Matcher).MatchBreach, Published, "save"},
		{"save", (*Matcher).MatchBreach, Published, "late"},
		{"untold", (*Matcher).MatchBreach, Published, "tell"},
		{"tell", (*Matcher).MatchBreach, Published, "late"},
		{"save2", (*Matcher).MatchBreach, Published, "late"},
		{"save3", (*Matcher).MatchBreach, Published, "late"},
		{"late", (*Matcher).MatchBreach, Published, ""},
		{"tell2", (*Matcher).MatchBreach, Published, ""},
		{"breach", (*Matcher).WithdrawBreach, Retracted, "withdraw"},
		{"withdraw", (*Matcher).WithdrawBreach, Retracted, "save"},
		{"save", (*Matcher).WithdrawBreach, Retracted, ""},
		{"breach2", (*Matcher).WithdrawBreach, Retracted, ""},
		{"breach3", (*Matcher).WithdrawBreach, Retracted, ""},
		{"restate", (*Matcher).RestateBreach, Published, "save"},
		{"save", (*Matcher).RestateBreach, Published, ""},
	} {
		m, s := newMatcher(t)
		s.failAt, s.findings, s.breach.State = c.failAt, []cyber.FindingID{"f1", "f2"}, c.state
		run, _ := ran("{}", s)
		if err := c.step(
			m,
			t.Context(),
			run,
		); !errors.Is(err, errAway) ||
			c.after != "" && slices.Contains(s.calls, c.after) {
			t.Errorf("%s fails: %v after %v", c.failAt, err, s.calls)
		}
	}
}

// TestWithdrawSteps: findings are closed a batch at a time, the files go, and a second look follows when every process
// knows.
func TestWithdrawSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := newMatcher(t)
		s.breach.State, s.open = Retracted, 1200
		m.now = func() time.Time { return publication.Add(4 * time.Second) }
		run, saved := ran("{}", s)
		begin := time.Now()
		if err := m.WithdrawBreach(t.Context(), run); err != nil || time.Since(begin) != 6*time.Second {
			t.Errorf("%v, after %s", err, time.Since(begin))
		}
		var want []string
		for n := tellBatch; n < 1200+tellBatch; n += tellBatch {
			want = append(want, fmt.Sprintf(`{"withdrawn":%d}`, min(n, 1200)))
		}
		want = append(want, `{"withdrawn":1200}`, `{"withdrawn":0}`)
		if !slices.Equal(*saved, want) {
			t.Errorf("%v, %v", *saved, s.calls)
		}
		if names, err := listSegments(m.files); err != nil || len(names) != 0 {
			t.Errorf("files are left: %v, %v", names, err)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		run, _ = ran("{}", s)
		if err := m.WithdrawBreach(ctx, run); !errors.Is(err, context.Canceled) {
			t.Errorf("a wait that was cut: %v", err)
		}
		m, s = newMatcher(t)
		run, saved = ran("{}", s)
		if err := m.WithdrawFirst(t.Context(), run); err != nil || len(*saved) != 0 {
			t.Errorf("a breach that is published was withdrawn: %v, %v", *saved, err)
		}
	})
}

// TestWithdrawTakesBothFiles: neither who was in a retracted breach nor with which password stays.
func TestWithdrawTakesBothFiles(t *testing.T) {
	files, made := filesWith(t, map[string][]uint64{"loja": {2}, "pairs": {203}})
	s := &registers{breach: Record{State: Retracted, Segment: made["loja"].File, Pairs: made["pairs"].File}}
	m := NewMatcher(s, files, nil, time.Now)
	run, _ := ran("{}", s)
	if err := m.WithdrawFirst(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if left, err := listSegments(files); err != nil || len(left) != 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
	s.breach.Segment = "../loja.seg"
	run, _ = ran("{}", s)
	if err := m.WithdrawFirst(t.Context(), run); !errors.Is(err, library.ErrName) {
		t.Errorf("a file that could not be removed: %v", err)
	}
}

// TestRestateSteps: all findings, from where it was.
func TestRestateSteps(t *testing.T) {
	m, s := newMatcher(t)
	s.findings = []cyber.FindingID{"f1", "f2", "f3"}
	run, saved := ran(`{"after":"f1"}`, s)
	if err := m.RestateBreach(t.Context(), run); err != nil || fmt.Sprint(*saved) != `[{"after":"f2"} {"after":"f3"}]` {
		t.Errorf("%v, %v", *saved, err)
	}
	run, _ = ran(``, s)
	if err := m.RestateBreach(t.Context(), run); err == nil {
		t.Error("a progress that cannot be read was taken for none")
	}
}

// sums makes keys of pairs that can be read.
type sums struct{}

func (sums) PairFingerprint(fingerprint, password uint64) uint64 { return fingerprint*100 + password }

func (sums) PairRange(fingerprint uint64) (uint64, uint64) {
	return fingerprint * 100, fingerprint*100 + 99
}

func newLibrary(t *testing.T) (*Library, *registers, map[string]Segment) {
	t.Helper()
	files, made := filesWith(t, map[string][]uint64{"a": {1, 2}, "b": {2, 3}, "pairs": {203, 305}})
	b := made["b"]
	b.Pairs, b.PairsDigest = "pairs.seg", made["pairs"].Digest
	made["b"] = b
	s := &registers{segments: []Segment{made["a"], made["b"]}, epoch: 1}
	l := NewLibrary(s, files, sums{}, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, s, made
}

func names(seen cyber.Sighting) (list []string) {
	for _, b := range seen.Breaches {
		list = append(list, b.Breach)
	}
	return list
}

// TestLibraryFollows: what is published is asked, what is retracted is not, and nothing is read while nothing changes.
func TestLibraryFollows(t *testing.T) {
	l, s, made := newLibrary(t)
	if seen := l.ProbeFingerprint(2); seen.Epoch != 0 || seen.Breaches != nil {
		t.Errorf("before anything is open: %+v", seen)
	}
	if n, keys := l.Size(); n != 0 || keys != 0 {
		t.Errorf("%d segments with %d keys before anything is open", n, keys)
	}
	s.failAt = "segments"
	if _, err := l.HoldsPair(t.Context(), []uint64{3}, 5); !errors.Is(err, cyber.ErrNotAsked) {
		t.Errorf("a pair before anything is open, without a database: %v", err)
	}
	s.failAt = ""
	if err := l.LoadPublished(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seen := l.ProbeFingerprint(2); seen.Epoch != 1 || fmt.Sprint(names(seen)) != "[a b]" {
		t.Errorf("%+v", seen)
	}
	if n, keys := l.Size(); n != 2 || keys != 4 {
		t.Errorf("%d segments with %d keys", n, keys)
	}
	for _, c := range []struct {
		values   []uint64
		password uint64
		want     bool
	}{{[]uint64{3}, 5, true}, {[]uint64{1, 2}, 3, true}, {[]uint64{2}, 5, false}, {nil, 5, false}} {
		if held, err := l.HoldsPair(t.Context(), c.values, c.password); err != nil || held != c.want {
			t.Errorf("pair of %v and %d: %t, %v", c.values, c.password, held, err)
		}
	}
	s.calls = nil
	if err := l.LoadPublished(t.Context()); err != nil || slices.Contains(s.calls, "segments") {
		t.Errorf("nothing changed, and %v: %v", s.calls, err)
	}
	s.failAt = "epoch"
	if err := l.LoadPublished(t.Context()); !errors.Is(err, errAway) {
		t.Errorf("without a database: %v", err)
	}
	if held, err := l.HoldsPair(t.Context(), []uint64{2}, 5); held || !errors.Is(err, cyber.ErrNotAsked) {
		t.Errorf("a pair that a newer breach may hold: %t, %v", held, err)
	}
	s.failAt, s.segments, s.epoch = "", []Segment{made["a"]}, 2
	if err := l.LoadPublished(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seen := l.ProbeFingerprint(2); seen.Epoch != 2 || fmt.Sprint(names(seen)) != "[a]" {
		t.Errorf("after a retraction: %+v", seen)
	}
	if held, err := l.HoldsPair(t.Context(), []uint64{3}, 5); err != nil || held {
		t.Errorf("a pair of a breach that was retracted: %t, %v", held, err)
	}
	if left, err := listSegments(l.files); err != nil || !slices.Equal(left, []string{"a.seg"}) {
		t.Errorf("files are left: %v, %v", left, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if seen := l.ProbeFingerprint(1); seen.Epoch != 0 || seen.Breaches != nil {
		t.Errorf("after the end: %+v", seen)
	}
}

// TestLibraryWithAHole: while a file is missing what is known is told, and nothing is taken for safe.
func TestLibraryWithAHole(t *testing.T) {
	for _, missing := range []string{"a", "b", "pairs"} {
		l, s, _ := newLibrary(t)
		if err := l.files.RemoveFile(t.Context(), missing+".seg"); err != nil {
			t.Fatal(err)
		}
		if err := l.LoadPublished(t.Context()); err == nil {
			t.Errorf("%s is missing, and nobody is told", missing)
		}
		if seen := l.ProbeFingerprint(2); seen.Epoch != 0 ||
			len(seen.Breaches) != map[string]int{"a": 1, "b": 1, "pairs": 2}[missing] {
			t.Errorf("without %s: %+v", missing, seen)
		}
		if held, err := l.HoldsPair(
			t.Context(),
			[]uint64{3},
			5,
		); missing == "a" && (err != nil || !held) ||
			missing != "a" && !errors.Is(err, cyber.ErrNotAsked) {
			t.Errorf("without %s: %t, %v", missing, held, err)
		}
		if _, err := l.HoldsPair(t.Context(), []uint64{3}, 6); !errors.Is(err, cyber.ErrNotAsked) {
			t.Errorf("without %s a pair is known not to be held: %v", missing, err)
		}
		s.calls = nil
		if err := l.LoadPublished(t.Context()); err == nil || !slices.Contains(s.calls, "segments") {
			t.Errorf("without %s: it is not looked for again: %v", missing, s.calls)
		}
	}
}

// TestSettle: values that were added when not everything could be asked are asked again, until all are.
func TestSettle(t *testing.T) {
	fill := func(s *registers, n int) {
		for i := range n {
			s.pending = append(s.pending, DueLook{
				Asset:       cyber.AssetID(fmt.Sprint("as", i)),
				Fingerprint: 2,
				Since:       time.UnixMicro(int64(len(s.pending) + 1)),
			})
		}
	}
	for n, looks := range map[int]int{0: 1, 199: 1, 200: 2, 450: 3} {
		l, s, _ := newLibrary(t)
		if err := l.LoadPublished(t.Context()); err != nil {
			t.Fatal(err)
		}
		fill(s, n)
		if done, err := l.SettleDueLooks(t.Context()); err != nil || done != n || len(s.pending) != 0 ||
			count(s.calls, "pending") != looks {
			t.Errorf("of %d: %d with %d looks: %v", n, done, count(s.calls, "pending"), err)
		}
	}
	l, s, _ := newLibrary(t)
	fill(s, 3)
	s.failAt = "segments"
	if done, err := l.SettleDueLooks(t.Context()); !errors.Is(err, errAway) || done != 0 || len(s.settled) != 0 {
		t.Errorf("%d settled by a library that has nothing open: %v", done, err)
	}
	s.failAt = ""
	if err := l.files.RemoveFile(t.Context(), "a.seg"); err != nil {
		t.Fatal(err)
	}
	if err := l.LoadPublished(t.Context()); err == nil {
		t.Fatal("nothing is missing")
	}
	s.pending = append(s.pending, DueLook{Asset: "nowhere", Fingerprint: 99, Since: time.UnixMicro(9)})
	if done, err := l.SettleDueLooks(t.Context()); err == nil || done != 0 || len(s.settled) != 3 ||
		len(s.pending) != 4 {
		t.Errorf("%d settled, %d told of what was seen: %v", done, len(s.settled), err)
	}
	s.failAt = "settle"
	if _, err := l.SettleDueLooks(t.Context()); !errors.Is(err, errAway) {
		t.Errorf("without a database: %v", err)
	}
}
