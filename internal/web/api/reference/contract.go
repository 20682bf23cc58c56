package reference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
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

// membersAt returns the pairs of a mapping, in the order of the document.
func (n node) membersAt(path ...string) []member {
	m, _ := n.nodeAtPath(path...).v.(yaml.MapSlice)
	list := make([]member, len(m))
	for i, item := range m {
		list[i] = member{fmt.Sprint(item.Key), node{item.Value}}
	}
	return list
}

// member is a member of a mapping, in the order of the document.
type member struct {
	key string
	node
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

// exampleJSON writes an example in the document's order.
func (p *reader) exampleJSON(n node) string {
	if n.v == nil {
		return ""
	}
	var b bytes.Buffer
	compact, err := yaml.MarshalWithOptions(n.v, yaml.JSON())
	if err = errors.Join(err, json.Indent(&b, compact, "", "  ")); err != nil {
		p.errs = append(p.errs, fmt.Errorf("an example is no JSON: %w", err))
	}
	return strings.TrimSpace(b.String())
}

// Example is an operation in one language.
type Example struct{ Language, Label, Code string }

// snippets are the examples in Go and TypeScript by operation. They are cut out of the tests that run them:
// clients/golang/operations_test.go and clients/typescript/test/operations.ts.
type snippets map[string]struct {
	Go         string `json:"go"`
	TypeScript string `json:"typescript"`
}

//go:generate go test -vet=off . -run TestSnippetsAreFresh -update

// readSnippets reads the embedded examples; a test keeps the file equal to the tests that they are cut from.
func readSnippets() (snippets, error) {
	raw, err := files.ReadFile("snippets.json")
	if err != nil {
		return nil, err
	}
	var s snippets
	return s, json.Unmarshal(raw, &s)
}

// makeExamples shows an operation in four languages. curl and Python are made from the contract's own example.
func (o Operation) makeExamples(s snippets) []Example {
	return []Example{
		{"curl", "curl", o.Curl()},
		{"go", "Go", s[o.ID].Go},
		{"python", "Python", o.Python()},
		{"typescript", "TypeScript", s[o.ID].TypeScript},
	}
}

// ExamplePath returns the path with the contract's example values in it, including required query parameters.
func (o Operation) ExamplePath() string {
	path, query := "/v1"+o.Path, url.Values{}
	for _, q := range o.Parameters {
		switch {
		case q.In == "path":
			path = strings.ReplaceAll(path, "{"+q.Name+"}", url.PathEscape(q.Example))
		case q.In == "query" && q.Required:
			query.Set(q.Name, q.Example)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

// Keyed reports whether the operation takes an idempotency key that is worth showing: asking about a password changes
// nothing, and its answer should be kept nowhere.
func (o Operation) Keyed() bool {
	return o.Method == "POST" && o.ID != "checkPasswordPrefix" && o.ID != "checkCredentialPrefix"
}

// Curl returns the contract's example as a command line of curl.
func (o Operation) Curl() string {
	var b strings.Builder
	b.WriteString("curl -s ")
	if o.Method != "GET" && o.Method != "POST" {
		b.WriteString("-X " + o.Method + " ")
	}
	fmt.Fprintf(&b, "\"$VIGIA_URL%s\" \\\n  -H \"x-api-key: $VIGIA_KEY\"", o.ExamplePath())
	if o.Body == "" {
		return b.String()
	}
	b.WriteString(" \\\n  -H 'content-type: application/json'")
	if o.Keyed() {
		b.WriteString(" \\\n  -H 'idempotency-key: pedido-4711'")
	}
	fmt.Fprintf(&b, " \\\n  -d '%s'", strings.ReplaceAll(o.Body, "'", `'\''`))
	return b.String()
}

// Python returns the contract's example in Python, with the standard library only.
func (o Operation) Python() string {
	imports := []string{"json", "os", "urllib.request"}
	headers := `"x-api-key": os.environ["VIGIA_KEY"]`
	if o.Keyed() {
		imports = append(imports, "uuid")
	}
	var b strings.Builder
	for _, name := range imports {
		b.WriteString("import " + name + "\n")
	}
	if o.Body != "" {
		fmt.Fprintf(&b, "\nbody = %s\n", pythonLiteral(o.Body))
		headers += `, "content-type": "application/json"`
	}
	if o.Keyed() {
		headers += `, "idempotency-key": str(uuid.uuid4())`
	}
	fmt.Fprintf(
		&b,
		"\nrequest = urllib.request.Request(\n    os.environ[\"VIGIA_URL\"] + %q,\n    method=%q,\n    headers={%s},\n",
		o.ExamplePath(),
		o.Method,
		headers,
	)
	if o.Body != "" {
		b.WriteString("    data=json.dumps(body).encode(),\n")
	}
	b.WriteString(")\nwith urllib.request.urlopen(request) as answer:\n    print(json.load(answer))")
	return b.String()
}

// pythonLiteral turns JSON into Python, which differs in three words. They stand alone on their line's end, never
// inside a string of the contract's examples; the test that runs every example would notice.
func pythonLiteral(text string) string {
	for from, to := range map[string]string{"true": "True", "false": "False", "null": "None"} {
		text = strings.ReplaceAll(text, ": "+from, ": "+to)
	}
	return text
}
