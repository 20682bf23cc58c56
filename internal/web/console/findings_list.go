package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
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

var findingsList = listing{
	name:    "findings",
	title:   "Ocorrências",
	persons: true,
	role:    operator.Viewer,
	portal:  look,
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
		{Name: "group", Label: "Agrupar", Tab: true, Options: []choiceOption{{groupNone, "Sem grupos"}}},
	},
	header: []string{"encontrado", "gravidade", "tipo", "valor", "vazamento", "parceiro", "situação", "id"},
	action: &resolveMany,
	read: linesOf(filter.readFindings, func(_ filter, partners map[partner.ID]string, one cyber.Found) listLine {
		state := "Em aberto"
		if !one.Finding.Open() {
			state = resolutionName(one.Finding.Resolution)
		}
		return listLine{string(one.Asset.Partner) + "/" + string(one.Finding.ID), []string{
			formatStamp(one.Finding.FoundAt),
			severityField.optionLabel(string(one.Finding.Severity)),
			kindWords[one.Asset.Kind],
			identifier.MaskValue(one.Asset.Kind, one.Asset.Value),
			one.Finding.Breach.Title,
			partners[one.Asset.Partner],
			state,
			string(one.Finding.ID),
		}}
	}),
}

// findingFilter returns which findings the filter picks; the open ones unless others are asked for.
func (f filter) findingFilter(limit int) cyber.FindingFilter {
	state := cyber.FindingState(f.valueOr("state", string(cyber.FindingOpen)))
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
func (f filter) readFindings(ctx context.Context, in *Rules, limit int) ([]cyber.Found, string, error) {
	list, next, err := in.Review.FindingList(ctx, f.findingFilter(limit))
	return list, formatMark(next), err
}
