package reference

import (
	"os"
	"reflect"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestDocumentInPortuguese: the translated contract tells programs the same, and people the same in their language.
func TestDocumentInPortuguese(t *testing.T) {
	english, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	portuguese, err := TranslateDocument(english)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := withoutTexts(t, english), withoutTexts(t, portuguese); !reflect.DeepEqual(a, b) {
		t.Error("the translation changes more than texts")
	}
	contract, err := ParseContract(portuguese)
	if err != nil {
		t.Fatal(err)
	}
	all, err := languages()
	if err != nil {
		t.Fatal(err)
	}
	texts := all[0].texts
	if contract.Title != texts.Title || contract.Description != texts.About {
		t.Error("the document is called", contract.Title)
	}
	for _, op := range contract.Operations {
		if want := texts.Operations[op.ID]; op.Summary != want.Title || joinLines(op.Description) != joinLines(want.About) {
			t.Errorf("%s: %q %q", op.ID, op.Summary, op.Description)
		}
		if texts.Words[op.Tag] != "" {
			t.Errorf("%s: the tag %q is English", op.ID, op.Tag)
		}
		for _, p := range op.Parameters {
			if texts.fields[joinLines(p.Description)] != "" {
				t.Errorf("%s: the parameter %s is explained in English", op.ID, p.Name)
			}
		}
	}
	for _, e := range contract.Events {
		if want := texts.Events[e.Type]; e.Summary != want.Title {
			t.Errorf("%s: %q", e.Type, e.Summary)
		}
	}
}

// withoutTexts returns the document as a program reads it: without titles, summaries, descriptions and tags.
func withoutTexts(t *testing.T, document []byte) any {
	t.Helper()
	var root any
	if err := yaml.Unmarshal(document, &root); err != nil {
		t.Fatal(err)
	}
	var strip func(v any) any
	strip = func(v any) any {
		switch v := v.(type) {
		case []any:
			for i := range v {
				v[i] = strip(v[i])
			}
		case map[string]any:
			for key, value := range v {
				_, isText := value.(string)
				switch {
				case isText && (key == "title" || key == "summary" || key == "description"), key == "tags":
					delete(v, key)
				default:
					v[key] = strip(value)
				}
			}
		}
		return v
	}
	return strip(root)
}
