package subject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

var (
	noon         = time.Date(2026, 11, 13, 12, 0, 0, 0, time.UTC) // a Friday
	clerk        = operator.Actor{Name: "cli:clerk", From: "here"}
	errOnPurpose = errors.New("failed on purpose")
)

// fakeStore is a store of two partners that notes what is asked of it, and fails when told to. What the real one reads
// and takes away is tested beside it.
type fakeStore struct {
	Store
	operator.Ledger
	asked    []string
	fail     string
	held     map[partner.ID]Held
	redacted int64
	affected []Affected
	stones   []Tombstone
	back     int64
}

func (w *fakeStore) note(format string, args ...any) error {
	w.asked = append(w.asked, fmt.Sprintf(format, args...))
	if word, _, _ := strings.Cut(w.asked[len(w.asked)-1], " "); word == w.fail {
		return errOnPurpose
	}
	return nil
}

func (w *fakeStore) ListPartners(context.Context) ([]partner.Partner, error) {
	return []partner.Partner{{ID: "pt_1"}, {ID: "pt_2"}}, w.note("partners")
}

func (w *fakeStore) PartnerByID(_ context.Context, id partner.ID) (partner.Partner, error) {
	return partner.Partner{ID: id}, w.note("partner %s", id)
}
func (w *fakeStore) PersonReference(p Person) string { return "ref " + p.CPF + string(p.User) }

func (w *fakeStore) Held(_ context.Context, who partner.Partner, _ Person) (Held, error) {
	h := w.held[who.ID]
	h.Partner = who
	return h, w.note("held %s", who.ID)
}

func (w *fakeStore) EraseRows(_ context.Context, h Held, _ Person, reason string,
	record func(operator.Ledger, Erased, Tombstone) error,
) (Erased, Tombstone, error) {
	erased := Erased{Partner: h.Partner.ID, Counts: map[string]int64{"events": 2}}
	stone := Tombstone{ID: "er_" + string(h.Partner.ID), Partner: h.Partner.ID, MAC: []byte("m")}
	if err := w.note("erase %s %s", h.Partner.ID, reason); err != nil {
		return erased, stone, err
	}
	return erased, stone, record(w, erased, stone)
}

func (w *fakeStore) ResumeErasures(
	_ context.Context,
	record func(operator.Ledger, string, Erased, Tombstone) error,
) ([]Tombstone, error) {
	for i, stone := range w.stones {
		if err := record(w, "ref "+stone.ID, Erased{Counts: map[string]int64{"events": 3}}, stone); err != nil {
			return w.stones[:i], err
		}
	}
	return w.stones, w.note("resume")
}

func (w *fakeStore) RedactAnswers(_ context.Context, h Held, _ Person) (int64, error) {
	return w.redacted, w.note("redact %s", h.Partner.ID)
}
func (w *fakeStore) ScrubErased(context.Context) error { return w.note("scrub") }
func (w *fakeStore) Tombstones(context.Context) ([]Tombstone, error) {
	return w.stones, w.note("tombstones")
}

func (w *fakeStore) ReplayErasure(_ context.Context, t Tombstone) (Erased, error) {
	return Erased{Counts: map[string]int64{"rows": w.back}}, w.note("replay %s", t.ID)
}

func (w *fakeStore) AccessesOf(_ context.Context, held []Held, _ Person) ([]Access, error) {
	return make([]Access, len(held)), w.note("accesses %d", len(held))
}

func (w *fakeStore) Affected(_ context.Context, _ Incident, found func(Affected) error) error {
	for _, a := range w.affected {
		if err := found(a); err != nil {
			return err
		}
	}
	return w.note("affected")
}

func (w *fakeStore) Showings(context.Context, time.Time, time.Time) ([]Showing, error) {
	return []Showing{{Actor: "op_1", Count: 3}}, w.note("showings")
}

func (w *fakeStore) AppendAudit(_ context.Context, e operator.Entry) (operator.Entry, error) {
	return e, w.note("record %s %s %s", e.Action, e.Subject, e.Detail)
}

func (w *fakeStore) KeepTogether(_ context.Context, fn func(operator.Ledger) error) error {
	if err := w.note("begin"); err != nil {
		return err
	}
	return fn(w)
}

func (w *fakeStore) rights() *Rights {
	return NewRights(w, w, operator.NewTrail(w, func() time.Time { return noon }), func() time.Time { return noon })
}

func keepNothing([]Tombstone) error { return nil }

// TestExport: partner by partner, without those that hold nothing; one partner when it is named.
func TestExport(t *testing.T) {
	ctx := context.Background()
	w := &fakeStore{held: map[partner.ID]Held{"pt_2": {StoredAnswers: 1}}}
	list, err := w.rights().ExportPerson(ctx, Person{CPF: "1"})
	if err != nil || len(list) != 1 || list[0].Partner.ID != "pt_2" {
		t.Error(list, err)
	}
	w.asked = nil
	if list, err = w.rights().ExportPerson(ctx, Person{User: "u", Partner: "pt_1"}); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	if got := strings.Join(w.asked, ", "); got != "partner pt_1, held pt_1" {
		t.Error(got)
	}
	for _, step := range []string{"partners", "held"} {
		w.fail = step
		if list, err := w.rights().ExportPerson(ctx, Person{CPF: "1"}); !errors.Is(err, errOnPurpose) || list != nil {
			t.Errorf("%s failed: %v, %v", step, list, err)
		}
	}
	if w.rights().Reference(Person{CPF: "1"}) != "ref 1" {
		t.Error("the name in the trail")
	}
}

// TestResume: an erasure that was left half way ends with its line in the trail and its tombstone kept, and its bytes
// go.
func TestResume(t *testing.T) {
	ctx := context.Background()
	w := &fakeStore{}
	keep := func(stones []Tombstone) error { return w.note("keep %d", len(stones)) }
	if n, err := w.rights().ResumeErasures(ctx, keep); n != 0 || err != nil || strings.Join(w.asked, ", ") != "resume" {
		t.Error("nothing to do:", n, err, w.asked)
	}
	w.asked, w.stones = nil, []Tombstone{{ID: "er_1", Partner: "pt_1"}}
	if n, err := w.rights().ResumeErasures(ctx, keep); n != 1 || err != nil {
		t.Error(n, err)
	}
	if got, want := strings.Join(w.asked, ", "), "record subject.erased ref er_1 partner pt_1, erasure er_1, 3 rows, resume, keep 1, scrub"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, step := range []string{"keep", "scrub"} {
		w := &fakeStore{fail: step, stones: w.stones}
		if _, err := w.rights().ResumeErasures(ctx, func([]Tombstone) error { return w.note("keep") }); !errors.Is(err, errOnPurpose) {
			t.Errorf("%s failed: %v", step, err)
		}
	}
}

// TestErase: at every partner, each with its line in the trail; the tombstones are handed over before the bytes go.
func TestErase(t *testing.T) {
	ctx := context.Background()
	w := &fakeStore{redacted: 1}
	keep := func(stones []Tombstone) error { return w.note("keep %d", len(stones)) }
	out, err := w.rights().ErasePerson(ctx, clerk, Person{CPF: "1"}, " pedido ", keep)
	if err != nil || !out.Scrubbed || len(out.Partners) != 2 || out.Partners[1].Counts["kept answers"] != 1 ||
		out.Tombstones[1].ID != "er_pt_2" {
		t.Fatalf("%+v, %v", out, err)
	}
	want := "partners, held pt_1, held pt_2, " +
		"erase pt_1 pedido, record subject.erased ref 1 partner pt_1, erasure er_pt_1, 2 rows, redact pt_1, " +
		"erase pt_2 pedido, record subject.erased ref 1 partner pt_2, erasure er_pt_2, 2 rows, redact pt_2, keep 2, " +
		"scrub"
	if got := strings.Join(w.asked, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, step := range []string{"partners", "erase", "record", "redact", "keep", "scrub"} {
		w := &fakeStore{fail: step}
		out, err := w.rights().ErasePerson(ctx, clerk, Person{CPF: "1"}, "x", func([]Tombstone) error { return w.note("keep") })
		if !errors.Is(err, errOnPurpose) || out.Scrubbed {
			t.Errorf("%s failed: %+v, %v", step, out, err)
		}
		if last := w.asked[len(w.asked)-1]; !strings.HasPrefix(last, step) {
			t.Errorf("after %s had failed it went on to %s", step, last)
		}
	}
	quiet, err := (&fakeStore{}).rights().ErasePerson(ctx, clerk, Person{CPF: "1"}, "x", keepNothing)
	if _, counted := quiet.Partners[0].Counts["kept answers"]; err != nil || counted {
		t.Error("answers that were not rewritten are counted:", quiet, err)
	}
	for _, reason := range []string{"", "  ", strings.Repeat("x", 1001)} {
		w := &fakeStore{}
		if _, err := w.rights().ErasePerson(ctx, clerk, Person{CPF: "1"}, reason, keepNothing); !errors.Is(err, ErrNoReason) || len(w.asked) > 0 {
			t.Errorf("reason of %d characters: %v, %v", len(reason), err, w.asked)
		}
	}
	if _, err := (&fakeStore{}).rights().ErasePerson(ctx, clerk, Person{CPF: "1"}, strings.Repeat("x", 1000), keepNothing); err != nil {
		t.Error(err)
	}
}

// TestLogAndReplay: what Log writes Replay reads; bytes go only when rows had come back.
func TestLogAndReplay(t *testing.T) {
	ctx := context.Background()
	w := &fakeStore{stones: []Tombstone{{ID: "er_1", CPF: []byte("k")}, {ID: "er_2"}}}
	var log bytes.Buffer
	if n, err := w.rights().WriteErasureLog(ctx, &log); err != nil || n != 2 || strings.Count(log.String(), "\n") != 2 {
		t.Fatal(n, err, log.String())
	}
	for back, want := range map[int64]string{0: "replay er_1, replay er_2", 3: "replay er_1, replay er_2, scrub"} {
		w := &fakeStore{back: back}
		done, err := w.rights().ReplayLog(ctx, strings.NewReader("\n"+log.String()+"  \n"))
		if err != nil || done != (Replayed{Lines: 2, Rows: 2 * back, Scrubbed: true}) ||
			strings.Join(w.asked, ", ") != want {
			t.Errorf("%+v, %v, %v", done, err, w.asked)
		}
	}
	w = &fakeStore{back: 1, fail: "scrub"}
	if done, err := w.rights().ReplayLog(ctx, strings.NewReader(log.String())); !errors.Is(err, errOnPurpose) || done.Scrubbed {
		t.Error(done, err)
	}
	w = &fakeStore{fail: "replay"}
	done, err := w.rights().ReplayLog(ctx, strings.NewReader(log.String()))
	if !errors.Is(err, errOnPurpose) || done.Lines != 0 || !strings.Contains(err.Error(), "line 1 ") {
		t.Error(done, err)
	}
	w = &fakeStore{fail: "tombstones"}
	if _, err := w.rights().WriteErasureLog(ctx, io.Discard); !errors.Is(err, errOnPurpose) {
		t.Error(err)
	}
	if err := WriteTombstones(failingWriter{}, []Tombstone{{}}); !errors.Is(err, errOnPurpose) {
		t.Error(err)
	}
	first, _, _ := strings.Cut(log.String(), "\n")
	for name, c := range map[string]struct {
		log   io.Reader
		wrong error
		text  string
	}{
		"no JSON":  {strings.NewReader(first + "\nx\n"), ErrLogLine, "line 2"},
		"too long": {strings.NewReader(first + "\n" + strings.Repeat(" ", maxLogLine)), ErrLogLine, "line 2"},
		"broken":   {iotest.ErrReader(errOnPurpose), errOnPurpose, "read the erasure log"},
	} {
		_, err := (&fakeStore{}).rights().ReplayLog(ctx, c.log)
		if !errors.Is(err, c.wrong) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errOnPurpose }

func TestAccesses(t *testing.T) {
	w := &fakeStore{}
	if list, err := w.rights().ListAccesses(context.Background(), Person{CPF: "1"}); err != nil || len(list) != 2 {
		t.Error(list, err)
	}
	w.fail = "held"
	if _, err := w.rights().ListAccesses(context.Background(), Person{CPF: "1"}); !errors.Is(err, errOnPurpose) {
		t.Error(err)
	}
}

// TestReport: everybody once, counted by partner and kind; values only for a reason, and not before their lines are
// written.
func TestReport(t *testing.T) {
	ctx, breach := context.Background(), Incident{Breach: "loja"}
	people := []Affected{
		{Partner: "pt_1", User: "a", Kinds: map[identifier.Kind]int{identifier.CPF: 2}, Values: []string{"x"}},
		{
			Partner: "pt_1",
			User:    "b",
			Kinds:   map[identifier.Kind]int{identifier.CPF: 1, identifier.Email: 1},
			Values:  []string{"y"},
		},
		{Partner: "pt_2", User: "c", Kinds: map[identifier.Kind]int{identifier.Email: 1}},
	}
	w := &fakeStore{affected: people}
	r, err := w.rights().ReportIncident(ctx, clerk, breach, noon, false, "")
	counts := []PartnerCount{{"pt_1", 2}, {"pt_2", 1}}
	if err != nil {
		t.Fatal(err)
	}
	want := r
	want.People, want.Findings, want.Partners = 3, 5, counts
	difftest.Check(t, "the report", r, want)
	difftest.Check(t, "CPFs", r.Kinds[identifier.CPF], 3)
	difftest.Check(t, "addresses", r.Kinds[identifier.Email], 2)
	if len(r.List) != 3 || r.List[0].Values != nil || r.Showings != nil || strings.Join(w.asked, ", ") != "affected" {
		t.Errorf("%+v, %v", r.List, w.asked)
	}
	if !r.Deadline.Equal(noon.AddDate(0, 0, 5)) {
		t.Error("three working days after a Friday:", r.Deadline)
	}
	w.asked = nil
	if r, err = w.rights().ReportIncident(ctx, clerk, breach, noon, true, "aviso"); err != nil || r.List[1].Values[0] != "y" {
		t.Error(r, err)
	}
	if got := w.asked[2:]; len(got) != 3 || got[0] != "record subject.reveal ref a aviso" {
		t.Error(got)
	}
	w.fail = "record"
	if _, err := w.rights().ReportIncident(ctx, clerk, breach, noon, true, "aviso"); !errors.Is(err, errOnPurpose) {
		t.Error("shown without a line:", err)
	}
	if _, err := w.rights().ReportIncident(ctx, clerk, breach, noon, true, ""); !errors.Is(err, ErrNoReason) {
		t.Error(err)
	}
	many := &fakeStore{affected: make([]Affected, recordBatch+1)}
	if _, err := many.rights().ReportIncident(ctx, clerk, breach, noon, true, "x"); err != nil {
		t.Fatal(err)
	}
	begun, lines := 0, 0
	for _, a := range many.asked {
		if a == "begin" {
			begun++
		} else if strings.HasPrefix(a, "record") {
			lines++
		}
	}
	if begun != 2 || lines != recordBatch+1 {
		t.Errorf("%d lines in %d transactions", lines, begun)
	}
	byTime := &fakeStore{}
	r, err = byTime.rights().ReportIncident(ctx, clerk, Incident{From: noon, To: noon.Add(1)}, noon, false, "")
	if err != nil || len(r.Showings) != 1 || len(r.Partners) != 0 {
		t.Error(r, err)
	}
	for _, step := range []string{"affected", "showings"} {
		w := &fakeStore{fail: step}
		if _, err := w.rights().ReportIncident(ctx, clerk, Incident{From: noon, To: noon.Add(1)}, noon, false, ""); !errors.Is(err, errOnPurpose) {
			t.Error(step, err)
		}
	}
	for name, of := range map[string]Incident{
		"nothing": {}, "both": {Breach: "x", From: noon}, "empty window": {From: noon, To: noon}, "backwards": {From: noon, To: noon.Add(-1)},
	} {
		if _, err := (&fakeStore{}).rights().ReportIncident(ctx, clerk, of, noon, false, ""); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWorkingDays(t *testing.T) {
	monday := noon.AddDate(0, 0, -4)
	for days, want := range map[int]int{0: 0, 1: 1, 4: 4, 5: 7, 10: 14} {
		if got := addWorkingDays(monday, days); !got.Equal(monday.AddDate(0, 0, want)) {
			t.Errorf("%d working days after a Monday: %v", days, got)
		}
	}
	if got := addWorkingDays(noon.AddDate(0, 0, 1), 1); got.Weekday() != time.Monday {
		t.Error("after a Saturday:", got)
	}
}
