package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// peopleList are the people with findings: what a number of people leads to.
var peopleList = listing{
	name:   "people",
	title:  "Pessoas atingidas",
	role:   operator.Viewer,
	portal: look,
	fields: []listField{
		partnerField,
		peopleStates,
		alertedField,
		fromField,
		toField,
		{Name: "breach", Label: "Vazamento", Text: true},
	},
	header: []string{"dado", "parceiro", "ocorrências", "em aberto", "última"},
	read: linesOf(filter.readPeople, func(_ filter, partners map[partner.ID]string, p cyber.Affected) listLine {
		return listLine{string(p.Asset.Partner) + "/" + string(p.Asset.ID), []string{
			kindWords[p.Asset.Kind] + " " + identifier.MaskValue(p.Asset.Kind, p.Asset.Value),
			partners[p.Asset.Partner],
			groupedNumber(p.Findings),
			groupedNumber(p.Open),
			formatStamp(p.Newest),
		}}
	}),
}

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

// readPeople returns a page of people with findings.
func (f filter) readPeople(ctx context.Context, in *Rules, limit int) ([]cyber.Affected, string, error) {
	list, next, err := in.Review.ListAffected(ctx, f.affectedFilter(limit))
	return list, formatMark(next), err
}

// peoplePage is the data of the list of people.
type peoplePage struct {
	List  listView
	Table listTable
}

// listPeople shows one page of the people with findings, masked.
func listPeople(c *Console, r *request) (answer, error) {
	all, err := c.visiblePartners(r.Context(), r.viewer)
	if err != nil {
		return nil, err
	}
	f, err := c.parseFilter(r, &peopleList, all)
	if err != nil {
		return nil, err
	}
	page, err := c.gatherPeople(r.Context(), r.viewer, f, all)
	if err != nil {
		return nil, err
	}
	return view{"people", "Pessoas atingidas", page}, nil
}

func (c *Console) gatherPeople(ctx context.Context, who viewer, f filter, all []partner.Partner) (peoplePage, error) {
	list, next, err := f.readPeople(ctx, &c.Rules, perPage)
	if err != nil {
		return peoplePage{}, err
	}
	byPartner, err := c.Rules.Review.CountAffected(ctx, f.affectedFilter(0))
	if err != nil {
		return peoplePage{}, err
	}
	var total int64
	for _, n := range byPartner {
		total += n
	}
	page := peoplePage{}
	page.Table, err = c.tableOfPeople(ctx, list, partnerChoice{All: all}.namesByID())
	if err != nil {
		return peoplePage{}, err
	}
	part := listPart{partners: all, shown: len(list), next: next, total: total}
	page.List, err = c.newListView(ctx, who, &peopleList, f, part)
	return page, err
}

// tableOfPeople lays out people with findings.
func (c *Console) tableOfPeople(
	ctx context.Context, list []cyber.Affected, partners map[partner.ID]string,
) (listTable, error) {
	t := newListTable("Pessoas atingidas", listColumn{"Pessoa", "c"}, listColumn{"Parceiro", "a"},
		listColumn{"Ocorrências", "x num"}, listColumn{"Situação", "d"}, listColumn{"Última", "b num"})
	assets := make([]cyber.Asset, len(list))
	for i, p := range list {
		assets[i] = p.Asset
	}
	names, err := c.namesOfOwners(ctx, assets)
	if err != nil {
		return t, err
	}
	for _, p := range list {
		name := names[p.Asset.ID]
		if name == "" {
			name = "sem nome, " + kindWords[p.Asset.Kind] + " " + identifier.MaskValue(p.Asset.Kind, p.Asset.Value)
		}
		state := badge{"good", "Tudo resolvido"}
		if p.Open > 0 {
			state = badge{"", groupedNumber(p.Open) + " em aberto"}
		}
		t.addRow(listRow{Cells: []listCell{
			{Text: name, Path: c.personPath(p.Asset.Partner, p.Asset.User), Hidden: shortenID(string(p.Asset.User))},
			{Text: partners[p.Asset.Partner]},
			{Text: groupedNumber(p.Findings)},
			{Badge: state},
			ageCell(p.Newest, c.Now()),
		}})
	}
	if c.confined {
		t.withoutPartner()
	}
	return t, nil
}
