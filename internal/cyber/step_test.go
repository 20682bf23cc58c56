package cyber

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

// leaked is an open finding of a value in a breach that exposed classes; told says that the person's own record is
// known.
func leaked(kind identifier.Kind, source SourceKind, told bool, classes ...Exposed) Finding {
	b := Breach{
		Name:     "loja",
		Title:    "Loja Exemplo",
		Kind:     source,
		Exposes:  classes,
		Verified: true,
		Date:     modelNow.AddDate(0, -1, 0),
	}
	f := Finding{
		ID:      "fd_1",
		Asset:   "as_1",
		Kind:    kind,
		FoundAt: modelNow,
		Trace:   Trace{Told: told, Classes: NewClasses(classes)},
	}
	f.Breach = b.ForTrace(f.Trace)
	return f
}

func stepIDs(steps []PlannedStep) []StepID {
	ids := make([]StepID, len(steps))
	for i, s := range steps {
		ids[i] = s.ID
	}
	return ids
}

// TestPlans: a step is there for what stood in the person's own record, and only what is wise in doubt where that is
// not known.
func TestPlans(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f    Finding
		want string
	}{
		"a password":          {leaked(identifier.Email, SourceBreach, true, ExposedEmail, ExposedPassword), "change-password second-factor expect-scams"},
		"a hash":              {leaked(identifier.Email, SourceBreach, true, ExposedEmail, ExposedPasswordHash), "change-scrambled-password second-factor expect-scams"},
		"a hash and password": {leaked(identifier.Email, SourceBreach, true, ExposedPassword, ExposedPasswordHash), "change-password second-factor expect-scams"},
		"a card":              {leaked(identifier.Email, SourceBreach, true, ExposedCard), "block-card check-statement expect-scams"},
		"a card in doubt":     {leaked(identifier.Email, SourceBreach, false, ExposedCard), "check-statement expect-scams"},
		"a watched card":      {leaked(identifier.Card, SourceBreach, false, ExposedEmail), "block-card check-statement expect-scams"},
		"a CPF": {
			leaked(identifier.CPF, SourceBreach, true, ExposedCPF, ExposedName),
			"govbr-second-factor protege-accounts check-registrato credit-alerts phone-lines " +
				"protect-cpf-in-companies expect-scams",
		},
		"a CPF in doubt": {leaked(identifier.Email, SourceBreach, false, ExposedCPF, ExposedDocument, ExposedPhone, ExposedHealth), "expect-scams"},
		"a document": {
			leaked(identifier.Email, SourceBreach, true, ExposedDocument),
			"govbr-second-factor protege-accounts check-registrato credit-alerts police-report expect-scams",
		},
		"a phone":         {leaked(identifier.Phone, SourceBreach, false, ExposedName), "protect-chip expect-scams"},
		"a Pix key":       {leaked(identifier.PixKey, SourceBreach, true, ExposedName), "contest-pix expect-scams"},
		"accounts":        {leaked(identifier.Email, SourceBreach, true, ExposedFinancial), "contest-pix check-statement expect-scams"},
		"a stealer's log": {leaked(identifier.Email, SourceStealer, true, ExposedPassword, ExposedCookies), "clean-device end-sessions change-password second-factor expect-scams"},
		"a false page":    {leaked(identifier.Email, SourcePhish, true, ExposedEmail), "replace-what-you-typed second-factor expect-scams"},
		"the rest": {
			leaked(identifier.Email, SourceBreach, true, ExposedHealth, ExposedBirthDate, ExposedAddress),
			"health-statement security-questions false-bills expect-scams",
		},
		"an address alone": {leaked(identifier.Email, SourceCombolist, true, ExposedEmail), "expect-scams"},
	} {
		if got := strings.Trim(fmt.Sprint(stepIDs(NewFindingPlan(c.f, nil).Steps)), "[]"); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
	made := leaked(identifier.CPF, SourceBreach, true, ExposedPassword, ExposedCPF)
	made.Breach.Fabricated = true
	if got := stepIDs(NewFindingPlan(made, nil).Steps); !slices.Equal(got, []StepID{"expect-scams"}) {
		t.Error("made-up data asks for", got)
	}
}

// TestCPFStepsNeedTheCPF: whatever a breach exposed, nobody is sent to the Central Bank whose own record did not hold
// the CPF or a document.
func TestCPFStepsNeedTheCPF(t *testing.T) {
	t.Parallel()
	about := []StepID{
		"govbr-second-factor",
		"protege-accounts",
		"check-registrato",
		"credit-alerts",
		"phone-lines",
		"protect-cpf-in-companies",
	}
	luck := rand.New(rand.NewPCG(4, 1))
	for range 5000 {
		f := drawFinding(luck, luck.IntN(7), 0, drawBreach(luck, 0))
		stood := f.Kind == identifier.CPF || f.Trace.Told && f.Breach.Has(ExposedCPF, ExposedDocument)
		for _, s := range NewFindingPlan(f, nil).Steps {
			if slices.Contains(about, s.ID) && !stood {
				t.Fatalf("%s for a %s in %v (told %t)", s.ID, f.Kind, f.Breach.Exposes, f.Trace.Told)
			}
		}
	}
}

// TestStepTexts: every step is said in every language, with the breach named and nothing left blank; why says only what
// is known; links are official pages.
func TestStepTexts(t *testing.T) {
	t.Parallel()
	steps, err := parseSteps(stepsFile)
	if err != nil || len(steps) < 20 {
		t.Fatal(len(steps), err)
	}
	for _, s := range steps {
		for _, certain := range []bool{true, false} {
			said := map[string]bool{}
			for _, in := range partner.ListLanguages() {
				p := PlannedStep{Step: &s, certain: certain, breach: "Loja"}
				what, why := p.What(in), p.Why(in)
				if title := p.Title(in); title == "" || said[title] || strings.HasSuffix(title, ".") {
					t.Errorf("%s in %s: the title %q", s.ID, in, title)
				}
				if what == "" || why == "" || strings.ContainsAny(what+why, "{}") || said[what] ||
					utf8.RuneCountInString(what) > 160 ||
					utf8.RuneCountInString(why) > 220 {
					t.Errorf("%s in %s: %q (%d), %q (%d)", s.ID, in, what, len(what), why, len(why))
				}
				said[what], said[p.Title(in)] = true, true
			}
		}
	}
	doubt := NewFindingPlan(leaked(identifier.Email, SourceBreach, false, ExposedPassword), nil).Steps[0]
	sure := NewFindingPlan(leaked(identifier.Email, SourceBreach, true, ExposedPassword), nil).Steps[0]
	if !strings.Contains(doubt.Why(partner.Portuguese), "a sua pode estar entre elas") ||
		!strings.HasPrefix(sure.Why(partner.Portuguese), "Sua senha estava em “Loja Exemplo”") {
		t.Error(doubt.Why(partner.Portuguese), sure.Why(partner.Portuguese))
	}
	hostile := leaked(identifier.Email, SourceBreach, true, ExposedPassword)
	hostile.Breach.Title = "{vazamento}<b>"
	if why := NewFindingPlan(hostile, nil).Steps[0].Why(partner.English); strings.Count(why, "{vazamento}<b>") != 1 {
		t.Error("a title is taken for a text:", why)
	}
}

// TestStepsRefused: a catalogue with a slip in it is refused, whole.
func TestStepsRefused(t *testing.T) {
	t.Parallel()
	const texts = "\n  texts:\n    pt-BR: {title: t, what: a, why: b}\n    es: {title: t, what: a, why: b}\n    en: {title: t, what: a, why: b}\n"
	const good = "- id: um\n  always: true\n  minutes: 1\n  days: 2" + texts
	if steps, err := parseSteps([]byte(good)); err != nil || len(steps) != 1 || steps[0].within() != 48*time.Hour {
		t.Fatal(steps, err)
	}
	for slip, why := range map[string]string{
		good + good: "twice",
		good + strings.NewReplacer("um", "dois", "days: 2", "days: 1").Replace(good):                             "due before",
		strings.Replace(good, "id: um", "id: Um", 1):                                                             "id:",
		strings.Replace(good, "minutes: 1", "minutes: 0", 1):                                                     "minutes",
		strings.Replace(good, "always: true", "essential: true", 1):                                              "always",
		strings.Replace(good, "always: true", "exposes: [senha]", 1):                                             "no such class",
		strings.Replace(good, "always: true", "sources: [mail]", 1):                                              "no such kind",
		strings.Replace(good, "always: true", "assets: [mail]", 1):                                               "read steps",
		strings.Replace(good, "always: true", "exposes: [card]", 1):                                              "perhaps",
		strings.Replace(good, "days: 2", "days: 2\n  mends: retracted", 1):                                       "mends",
		strings.Replace(good, "days: 2", "days: 2\n  link: http://exemplo.com.br", 1):                            "link",
		strings.Replace(good, "days: 2", "days: 2\n  color: red", 1):                                             "read steps",
		strings.Replace(good, "es: {title: t, what: a, why: b}", "es: {title: t, what: a}", 1):                   "es:",
		strings.Replace(good, "en: {title: t, what: a, why: b}", "en: {title: t, what: a, why: \"{valor}\"}", 1): "blank",
		strings.Replace(good, "en: {title: t, ", "en: {", 1):                                                     "en: a title",
		strings.Replace(good, "es: {title: t", "es: {title: "+strings.Repeat("t", 41), 1):                        "es: a title",
	} {
		if _, err := parseSteps([]byte(slip)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, not %s", slip, err, why)
		}
	}
}

// TestRemaining: a finding is solved when nothing is left to do and nothing that mends it was skipped.
func TestRemaining(t *testing.T) {
	t.Parallel()
	f := leaked(identifier.Email, SourceBreach, true, ExposedPassword)
	say := func(states ...StepState) Plan {
		var marks []StepMark
		for i, s := range NewFindingPlan(f, nil).Steps {
			marks = append(
				marks,
				StepMark{Finding: f.ID, Step: s.ID, State: states[i], At: modelNow},
				StepMark{Finding: "fd_2", Step: s.ID, State: StepSkipped},
			)
		}
		return NewFindingPlan(f, append(marks, StepMark{Finding: f.ID, Step: "gone", State: StepDone}))
	}
	for _, c := range []struct {
		plan Plan
		left string
		want PlanChange
	}{
		{say(StepTodo, StepTodo, StepTodo), "[change-password second-factor expect-scams]", PlanChange{Restate: true}},
		{say(StepDone, StepSkipped, StepDone), "[]", PlanChange{Close: ResolvedPasswordChanged}},
		{say(StepSkipped, StepDone, StepDone), "[change-password]", PlanChange{Restate: true}},
		{say(StepDone, StepTodo, StepDone), "[second-factor]", PlanChange{Restate: true}},
	} {
		if left := fmt.Sprint(stepIDs(c.plan.Remaining())); left != c.left || c.plan.decideRecheck() != c.want {
			t.Errorf("%s remain, not %s: %+v", left, c.left, c.plan.decideRecheck())
		}
	}
	f.Resolution = ResolvedNotMe
	if p := say(
		StepTodo,
		StepTodo,
		StepTodo,
	); len(p.Remaining()) != 0 ||
		p.decideRecheck() != (PlanChange{Restate: true}) {
		t.Error("of a closed one something remains")
	}
	if p := NewFindingPlan(
		leaked(identifier.Card, SourceBreach, true, ExposedCard),
		[]StepMark{{Finding: "fd_1", Step: "block-card", State: StepDone}},
	); p.resolution() != ResolvedCardReplaced ||
		p.Done() != 1 {
		t.Error(p.resolution())
	}
	if p := NewFindingPlan(
		leaked(identifier.Email, SourceBreach, true, ExposedEmail),
		nil,
	); p.resolution() != ResolvedOther {
		t.Error(p.resolution())
	}
}

// TestReminders: looked at whenever its time has come, a plan reminds of each step that is not done exactly once,
// however late the looks are, and never of what is closed or was never alerted to.
func TestReminders(t *testing.T) {
	t.Parallel()
	luck := rand.New(rand.NewPCG(4, 2))
	for range 500 {
		f := drawFinding(luck, luck.IntN(7), 0, drawBreach(luck, 0))
		f.Quiet = false
		marks := drawMarks(luck, NewFindingPlan(f, nil))
		plan := NewFindingPlan(f, marks)
		told := map[StepID]int{}
		for at := FirstReminder(f); !at.IsZero(); {
			now := at.Add(time.Duration(luck.IntN(5*24)) * time.Hour)
			r := ReminderOf(plan, at, now)
			for _, s := range r.Due {
				if told[s.ID]++; s.State != StepTodo || s.reminderTime().After(now) ||
					s.reminderTime().Before(f.FoundAt) {
					t.Fatalf("told of %s (%s) at %s, due %s", s.ID, s.State, now, s.Due)
				}
			}
			if !r.Next.IsZero() && !r.Next.After(now) {
				t.Fatal("looks again at once")
			}
			at = r.Next
		}
		for _, s := range plan.Steps {
			if want := map[bool]int{true: 1}[s.State == StepTodo]; told[s.ID] != want {
				t.Fatalf("%s (%s): told %d times", s.ID, s.State, told[s.ID])
			}
		}
		quiet, closed := f, f
		quiet.Quiet, closed.Resolution = true, ResolvedRetracted
		for _, f := range []Finding{quiet, closed} {
			if r := ReminderOf(
				NewFindingPlan(f, nil),
				f.FoundAt,
				f.FoundAt.AddDate(1, 0, 0),
			); !FirstReminder(f).IsZero() || len(r.Due) > 0 ||
				!r.Next.IsZero() {
				t.Fatal("reminded of what is closed or quiet")
			}
		}
	}
	f := leaked(identifier.Email, SourceBreach, true, ExposedPassword)
	if at := FirstReminder(f); !at.Equal(modelNow.Add(12 * time.Hour)) {
		t.Error("the first reminder is at", at)
	}
	f.RenewedAt = modelNow.AddDate(0, 1, 0)
	if at := FirstReminder(f); !at.Equal(f.RenewedAt.Add(12*time.Hour)) ||
		!NewFindingPlan(f, nil).Steps[0].Due.Equal(f.RenewedAt.Add(24*time.Hour)) {
		t.Error("a plan that began anew is due", NewFindingPlan(f, nil).Steps[0].Due)
	}
}

func drawBreach(luck *rand.Rand, n int) Breach {
	b := Breach{
		Name: fmt.Sprintf(
			"b%d",
			n,
		),
		Title:      fmt.Sprintf("Vazamento %d", n),
		Verified:   luck.IntN(4) > 0,
		Fabricated: luck.IntN(20) == 0,
		SpamList:   luck.IntN(20) == 0,
		Kind:       []SourceKind{SourceBreach, SourceCombolist, SourceStealer, SourcePaste, SourcePhish}[luck.IntN(5)],
		Date:       modelNow.AddDate(0, -luck.IntN(90), 0),
	}
	if luck.IntN(3) == 0 {
		b.Content = fmt.Sprintf("c%d", luck.IntN(4))
	}
	for _, e := range AllExposed() {
		if luck.IntN(4) == 0 {
			b.Exposes = append(b.Exposes, e)
		}
	}
	return b
}

func drawFinding(luck *rand.Rand, asset, n int, b Breach) Finding {
	kinds := []identifier.Kind{
		identifier.Email,
		identifier.CPF,
		identifier.Phone,
		identifier.Card,
		identifier.Domain,
		identifier.PixKey,
		identifier.CNPJ,
	}
	f := Finding{
		ID:      FindingID(fmt.Sprintf("fd_%d_%d", asset, n)),
		Asset:   AssetID(fmt.Sprintf("as_%d", asset)),
		Kind:    kinds[asset%len(kinds)],
		FoundAt: modelNow.Add(time.Duration(n) * time.Hour),
		Quiet:   luck.IntN(3) == 0,
	}
	if luck.IntN(2) == 0 {
		f.Trace.Told = true
		for _, e := range b.Exposes {
			if luck.IntN(3) > 0 {
				f.Trace.Classes |= NewClasses([]Exposed{e})
			}
		}
	}
	f.Breach = b.ForTrace(f.Trace)
	return f
}

func drawMarks(luck *rand.Rand, p Plan) (marks []StepMark) {
	for _, s := range p.Steps {
		if state := []StepState{StepTodo, StepDone, StepSkipped}[luck.IntN(3)]; state != StepTodo {
			marks = append(marks, StepMark{Finding: p.Finding.ID, Step: s.ID, State: state, At: modelNow})
		}
	}
	return marks
}

// breachesOnly has the breaches of one simulated person, and nothing of a store's else.
type breachesOnly struct {
	PersonStore
	breaches []Breach
}

func (s breachesOnly) BreachesByName(_ context.Context, names []string) ([]Breach, error) {
	return slices.DeleteFunc(slices.Clone(s.breaches), func(b Breach) bool { return !slices.Contains(names, b.Name) }), nil
}

// simulated is a person made up: their values, what was found of each, and what they said of the steps.
type simulated struct {
	breaches []Breach
	values   [][]Finding
	marks    map[FindingID][]StepMark
}

func drawSimulated(luck *rand.Rand) simulated {
	p := simulated{marks: map[FindingID][]StepMark{}}
	for n := range 1 + luck.IntN(6) {
		p.breaches = append(p.breaches, drawBreach(luck, n))
	}
	for asset := range 1 + luck.IntN(4) {
		var found []Finding
		for n, b := range p.breaches {
			if luck.IntN(3) > 0 {
				found = append(found, drawFinding(luck, asset, n, b))
			}
		}
		p.values = append(p.values, found)
	}
	return p
}

// risk is what the service computes of a person, by the way that it takes: names of open breaches, the book, the score.
func (p *simulated) risk(t *testing.T, items *catalogueIndex) Score {
	t.Helper()
	var posture Posture
	for i, found := range p.values {
		posture.Assets = append(
			posture.Assets,
			PostureAsset{
				Kind:     identifier.Email,
				Value:    fmt.Sprint(i),
				Status:   ComputeStatus(found),
				Breaches: JoinBreachNames(found),
			},
		)
	}
	book := &breachBook{known: map[string]bookEntry{}}
	if err := book.fillPosture(
		context.Background(),
		breachesOnly{breaches: p.breaches},
		&posture,
		modelNow,
	); err != nil {
		t.Fatal(err)
	}
	return computeScore(&posture, items)
}

// do says something of some steps of a finding's plan and asks for a re-check, as the store would keep it.
func (p *simulated) do(luck *rand.Rand, f *Finding) (solved bool) {
	plan := NewFindingPlan(*f, p.marks[f.ID])
	for i, s := range plan.Steps {
		if state := []StepState{s.State, StepDone, StepDone, StepDone, StepSkipped, StepTodo}[luck.IntN(6)]; f.Open() &&
			state != s.State {
			plan.Steps[i].State = state
			p.marks[f.ID] = append(p.marks[f.ID], StepMark{Finding: f.ID, Step: s.ID, State: state, At: modelNow})
		}
	}
	if change := plan.decideRecheck(); change.Close != "" {
		f.Resolution, f.ResolvedAt = change.Close, modelNow
		return true
	}
	return false
}

// TestStepsNeverRaiseRisk: 10,000 simulated people, a quarter of them in the usual run, work through their plans in any
// order, half-heartedly, with re-checks in between. Neither of the two scores ever rises by it, and no value's status
// gets worse.
func TestStepsNeverRaiseRisk(t *testing.T) {
	t.Parallel()
	items := firstCatalogue(t)
	worse := func(a, b Status) bool {
		order := []Status{StatusMonitored, StatusAlert, StatusCompromised}
		return slices.Index(order, b) > slices.Index(order, a)
	}
	steps, solved, fell := 0, 0, 0
	people := 2_500
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		people = 10_000
	}
	for n := range people {
		luck := rand.New(rand.NewPCG(uint64(n), 21))
		p := drawSimulated(luck)
		before := p.risk(t, items)
		for range 8 {
			found := p.values[luck.IntN(len(p.values))]
			if len(found) == 0 {
				continue
			}
			f := &found[luck.IntN(len(found))]
			status := ComputeStatus(found)
			steps++
			if !p.do(luck, f) {
				continue // only a finding that is closed changes what risk is computed from
			}
			solved++
			after := p.risk(t, items)
			if after.Breach > before.Breach || after.Assessment > before.Assessment ||
				worse(status, ComputeStatus(found)) {
				t.Fatalf("person %d: %v rose to %v by resolving %s\n%+v", n, before, after, f.ID, p.values)
			}
			if after.Breach < before.Breach || after.Assessment < before.Assessment {
				fell++
			}
			before = after
		}
	}
	if solved < people/10 || fell < people/20 {
		t.Errorf(
			"of %d steps %d solved something and %d lowered a score: too few to show anything",
			steps,
			solved,
			fell,
		)
	}
	t.Logf("%d steps, %d findings solved, %d times a score fell", steps, solved, fell)
}

// planned is a store with one finding's plan.
type planned struct {
	MonitoringStore
	f      Finding
	marks  []StepMark
	status Status
}

func (d *planned) FindingsOfUser(context.Context, partner.ID, partner.UserHash) ([]Finding, error) {
	return []Finding{d.f}, nil
}

func (d *planned) ListStepMarks(context.Context, partner.ID, partner.UserHash) ([]StepMark, error) {
	return d.marks, nil
}

func (d *planned) ChangePlan(
	_ context.Context,
	_ partner.ID,
	_ partner.UserHash,
	id FindingID,
	change func(Plan) (PlanChange, error),
) (Rechecked, error) {
	if id != d.f.ID {
		return Rechecked{}, ErrFindingNotFound
	}
	c, err := change(NewFindingPlan(d.f, d.marks))
	if err != nil {
		return Rechecked{}, err
	}
	if c.Mark != nil {
		d.marks = append(d.marks, *c.Mark)
	}
	d.f.Resolution = c.Close
	return Rechecked{NewFindingPlan(d.f, d.marks), d.status}, nil
}

// TestMarkStep: what may be said of which step, and what a re-check comes to.
func TestMarkStep(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d := &planned{f: leaked(identifier.Email, SourceBreach, true, ExposedPassword)}
	m := NewMonitoring(d, nil, nil, nil, func() time.Time { return modelNow })
	for _, c := range []struct {
		finding FindingID
		step    StepID
		state   StepState
		want    string
	}{
		{"fd_2", "change-password", StepDone, "finding.not_found"},
		{"fd_1", "block-card", StepDone, "step.not_found"},
		{"fd_1", "change-password", "feito", "step.invalid"},
		{"fd_1", "change-password", "", "step.invalid"},
		{"fd_1", "change-password", StepDone, ""},
		{"fd_1", "change-password", StepDone, ""},
	} {
		if _, err := m.MarkPlanStep(
			ctx,
			"pt_1",
			"u",
			c.finding,
			c.step,
			c.state,
		); (err == nil) != (c.want == "") ||
			err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s %s: %v, not %q", c.finding, c.step, c.state, err, c.want)
		}
	}
	if len(d.marks) != 1 {
		t.Error("saying the same again is kept again:", d.marks)
	}
	if now, err := m.RecheckFinding(
		ctx,
		"pt_1",
		"u",
		"fd_1",
	); err != nil || !now.Finding.Open() ||
		len(now.Remaining()) != 2 {
		t.Error("solved too early:", now, err)
	}
	for _, step := range []StepID{"second-factor", "expect-scams"} {
		if _, err := m.MarkPlanStep(ctx, "pt_1", "u", "fd_1", step, StepDone); err != nil {
			t.Fatal(err)
		}
	}
	if now, err := m.RecheckFinding(
		ctx,
		"pt_1",
		"u",
		"fd_1",
	); err != nil ||
		now.Finding.Resolution != ResolvedPasswordChanged {
		t.Error("not solved:", now, err)
	}
	if _, err := m.MarkPlanStep(
		ctx,
		"pt_1",
		"u",
		"fd_1",
		"expect-scams",
		StepTodo,
	); err == nil ||
		!strings.Contains(err.Error(), "finding.closed") {
		t.Error("a step of a closed finding is marked:", err)
	}
	if p, err := m.GetFindingPlan(ctx, "pt_1", "u", "fd_1"); err != nil || p.Done() != 3 {
		t.Error(p, err)
	}
	if _, err := m.GetFindingPlan(ctx, "pt_1", "u", "fd_9"); err == nil {
		t.Error("the plan of no finding")
	}
}
