package stored_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

const phishing cyber.ServiceID = "sv_ajuda_phishing"

func newCases(t *testing.T, e *storetest.Env) *cyber.Cases {
	t.Helper()
	if err := cyber.NewServices(e.Store.Services, e.Clock.Now).SeedServices(context.Background()); err != nil {
		t.Fatal(err)
	}
	return cyber.NewCases(e.Store.Cases, e.Clock.Now)
}

func wish(times ...time.Time) (list []cyber.Appointment) {
	for _, at := range times {
		list = append(list, cyber.Appointment{At: at, JSON: fmt.Sprintf(`{"appointment":%q}`, at.Format(time.RFC3339))})
	}
	return list
}

// TestCaseLife walks a case through its states: history, clock, and one event for each move.
func TestCaseLife(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		cases := newCases(t, e)
		if err := cases.SetTargetTime(ctx, phishing, 10*time.Hour); err != nil {
			t.Fatal(err)
		}
		c, err := cases.OpenCase(ctx, p.ID, cyber.CaseRequest{
			Service: phishing, User: "u1",
			Answers: []cyber.TriageAnswer{{JSON: `{"question":"O que houve?","answer":"Cliquei num link"}`}},
		})
		if err != nil || c.Status != cyber.CaseOpen {
			t.Fatal(c, err)
		}
		if len(readEvents(t, e, p.ID)) != 0 {
			t.Error("opening a case told the partner what it had just asked for")
		}
		for _, step := range []struct {
			after time.Duration
			to    cyber.CaseStatus
			used  time.Duration
		}{
			{2 * time.Hour, cyber.CaseInProgress, 2 * time.Hour},
			{3 * time.Hour, cyber.CaseWaiting, 5 * time.Hour},
			{100 * time.Hour, cyber.CaseInProgress, 5 * time.Hour}, // nobody's time while the client is waited for
			{time.Hour, cyber.CaseResolved, 6 * time.Hour},
			{50 * time.Hour, cyber.CaseClosed, 6 * time.Hour},
			{time.Hour, cyber.CaseOpen, 6 * time.Hour}, // reopened: the clock goes on
			{time.Hour, cyber.CaseCancelled, 7 * time.Hour},
		} {
			e.Clock.Advance(step.after)
			if c, err = cases.MoveCase(ctx, c.ID, step.to, "bruna", "nota sobre Fulano"); err != nil {
				t.Fatalf("to %s: %v", step.to, err)
			}
			if got := c.Clock.UsedAt(e.Clock.Now()); got != step.used || c.Clock.Late(e.Clock.Now()) {
				t.Errorf("at %s the clock shows %v, want %v", step.to, got, step.used)
			}
		}
		if _, err := cases.MoveCase(ctx, c.ID, cyber.CaseResolved, "bruna", ""); !errors.Is(err, cyber.ErrCaseMove) {
			t.Error("a cancelled case was resolved:", err)
		}
		c, moves, err := cases.GetCase(ctx, c.ID)
		if err != nil || len(moves) != 8 {
			t.Fatalf("%+v %+v, %v", c, moves, err)
		}
		first, last := moves[0], moves[7]
		first.From = ""
		last.To, last.Note, last.Actor = cyber.CaseCancelled, "nota sobre Fulano", "bruna"
		difftest.Check(t, "the first move", moves[0], first)
		difftest.Check(t, "the last move", moves[7], last)
		difftest.Check(t, "the person", c.User, "u1")
		if !strings.Contains(c.Answers[0], "Cliquei") {
			t.Errorf("the answers %v", c.Answers)
		}
		events := readEvents(t, e, p.ID)
		if len(events) != 7 {
			t.Fatalf("%d events for 7 moves", len(events))
		}
		want := fmt.Sprintf(
			`{"userHash":"u1","caseId":%q,"serviceId":"sv_ajuda_phishing","previousStatus":"Aberto","status":"Em andamento"}`,
			c.ID,
		)
		if !strings.Contains(events[0], `"type":"case.status_changed"`) || !strings.Contains(events[0], want) {
			t.Errorf("event %s\nwant %s", events[0], want)
		}
	})
}

// readEvents opens the bodies of a partner's events, in order.
func readEvents(t *testing.T, e *storetest.Env, id partner.ID) (bodies []string) {
	t.Helper()
	rows, err := e.DB.ReadPool().QueryContext(context.Background(), `SELECT id, body FROM event WHERE partner_id = $1 ORDER BY seq`, id.Number())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var event string
		var sealed []byte
		if err := rows.Scan(&event, &sealed); err != nil {
			t.Fatal(err)
		}
		plain, err := e.Keys.Unseal(seal.Place{Table: "event", Column: "body", Partner: string(id), Row: event}, sealed)
		if err != nil || !json.Valid(plain) {
			t.Fatal(err)
		}
		bodies = append(bodies, string(plain))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return bodies
}

// TestMovesAtOnce: of two operators who move a case at the same time one succeeds.
func TestMovesAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		cases := newCases(t, e)
		c, err := cases.OpenCase(ctx, p.ID, cyber.CaseRequest{Service: phishing, User: "u1"})
		if err != nil {
			t.Fatal(err)
		}
		errs := make([]error, 6)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { _, errs[i] = cases.MoveCase(ctx, c.ID, cyber.CaseInProgress, "op", "") })
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, cyber.ErrCaseMove) {
				t.Error(err)
			}
		}
		if won != 1 || len(readEvents(t, e, p.ID)) != 1 {
			t.Errorf("%d moves succeeded, %d events", won, len(readEvents(t, e, p.ID)))
		}
	})
}

// TestTriage: only what the operator marked is required, by id or by text, within its options.
func TestTriage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		cases := newCases(t, e)
		open := func(answers ...cyber.TriageAnswer) error {
			_, err := cases.OpenCase(ctx, p.ID, cyber.CaseRequest{Service: phishing, User: "u1", Answers: answers})
			return err
		}
		if err := open(); err != nil {
			t.Fatal("without questions:", err)
		}
		q, err := cases.AddQuestion(ctx, phishing, "Qual é o sistema?", true, []string{"Android", "iOS"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cases.AddQuestion(ctx, phishing, "Quer contar mais?", false, []string{"Sim", "Não"}); err != nil {
			t.Fatal(err)
		}
		other := cyber.TriageAnswer{Question: "Quer contar mais?", Answer: "Talvez"}
		for name, c := range map[string]struct {
			answers []cyber.TriageAnswer
			ok      bool
		}{
			"none":                 {nil, false},
			"only the other":       {[]cyber.TriageAnswer{other}, false},
			"empty":                {[]cyber.TriageAnswer{{Question: string(q.ID), Answer: " "}}, false},
			"outside the options":  {[]cyber.TriageAnswer{{Question: string(q.ID), Answer: "Symbian"}}, false},
			"by id":                {[]cyber.TriageAnswer{{Question: string(q.ID), Answer: "Android"}}, true},
			"by text, other case":  {[]cyber.TriageAnswer{other, {Question: "qual é o sistema?", Answer: "ios"}}, true},
			"optional out of list": {[]cyber.TriageAnswer{other, {Question: string(q.ID), Answer: "iOS"}}, true},
		} {
			if err := open(c.answers...); (err == nil) != c.ok || err != nil && !errors.Is(err, cyber.ErrCaseInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := cases.DeleteQuestion(ctx, q.ID); err != nil {
			t.Fatal(err)
		}
		if err := open(); err != nil {
			t.Error("after the question was removed:", err)
		}
		if err := cases.DeleteQuestion(ctx, q.ID); !errors.Is(err, cyber.ErrQuestionNotFound) {
			t.Error(err)
		}
		if _, err := cases.AddQuestion(ctx, "sv_nada", "?", true, nil); !errors.Is(err, cyber.ErrServiceNotFound) {
			t.Error(err)
		}
	})
}

// TestSlots: one case per slot though many ask at once; a cancelled case gives its slot back; without a calendar any
// time is kept as a wish.
func TestSlots(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		cases := newCases(t, e)
		ten, eleven := storetest.Start.Add(10*time.Hour), storetest.Start.Add(11*time.Hour)
		open := func(user string, times ...time.Time) (cyber.Case, error) {
			return cases.OpenCase(
				ctx,
				p.ID,
				cyber.CaseRequest{Service: phishing, User: partner.UserHash(user), Appointments: wish(times...)},
			)
		}
		if c, err := open("u0", ten); err != nil || !c.Booked.IsZero() {
			t.Fatal("without a calendar:", c, err)
		}
		if n, err := cases.AddFreeSlots(ctx, phishing, "", []time.Time{ten, eleven}); err != nil || n != 2 {
			t.Fatal(n, err)
		}
		if n, err := cases.AddFreeSlots(ctx, phishing, "", []time.Time{ten}); err != nil || n != 0 {
			t.Error("a slot was added twice:", n, err)
		}
		if _, err := open("u1", storetest.Start.Add(12*time.Hour)); !errors.Is(err, cyber.ErrAppointmentTaken) {
			t.Error("a time outside the calendar:", err)
		}
		if c, err := open("u1"); err != nil || !c.Booked.IsZero() {
			t.Error("without a wish:", err)
		}
		got, errs := make([]cyber.Case, 8), make([]error, 8)
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() { got[i], errs[i] = open(fmt.Sprintf("u%d", i), ten, eleven) })
		}
		wg.Wait()
		booked := map[time.Time]cyber.CaseID{}
		for i, err := range errs {
			if err == nil {
				if booked[got[i].Booked] != "" {
					t.Errorf("%v was booked twice", got[i].Booked)
				}
				booked[got[i].Booked] = got[i].ID
			} else if !errors.Is(err, cyber.ErrAppointmentTaken) {
				t.Error(err)
			}
		}
		if booked[ten] == "" || booked[eleven] == "" {
			t.Fatalf("booked: %v", booked)
		}
		all, err := cases.ListCases(ctx, cyber.CaseFilter{Limit: 100})
		if err != nil || len(all) != 4 {
			t.Errorf("a refused request left a case behind: %d, %v", len(all), err)
		}
		if _, err := cases.MoveCase(ctx, booked[ten], cyber.CaseCancelled, "op", ""); err != nil {
			t.Fatal(err)
		}
		if c, err := open("u9", ten); err != nil || !c.Booked.Equal(ten) {
			t.Error("the slot of a cancelled case is not free:", err)
		}
		slots, err := cases.ListSlots(ctx, phishing)
		if err != nil || len(slots) != 2 || slots[0].Case == "" {
			t.Fatal(slots, err)
		}
		if err := cases.DeleteSlot(ctx, slots[0].ID); !errors.Is(err, cyber.ErrSlotBooked) {
			t.Error("a booked slot was removed:", err)
		}
	})
}

func TestCaseFilter(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		q, _ := e.NewPartner(t, partner.Live)
		cases := newCases(t, e)
		for i := range 3 {
			for _, id := range []partner.ID{p.ID, q.ID} {
				e.Clock.Advance(time.Minute)
				c, err := cases.OpenCase(ctx, id, cyber.CaseRequest{Service: phishing, User: "u"})
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					if _, err := cases.MoveCase(ctx, c.ID, cyber.CaseCancelled, "op", ""); err != nil {
						t.Fatal(err)
					}
				}
				if i == 1 {
					if _, err := cases.AssignCase(ctx, c.ID, "bruna"); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		for want, f := range map[int]cyber.CaseFilter{
			6: {Limit: 10}, 5: {Limit: 5}, 3: {Partner: p.ID, Limit: 10}, 4: {OpenOnly: true, Limit: 10}, 2: {Assignee: "bruna", Limit: 10},
			1: {Partner: q.ID, Status: cyber.CaseCancelled, Limit: 10}, 0: {Service: "sv_nada", Limit: 10},
		} {
			list, err := cases.ListCases(ctx, f)
			if err != nil || len(list) != want {
				t.Errorf("%+v: %d cases, %v", f, len(list), err)
			}
			for i := 1; i < len(list); i++ {
				if list[i].CreatedAt.After(list[i-1].CreatedAt) {
					t.Errorf("%+v: not newest first", f)
				}
			}
		}
		if _, _, err := cases.GetCase(ctx, "cs_nada"); !errors.Is(err, cyber.ErrCaseNotFound) {
			t.Error(err)
		}
	})
}

// TestLongCase: a history has an end, and what does not fit changes nothing.
func TestLongCase(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		cases := newCases(t, e)
		c, err := cases.OpenCase(ctx, p.ID, cyber.CaseRequest{Service: phishing, User: "u1"})
		if err != nil {
			t.Fatal(err)
		}
		key := cyber.CaseKey{ID: c.ID, Partner: p.ID, User: "u1"}
		if err := storetest.Write(
			ctx,
			e,
			`UPDATE case_move SET number = 999 WHERE partner_id = $1`,
			p.ID.Number(),
		); err != nil {
			t.Fatal(err)
		}
		two := cyber.Message{Text: "oi", Attachment: &cyber.Attachment{Name: "a", Text: "b"}}
		if _, err := cases.AddMessage(ctx, key, two); !errors.Is(err, cyber.ErrCaseTooLong) {
			t.Error("two lines where one fits:", err)
		}
		if _, err := cases.AddMessage(ctx, key, cyber.Message{Text: "oi"}); err != nil {
			t.Error("the last line:", err)
		}
		if _, moves, err := cases.GetCase(ctx, c.ID); err != nil || len(moves) != 2 {
			t.Error(moves, err)
		}
	})
}
