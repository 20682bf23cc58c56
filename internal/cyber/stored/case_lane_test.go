package stored_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestLanes: every case of a lane is on one of its pages, the most urgent first, whatever the filter; and each total is
// of all that fit.
func TestLanes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		q, _ := e.NewPartner(t, partner.Live)
		cases := newCases(t, e)
		const other = "sv_recuperacao_conta"
		if err := cases.SetTargetTime(ctx, other, time.Hour); err != nil {
			t.Fatal(err)
		}
		var opened []cyber.CaseID
		begin := e.Clock.Now()
		for i := range 11 {
			e.Clock.Advance(time.Minute)
			owner, service := p.ID, phishing
			if i%2 == 1 {
				owner, service = q.ID, other
			}
			c, err := cases.OpenCase(
				ctx,
				owner,
				cyber.CaseRequest{Service: service, User: partner.UserHash(fmt.Sprint("u", i))},
			)
			if err != nil {
				t.Fatal(err)
			}
			opened = append(opened, c.ID)
			if i%3 == 0 {
				if _, err := cases.AssignCase(ctx, c.ID, "bruna"); err != nil {
					t.Fatal(err)
				}
			}
		}
		read := func(f cyber.LaneFilter) (all []cyber.Case, totals []int64) {
			f.Limit = 2
			for {
				lane, err := cases.ListLane(ctx, f)
				if err != nil || len(lane.Cases) > 2 {
					t.Fatal(len(lane.Cases), err)
				}
				all, totals = append(all, lane.Cases...), append(totals, lane.Total)
				if f.After = lane.Next; f.After.ID == "" {
					return all, totals
				}
			}
		}
		for name, c := range map[string]struct {
			filter cyber.LaneFilter
			want   int
		}{
			"all":       {cyber.LaneFilter{Status: cyber.CaseOpen}, 11},
			"partner":   {cyber.LaneFilter{Status: cyber.CaseOpen, Partner: q.ID}, 5},
			"no one":    {cyber.LaneFilter{Status: cyber.CaseOpen, Partner: "pt_x"}, 0},
			"service":   {cyber.LaneFilter{Status: cyber.CaseOpen, Service: other}, 5},
			"owner":     {cyber.LaneFilter{Status: cyber.CaseOpen, Assignee: "bruna"}, 4},
			"nobody's":  {cyber.LaneFilter{Status: cyber.CaseOpen, Unassigned: true}, 7},
			"other one": {cyber.LaneFilter{Status: cyber.CaseWaiting}, 0},
		} {
			list, totals := read(c.filter)
			if len(list) != c.want || slices.ContainsFunc(totals, func(n int64) bool { return n != int64(c.want) }) {
				t.Errorf("%s: %d cases, totals %v, want %d", name, len(list), totals, c.want)
			}
			if !slices.IsSortedFunc(list, func(a, b cyber.Case) int {
				x, _ := a.Clock.Due()
				y, _ := b.Clock.Due()
				return x.Compare(y)
			}) {
				t.Errorf("%s: the most urgent are not first", name)
			}
		}
		for name, c := range map[string]struct {
			filter cyber.LaneFilter
			want   []int
		}{
			"a person":         {cyber.LaneFilter{Partner: p.ID, User: "u4"}, []int{4}},
			"another's person": {cyber.LaneFilter{Partner: q.ID, User: "u4"}, nil},
			"a period":         {cyber.LaneFilter{From: begin.Add(3 * time.Minute), To: begin.Add(5 * time.Minute), Order: cyber.LaneOldest}, []int{2, 3}},
			"the newest first": {cyber.LaneFilter{Order: cyber.LaneNewest}, []int{10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
			"the oldest first": {cyber.LaneFilter{Order: cyber.LaneOldest, Partner: q.ID}, []int{1, 3, 5, 7, 9}},
		} {
			c.filter.Status = cyber.CaseOpen
			list, totals := read(c.filter)
			var got []int
			for _, one := range list {
				got = append(got, slices.Index(opened, one.ID))
			}
			if !slices.Equal(got, c.want) || totals[0] != int64(len(c.want)) {
				t.Errorf("%s: %v of %v, not %v", name, got, totals, c.want)
			}
		}
		all, _ := read(cyber.LaneFilter{Status: cyber.CaseOpen})
		if all[0].Service != other {
			t.Error("a case with the shorter target is not first")
		}
		day := e.Clock.Now().Add(2 * time.Hour)
		if n, err := cases.CountWaiting(
			ctx,
			cyber.LaneFilter{},
			"bruna",
			day,
		); err != nil ||
			n != (cyber.WaitingCases{Today: 5, Free: 7, Mine: 4, Open: 11}) {
			t.Errorf("%+v, %v", n, err)
		}
		e.Clock.Advance(90 * time.Minute)
		if n, err := cases.CountWaiting(
			ctx,
			cyber.LaneFilter{},
			"bruna",
			day,
		); err != nil ||
			n != (cyber.WaitingCases{Late: 5, Free: 7, Mine: 4, Open: 11}) {
			t.Errorf("later: %+v, %v", n, err)
		}
		// While the client is waited for nothing is due, and what is finished is listed by its age.
		for _, c := range all[:3] {
			for _, to := range []cyber.CaseStatus{cyber.CaseInProgress, cyber.CaseWaiting} {
				if _, err := cases.MoveCase(ctx, c.ID, to, "bruna", ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n, err := cases.CountWaiting(ctx, cyber.LaneFilter{}, "bruna", day); err != nil || n.Late != 2 {
			t.Errorf("waiting: %+v, %v", n, err)
		}
		if list, _ := read(cyber.LaneFilter{Status: cyber.CaseWaiting}); len(list) != 3 || list[0].ID != all[0].ID {
			t.Error("waiting: not the oldest first")
		}
		for _, c := range all[:3] {
			if _, err := cases.MoveCase(ctx, c.ID, cyber.CaseResolved, "bruna", ""); err != nil {
				t.Fatal(err)
			}
		}
		if list, _ := read(cyber.LaneFilter{Status: cyber.CaseResolved}); len(list) != 3 || list[0].ID != all[2].ID {
			t.Error("resolved: not the newest first")
		}
	})
}

// TestNote: a note is a line of the history; the case stays where it is and the partner hears nothing.
func TestNote(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		cases := newCases(t, e)
		c, err := cases.OpenCase(ctx, p.ID, cyber.CaseRequest{Service: phishing, User: "u1"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cases.AddInternalNote(ctx, c.ID, "bruna", " ligou às 10h "); err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"", "  ", "a\x00b"} {
			if _, err := cases.AddInternalNote(ctx, c.ID, "bruna", bad); !errors.Is(err, cyber.ErrCaseInvalid) {
				t.Errorf("%q: %v", bad, err)
			}
		}
		got, moves, err := cases.GetCase(ctx, c.ID)
		if err != nil || len(moves) != 2 {
			t.Fatal(moves, err)
		}
		same := got
		same.Status, same.Clock = cyber.CaseOpen, c.Clock
		difftest.Must(t, "the case", got, same)
		noted := moves[1]
		noted.Note, noted.Actor, noted.From, noted.To = "ligou às 10h", "bruna", cyber.CaseOpen, cyber.CaseOpen
		difftest.Check(t, "the note", moves[1], noted)
		if n := len(readEvents(t, e, p.ID)); n != 0 {
			t.Errorf("%d events about a note", n)
		}
	})
}
