package console

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// completeFindings adds the masked names of the people to findings, and how far their plans are.
func (c *Console) completeFindings(ctx context.Context, rows []findingRow) error {
	assets := make([]cyber.Asset, len(rows))
	byPartner := map[partner.ID][]cyber.FindingID{}
	for i, r := range rows {
		assets[i] = r.Asset
		byPartner[r.Asset.Partner] = append(byPartner[r.Asset.Partner], r.Finding.ID)
	}
	names, err := c.namesOfOwners(ctx, assets)
	if err != nil {
		return err
	}
	marks := map[partner.ID][]cyber.StepMark{}
	for id, findings := range byPartner {
		marks[id], err = c.Rules.Review.StepMarks(ctx, id, findings)
		if err != nil {
			return err
		}
	}
	for i, r := range rows {
		rows[i].name = names[r.Asset.ID]
		rows[i].state = stateOfFinding(cyber.NewFindingPlan(r.Finding, marks[r.Asset.Partner]), c.Now())
	}
	return nil
}

// describeLeaks says under the titles of a page of findings what is known of each leak: when it happened, how many
// people it hit, and how many of its findings are on the page. counted are the findings under the filter; nil where
// they are too many to be counted.
func (c *Console) describeLeaks(
	ctx context.Context, f filter, groups []listGroup, rows []findingRow, counted []cyber.FindingGroup,
) error {
	people, err := c.affectedByLeak(ctx, f, rows, counted)
	if err != nil {
		return err
	}
	leaks, titles := map[string]cyber.Breach{}, map[string]string{}
	for _, r := range slices.Backward(rows) { // the first one of a title stands for all
		leaks[r.Finding.Breach.Title] = r.Finding.Breach
		titles[r.Finding.Breach.Name] = r.Finding.Breach.Title
	}
	for i := range groups {
		g, b := &groups[i], leaks[groups[i].Title]
		if b.Name != cyber.SandboxBreach && !c.confined {
			g.Path = joinPath("breaches", b.Name)
		}
		if !b.Date.IsZero() {
			g.Notes = append(g.Notes, "vazou em "+b.Date.UTC().Format("02/01/2006"))
		}
		if n, told := people[b.Name]; told {
			g.Notes = append(g.Notes, countWithWord(n, "pessoa", "pessoas"))
		}
		if counted != nil {
			same := func(one cyber.FindingGroup) bool { return titles[one.Breach] == g.Title }
			all := cyber.CountFindings(counted, same)
			g.Share = groupedNumber(int64(len(g.Rows))) + " de " + groupedNumber(all) + " nesta página"
		}
	}
	return nil
}

// mostCountedLeaks is for how many leaks of a page people are counted: each is a question of its own.
const mostCountedLeaks = 8

// affectedByLeak counts the people of each leak of a page, under the filter; none where they are not known exactly, or
// would take long to count.
func (c *Console) affectedByLeak(
	ctx context.Context, f filter, rows []findingRow, counted []cyber.FindingGroup,
) (map[string]int64, error) {
	asked := f.findingFilter(0)
	people := map[string]int64{}
	if counted == nil || len(asked.Severities)+len(asked.Classes) > 0 || asked.Kind != "" {
		return people, nil
	}
	for _, r := range rows {
		name := r.Finding.Breach.Name
		if _, done := people[name]; done || len(people) == mostCountedLeaks {
			continue
		}
		asked.Breach = name
		byPartner, err := c.Rules.Review.CountAffected(ctx, asked)
		if err != nil {
			return nil, err
		}
		people[name] = 0
		for _, n := range byPartner {
			people[name] += n
		}
	}
	return people, nil
}

// stateOfFinding says where a finding stands: what was decided of it, or how far its plan is. Only a step that is late
// or due today has a colour.
func stateOfFinding(p cyber.Plan, now time.Time) badge {
	if !p.Finding.Open() {
		return badge{"good", resolutionName(p.Finding.Resolution)}
	}
	var next time.Time
	for _, s := range p.Steps {
		if s.State == cyber.StepTodo && (next.IsZero() || s.Due.Before(next)) {
			next = s.Due
		}
	}
	switch {
	case !next.IsZero() && next.Before(now):
		return badge{"bad", "Passo atrasado há " + formatDuration(now.Sub(next))}
	case !next.IsZero() && next.Before(nextMidnight(now)):
		return badge{"warn", "Passo vence hoje"}
	case p.Done() > 0:
		return badge{"", "Plano, " + strconv.Itoa(p.Done()) + " de " + strconv.Itoa(len(p.Steps))}
	}
	return untouched
}

// untouched is the state of a finding of which nobody has said anything.
var untouched = badge{"", "Em aberto"}
