package cyber

import (
	"embed"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/vigiahq/vigia/internal/partner"
)

//go:embed translations/*.yaml
var translationFiles embed.FS

// translation is the text of an item of the catalogue in another language.
type translation struct {
	ID       ContentID         `yaml:"id"`
	Title    string            `yaml:"title"`
	Body     string            `yaml:"body"`
	More     string            `yaml:"more,omitempty"`
	Question string            `yaml:"question,omitempty"`
	Mends    string            `yaml:"mends,omitempty"`
	Options  map[string]string `yaml:"options,omitempty"`
}

// translations are the texts that this program brings in languages other than Portuguese.
var translations = sync.OnceValues(func() (map[partner.Language][]translation, error) {
	all := map[partner.Language][]translation{}
	for _, lang := range partner.ListLanguages()[1:] {
		text, err := translationFiles.ReadFile("translations/" + string(lang) + ".yaml")
		var list []translation
		if err == nil {
			err = yaml.UnmarshalWithOptions(text, &list, yaml.Strict())
		}
		if err != nil {
			return nil, fmt.Errorf("read translations: %w", err)
		}
		all[lang] = list
	}
	return all, nil
})

// translateItems returns items in a language. An item whose text an operator wrote stays in Portuguese: a translation
// of the text that it replaced would tell people something else.
func translateItems(items []Item, lang partner.Language) ([]Item, error) {
	first, err := firstContent()
	if err != nil {
		return nil, err
	}
	all, err := translations()
	if err != nil {
		return nil, err
	}
	items = slices.Clone(items)
	for i := range items {
		it := &items[i]
		at := slices.IndexFunc(first, func(f Item) bool {
			return f.ID == it.ID && f.Title == it.Title && f.Body == it.Body && f.More == it.More &&
				reflect.DeepEqual(f.Question, it.Question)
		})
		to := slices.IndexFunc(all[lang], func(t translation) bool { return t.ID == it.ID })
		if at >= 0 && to >= 0 {
			all[lang][to].translateItem(it)
			it.Language = lang
		}
	}
	return items, nil
}

// translateItem puts the translated texts into an item.
func (t translation) translateItem(it *Item) {
	it.Title, it.Body, it.More = t.Title, t.Body, t.More
	if it.Question == nil {
		return
	}
	q := ValidationQuestion{Text: t.Question, Mends: t.Mends, Options: slices.Clone(it.Question.Options)}
	for i := range q.Options {
		q.Options[i].Label = t.Options[q.Options[i].Value]
	}
	it.Question = &q
}
