package stored_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// planOf is the one plan that a person has, with the states of its steps.
func (v *env) planOf(user string) (cyber.Plan, string) {
	v.T.Helper()
	plans, err := v.Monitoring.ListPlans(context.Background(), v.Live.Partner, partner.UserHash(user))
	if err != nil || len(plans) != 1 {
		v.T.Fatal(plans, err)
	}
	var states []string
	for _, s := range plans[0].Steps {
		states = append(states, fmt.Sprintf("%s:%s", s.ID, s.State))
	}
	return plans[0], strings.Join(states, " ")
}

func (v *env) mark(user string, finding cyber.FindingID, step cyber.StepID, state cyber.StepState) {
	v.T.Helper()
	if _, err := v.Monitoring.MarkPlanStep(
		context.Background(),
		v.Live.Partner,
		partner.UserHash(user),
		finding,
		step,
		state,
	); err != nil {
		v.T.Fatal(err)
	}
}

// remind looks for steps that are due and returns what partners were told by it.
func (v *env) remind() []string {
	v.T.Helper()
	before := len(v.EventsOf(v.Live))
	n, err := v.Monitoring.RemindSteps(context.Background())
	if err != nil {
		v.T.Fatal(err)
	}
	told := v.EventsOf(v.Live)[before:]
	if n != len(told) {
		v.T.Errorf("%d events, %d counted: %v", len(told), n, told)
	}
	return told
}

func (v *env) leak(name string, lines ...string) {
	v.T.Helper()
	v.Import(
		dumptest.MakeBreach(name, cyber.SourceBreach, cyber.ExposedEmail, cyber.ExposedPassword),
		v.File(name+".txt", strings.Join(lines, "\n")+"\n"),
	)
	v.RunJobs()
}

// TestPlanIsKept: what is said of a step is kept, taken back and kept anew; the finding is solved by a re-check and not
// before nothing is left, and its value's status follows with it.
func TestPlanIsKept(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		ctx, who := context.Background(), v.Live.Partner
		v.Watch(v.Live, "ana", "email", "ana@exemplo.com.br")
		v.Watch(v.Live, "bia", "email", "bia@exemplo.com.br")
		v.leak("loja", "ana@exemplo.com.br:segredo-um", "bia@exemplo.com.br:segredo-dois")
		plan, states := v.planOf("ana")
		v.WantEqual("a new plan", states, "change-password:todo second-factor:todo expect-scams:todo")
		id := plan.Finding.ID
		v.Clock.Advance(time.Hour)
		v.mark("ana", id, "change-password", cyber.StepDone)
		v.mark("ana", id, "second-factor", cyber.StepDone)
		v.mark("ana", id, "second-factor", cyber.StepSkipped)
		v.mark("ana", id, "expect-scams", cyber.StepDone)
		v.mark("ana", id, "expect-scams", cyber.StepTodo)
		plan, states = v.planOf("ana")
		v.WantEqual("a plan under way", states, "change-password:done second-factor:skipped expect-scams:todo")
		if s := plan.Steps; !s[0].MarkedAt.Equal(v.Clock.Now()) || !s[2].MarkedAt.IsZero() ||
			!s[0].Due.Equal(plan.Finding.FoundAt.Add(24*time.Hour)) {
			t.Errorf("marked %s, %s, due %s", s[0].MarkedAt, s[2].MarkedAt, s[0].Due)
		}
		before := v.EventsOf(v.Live)
		now, err := v.Monitoring.RecheckFinding(ctx, who, "ana", id)
		if err != nil || !now.Finding.Open() {
			t.Errorf("solved too early: %v %v", now, err)
		}
		difftest.Check(t, "the status of one not solved yet", now.Status, cyber.StatusCompromised)
		difftest.Check(t, "how much remains", len(now.Remaining()), 1)
		v.mark("ana", id, "expect-scams", cyber.StepDone)
		if told := v.EventsOf(v.Live); !slices.Equal(told, before) {
			t.Errorf("steps are told of: %v", told)
		}
		now, err = v.Monitoring.RecheckFinding(ctx, who, "ana", id)
		if err != nil {
			t.Fatal(err)
		}
		difftest.Check(t, "how it was solved", now.Finding.Resolution, cyber.ResolvedPasswordChanged)
		difftest.Check(t, "the status of one that is solved", now.Status, cyber.StatusMonitored)
		difftest.Check(t, "how much remains of it", len(now.Remaining()), 0)
		v.WantEqual(
			"the end",
			strings.Join(v.EventsOf(v.Live)[len(before):], ";"),
			"status ana email comprometido>monitorado",
		)
		if again, err := v.Monitoring.RecheckFinding(
			ctx,
			who,
			"ana",
			id,
		); err != nil ||
			again.Finding.Resolution != cyber.ResolvedPasswordChanged {
			t.Errorf("a second look: %v %v", again, err)
		}
		if _, err := v.Monitoring.MarkPlanStep(ctx, who, "bia", id, "expect-scams", cyber.StepDone); err == nil {
			t.Error("somebody else's plan is marked")
		}
		if _, states := v.planOf("bia"); strings.Contains(states, "done") {
			t.Error("somebody else's plan is", states)
		}
	})
}

// TestReminderJob: each step is told of once, all of a person's together, to whoever still has them to do; not of findings
// that were resolved or withdrawn, and never twice, however many replicas look.
func TestReminderJob(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		people := []string{"ana", "bia", "caio", "davi"}
		for _, user := range people {
			v.Watch(v.Live, user, "email", user+"@exemplo.com.br")
		}
		v.leak(
			"loja",
			"ana@exemplo.com.br:segredo-um",
			"bia@exemplo.com.br:segredo-dois",
			"caio@exemplo.com.br:segredo-tres",
		)
		v.leak("engano", "davi@exemplo.com.br:segredo-quatro")
		if told := v.remind(); len(told) != 0 {
			t.Errorf("reminded at once: %v", told)
		}
		bia, _ := v.planOf("bia")
		caio, _ := v.planOf("caio")
		v.mark("bia", bia.Finding.ID, "change-password", cyber.StepDone)
		if err := v.Monitoring.ResolveFinding(
			context.Background(),
			v.Live.Partner,
			"caio",
			caio.Finding.ID,
			"not_me",
		); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Rules.RetractBreach(context.Background(), "engano"); err != nil {
			t.Fatal(err)
		}
		v.RunJobs()
		v.Clock.Advance(12*time.Hour - time.Minute)
		if told := v.remind(); len(told) != 0 {
			t.Errorf("reminded too early: %v", told)
		}
		v.Clock.Advance(time.Minute)
		other := storetest.ReopenStore(t, e.Address, e.Folder, e.Keys.Root(), e.Clock)
		before := len(v.EventsOf(v.Live))
		var all sync.WaitGroup
		for _, store := range []cyber.PlanStore{e.Store.Monitoring, other.Store.Monitoring, e.Store.Monitoring, other.Store.Monitoring} {
			all.Go(func() {
				if _, err := store.RemindSteps(context.Background(), cyber.ReminderOf); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		v.remind() // what all of them passed over because another had it
		v.WantEqual("at half time", strings.Join(v.EventsOf(v.Live)[before:], ";"), "due ana change-password")
		v.Clock.Advance(40 * time.Hour)
		told := v.remind()
		slices.Sort(told)
		v.WantEqual("before the third day", strings.Join(told, ";"), "due ana second-factor;due bia second-factor")
		v.Clock.Advance(400 * 24 * time.Hour)
		told = v.remind()
		slices.Sort(told)
		v.WantEqual("long after", strings.Join(told, ";"), "due ana expect-scams;due bia expect-scams")
		if told := v.remind(); len(told) != 0 {
			t.Errorf("told again: %v", told)
		}
	})
}

// TestRemindersInBatches: more findings than one batch holds are all looked at, each once.
func TestRemindersInBatches(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		var lines []string
		for n := range 7 {
			for k := range 31 {
				mail := fmt.Sprintf("p%d-%d@exemplo.com.br", n, k)
				v.Watch(v.Live, fmt.Sprint("p", n), "email", mail)
				lines = append(lines, fmt.Sprintf("%s:segredo-%d-%d", mail, n, k))
			}
		}
		v.leak("loja", lines...)
		v.Clock.Advance(13 * time.Hour)
		steps := 0
		for _, line := range v.remind() {
			steps += strings.Count(line, "change-password")
		}
		if steps != len(lines) {
			t.Errorf("told of %d steps of %d", steps, len(lines))
		}
	})
}

// TestPlanBeginsAnew: when a renewed breach tells more of a person, what they did about less is not done any more, the
// deadlines run from that day, and the reminders too.
func TestPlanBeginsAnew(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		ctx := context.Background()
		v.Watch(v.Live, "ana", "email", "ana@exemplo.com.br")
		v.leak("loja", "ana@exemplo.com.br:segredo-um")
		plan, _ := v.planOf("ana")
		for _, s := range plan.Steps {
			v.mark("ana", plan.Finding.ID, s.ID, cyber.StepDone)
		}
		if now, err := v.Monitoring.RecheckFinding(
			ctx,
			v.Live.Partner,
			"ana",
			plan.Finding.ID,
		); err != nil ||
			now.Finding.Open() {
			t.Fatal(now, err)
		}
		v.Clock.Advance(90 * 24 * time.Hour)
		more := func(uint64) (leak.Held, error) {
			classes := cyber.NewClasses([]cyber.Exposed{cyber.ExposedEmail, cyber.ExposedPassword, cyber.ExposedCPF})
			return leak.Held{Found: true, Trace: cyber.Trace{Told: true, Classes: classes}}, nil
		}
		for range 2 { // a step of a job bears being run twice
			if _, err := v.Breaches.RejudgeFindings(ctx, "loja", time.Time{}, "", 100, more); err != nil {
				t.Fatal(err)
			}
		}
		plan, states := v.planOf("ana")
		if strings.Contains(states, "done") || !strings.Contains(states, "check-registrato:todo") ||
			!plan.Finding.Open() {
			t.Error("after more was told:", states)
		}
		if want := v.Clock.Now().Add(24 * time.Hour); !plan.Steps[0].Due.Equal(want) {
			t.Errorf("due %s, not %s", plan.Steps[0].Due, want)
		}
		v.mark("ana", plan.Finding.ID, "change-password", cyber.StepDone)
		v.Clock.Advance(49 * time.Hour)
		if _, err := v.Breaches.RejudgeFindings(ctx, "loja", time.Time{}, "", 100, more); err != nil {
			t.Fatal(err)
		}
		v.WantEqual(
			"reminders",
			strings.Join(v.remind(), ";"),
			"due ana second-factor,govbr-second-factor,protege-accounts,check-registrato",
		)
		if _, states := v.planOf("ana"); !strings.HasPrefix(states, "change-password:done") {
			t.Error("what was done after the renewal is gone:", states)
		}
	})
}

// TestPlansOfBothDigests: what was said of a step under one digest of a person is said of the finding that stays.
func TestPlansOfBothDigests(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		cpf := "12345678901"
		short, long := v.spellings(cpf)
		v.Watch(v.Live, short, "email", "ana@exemplo.com.br")
		v.Clock.Advance(time.Second)
		v.Watch(v.Live, long, "email", "Ana@exemplo.com.br")
		v.leak("loja", "ana@exemplo.com.br:segredo-um")
		first, _ := v.planOf(short)
		second, _ := v.planOf(long)
		v.mark(short, first.Finding.ID, "second-factor", cyber.StepSkipped)
		v.mark(long, second.Finding.ID, "change-password", cyber.StepDone)
		v.mark(long, second.Finding.ID, "second-factor", cyber.StepDone)
		v.enrol(cpf)
		v.mark(long, second.Finding.ID, "expect-scams", cyber.StepDone) // an id from before both were one
		for _, user := range []string{short, long} {
			plan, states := v.planOf(user)
			v.WantEqual("one person's plan", states, "change-password:done second-factor:skipped expect-scams:done")
			if plan.Finding.ID != first.Finding.ID {
				t.Error("the plan is of", plan.Finding.ID)
			}
		}
	})
}
