package main

import (
	"fmt"
	"go/format"
	"strings"
)

// initialisms are words that Go writes in capitals.
var initialisms = map[string]string{
	"Id":   "ID",
	"Url":  "URL",
	"Cpf":  "CPF",
	"Cpfs": "CPFs",
	"Html": "HTML",
	"Ms":   "MS",
	"Api":  "API",
	"Cnpj": "CNPJ",
}

// plainLetters are the letters of members' names that Go leaves to plain ones.
var plainLetters = strings.NewReplacer("ç", "c", "õ", "o", "ã", "a")

// goIdentifier returns a name as Go spells exported names: plan_id is PlanID.
func goIdentifier(name string) string {
	var b strings.Builder
	for _, word := range strings.Split(toSnakeCase(plainLetters.Replace(strings.TrimLeft(name, "_"))), "_") {
		if word = capitalizeWord(word); initialisms[word] != "" {
			word = initialisms[word]
		}
		b.WriteString(word)
	}
	return b.String()
}

// goArgument returns a name as Go spells arguments.
func goArgument(name string) string {
	exported := goIdentifier(name)
	if initialisms[capitalizeWord(name)] != "" {
		return strings.ToLower(name)
	}
	return strings.ToLower(exported[:1]) + exported[1:]
}

// goTypeName returns a shape as Go spells it. A closed list of words without a name is a string, as is whatever may be
// one.
func goTypeName(s shape) string {
	if s.kind == list {
		return "[]" + goTypeName(s.parts[0])
	}
	return map[kind]string{
		textual:  "string",
		words:    "string",
		moment:   "time.Time",
		boolean:  "bool",
		integer:  "int",
		number:   "float64",
		mapping:  "map[string]any",
		named:    s.name,
		union:    "any",
		anything: "any",
	}[s.kind]
}

// cleared are members that an empty text takes away, so that it must differ from none: pointers, the only ones there
// are.
var cleared = map[string]bool{
	"SubscriptionChange.expiry_date":             true,
	"SubscriptionChange.partner_internal_id":     true,
	"SubscriptionChange.partner_metadata":        true,
	"SubscriptionEditsItems.expiry_date":         true,
	"SubscriptionEditsItems.partner_internal_id": true,
	"SubscriptionEditsItems.partner_metadata":    true,
	"BeneficiaryEditAddress.complement":          true,
}

// goComment returns a text above what it is about.
func goComment(text, indent string) string {
	if text = strings.Join(strings.Fields(text), " "); text == "" {
		return ""
	}
	return strings.Join(splitLines(text, indent+"// "), "\n") + "\n"
}

// goDefinition returns the type of a definition.
func goDefinition(d definition) string {
	var b strings.Builder
	about := d.about
	if about == "" {
		about = "part of the contract's bodies."
	}
	b.WriteString("\n" + goComment(d.name+": "+about, ""))
	switch {
	case d.shape.kind == words:
		fmt.Fprintf(&b, "type %s string\n\n// The values of %s.\nconst (\n", d.name, d.name)
		for _, w := range d.shape.words {
			fmt.Fprintf(
				&b,
				"\t%s%s %s = %q\n",
				d.name,
				goIdentifier(strings.NewReplacer(".", "_", "-", "_", ":", "_", " ", "_").Replace(w)),
				d.name,
				w,
			)
		}
		b.WriteString(")\n")
	default:
		fmt.Fprintf(&b, "type %s struct {\n", d.name)
		for _, m := range d.members {
			kind, tag := goTypeName(m.shape), m.name
			switch {
			case cleared[d.name+"."+m.name]:
				kind, tag = "*"+kind, tag+",omitempty"
			case !m.required:
				tag += ",omitzero"
			}
			fmt.Fprintf(&b, "%s\t%s %s `json:%q`\n", goComment(m.about, "\t"), goIdentifier(m.name), kind, tag)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// goSchemas returns the file of types.
func goSchemas(definitions []definition) (string, error) {
	var b strings.Builder
	b.WriteString(goHeader + "package client\n\nimport \"time\"\n")
	for _, d := range definitions {
		if d.shape.kind != union { // EventBody, which is written by hand: only its type says what is in it
			b.WriteString(goDefinition(d))
		}
	}
	text, err := format.Source([]byte(b.String()))
	return string(text), err
}

// goCodes returns the file of the codes of errors.
func goCodes(d definition) (string, error) {
	d.shape.kind = words
	text, err := format.Source([]byte(goHeader + "package client\n" + goDefinition(d)))
	return string(text), err
}

// goMethod returns a method of the Go client.
func goMethod(m method) string {
	must, _ := m.splitArguments()
	all, values := []string{"ctx context.Context"}, []string{}
	var set strings.Builder
	for _, a := range must {
		all = append(all, goArgument(a.name)+" string")
		if a.in == "path" {
			values = append(values, goArgument(a.name))
		} else {
			fmt.Fprintf(&set, "\tk.query.Set(%q, %s)\n", a.name, goArgument(a.name))
		}
	}
	body := "nil"
	if m.body != nil {
		all, body = append(all, "body "+goTypeName(*m.body)), "body"
	}
	all = append(all, "opts ...Option")
	var b strings.Builder
	b.WriteString("\n" + goComment(goIdentifier(m.ID)+": "+m.describeCall(), ""))
	result := "error"
	if m.answer != nil {
		result = "(" + goTypeName(*m.answer) + ", error)"
	}
	fmt.Fprintf(&b, "func (c *Client) %s(%s) %s {\n\tk := newAPICall(%q, %q, []string{%s}, opts)\n%s",
		goIdentifier(m.ID), strings.Join(all, ", "), result, m.http, m.path, strings.Join(values, ", "), set.String())
	if m.keyed {
		b.WriteString("\tk.keyed = true\n")
	}
	if m.answer == nil {
		fmt.Fprintf(&b, "\treturn c.do(ctx, k, %s, nil)\n}\n", body)
		return b.String()
	}
	fmt.Fprintf(
		&b,
		"\tvar answer %s\n\terr := c.do(ctx, k, %s, &answer)\n\treturn answer, err\n}\n",
		goTypeName(*m.answer),
		body,
	)
	return b.String()
}

// goOperations returns the file of methods and of the options that some of them take.
func goOperations(methods []method) (string, error) {
	var b strings.Builder
	b.WriteString(goHeader + "package client\n\nimport (\n\t\"context\"\n\t\"strconv\"\n)\n")
	seen := map[string]bool{}
	for _, m := range methods {
		b.WriteString(goMethod(m))
		_, may := m.splitArguments()
		for _, a := range may {
			name := "With" + goIdentifier(a.name)
			if seen[name] {
				continue
			}
			seen[name] = true
			value := "string(value)"
			switch goTypeName(a.shape) {
			case "int":
				value = "strconv.Itoa(value)"
			case "bool":
				value = "strconv.FormatBool(value)"
			case "string":
				value = "value"
			}
			fmt.Fprintf(
				&b,
				"\n// %s sets the parameter %s.\nfunc %s(value %s) Option {\n\treturn func(k *call) { k.%s.Set(%q, "+
					"%s) }\n}\n",
				name,
				a.name,
				name,
				goTypeName(a.shape),
				a.in,
				a.name,
				value,
			)
		}
	}
	text, err := format.Source([]byte(b.String()))
	return string(text), err
}
