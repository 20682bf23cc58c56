package console

import (
	"context"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// dayGroups is a store with one finding on each of the last days, today first. It notes what it was asked for.
type dayGroups struct {
	Review
	today time.Time
	asked cyber.FindingFilter
}

func (g *dayGroups) GroupFindings(_ context.Context, f cyber.FindingFilter, _ int) ([]cyber.FindingGroup, error) {
	var list []cyber.FindingGroup
	g.asked = f
	for n := range int64(30) {
		list = append(list, cyber.FindingGroup{Day: partner.DayNumber(g.today) - n, Count: 1})
	}
	return slices.DeleteFunc(list, func(one cyber.FindingGroup) bool { return !g.holdsDay(one.Day) }), nil
}

// holdsDay reports whether a calendar day lies in the period that was asked for.
func (g *dayGroups) holdsDay(day int64) bool {
	return day >= partner.DayNumber(g.asked.From) && (g.asked.To.IsZero() || day < partner.DayNumber(g.asked.To))
}

// TestFindingFiguresArePartedByDay: a period of some days ends with today in Brasília, at any hour, and has as many
// days before it; the links of both lead to exactly the findings that the figures count.
func TestFindingFiguresArePartedByDay(t *testing.T) {
	for name, now := range map[string]time.Time{
		"at noon":                       time.Date(2026, 11, 15, 15, 0, 0, 0, time.UTC),
		"before midnight":               time.Date(2026, 11, 16, 2, 59, 59, 0, time.UTC),
		"after midnight, of a new year": time.Date(2027, 1, 1, 3, 0, 0, 0, time.UTC),
	} {
		for _, days := range []int{1, 7} {
			groups := &dayGroups{today: now}
			c := &Console{Options: Options{Now: func() time.Time { return now }, Rules: Rules{Review: groups}}}
			figures, err := c.gatherFindingFigures(t.Context(), days)
			if err != nil {
				t.Fatal(err)
			}
			if !groups.asked.LiveOnly || groups.asked.State != cyber.FindingStanding || !groups.asked.To.IsZero() {
				t.Errorf("%s: asked for %+v", name, groups.asked)
			}
			today, n := partner.DayNumber(now), int64(days)
			for what, part := range map[string]struct {
				groups      []cyber.FindingGroup
				path        string
				first, last int64
			}{
				"the period":        {figures.Groups, figures.Path(), today - n + 1, today},
				"as many before it": {figures.Before, figures.PathBefore(), today - 2*n + 1, today - n},
			} {
				counted := daysOf(part.groups)
				if len(counted) != days || counted[0] != part.first || counted[days-1] != part.last {
					t.Errorf("%s, %s: days %v, want %d to %d", name, what, counted, part.first, part.last)
				}
				listed, err := groups.listedDays(t.Context(), part.path)
				if err != nil || !slices.Equal(listed, counted) {
					t.Errorf("%s, %s: %s lists the days %v, not %v: %v", name, what, part.path, listed, counted, err)
				}
			}
		}
	}
}

// daysOf returns the days of groups in their order.
func daysOf(groups []cyber.FindingGroup) (days []int64) {
	for _, g := range groups {
		days = append(days, g.Day)
	}
	slices.Sort(days)
	return days
}

// listedDays returns the days of the findings that a link leads to: the list has "from" as its first day and "to" as
// its last one.
func (g *dayGroups) listedDays(ctx context.Context, path string) ([]int64, error) {
	address, err := url.Parse(path)
	if err != nil {
		return nil, err
	}
	var f cyber.FindingFilter
	if f.From, err = time.ParseInLocation(time.DateOnly, address.Query().Get("from"), brazil); err != nil {
		return nil, err
	}
	if last := address.Query().Get("to"); last != "" {
		day, err := time.ParseInLocation(time.DateOnly, last, brazil)
		if err != nil {
			return nil, err
		}
		f.To = day.AddDate(0, 0, 1)
	}
	groups, err := g.GroupFindings(ctx, f, 0)
	return daysOf(groups), err
}

// TestDayQueue: the queue of the day tells of live partners' cases alone for how long the oldest is late and when the
// next one is due, and counts those of one's own cases that the person wrote in last.
func TestDayQueue(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := t.Context()
		const service, me = cyber.ServiceID("sv_ajuda_phishing"), "ana@vigia.example"
		if err := cyber.NewServices(e.Store.Services, e.Clock.Now).SeedServices(ctx); err != nil {
			t.Fatal(err)
		}
		cases := cyber.NewCases(e.Store.Cases, e.Clock.Now)
		if err := cases.SetTargetTime(ctx, service, 3*time.Hour); err != nil {
			t.Fatal(err)
		}
		live, _ := e.NewPartner(t, partner.Live)
		sandbox, _ := e.NewPartner(t, partner.Sandbox)
		c := &Console{Options: Options{Now: e.Clock.Now, Rules: Rules{Cases: cases}}}
		check := func(when string, want dayQueue) {
			t.Helper()
			got, err := c.gatherDayQueue(ctx, operator.Operator{Email: me})
			if err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("%s: %+v, want %+v", when, got, want)
			}
		}
		open := func(id partner.ID, assignee string) cyber.CaseID {
			t.Helper()
			one, err := cases.OpenCase(ctx, id, cyber.CaseRequest{Service: service, User: "u1"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := cases.AssignCase(ctx, one.ID, assignee); err != nil {
				t.Fatal(err)
			}
			return one.ID
		}
		check("with no case", dayQueue{})
		open(sandbox.ID, me)
		check("with a case of a sandbox", dayQueue{})
		e.Clock.Advance(30 * time.Minute)
		first := open(live.ID, me)
		e.Clock.Advance(30 * time.Minute)
		second := open(live.ID, me)
		open(live.ID, "bia@vigia.example")
		queue := dayQueue{
			WaitingCases: cyber.WaitingCases{Today: 3, Mine: 2, Open: 3},
			NextDue:      150 * time.Minute,
			Unanswered:   2,
		}
		check("with a sandbox's case that is due before", queue)
		if _, err := cases.AddReply(ctx, second, me, "Já vamos ver."); err != nil {
			t.Fatal(err)
		}
		queue.Unanswered = 1
		check("with an answer", queue)
		// The person's next word makes the answer wait again; a word that only operators read answers nothing.
		key := cyber.CaseKey{Partner: live.ID, ID: second, User: "u1"}
		if _, err := cases.AddMessage(ctx, key, cyber.Message{Text: "E agora?"}); err != nil {
			t.Fatal(err)
		}
		if _, err := cases.AddInternalNote(ctx, first, me, "Ligar amanhã."); err != nil {
			t.Fatal(err)
		}
		queue.Unanswered = 2
		check("with another question", queue)
		e.Clock.Advance(150*time.Minute + time.Second)
		check("with one that is late", dayQueue{
			WaitingCases: cyber.WaitingCases{Late: 1, Today: 2, Mine: 2, Open: 3},
			OldestLate:   time.Second,
			NextDue:      30*time.Minute - time.Second,
			Unanswered:   2,
		})
	})
}
