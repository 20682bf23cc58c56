package console

import (
	"context"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

// tableOfFindings lays findings out, under the leak that they are of unless the filter says otherwise. counted are the
// findings under the filter; nil where they are too many to be counted.
func (c *Console) tableOfFindings(
	ctx context.Context, f filter, found []cyber.Found, counted []cyber.FindingGroup, partners map[partner.ID]string,
) (listTable, error) {
	t := newListTable("Ocorrências", listColumn{"Gravidade", "m"}, listColumn{"Pessoa", "a"},
		listColumn{"O que vazou", "c"}, listColumn{"Dado", "x"}, listColumn{"Parceiro", "x"},
		listColumn{"Situação", "d"}, listColumn{"Idade", "b num"})
	assets := make([]cyber.Asset, len(found))
	byPartner := map[partner.ID][]cyber.FindingID{}
	for i, one := range found {
		assets[i] = one.Asset
		byPartner[one.Asset.Partner] = append(byPartner[one.Asset.Partner], one.Finding.ID)
	}
	names, err := c.namesOfOwners(ctx, assets)
	if err != nil {
		return t, err
	}
	marks := map[partner.ID][]cyber.StepMark{}
	for id, findings := range byPartner {
		marks[id], err = c.Rules.Review.StepMarks(ctx, id, findings)
		if err != nil {
			return t, err
		}
	}
	people, err := c.affectedByLeak(ctx, f, found, counted)
	if err != nil {
		return t, err
	}
	for _, one := range found {
		b := one.Finding.Breach
		what := listCell{
			Text:   joinExposed(b.Exposes),
			Path:   findingPath(one),
			Hidden: "ocorrência " + shortenID(string(one.Finding.ID)),
		}
		row := listRow{
			Key:  string(one.Asset.Partner) + "/" + string(one.Finding.ID),
			Name: "a ocorrência " + string(one.Finding.ID),
			Cells: []listCell{
				{Severity: one.Finding.Severity},
				{Text: orDash(names[one.Asset.ID])},
				what,
				{Text: kindWords[one.Asset.Kind] + " " + identifier.MaskValue(one.Asset.Kind, one.Asset.Value)},
				{Text: partners[one.Asset.Partner]},
				{Badge: stateOfFinding(cyber.NewFindingPlan(one.Finding, marks[one.Asset.Partner]), c.Now())},
				ageCell(one.Finding.FoundAt, c.Now()),
			},
		}
		if f.valueOfName("group") == groupNone {
			row.Cells[2].Below = b.Title
			t.addRow(row)
			continue
		}
		t.addToGroup(b.Title, row, func() listGroup {
			g := listGroup{Title: b.Title}
			if b.Name != cyber.SandboxBreach && !c.confined {
				g.Path = joinPath("breaches", b.Name)
			}
			if !b.Date.IsZero() {
				g.Notes = append(g.Notes, "vazou em "+b.Date.UTC().Format("02/01/2006"))
			}
			if n, told := people[b.Name]; told {
				g.Notes = append(g.Notes, countWithWord(n, "pessoa", "pessoas"))
			}
			return g
		})
	}
	for i, g := range t.Groups {
		n := int64(len(g.Rows))
		if !t.IsGrouped || counted == nil {
			continue
		}
		all := cyber.CountFindings(counted, func(one cyber.FindingGroup) bool {
			return titleOfLeak(found, one.Breach) == g.Title
		})
		t.Groups[i].Share = groupedNumber(n) + " de " + groupedNumber(all) + " nesta página"
	}
	if c.confined {
		t.withoutPartner()
	}
	return t, nil
}

// groupNone is the word in an address for a list without groups.
const groupNone = "none"

// titleOfLeak returns the title of a leak that has a finding on the page; empty of any other.
func titleOfLeak(found []cyber.Found, name string) string {
	for _, one := range found {
		if one.Finding.Breach.Name == name {
			return one.Finding.Breach.Title
		}
	}
	return ""
}

// mostCountedLeaks is for how many leaks of a page people are counted: each is a question of its own.
const mostCountedLeaks = 8

// affectedByLeak counts the people of each leak of a page, under the filter; none where they are not known exactly, or
// would take long to count.
func (c *Console) affectedByLeak(
	ctx context.Context, f filter, found []cyber.Found, counted []cyber.FindingGroup,
) (map[string]int64, error) {
	asked := f.findingFilter(0)
	people := map[string]int64{}
	if counted == nil || len(asked.Severities)+len(asked.Classes) > 0 || asked.Kind != "" {
		return people, nil
	}
	for _, one := range found {
		name := one.Finding.Breach.Name
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
	return badge{"", "Em aberto"}
}
