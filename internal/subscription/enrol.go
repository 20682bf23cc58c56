package subscription

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

// MaxItems is the most that one bulk request holds.
const MaxItems = 10_000

// Row is an item of a request, indexed and sealed ahead of the transaction that stores it, so that this is short. Only
// the store looks into it.
type Row any

// Sealer makes the row of an item; item is its place in the request. Of an item that is not to be created it needs the
// plan and the CPF, so that Enrol can tell whether it would have been a duplicate.
type Sealer func(item int, s *Subscription, create bool) (Row, error)

// Enrolled is what became of rows.
type Enrolled struct {
	// Duplicates are the places of rows that the partner has already, or that an earlier row creates.
	Duplicates []int
	// Waiting is how many watched values of those created wait for their first look.
	Waiting int
}

// Outcome is what became of a bulk request.
type Outcome struct {
	Created int
	// Watched is how many values of the created ones their plans watch, by kind.
	Watched WatchCount
	// Waiting is how many of these values wait for their first look into past breaches.
	Waiting int
	// Failures are in the order of the request.
	Failures []Failure
}

// Enrolment is one bulk request being worked on, by one goroutine: Add for each item in their order, then Keep.
type Enrolment struct {
	partner partner.ID
	mode    partner.Mode
	plans   knownPlans
	fresh   func() (knownPlans, error) // reads them anew; nil where they were not remembered
	seal    Sealer
	rows    []Row
	today   Day
	demo    func(plan.ID) plan.Plan

	failures []Failure
	added    map[int]echo // what an item's failure would repeat, should it turn out to be a duplicate
	register map[plan.ID]bool
	err      error
	refused  map[int]int // indexes in failures by item, built on first use
}

// echo is what a failure repeats of its item, and what is watched of one that is created.
type echo struct {
	cpf, holder, plan string
	watch             plan.Watch
}

// BeginEnrolment begins a bulk request of a partner. The epoch is the caller's, 0 where nothing remembered may be
// relied on.
func (r *Registry) BeginEnrolment(
	ctx context.Context, id partner.ID, mode partner.Mode, epoch int64,
) (*Enrolment, error) {
	known, remembered, err := r.loadSetup(ctx, id, epoch)
	if err != nil {
		return nil, err
	}
	now := r.now()
	e := &Enrolment{
		partner: id, mode: mode, plans: known.plans, seal: known.seal, today: DayInBrazil(now),
		added: map[int]echo{}, register: map[plan.ID]bool{},
		demo: func(p plan.ID) plan.Plan {
			return plan.Plan{ID: p, Partner: id, Name: string(p), Coverage: plan.DemoCoverage(), CreatedAt: now}
		},
	}
	if remembered {
		e.fresh = sync.OnceValues(func() (knownPlans, error) { return r.loadPlans(ctx, id) })
	}
	return e, nil
}

// AddItem holds one item against the rules. The draft is not kept.
func (e *Enrolment) AddItem(item int, d *Draft) {
	c := checker{today: e.today}
	if e.mode.Has(partner.AnyCheckDigits) {
		c.digits = identifier.Waived
	}
	s := c.checkItem(d)
	known, isNew, err := e.checkPlanOpen(&c, s.Plan)
	if err != nil {
		e.err = err
		return
	}
	if !s.Over(e.today) { // one that is over is never in force: nothing is learned with it
		s.Watch = known.watch
	}
	sent := echo{
		cpf:    truncateText(d.CPF),
		holder: truncateText(d.BenefitHolder),
		plan:   truncateText(d.PlanID),
		watch:  s.Watch,
	}
	isGood := len(c.problems) == 0
	if isGood || s.Plan != "" && s.Beneficiary.CPF != "" {
		row, err := e.seal(item, &s, isGood)
		if err != nil {
			e.err = err
			return
		}
		e.rows = append(e.rows, row)
	}
	if !isGood {
		e.failures = append(e.failures, sent.newFailure(item, c.problems...))
		return
	}
	e.added[item] = sent
	if isNew {
		e.register[s.Plan] = true
	}
}

// SentMembers returns what a failure repeats of an item, as it was sent. A stored outcome need not hold it: it only
// answers a repeated request, which holds it again.
func (e *Enrolment) SentMembers(item int) (cpf, holder, plan string) {
	if sent, added := e.added[item]; added {
		return sent.cpf, sent.holder, sent.plan
	}
	if e.refused == nil {
		e.refused = make(map[int]int, len(e.failures))
		for i, f := range e.failures {
			e.refused[f.Item] = i
		}
	}
	if i, there := e.refused[item]; there {
		f := e.failures[i]
		return f.CPF, f.Holder, f.Plan
	}
	return "", "", ""
}

// newFailure returns an item's problems with what the answer repeats of it.
func (s echo) newFailure(item int, problems ...Problem) Failure {
	return Failure{Item: item, CPF: s.cpf, Holder: s.holder, Plan: s.plan, Problems: problems}
}

// truncateText bounds what an answer repeats.
func truncateText(t Text) string {
	const limit = 255
	text := strings.TrimSpace(t.Value)
	if !tooManyRunes(text, limit) {
		return text
	}
	return string([]rune(text)[:limit])
}

// KeepEnrolment creates what passed and tells what became of every item. It may be called again when the transaction
// around it is repeated, and the registry may be that transaction's while another one began the enrolment.
func (r *Registry) KeepEnrolment(ctx context.Context, e *Enrolment, dryRun bool) (Outcome, error) {
	if e.err != nil {
		return Outcome{}, e.err
	}
	register := make([]plan.Plan, 0, len(e.register))
	for p := range e.register {
		register = append(register, e.demo(p))
	}
	slices.SortFunc(register, func(a, b plan.Plan) int { return strings.Compare(string(a.ID), string(b.ID)) })
	done, err := r.store.Enrol(ctx, e.partner, e.rows, register, dryRun)
	if err != nil {
		return Outcome{}, err
	}
	exists := Problem{FieldCPF, RuleExists}
	failures := make([]Failure, 0, len(e.failures)+len(done.Duplicates))
	refused := make(map[int]bool, len(done.Duplicates))
	for _, item := range done.Duplicates {
		refused[item] = true
		if sent, added := e.added[item]; added {
			failures = append(failures, sent.newFailure(item, exists))
		}
	}
	created := len(e.added) - len(failures)
	var watched WatchCount
	for item, sent := range e.added {
		if !refused[item] {
			watched.addCount(countWatch(sent.watch))
		}
	}
	for _, f := range e.failures {
		if refused[f.Item] { // on a copy: this may be repeated
			f.Problems = append(slices.Clone(f.Problems), exists)
		}
		failures = append(failures, f)
	}
	slices.SortFunc(failures, func(a, b Failure) int { return a.Item - b.Item })
	return Outcome{Created: created, Watched: watched, Waiting: done.Waiting, Failures: failures}, nil
}
