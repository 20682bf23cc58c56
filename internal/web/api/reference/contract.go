package reference

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

// Contract is what the pages need of an OpenAPI document.
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

// ParseContract reads a document. It takes what our contract uses and no more; a reference that leads nowhere is an
// error.
func ParseContract(document []byte) (*Contract, error) {
	var root yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(document, &root, yaml.UseOrderedMap()); err != nil {
		return nil, err
	}
	p := &reader{root: node{root}}
	c := p.readContract()
	if len(c.Operations) == 0 {
		p.errs = append(p.errs, errors.New("the document has no operation"))
	}
	return c, errors.Join(p.errs...)
}

// readContract returns all that the pages show of the document.
func (p *reader) readContract() *Contract {
	info := p.root.nodeAtPath("info")
	c := &Contract{
		Title:       info.textAtPath("title"),
		Version:     info.textAtPath("version"),
		Description: info.textAtPath("description"),
	}
	for _, t := range p.root.listAtPath("tags") {
		c.Tags = append(c.Tags, Tag{node{t}.textAtPath("name"), node{t}.textAtPath("description")})
	}
	for _, path := range p.root.membersAt("paths") {
		for _, op := range path.membersAt() {
			c.Operations = append(c.Operations, p.operation(strings.ToUpper(op.key), path.key, op.node))
		}
	}
	for _, hook := range p.root.membersAt("webhooks") {
		op := hook.nodeAtPath("post")
		body := firstExample(op.nodeAtPath("requestBody", "content", "application/json"))
		c.Events = append(
			c.Events,
			Event{hook.key, op.textAtPath("summary"), op.textAtPath("description"), p.exampleJSON(body)},
		)
	}
	return c
}

// operation reads an operation with its parameters, body, answers and examples.
func (p *reader) operation(method, path string, n node) Operation {
	op := Operation{
		ID:          n.textAtPath("operationId"),
		Method:      method,
		Path:        path,
		Summary:     n.textAtPath("summary"),
		Description: n.textAtPath("description"),
		Extension:   n.flagAtPath("x-vigia-extension"),
		Deprecated:  n.flagAtPath("deprecated"),
	}
	if tags := n.listAtPath("tags"); len(tags) > 0 {
		op.Tag = fmt.Sprint(tags[0])
	}
	for _, raw := range n.listAtPath("parameters") {
		op.Parameters = append(op.Parameters, p.parameter(p.followReference(node{raw})))
	}
	if body := n.nodeAtPath("requestBody", "content", "application/json"); body.v != nil {
		op.Body = p.exampleJSON(firstExample(body))
		op.Members = p.membersOf(body.nodeAtPath("schema"))
	}
	for _, r := range n.membersAt("responses") {
		answer := p.followReference(r.node)
		content := answer.nodeAtPath("content", "application/json")
		out := Response{
			Status:      r.key,
			Description: answer.textAtPath("description"),
			Body:        p.exampleJSON(firstExample(content)),
		}
		if strings.HasPrefix(r.key, "2") {
			out.Members = p.membersOf(content.nodeAtPath("schema"))
		}
		op.Responses = append(op.Responses, out)
	}
	return op
}

// parameter reads a parameter; its example is the plain one, or the first of several.
func (p *reader) parameter(n node) Parameter {
	q := Parameter{
		Name:        n.textAtPath("name"),
		In:          n.textAtPath("in"),
		Description: n.textAtPath("description"),
		Required:    n.flagAtPath("required"),
		Deprecated:  n.flagAtPath("deprecated"),
		Type:        p.describeType(n.nodeAtPath("schema")),
	}
	if example := n.nodeAtPath("example"); example.v != nil {
		q.Example = fmt.Sprint(example.v)
	} else if example := firstExample(n); example.v != nil {
		q.Example = fmt.Sprint(example.v)
	}
	return q
}

func firstExample(n node) node {
	if list := n.membersAt("examples"); len(list) > 0 {
		return list[0].nodeAtPath("value")
	}
	return node{}
}
