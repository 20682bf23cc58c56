package console

import (
	"cmp"
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
)

// peopleList are the people with findings: what a number of people leads to.
var peopleList = listOf(listing{
	name:   "people",
	title:  "Pessoas atingidas",
	access: everyone,
	fields: []listField{
		partnerField,
		peopleStates,
		alertedField,
		fromField,
		toField,
		{Name: "breach", Label: "Vazamento", Text: true},
	},
	gather: (*Console).gatherPeople,
}, filter.readPeople, rowOfPerson)

var peopleStates = listField{
	Name:  "state",
	Label: "Ocorrências",
	Options: []choiceOption{
		{allFindings, "Em aberto e resolvidas"},
		{string(cyber.FindingOpen), "Em aberto"},
		{string(cyber.FindingResolved), "Resolvidas"},
	},
}

// affectedFilter returns which findings people of the list have: those that stand unless others are asked for.
func (f filter) affectedFilter(limit int) cyber.FindingFilter {
	asked := f.findingFilter(limit)
	if f.valueOfName("state") == "" {
		asked.State = cyber.FindingStanding
	}
	return asked
}

// personRow is a person with findings. The masked name and the path are only on the page.
type personRow struct {
	cyber.Affected
	name, path string
}

func rowOfPerson(r personRow, f filter) listRow {
	value := kindWords[r.Asset.Kind] + " " + identifier.MaskValue(r.Asset.Kind, r.Asset.Value)
	state := badge{"good", "Tudo resolvido"}
	if r.Open > 0 {
		state = badge{"", groupedNumber(r.Open) + " em aberto"}
	}
	return listRow{Cells: []listCell{
		exportCell("dado", value),
		{
			Label:  "Pessoa",
			Class:  "c",
			Text:   cmp.Or(r.name, "sem nome, "+value),
			Path:   r.path,
			Hidden: shortenID(string(r.Asset.User)),
		},
		f.partnerCell("a", r.Asset.Partner),
		{Label: "Ocorrências", Class: "x num", Export: "ocorrências", Text: groupedNumber(r.Findings)},
		exportCell("em aberto", groupedNumber(r.Open)),
		{Label: "Situação", Class: "d", Badge: state},
		ageCell("Última", "b num", r.Newest, f.now),
		stampCell("última", r.Newest),
	}}
}

// readPeople returns a page of people with findings.
func (f filter) readPeople(ctx context.Context, in *Rules, limit int) ([]personRow, string, error) {
	list, next, err := in.Review.ListAffected(ctx, f.affectedFilter(limit))
	rows := make([]personRow, len(list))
	for i, one := range list {
		rows[i].Affected = one
	}
	return rows, formatMark(next), err
}

// gatherPeople returns one page of the people with findings, masked.
func (c *Console) gatherPeople(ctx context.Context, _ viewer, f filter) (listPart, error) {
	rows, next, err := f.readPeople(ctx, &c.Rules, perPage)
	if err != nil {
		return listPart{}, err
	}
	byPartner, err := c.Rules.Review.CountAffected(ctx, f.affectedFilter(0))
	if err != nil {
		return listPart{}, err
	}
	var total int64
	for _, n := range byPartner {
		total += n
	}
	assets := make([]cyber.Asset, len(rows))
	for i, r := range rows {
		assets[i] = r.Asset
	}
	names, err := c.namesOfOwners(ctx, assets)
	for i, a := range assets {
		rows[i].name, rows[i].path = names[a.ID], c.personPath(a.Partner, a.User)
	}
	return newListPart(f, rows, rowOfPerson, next, total), err
}
