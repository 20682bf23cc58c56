package reference

import (
	"github.com/goccy/go-yaml"
)

// TranslateDocument returns the contract with its titles and descriptions in Portuguese. Everything that a program
// reads, names, types, values and examples, stays as it is; what has no translation stays in English.
func TranslateDocument(document []byte) ([]byte, error) {
	all, err := languages()
	if err != nil {
		return nil, err
	}
	var root yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(document, &root, yaml.UseOrderedMap()); err != nil {
		return nil, err
	}
	t := documentTexts{all[0].texts}
	for i, item := range root {
		switch item.Key {
		case "info":
			root[i].Value = setTexts(item.Value, titled{t.Title, t.About}, "title")
		case "webhooks":
			root[i].Value = t.translateWebhooks(item.Value)
		default:
			root[i].Value = t.translateNode(item.Value)
		}
	}
	return yaml.MarshalWithOptions(root, yaml.UseLiteralStyleIfMultiline(true))
}

// documentTexts are the texts of the language that a document is translated to.
type documentTexts struct{ *texts }

// translateWebhooks translates the events, whose texts stand by the types of the events.
func (t documentTexts) translateWebhooks(v any) any {
	hooks, isMap := v.(yaml.MapSlice)
	if !isMap {
		return v
	}
	for i, hook := range hooks {
		methods, isMap := t.translateNode(hook.Value).(yaml.MapSlice)
		if !isMap {
			continue
		}
		name, _ := hook.Key.(string)
		for j := range methods {
			methods[j].Value = setTexts(methods[j].Value, t.Events[name], "summary")
		}
		hooks[i].Value = methods
	}
	return hooks
}

// translateNode translates what stands below a place of the document.
func (t documentTexts) translateNode(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = t.translateNode(v[i])
		}
	case yaml.MapSlice:
		for i, item := range v {
			text, isText := item.Value.(string)
			switch {
			case item.Key == "example", item.Key == "examples":
			case item.Key == "description" && isText:
				v[i].Value = t.translateText(text)
			default:
				v[i].Value = t.translateNode(item.Value)
			}
		}
		if id, isText := valueOf(v, "operationId").(string); isText {
			setTexts(v, t.Operations[id], "summary")
			t.translateTags(valueOf(v, "tags"))
		}
		if name, isText := valueOf(v, "name").(string); isText && valueOf(v, "in") == nil { // a tag
			setTexts(v, titled{Title: t.Words[name]}, "name")
		}
	}
	return v
}

// translateTags puts the translated names of tags in their place.
func (t documentTexts) translateTags(v any) {
	tags, _ := v.([]any)
	for i, tag := range tags {
		name, _ := tag.(string)
		if said := t.Words[name]; said != "" {
			tags[i] = said
		}
	}
}

// translateText returns the translation of a description; the text itself where there is none.
func (t documentTexts) translateText(english string) string {
	if said := t.fields[joinLines(english)]; said != "" {
		return said
	}
	if said := t.Words[english]; said != "" {
		return said
	}
	return english
}

// valueOf returns the value of a key; nil where there is none.
func valueOf(m yaml.MapSlice, key string) any {
	for _, item := range m {
		if item.Key == key {
			return item.Value
		}
	}
	return nil
}

// setTexts sets the title, under its key, and the description of a part of the document, where there are such texts.
func setTexts(v any, text titled, titleKey string) any {
	m, isMap := v.(yaml.MapSlice)
	if !isMap {
		return v
	}
	for i, item := range m {
		switch {
		case item.Key == titleKey && text.Title != "":
			m[i].Value = text.Title
		case item.Key == "description" && text.About != "":
			m[i].Value = text.About
		}
	}
	return m
}
