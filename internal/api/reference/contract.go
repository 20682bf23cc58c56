package reference

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Contract is what the pages and the collections need of an OpenAPI document.
type Contract struct {
	Title, Version, Description string
	Tags                        []Tag
	Operations                  []Operation
	Events                      []Event
}

// Tag groups operations.
type Tag struct{ Name, Description string }

// Operation is one operation, its references resolved.
type Operation struct {
	ID, Method, Path, Tag, Summary, Description string
	// Rules is the description as the contract has it, where Description is in another language.
	Rules string
	// Extension tells what is additive to the contract.
	Extension bool
	// Deprecated tells what is to be used no more.
	Deprecated bool
	Parameters []Parameter
	// Body is an example of the request's body as JSON, "" where it has none; Members describe it.
	Body      string
	Members   []Member
	Responses []Response
}

// Parameter is a value in the path, the query or a header.
type Parameter struct {
	Name, In, Description, Type, Example string
	Required, Deprecated                 bool
}

// Member is one member of a JSON body; Name is its path, such as beneficiary.address.city.
type Member struct {
	Name, Type, Description string
	Required, Deprecated    bool
}

// Response is one possible answer.
type Response struct {
	Status, Description, Body string
	Members                   []Member
}

// Event is what is pushed to webhooks.
type Event struct {
	Type, Summary, Description, Body string
}

// Parse reads a document. It takes what our contract uses and no more; a reference that leads nowhere is an error.
func Parse(document []byte) (*Contract, error) {
	var root yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(document, &root, yaml.UseOrderedMap()); err != nil {
		return nil, err
	}
	p := &reader{root: node{root}}
	c := p.contract()
	if len(c.Operations) == 0 {
		p.errs = append(p.errs, errors.New("the document has no operation"))
	}
	return c, errors.Join(p.errs...)
}

type reader struct {
	root node
	errs []error
}

// node is a place in the document; everything below a missing place is missing too.
type node struct{ v any }

func (n node) at(path ...string) node {
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

func (n node) text(path ...string) string {
	s, _ := n.at(path...).v.(string)
	return s
}

func (n node) flag(path ...string) bool {
	b, _ := n.at(path...).v.(bool)
	return b
}

func (n node) list(path ...string) []any {
	l, _ := n.at(path...).v.([]any)
	return l
}

// members are the pairs of a mapping, in the document's order.
func (n node) members(path ...string) []member {
	m, _ := n.at(path...).v.(yaml.MapSlice)
	list := make([]member, len(m))
	for i, item := range m {
		list[i] = member{fmt.Sprint(item.Key), node{item.Value}}
	}
	return list
}

type member struct {
	key string
	node
}

// follow goes where a reference leads.
func (p *reader) follow(n node) node {
	ref := n.text("$ref")
	if ref == "" {
		return n
	}
	target := p.root.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	if target.v == nil {
		p.errs = append(p.errs, fmt.Errorf("%s leads nowhere", ref))
	}
	return target
}

func (p *reader) contract() *Contract {
	info := p.root.at("info")
	c := &Contract{Title: info.text("title"), Version: info.text("version"), Description: info.text("description")}
	for _, t := range p.root.list("tags") {
		c.Tags = append(c.Tags, Tag{node{t}.text("name"), node{t}.text("description")})
	}
	for _, path := range p.root.members("paths") {
		for _, op := range path.members() {
			c.Operations = append(c.Operations, p.operation(strings.ToUpper(op.key), path.key, op.node))
		}
	}
	for _, hook := range p.root.members("webhooks") {
		op := hook.at("post")
		body := firstExample(op.at("requestBody", "content", "application/json"))
		c.Events = append(c.Events, Event{hook.key, op.text("summary"), op.text("description"), p.json(body)})
	}
	return c
}

func (p *reader) operation(method, path string, n node) Operation {
	op := Operation{
		ID: n.text("operationId"), Method: method, Path: path, Summary: n.text("summary"), Description: n.text("description"),
		Extension: n.flag("x-vigia-extension"), Deprecated: n.flag("deprecated"),
	}
	if tags := n.list("tags"); len(tags) > 0 {
		op.Tag = fmt.Sprint(tags[0])
	}
	for _, raw := range n.list("parameters") {
		op.Parameters = append(op.Parameters, p.parameter(p.follow(node{raw})))
	}
	if body := n.at("requestBody", "content", "application/json"); body.v != nil {
		op.Body = p.json(firstExample(body))
		op.Members = p.membersOf(body.at("schema"))
	}
	for _, r := range n.members("responses") {
		answer := p.follow(r.node)
		content := answer.at("content", "application/json")
		out := Response{Status: r.key, Description: answer.text("description"), Body: p.json(firstExample(content))}
		if strings.HasPrefix(r.key, "2") {
			out.Members = p.membersOf(content.at("schema"))
		}
		op.Responses = append(op.Responses, out)
	}
	return op
}

func (p *reader) parameter(n node) Parameter {
	q := Parameter{Name: n.text("name"), In: n.text("in"), Description: n.text("description"), Required: n.flag("required"),
		Deprecated: n.flag("deprecated"),
		Type:       p.typeOf(n.at("schema"))}
	if example := n.at("example"); example.v != nil {
		q.Example = fmt.Sprint(example.v)
	} else if example := firstExample(n); example.v != nil {
		q.Example = fmt.Sprint(example.v)
	}
	return q
}

// firstExample is the value of the first of the examples.
func firstExample(n node) node {
	if list := n.members("examples"); len(list) > 0 {
		return list[0].at("value")
	}
	return node{}
}
