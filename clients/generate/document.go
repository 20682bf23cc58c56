package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

// documentFile is the contract from which everything here is made.
const documentFile = "../../internal/web/api/openapi.yaml"

// The parts of an OpenAPI document that a client is made of.
type (
	document struct {
		Paths      ordered[ordered[operation]]
		Components struct {
			Schemas    map[string]*schema
			Parameters map[string]*parameter
		}
	}
	operation struct {
		ID                   string `yaml:"operationId"`
		Summary, Description string
		Parameters           []*parameter
		RequestBody          content `yaml:"requestBody"`
		Responses            map[string]content
	}
	content struct {
		Content struct {
			JSON struct {
				Schema *schema
			} `yaml:"application/json"`
		}
	}
	parameter struct {
		Ref      string `yaml:"$ref"`
		Name, In string
		Required bool
		Schema   *schema
	}
	schema struct {
		Ref         string `yaml:"$ref"`
		Type        any    // a name, or a list of them
		Const       any
		Enum        []any
		MultipleOf  any `yaml:"multipleOf"`
		Description string
		Properties  ordered[*schema]
		Required    []string
		Items       *schema
		AllOf       []*schema `yaml:"allOf"`
		AnyOf       []*schema `yaml:"anyOf"`
		OneOf       []*schema `yaml:"oneOf"`
		Additional  any       `yaml:"additionalProperties"`
	}
)

// ordered is a mapping in the document's order, which is also the reader's.
type ordered[T any] []entry[T]

// entry is a name and its value in an ordered map.
type entry[T any] struct {
	Name  string
	Value T
}

// UnmarshalYAML takes the names from one reading and the values from another.
func (o *ordered[T]) UnmarshalYAML(decode func(any) error) error {
	var names yaml.MapSlice
	if err := decode(&names); err != nil {
		return err
	}
	var values map[string]T
	if err := decode(&values); err != nil {
		return err
	}
	for _, item := range names {
		name := fmt.Sprint(item.Key)
		*o = append(*o, entry[T]{name, values[name]})
	}
	return nil
}

// parseDocument reads the API document. It refuses one without paths, from which an empty client would be generated.
func parseDocument(text []byte) (*document, error) {
	var d document
	if err := yaml.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	if len(d.Paths) == 0 {
		return nil, errors.New("the document has no paths")
	}
	return &d, nil
}

// referred is the last part of a reference: all of ours lead to one kind of component.
func referred(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// parameter returns a parameter, or the one that its reference names.
func (d *document) parameter(p *parameter) (*parameter, error) {
	if p.Ref == "" {
		return p, nil
	}
	if found := d.Components.Parameters[referred(p.Ref)]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("%s leads nowhere", p.Ref)
}

// typeNames are the types that a schema allows; none means anything.
func (s *schema) typeNames() []string {
	switch t := s.Type.(type) {
	case string:
		return []string{t}
	case []any:
		return spellEach(t, func(v any) string { return fmt.Sprint(v) })
	}
	return nil
}

// onlyNarrows tells a part of an allOf that adds nothing to a type: it requires nothing, and its members are constants.
func (s *schema) onlyNarrows() bool {
	for _, m := range s.Properties {
		if m.Value.Const == nil {
			return false
		}
	}
	return s.Ref == "" && len(s.Required) == 0 && len(s.AllOf) == 0
}
