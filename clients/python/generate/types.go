package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// types makes Python's types of schemas. What needs a name becomes a definition when it is first asked for.
type types struct {
	document *document
	known    map[string]bool // names that are defined, or about to be
	literals strings.Builder // closed lists of words
	classes  strings.Builder // objects
	unions   strings.Builder // last, as they are made of classes
	used     map[string]bool // what the operations import
	errs     []error
}

// better are names for what the document has inside of something else, where the place makes no good one.
var better = map[string]string{
	"EventPageEvents":                     "Event",
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
}

// of is the type of a schema; name is what it is called where it needs a name and has none.
func (t *types) of(s *schema, name string) string {
	switch {
	case s == nil:
		return "Any"
	case s.Ref != "":
		return t.component(referred(s.Ref))
	case s.Const != nil:
		return "Literal[" + literal(s.Const) + "]"
	case len(s.Enum) > 0:
		return enumeration(s.Enum)
	case len(s.AllOf) > 0:
		return t.all(s, name)
	case len(s.AnyOf) > 0:
		return t.union(s.AnyOf, name)
	case len(s.OneOf) > 0:
		if made := cmp.Or(better[name], name); t.first(made) {
			t.unions.WriteString("\n" + fill(made+" = ", t.union(s.OneOf, name), "") + "\n")
		}
		return t.use(cmp.Or(better[name], name))
	}
	return t.plain(s, name)
}

// plain is a schema that says its types.
func (t *types) plain(s *schema, name string) string {
	names := s.names()
	if len(names) == 0 || slices.Contains(names, "array") && slices.Contains(names, "object") {
		return "Any"
	}
	var list []string
	for _, kind := range names {
		switch kind {
		case "string":
			list = append(list, "str")
		case "boolean":
			list = append(list, "bool")
		case "integer":
			list = append(list, "int")
		case "number":
			if s.MultipleOf != nil {
				list = append(list, "int")
			} else {
				list = append(list, "float")
			}
		case "array":
			list = append(list, "List["+t.of(s.Items, name)+"]")
		case "object":
			list = append(list, t.object(s, name))
		case "null":
			list = append(list, "None")
		default:
			t.errs = append(t.errs, fmt.Errorf("%s: a type called %s", name, kind))
		}
	}
	return union(list)
}

// component is a schema by its name: objects and closed lists keep it, the rest is what it is.
func (t *types) component(name string) string {
	s := t.document.Components.Schemas[name]
	switch {
	case s == nil:
		t.errs = append(t.errs, fmt.Errorf("a reference to %s leads nowhere", name))
		return "Any"
	case len(s.Enum) > 0:
		if t.first(name) {
			t.literals.WriteString("\n" + comment(s.Description, "") + fill(name+" = ", enumeration(s.Enum), "") + "\n")
		}
		return t.use(name)
	}
	return t.of(s, name)
}

// object is a class for an object whose members are listed, and any mapping for another.
func (t *types) object(s *schema, name string) string {
	if s.Additional == true || len(s.Properties) == 0 {
		return "Dict[str, Any]"
	}
	name = cmp.Or(better[name], name)
	if t.first(name) {
		t.class(s, name)
	}
	return t.use(name)
}

// all is the type of an allOf: that of its only part that says something, or all of them in one class.
func (t *types) all(s *schema, name string) string {
	rest := slices.DeleteFunc(slices.Clone(s.AllOf), (*schema).onlyNarrows)
	if len(rest) == 1 {
		return t.of(rest[0], name)
	}
	whole := &schema{Type: "object", Description: s.Description}
	t.gather(whole, s)
	return t.object(whole, name)
}

// gather puts the members of a schema and of its parts into one; a later part says more about a member.
func (t *types) gather(into, s *schema) {
	if s.Ref != "" {
		target := t.document.Components.Schemas[referred(s.Ref)]
		if target == nil {
			t.errs = append(t.errs, fmt.Errorf("%s leads nowhere", s.Ref))
			return
		}
		s = target
	}
	for _, part := range s.AllOf {
		t.gather(into, part)
	}
	for _, m := range s.Properties {
		into.Properties = slices.DeleteFunc(into.Properties, func(e entry[*schema]) bool { return e.Name == m.Name })
		into.Properties = append(into.Properties, m)
	}
	into.Required = append(into.Required, s.Required...)
}

// union returns the Python type of a value that fits one of several schemas.
func (t *types) union(parts []*schema, name string) string {
	var list []string
	for _, part := range parts {
		if part.Const == "" {
			list = append(list, "str") // empty where there is none
			continue
		}
		list = append(list, t.of(part, name))
	}
	return union(list)
}

// union joins types, each once.
func union(list []string) string {
	slices.Sort(list)
	list = slices.Compact(list)
	rest := slices.DeleteFunc(slices.Clone(list), func(name string) bool { return name == "None" })
	if len(rest) == 0 {
		return "None"
	}
	text := strings.Join(rest, ", ")
	if len(rest) > 1 {
		text = "Union[" + text + "]"
	}
	if len(rest) < len(list) {
		text = "Optional[" + text + "]"
	}
	return text
}

// enumeration returns a Literal of the values; Optional if null is one of them.
func enumeration(values []any) string {
	var words []string
	for _, v := range values {
		if v != nil {
			words = append(words, literal(v))
		}
	}
	text := "Literal[" + strings.Join(words, ", ") + "]"
	if len(words) < len(values) {
		return "Optional[" + text + "]"
	}
	return text
}

// literal returns a value as Python writes it.
func literal(v any) string {
	if text, ok := v.(string); ok {
		return strconv.Quote(text)
	}
	return fmt.Sprint(v)
}

// first tells whether a name is new.
func (t *types) first(name string) bool {
	if t.known[name] {
		return false
	}
	t.known[name] = true
	return true
}

// use marks a type as used, so that it is imported, and returns its name.
func (t *types) use(name string) string {
	t.used[name] = true
	return name
}
