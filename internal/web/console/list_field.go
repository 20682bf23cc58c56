package console

import (
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
)

// listField is a way to narrow a list. One without options is a day.
type listField struct {
	Name, Label string
	Options     []choiceOption
	// None is the choice that does not restrict; without one the first option is what the list holds unless told
	// otherwise.
	None string
	// Text is set for a field that is filled by links from other pages and has no input on this one.
	Text bool
	// Max is how long what is typed into a field may be, and Hint what it looks like: a word of ours or an operator's
	// address, never anything about a person. It is 0 for fields that are not typed into.
	Max  int
	Hint string
	// Tab fields are chosen by links above the list.
	Tab bool
	// Many says that several of the options may be chosen at once.
	Many bool
}

// isServiceOnly tells of a field that only those who run the service have: partners' people have one partner, and do
// not know who works on what.
func (f listField) isServiceOnly() bool { return f.Name == "partner" || f.Name == "owner" }

// labelOf returns the label of one of the options; any other value as it is.
func labelOf(options []choiceOption, value string) string {
	for _, o := range options {
		if o.Value == value {
			return o.Label
		}
	}
	return value
}

var (
	partnerField = listField{Name: "partner", Label: "Parceiro", None: "Todos, sem os de testes"}
	ofOne        = listField{Name: "partner", Label: "Parceiro"} // for lists of one partner at a time
	fromField    = listField{Name: "from", Label: "De"}
	toField      = listField{Name: "to", Label: "Até"}
	kindField    = listField{Name: "kind", Label: "Tipo", None: "Todos", Options: []choiceOption{
		{"email", "E-mail"},
		{"cpf", "CPF"},
		{"phone", "Telefone"},
		{"credit_card", "Cartão"},
		{"domain", "Domínio"},
		{"pix_key", "Chave Pix"},
		{"cnpj", "CNPJ"},
	}}
	severityField = listField{Name: "severity", Label: "Gravidade", None: "Todas", Many: true, Options: []choiceOption{
		{string(cyber.SeverityCritical), "Crítica"},
		{string(cyber.SeverityHigh), "Alta"},
		{string(cyber.SeverityMedium), "Média"},
		{string(cyber.SeverityLow), "Baixa"},
	}}
	sortField = listField{
		Name:    "sort",
		Label:   "Ordem",
		Options: []choiceOption{{"new", "Mais novos primeiro"}, {"old", "Mais antigos primeiro"}},
	}
)

var typeField = listField{Name: "type", Label: "Tipo", None: "Todos", Options: plainOptions(alert.Types)}

// severityName returns a severity in words.
func severityName(s cyber.Severity) string { return labelOf(severityField.Options, string(s)) }

// plainOptions returns words as options of a select field that say themselves.
func plainOptions[W ~string](words []W) []choiceOption {
	options := make([]choiceOption, len(words))
	for i, w := range words {
		options[i] = choiceOption{string(w), string(w)}
	}
	return options
}

// offersOption reports whether a value is one of the options.
func offersOption(options []choiceOption, value string) bool {
	return slices.ContainsFunc(options, func(o choiceOption) bool { return o.Value == value })
}
