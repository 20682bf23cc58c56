package console

import (
	"cmp"
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
)

var findingStates = listField{
	Name:  "state",
	Label: "Situação",
	Options: []choiceOption{
		{string(cyber.FindingOpen), "Em aberto"},
		{string(cyber.FindingResolved), "Resolvidas"},
		{allFindings, "Em aberto e resolvidas"},
		{string(cyber.FindingRetracted), "Retratadas"},
	},
}

// allFindings is the word in an address for every finding that was not retracted.
const allFindings = "all"

// alertedField leaves the findings that the partner was alerted of.
var alertedField = listField{
	Name:    "alerted",
	Label:   "Aviso",
	None:    "Com ou sem aviso",
	Options: []choiceOption{{"1", "Com aviso ao parceiro"}},
}

// classField leaves findings that expose a class of data.
var classField = listField{
	Name: "class", Label: "O que vazou", None: "Qualquer dado", Options: exposedOptions, Many: true,
}

var findingsList = listOf(listing{
	name:    "findings",
	title:   "Ocorrências",
	persons: true,
	access:  everyone,
	fields: []listField{
		partnerField,
		findingStates,
		severityField,
		classField,
		kindField,
		alertedField,
		fromField,
		toField,
		sortField,
		{Name: "breach", Label: "Vazamento", Text: true},
		{Name: "group", Label: "Agrupar", Tab: true, Options: []choiceOption{
			{"", "Por vazamento"},
			{groupNone, "Sem grupos"},
		}},
	},
	action: &resolveMany,
	gather: (*Console).gatherFindings,
}, filter.readFindings, rowOfFinding)

// groupNone is the word in an address for a list without groups.
const groupNone = "none"

// findingRow is a finding in a list. The masked name of the person and the state of the plan are only on the page.
type findingRow struct {
	cyber.Found
	name  string
	state badge
}

func rowOfFinding(r findingRow, f filter) listRow {
	id, b := string(r.Finding.ID), r.Finding.Breach
	kind, value := kindWords[r.Asset.Kind], identifier.MaskValue(r.Asset.Kind, r.Asset.Value)
	state := "Em aberto"
	if !r.Finding.Open() {
		state = resolutionName(r.Finding.Resolution)
	}
	row := listRow{Key: string(r.Asset.Partner) + "/" + id, Name: "a ocorrência " + id, Group: b.Title}
	below := ""
	if f.valueOfName("group") == groupNone {
		row.Group, below = "", b.Title
	}
	row.Cells = []listCell{
		stampCell("encontrado", r.Finding.FoundAt),
		{
			Label:    "Gravidade",
			Class:    "m",
			Export:   "gravidade",
			Severity: r.Finding.Severity,
			Text:     severityName(r.Finding.Severity),
		},
		{Label: "Pessoa", Class: "a", Text: r.name},
		{
			Label:  "O que vazou",
			Class:  "c",
			Text:   joinExposed(b.Exposes),
			Path:   findingPath(r.Found),
			Hidden: "ocorrência " + shortenID(id),
			Below:  below,
		},
		exportCell("tipo", kind),
		exportCell("valor", value),
		exportCell("vazamento", b.Title),
		{Label: "Dado", Class: "x", Text: kind + " " + value},
		f.partnerCell("x", r.Asset.Partner),
		{Label: "Situação", Class: "d", Export: "situação", Text: state, Badge: r.state},
		ageCell("Idade", "b num", r.Finding.FoundAt, f.now),
		exportCell("id", id),
	}
	return row
}

// findingFilter returns which findings the filter picks; the open ones unless others are asked for.
func (f filter) findingFilter(limit int) cyber.FindingFilter {
	state := cyber.FindingState(cmp.Or(f.valueOfName("state"), string(cyber.FindingOpen)))
	if state == allFindings {
		state = cyber.FindingStanding
	}
	return cyber.FindingFilter{
		Partner:     f.Partner,
		LiveOnly:    f.isOfLivePartners(),
		User:        f.user,
		Breach:      f.valueOfName("breach"),
		State:       state,
		AlertedOnly: f.valueOfName("alerted") != "",
		Kind:        f.valueOfName("kind"),
		Severities:  wordsOf[cyber.Severity](f.values["severity"]),
		Classes:     wordsOf[cyber.Exposed](f.values["class"]),
		From:        f.From,
		To:          f.To,
		OldestFirst: f.isOldestFirst(),
		Before:      f.parseMark(),
		Limit:       limit,
	}
}

// readFindings returns a page of findings.
func (f filter) readFindings(ctx context.Context, in *Rules, limit int) ([]findingRow, string, error) {
	found, next, err := in.Review.FindingList(ctx, f.findingFilter(limit))
	rows := make([]findingRow, len(found))
	for i, one := range found {
		rows[i].Found = one
	}
	return rows, formatMark(next), err
}
