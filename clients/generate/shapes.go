package main

import (
	"cmp"
	"fmt"
	"slices"
)

// kind is what sort of value a shape stands for.
type kind uint8

const (
	anything kind = iota
	textual
	moment // a text that is always a date-time
	boolean
	integer
	number
	mapping // an object whose members are not listed
	list    // of of
	named   // a definition
	words   // one of some literals
	union   // one of several shapes
)

// shape is the type of a value before any language has spelt it.
type shape struct {
	kind     kind
	name     string
	words    []string
	parts    []shape // of a union; the one element of a list
	nullable bool
}

// member is a member of an object.
type member struct {
	name, about string
	shape       shape
	required    bool
}

// definition is what needs a name: a closed list of words, an object, or a union of objects.
type definition struct {
	name, about string
	shape       shape // of an enumeration or a union
	members     []member
}

// types makes shapes of schemas. What needs a name becomes a definition when it is first asked for.
type types struct {
	document    *document
	known       map[string]bool // names that are defined, or about to be
	definitions []definition    // each after those that it is made of
	errs        []error
}

// better are names for what the document has inside of something else, where the place makes no good one.
var better = map[string]string{
	"EventPageEvents":                     "Event",
	"EventBody":                           "EventBody",
	"ServiceListServices":                 "Service",
	"OpenedCaseTask":                      "Task",
	"ProtectedDeviceListProtectedDevices": "ProtectedDevice",
	"SubscriptionPagePagination":          "Pagination",
	"BulkOutcomeNotCreatedItems":          "NotCreated",
	"SubscriptionsMovedNotChangedItems":   "NotChanged",
	"AssetsAddedNotAdded":                 "NotAdded",
	"RiskScoresScores":                    "PersonScore",
	"StatisticsDays":                      "StatisticsDay",
	"UsageBudgets":                        "Budget",
	"UsageRequests":                       "RequestCount",
	"LeakDetectedDataFindings":            "DetectedFinding",
	"FindingStepDueDataSteps":             "DueStep",
	"AdviceAnswerOptions":                 "AnswerOption",
	"ServiceDetailQuestions":              "Question",
	"CaseDetailHistory":                   "CaseLine",
	"CoverSublimites":                     "SubLimit",
	"NewSubscriptionBeneficiary":          "Beneficiary",
}

// assumed are schemas of what the document leaves open, because a wrong one is told of by itself.
var assumed = map[string]string{"NewAssetsItems": "NewMonitoredAsset"}

// shapeOfSchema returns the shape of a schema; name is what it is called where it needs a name and has none.
func (t *types) shapeOfSchema(s *schema, name string) shape {
	switch {
	case s == nil:
		return shape{}
	case assumed[name] != "" && s.Type == nil:
		return t.component(assumed[name])
	case s.Ref != "":
		return t.component(referred(s.Ref))
	case s.Const != nil:
		if _, ok := s.Const.(string); !ok {
			return shape{kind: integer}
		}
		return shape{kind: words, words: []string{fmt.Sprint(s.Const)}}
	case len(s.Enum) > 0:
		return enumeration(s.Enum)
	case len(s.AllOf) > 0:
		return t.shapeOfAllOf(s, name)
	case len(s.AnyOf) > 0:
		return t.shapeOfOneOf(s.AnyOf, name)
	case len(s.OneOf) > 0:
		one := t.shapeOfOneOf(s.OneOf, name)
		if one.kind != union {
			return one
		}
		if name = cmp.Or(better[name], name); t.isNewName(name) {
			t.definitions = append(t.definitions, definition{name: name, about: s.Description, shape: one})
		}
		return shape{kind: named, name: name}
	}
	return t.shapeOfPlain(s, name)
}

// shapeOfPlain returns the shape of a schema that says its types.
func (t *types) shapeOfPlain(s *schema, name string) shape {
	names := s.typeNames()
	if slices.Contains(names, "array") && slices.Contains(names, "object") {
		// Any value is taken, but a list or an object says nothing.
		names = slices.DeleteFunc(names, func(word string) bool { return word == "array" || word == "object" })
	}
	var parts []shape
	nullable := false
	for _, word := range names {
		switch word {
		case "string", "boolean", "integer", "number":
			of := map[string]kind{"string": textual, "boolean": boolean, "integer": integer, "number": number}[word]
			if of == number && s.MultipleOf != nil {
				of = integer
			}
			parts = append(parts, shape{kind: of})
		case "array":
			parts = append(parts, shape{kind: list, parts: []shape{t.shapeOfSchema(s.Items, name)}})
		case "object":
			parts = append(parts, t.shapeOfObject(s, name))
		case "null":
			nullable = true
		default:
			t.errs = append(t.errs, fmt.Errorf("%s: a type called %s", name, word))
		}
	}
	return uniteSchemas(parts, nullable)
}

// component returns a schema by its name: objects and closed lists keep it, the rest is what it is.
func (t *types) component(name string) shape {
	s := t.document.Components.Schemas[name]
	switch {
	case s == nil:
		t.errs = append(t.errs, fmt.Errorf("a reference to %s leads nowhere", name))
		return shape{}
	case name == "DateTime":
		return shape{kind: moment}
	case len(s.Enum) > 0:
		if t.isNewName(name) {
			t.definitions = append(
				t.definitions,
				definition{name: name, about: s.Description, shape: enumeration(s.Enum)},
			)
		}
		return shape{kind: named, name: name}
	}
	return t.shapeOfSchema(s, name)
}

// shapeOfObject returns a definition for an object whose members are listed, and a mapping for another.
func (t *types) shapeOfObject(s *schema, name string) shape {
	if len(s.Properties) == 0 ||
		s.Additional == true && better[name] == "" && t.document.Components.Schemas[name] == nil {
		return shape{kind: mapping}
	}
	name = cmp.Or(better[name], name)
	if t.isNewName(name) {
		d := definition{name: name, about: s.Description}
		for _, m := range s.Properties {
			d.members = append(d.members, member{
				name:     m.Name,
				about:    t.describeMember(m.Value),
				shape:    t.shapeOfSchema(m.Value, name+capitalizeWord(m.Name)),
				required: slices.Contains(s.Required, m.Name),
			})
		}
		if may := func(m member) bool { return !m.required && keywords[m.name] }; slices.ContainsFunc(d.members, may) &&
			len(s.Required) > 0 {
			// No class may be extended by it.
			t.errs = append(t.errs, fmt.Errorf("%s: a member that may be missing is a word of Python", name))
		}
		t.definitions = append(t.definitions, d)
	}
	return shape{kind: named, name: name}
}

// shapeOfAllOf returns the shape of an allOf: that of its only part that says something, or all of them in one object.
func (t *types) shapeOfAllOf(s *schema, name string) shape {
	rest := slices.DeleteFunc(slices.Clone(s.AllOf), (*schema).onlyNarrows)
	if len(rest) == 1 && len(s.Required) == 0 {
		return t.shapeOfSchema(rest[0], name)
	}
	whole := &schema{Type: "object", Description: s.Description}
	t.gatherMembers(whole, s)
	return t.shapeOfObject(whole, name)
}

// gatherMembers puts the members of a schema and of its parts into one; a later part says more about a member.
func (t *types) gatherMembers(into, s *schema) {
	if s.Ref != "" {
		target := t.document.Components.Schemas[referred(s.Ref)]
		if target == nil {
			t.errs = append(t.errs, fmt.Errorf("%s leads nowhere", s.Ref))
			return
		}
		s = target
	}
	for _, part := range s.AllOf {
		t.gatherMembers(into, part)
	}
	for _, m := range s.Properties {
		into.Properties = slices.DeleteFunc(into.Properties, func(e entry[*schema]) bool { return e.Name == m.Name })
		into.Properties = append(into.Properties, m)
	}
	into.Required = append(into.Required, s.Required...)
}

// shapeOfOneOf returns the shape of a value that fits one of several schemas. An empty text stands for one that is
// missing.
func (t *types) shapeOfOneOf(options []*schema, name string) shape {
	var parts []shape
	nullable := false
	for _, s := range options {
		switch part := t.shapeOfSchema(s, name); {
		case s.Const == "":
			parts = append(parts, shape{kind: textual})
		case slices.Equal(s.typeNames(), []string{"null"}):
			nullable = true
		default:
			nullable = nullable || part.nullable
			part.nullable = false
			parts = append(parts, part)
		}
	}
	return uniteSchemas(parts, nullable)
}

// uniteSchemas returns one shape for several, each once. A date-time or nothing is a text.
func uniteSchemas(parts []shape, nullable bool) shape {
	if slices.ContainsFunc(parts, func(p shape) bool { return p.kind == textual }) {
		parts = slices.DeleteFunc(parts, func(p shape) bool { return p.kind == moment || p.kind == words })
	}
	var each []shape
	for _, p := range parts {
		isThere := slices.ContainsFunc(each, func(q shape) bool {
			return q.kind == p.kind && q.name == p.name && p.kind != list && p.kind != words
		})
		if !isThere {
			each = append(each, p)
		}
	}
	switch len(each) {
	case 0:
		return shape{nullable: nullable}
	case 1:
		each[0].nullable = each[0].nullable || nullable
		return each[0]
	}
	return shape{kind: union, parts: each, nullable: nullable}
}

// enumeration returns the shape of a closed list of words.
func enumeration(values []any) shape {
	s := shape{kind: words}
	for _, v := range values {
		if v == nil {
			s.nullable = true
			continue
		}
		s.words = append(s.words, fmt.Sprint(v))
	}
	return s
}

// isNewName reports whether a name is asked for the first time.
func (t *types) isNewName(name string) bool {
	if t.known[name] {
		return false
	}
	t.known[name] = true
	return true
}

// describeMember returns what the document says of a member. What it says of a component is repeated only where it is
// short.
func (t *types) describeMember(s *schema) string {
	if s.Description != "" || s.Ref == "" {
		return s.Description
	}
	target := t.document.Components.Schemas[referred(s.Ref)]
	if target == nil || len(target.Description) > 80 || len(target.Properties) > 0 || len(target.Enum) > 0 {
		return ""
	}
	return target.Description
}
