package subject

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// requestStore is a fakeStore that keeps one request and hands out those that are due, a batch at a time.
type requestStore struct {
	fakeStore
	inserted ErasureRequest
	// open is the request that the person has already.
	open *ErasureRequest
	due  [][]DueErasure
	// gone are requests that are cancelled while they are carried out, and taken those that another process completes.
	gone, taken string
}

func (w *requestStore) UserOfCPF(_ context.Context, _ partner.ID, cpf string) (partner.UserHash, error) {
	return partner.UserHash("hash of " + cpf), w.note("user %s", cpf)
}

func (w *requestStore) InsertErasureRequest(
	_ context.Context, id partner.ID, r ErasureRequest, record func(operator.Ledger) error,
) (ErasureRequest, error) {
	if err := w.note("insert %s", id); err != nil {
		return r, err
	}
	if w.open != nil {
		return *w.open, nil
	}
	w.inserted = r
	return r, record(w)
}

func (w *requestStore) CancelErasureRequest(
	_ context.Context, id partner.ID, request string, record func(operator.Ledger, ErasureRequest) error,
) (ErasureRequest, error) {
	if err := w.note("cancel %s %s", id, request); err != nil {
		return ErasureRequest{}, err
	}
	was := ErasureRequest{ID: request, Partner: id, User: "u"}
	return was, record(w, was)
}

func (w *requestStore) ErasureRequestByID(context.Context, partner.ID, string) (ErasureRequest, error) {
	return ErasureRequest{}, w.note("find")
}

func (w *requestStore) OpenErasureRequests(context.Context, partner.ID) ([]ErasureRequest, error) {
	return nil, w.note("list")
}

func (w *requestStore) ErasureRequestPage(
	_ context.Context, _ partner.ID, offset int64, limit int,
) ([]ErasureRequest, int64, error) {
	return nil, 0, w.note("page %d %d", offset, limit)
}

func (w *requestStore) ClaimDueErasures(_ context.Context, sandboxes bool, limit int) ([]DueErasure, error) {
	if err := w.note("claim %v %d", sandboxes, limit); err != nil || len(w.due) == 0 {
		return nil, err
	}
	next := w.due[0]
	w.due = w.due[1:]
	return next, nil
}

func (w *requestStore) BeginErasureRequest(_ context.Context, h Held, p Person, r ErasureRequest) error {
	if r.ID == w.gone {
		return ErrRequestNotFound
	}
	return w.note("begin %s %s%s", h.Partner.ID, p.CPF, p.User)
}

func (w *requestStore) CarryOutErasure(
	_ context.Context, id partner.ID, request string,
	record func(operator.Ledger, string, Erased, Tombstone) error,
) (Tombstone, error) {
	stone := Tombstone{ID: request, Partner: id}
	if err := w.note("erase%s", request); err != nil {
		return stone, err
	}
	return stone, record(w, "ref", Erased{Partner: id, Counts: map[string]int64{"events": 2}}, stone)
}

func (w *requestStore) CompleteErasureRequest(_ context.Context, _ partner.ID, request string) (bool, error) {
	return request != w.taken, w.note("complete %s", request)
}

func (w *requestStore) clock() time.Time { return noon }

func (w *requestStore) rights() *Rights {
	return NewRights(w, w, operator.NewTrail(w, w.clock), w.clock)
}

// TestRequestErasure: a request is due a day later and in the trail, by the name of the person and with the reason; one
// that names a CPF also has the user hash that the partner's events name the person by.
func TestRequestErasure(t *testing.T) {
	ctx := context.Background()
	for name, p := range map[string]Person{
		"by CPF":       {CPF: "1", Partner: "pt_1"},
		"by user hash": {User: "u", Partner: "pt_1"},
	} {
		w := &requestStore{}
		r, err := NewErasures(w, w.clock).RequestErasure(ctx, clerk, p, " pedido ")
		if err != nil || r != w.inserted || r.State != RequestPending || !strings.HasPrefix(r.ID, "er_") {
			t.Fatal(name, r, err)
		}
		asked := r
		asked.RequestedAt, asked.DueAt, asked.Reason, asked.Partner = noon, noon.Add(ErasureDelay), "pedido", "pt_1"
		difftest.Check(t, name, r, asked)
		want := "insert pt_1, record subject.erase ref u " + r.ID + ", pedido"
		user := partner.UserHash("u")
		if p.CPF != "" {
			want = "user 1, insert pt_1, record subject.erase ref 1 " + r.ID + ", pedido"
			user = "hash of 1"
		}
		if got := strings.Join(w.asked, ", "); got != want || r.User != user || r.CPF != p.CPF {
			t.Errorf("%s: %+v\ngot  %s\nwant %s", name, r, got, want)
		}
	}
}

// TestRequestErasureOnce: the open request of a person is the answer to a second one, which leaves no line.
func TestRequestErasureOnce(t *testing.T) {
	w := &requestStore{open: &ErasureRequest{ID: "er_first"}}
	r, err := NewErasures(w, w.clock).RequestErasure(t.Context(), clerk, Person{User: "u", Partner: "pt_1"}, "x")
	if err != nil || r.ID != "er_first" || strings.Join(w.asked, ", ") != "insert pt_1" {
		t.Error(r, err, w.asked)
	}
}

func TestRequestErasureIsRefused(t *testing.T) {
	person := Person{CPF: "1", Partner: "pt_1"}
	for _, reason := range []string{"", "  ", strings.Repeat("x", 1001)} {
		w := &requestStore{}
		_, err := NewErasures(w, w.clock).RequestErasure(t.Context(), clerk, person, reason)
		if !errors.Is(err, ErrNoReason) || len(w.asked) > 0 {
			t.Errorf("reason of %d characters: %v, %v", len(reason), err, w.asked)
		}
	}
	for _, step := range []string{"user", "record"} {
		w := &requestStore{fakeStore: fakeStore{fail: step}}
		if _, err := NewErasures(w, w.clock).RequestErasure(t.Context(), clerk, person, "x"); !errors.Is(err, errOnPurpose) {
			t.Errorf("%s failed: %v", step, err)
		}
	}
}

func TestCancelErasure(t *testing.T) {
	w := &requestStore{}
	r, err := NewErasures(w, w.clock).CancelErasure(t.Context(), clerk, "pt_1", "er_1")
	want := "cancel pt_1 er_1, record subject.erase_cancel ref u er_1"
	if got := strings.Join(w.asked, ", "); err != nil || r.ID != "er_1" || got != want {
		t.Error(r, err, got)
	}
}

// dueOf returns requests by their names.
func dueOf(ids ...string) (list []DueErasure) {
	for _, id := range ids {
		list = append(list, DueErasure{ErasureRequest: ErasureRequest{ID: id, Partner: "pt_1", User: "u"}})
	}
	return list
}

// TestRunDueErasures: a request is completed after its tombstone is kept and the bytes are gone, and not before; what
// another process began is gone on with; it ends when none is due.
func TestRunDueErasures(t *testing.T) {
	begun := DueErasure{ErasureRequest: ErasureRequest{ID: "er_2", Partner: "pt_2"}, Begun: true}
	w := &requestStore{due: [][]DueErasure{{dueOf("er_1")[0], begun}, dueOf("er_3")}, taken: "er_3"}
	keep := func(stones []Tombstone) error { return w.note("keep %d", len(stones)) }
	n, err := w.rights().RunDueErasures(t.Context(), false, keep)
	if n != 2 || err != nil {
		t.Error("the third is completed by another process:", n, err)
	}
	want := "claim false 100, partner pt_1, held pt_1, begin pt_1 u, " +
		"eraseer_1, record subject.erased ref partner pt_1, erasure er_1, 2 rows, " +
		"eraseer_2, record subject.erased ref partner pt_2, erasure er_2, 2 rows, " +
		"keep 2, scrub, complete er_1, complete er_2, " +
		"claim false 100, partner pt_1, held pt_1, begin pt_1 u, " +
		"eraseer_3, record subject.erased ref partner pt_1, erasure er_3, 2 rows, keep 1, scrub, complete er_3, " +
		"claim false 100"
	if got := strings.Join(w.asked, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestRunDueErasuresOfSandboxes: nobody's bytes are scrubbed, since somebody waits for the answer.
func TestRunDueErasuresOfSandboxes(t *testing.T) {
	w := &requestStore{due: [][]DueErasure{dueOf("er_1")}}
	n, err := w.rights().RunDueErasures(t.Context(), true, keepNothing)
	if got := fmt.Sprint(w.asked); n != 1 || err != nil || !strings.HasPrefix(got, "[claim true") ||
		strings.Contains(got, "scrub") {
		t.Error(n, err, got)
	}
}

// TestFailedErasureKeepsNoOtherWaiting: the others are carried out, and the error names the one; a request that was
// cancelled after it was claimed is no failure, and with no other there is nothing to keep.
func TestFailedErasureKeepsNoOtherWaiting(t *testing.T) {
	w := &requestStore{
		fakeStore: fakeStore{fail: "eraseer_2"},
		due:       [][]DueErasure{dueOf("er_1", "er_2", "er_3", "er_4"), dueOf("er_3")},
		gone:      "er_3",
	}
	keep := func(stones []Tombstone) error { return w.note("keep %d", len(stones)) }
	n, err := w.rights().RunDueErasures(t.Context(), false, keep)
	if n != 2 || !errors.Is(err, errOnPurpose) || !strings.Contains(err.Error(), "er_2") ||
		strings.Contains(err.Error(), "er_3") {
		t.Error(n, err)
	}
	got := strings.Join(w.asked, ", ")
	if !strings.Contains(got, "keep 2, scrub, complete er_1, complete er_4, claim") || strings.Contains(got, "keep 0") {
		t.Error(got)
	}
}

// TestRunDueErasuresFails: nothing is completed behind a step that failed.
func TestRunDueErasuresFails(t *testing.T) {
	for _, step := range []string{"claim", "partner", "held", "begin", "record", "keep", "scrub", "complete"} {
		w := &requestStore{fakeStore: fakeStore{fail: step}, due: [][]DueErasure{dueOf("er_1")}}
		keep := func([]Tombstone) error { return w.note("keep") }
		n, err := w.rights().RunDueErasures(t.Context(), false, keep)
		if n != 0 || !errors.Is(err, errOnPurpose) {
			t.Errorf("%s failed: %d, %v", step, n, err)
		}
		if step != "complete" && strings.Contains(fmt.Sprint(w.asked), "complete") {
			t.Errorf("completed although %s failed: %v", step, w.asked)
		}
	}
}
