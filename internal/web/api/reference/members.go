package reference

import (
	"fmt"
	"strings"
)

// membersOf lists what a JSON body may hold, flattened: nested members carry the path to them.
func (p *reader) membersOf(schema node) []Member {
	var list []Member
	p.collectMembers(&list, "", schema, 0)
	return list
}

// deepest bounds the descent; our contract needs four.
const deepest = 8

// collectMembers adds the members of a schema, nested ones with their prefix.
func (p *reader) collectMembers(list *[]Member, prefix string, schema node, depth int) {
	if depth > deepest {
		return
	}
	schema = p.followReference(schema)
	if items := schema.nodeAtPath("items"); items.v != nil {
		p.collectMembers(list, prefix+"[]", items, depth+1)
		return
	}
	for _, part := range schema.listAtPath("allOf") {
		p.collectMembers(list, prefix, node{part}, depth+1)
	}
	required := map[any]bool{}
	for _, name := range schema.listAtPath("required") {
		required[name] = true
	}
	for _, m := range schema.membersAt("properties") {
		name := strings.TrimPrefix(prefix+"."+m.key, ".")
		target := p.followReference(m.node)
		description := m.textAtPath("description")
		if description == "" {
			description = target.textAtPath("description")
		}
		addMember(list, Member{
			Name: name, Type: p.describeType(m.node), Description: description, Required: required[m.key],
			Deprecated: m.flagAtPath("deprecated"),
		})
		p.collectMembers(list, name, m.node, depth+1)
	}
	for name := range required { // a part of an allOf may require what another part describes
		full := strings.TrimPrefix(prefix+"."+fmt.Sprint(name), ".")
		for i := range *list {
			if (*list)[i].Name == full {
				(*list)[i].Required = true
			}
		}
	}
}

// addMember takes a member once: the parts of an allOf may name it again, and the later one only narrows it.
func addMember(list *[]Member, m Member) {
	for i := range *list {
		if (*list)[i].Name == m.Name {
			(*list)[i].Required = (*list)[i].Required || m.Required
			return
		}
	}
	*list = append(*list, m)
}

// describeType says what a value may be, for people.
func (p *reader) describeType(schema node) string {
	schema = p.followReference(schema)
	if c := schema.nodeAtPath("const"); c.v != nil {
		return fmt.Sprintf("always %q", fmt.Sprint(c.v))
	}
	if values := schema.listAtPath("enum"); len(values) > 0 {
		words := make([]string, len(values))
		for i, v := range values {
			if words[i] = fmt.Sprint(v); v == nil {
				words[i] = "null"
			}
		}
		return "one of " + strings.Join(words, ", ")
	}
	if items := schema.nodeAtPath("items"); items.v != nil {
		return "list of " + p.describeType(items)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if parts := schema.listAtPath(key); len(parts) > 0 {
			return p.alternatives(key, parts)
		}
	}
	if list := schema.listAtPath("type"); len(list) > 0 {
		words := make([]string, len(list))
		for i, v := range list {
			words[i] = fmt.Sprint(v)
		}
		return strings.Join(words, " or ")
	}
	if format := schema.textAtPath("format"); format == "date-time" {
		return format
	}
	return schema.textAtPath("type")
}

// alternatives describes a type that is one of several, without repeating the same word. Of allOf the first part
// counts.
func (p *reader) alternatives(key string, parts []any) string {
	if key == "allOf" {
		return p.describeType(node{parts[0]})
	}
	words := make([]string, 0, len(parts))
	for _, part := range parts {
		word := p.describeType(node{part})
		if word == `always ""` {
			word = "empty"
		}
		if len(words) == 0 || words[len(words)-1] != word {
			words = append(words, word)
		}
	}
	return strings.Join(words, " or ")
}
