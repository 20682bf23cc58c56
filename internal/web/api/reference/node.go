package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// reader reads the OpenAPI document and collects its faults, so that all of them are reported at once.
type reader struct {
	root node
	errs []error
}

// node is a place in the document; everything below a missing place is missing too.
type node struct{ v any }

// nodeAtPath returns what stands at a path.
func (n node) nodeAtPath(path ...string) node {
	for _, key := range path {
		m, _ := n.v.(yaml.MapSlice)
		i := slices.IndexFunc(m, func(item yaml.MapItem) bool { return item.Key == key })
		if i < 0 {
			return node{}
		}
		n = node{m[i].Value}
	}
	return n
}

func (n node) textAtPath(path ...string) string {
	s, _ := n.nodeAtPath(path...).v.(string)
	return s
}

// flagAtPath returns the truth value at a path.
func (n node) flagAtPath(path ...string) bool {
	b, _ := n.nodeAtPath(path...).v.(bool)
	return b
}

func (n node) listAtPath(path ...string) []any {
	l, _ := n.nodeAtPath(path...).v.([]any)
	return l
}

// member is a member of a mapping, in the order of the document.
type member struct {
	key string
	node
}

// membersAt returns the pairs of a mapping, in the order of the document.
func (n node) membersAt(path ...string) []member {
	m, _ := n.nodeAtPath(path...).v.(yaml.MapSlice)
	list := make([]member, len(m))
	for i, item := range m {
		list[i] = member{fmt.Sprint(item.Key), node{item.Value}}
	}
	return list
}

// followReference goes where a reference leads.
func (p *reader) followReference(n node) node {
	ref := n.textAtPath("$ref")
	if ref == "" {
		return n
	}
	target := p.root.nodeAtPath(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	if target.v == nil {
		p.errs = append(p.errs, fmt.Errorf("%s leads nowhere", ref))
	}
	return target
}
