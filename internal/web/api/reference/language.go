package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// language is one in which all pages are written.
type language struct {
	// Code is what the attributes lang and hreflang say; Name is the language's name in itself.
	Code, Name string
	// folder is where its pages stand, guides where the files of its guides lie.
	folder, guides string
	// texts are nil for English, in which the contract and the pages are written.
	texts *texts
}

// texts are what a language says instead of the English.
type texts struct {
	Title, About string
	// Words are those of the pages, of tags and of answers by their English text.
	Words              map[string]string
	Operations, Events map[string]titled
	// Details explain what x-error-detail says, which is English in every language.
	Details yaml.MapSlice
	// fields are what parameters and members are about, by their English text as one line.
	fields map[string]string
}

// titled is a group of operations: its title and what it is about.
type titled struct{ Title, About string }

// fieldText is a text of pt.fields.yaml.
type fieldText struct{ En, Pt string }

// languages returns the languages of the pages; the first is the default.
func languages() ([]language, error) {
	raw, err := files.ReadFile("pt.yaml")
	if err != nil {
		return nil, err
	}
	portuguese := &texts{}
	if err := yaml.UnmarshalWithOptions(raw, portuguese, yaml.Strict()); err != nil {
		return nil, err
	}
	if portuguese.fields, err = fieldTexts(); err != nil {
		return nil, err
	}
	return []language{
		{Code: "pt-BR", Name: "Português", folder: "", guides: "pt/", texts: portuguese},
		{Code: "en", Name: "English", folder: "en/", guides: ""},
	}, nil
}

// fieldTexts reads what parameters and members are about.
func fieldTexts() (map[string]string, error) {
	raw, err := files.ReadFile("pt.fields.yaml")
	if err != nil {
		return nil, err
	}
	var list struct{ Fields []fieldText }
	if err := yaml.UnmarshalWithOptions(raw, &list, yaml.Strict()); err != nil {
		return nil, err
	}
	texts := make(map[string]string, len(list.Fields))
	for _, f := range list.Fields {
		if texts[f.En] != "" || f.En == "" || f.Pt == "" {
			return nil, fmt.Errorf("pt.fields.yaml: %q twice, or without a half", f.En)
		}
		texts[f.En] = f.Pt
	}
	return texts, nil
}

// joinLines returns a text of the contract without its line breaks.
func joinLines(text string) string { return strings.Join(strings.Fields(text), " ") }

// typeWords are what describeType says around the names of types and values, which stay.
var typeWords = strings.NewReplacer(
	"one of ",
	"um de ",
	"list of ",
	"lista de ",
	"always ",
	"sempre ",
	" or ",
	" ou ",
	"empty",
	"vazio",
)

// textInLanguage returns the translation of an English text of a page. A missing translation is an error, which every
// test of the pages finds.
func (l language) textInLanguage(english string) (string, error) {
	if l.texts == nil {
		return english, nil
	}
	if said := l.texts.Words[english]; said != "" {
		return said, nil
	}
	return "", fmt.Errorf("pt.yaml: no words for %q", english)
}

// translate returns the contract as the language tells it: titles and what a thing, a parameter or a member is about.
// The rules in full stay as they are written. What has no translation stays too, and is named: a test refuses it,
// readers do not go without the page.
func (l language) translate(c *Contract) (*Contract, []string) {
	if l.texts == nil {
		return c, nil
	}
	// Each of the three falls back to English and notes the missing text.
	var missing []string
	say := func(english string) string {
		if said := l.texts.Words[english]; said != "" {
			return said
		}
		missing = append(missing, english)
		return english
	}
	find := func(table map[string]titled, name string, english titled) titled {
		if found := table[name]; found.Title != "" && found.About != "" {
			return found
		}
		missing = append(missing, name)
		return english
	}
	about := func(english string) string {
		if said := l.texts.fields[joinLines(english)]; said != "" || english == "" {
			return said
		}
		missing = append(missing, joinLines(english))
		return english
	}
	// The contract is shared by all languages, so every slice that changes is copied first.
	told := *c
	told.Title, told.Description = l.texts.Title, l.texts.About
	told.Tags, told.Operations, told.Events = slices.Clone(c.Tags), slices.Clone(c.Operations), slices.Clone(c.Events)
	for i, t := range told.Tags {
		told.Tags[i] = Tag{say(t.Name), say(t.Description)}
	}
	for i := range told.Operations {
		op := &told.Operations[i]
		text := find(l.texts.Operations, op.ID, titled{op.Summary, op.Description})
		op.Tag, op.Summary, op.Description = say(op.Tag), text.Title, text.About
		op.Parameters = slices.Clone(op.Parameters)
		for j := range op.Parameters {
			p := &op.Parameters[j]
			p.Type, p.Description = typeWords.Replace(p.Type), about(p.Description)
		}
		op.Members = membersIn(op.Members, about)
		op.Responses = slices.Clone(op.Responses)
		for j := range op.Responses {
			r := &op.Responses[j]
			r.Description, r.Members = say(r.Description), membersIn(r.Members, about)
		}
	}
	for i := range told.Events {
		text := find(l.texts.Events, told.Events[i].Type, titled{told.Events[i].Summary, told.Events[i].Description})
		told.Events[i].Summary, told.Events[i].Description = text.Title, text.About
	}
	return &told, missing
}

// membersIn returns the members of a body in another language.
func membersIn(list []Member, about func(string) string) []Member {
	list = slices.Clone(list)
	for i := range list {
		list[i].Type, list[i].Description = typeWords.Replace(list[i].Type), about(list[i].Description)
	}
	return list
}
