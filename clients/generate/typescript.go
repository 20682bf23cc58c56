package main

import (
	"fmt"
	"strconv"
	"strings"
)

// toCamelCase returns a name as TypeScript spells arguments: beneficiary_cpf is beneficiaryCpf.
func toCamelCase(name string) string {
	words := strings.Split(strings.TrimSuffix(toSnakeCase(name), "_"), "_")
	for i := 1; i < len(words); i++ {
		words[i] = capitalizeWord(words[i])
	}
	return strings.Join(words, "")
}

// scriptType returns a shape as TypeScript spells it.
func scriptType(s shape) string {
	text := map[kind]string{
		anything: "unknown",
		textual:  "string",
		moment:   "string",
		boolean:  "boolean",
		integer:  "number",
		number:   "number",
		mapping:  "Record<string, unknown>",
		named:    s.name,
	}[s.kind]
	switch s.kind {
	case words:
		text = strings.Join(spellEach(s.words, strconv.Quote), " | ")
	case list:
		if text = scriptType(s.parts[0]); strings.Contains(text, " ") {
			text = "(" + text + ")"
		}
		text += "[]"
	case union:
		text = strings.Join(spellEach(s.parts, scriptType), " | ")
	case anything, textual, moment, boolean, integer, number, mapping, named:
	}
	if s.nullable && s.kind != anything {
		text += " | null"
	}
	return text
}

// scriptComment returns a text above what it is about.
func scriptComment(text, indent string) string {
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "*/", "* /")
	if text == "" {
		return ""
	}
	if len(indent)+len(text) < widest-7 {
		return indent + "/** " + text + " */\n"
	}
	return indent + "/**\n" + strings.Join(splitLines(text, indent+" * "), "\n") + "\n" + indent + " */\n"
}

// scriptSchemas returns the file of types.
func scriptSchemas(definitions []definition) string {
	var b strings.Builder
	b.WriteString(
		scriptHeader + "// The shapes of the contract's requests and answers: what JSON they are, member by member.\n",
	)
	for _, d := range definitions {
		b.WriteString("\n" + scriptComment(d.about, ""))
		if len(d.members) == 0 {
			b.WriteString(
				"export type " + d.name + " =\n  | " + strings.ReplaceAll(scriptType(d.shape), " | ", "\n  | ") + ";\n",
			)
			continue
		}
		b.WriteString("export interface " + d.name + " {\n")
		for _, m := range d.members {
			mark := ""
			if !m.required {
				mark = "?"
			}
			b.WriteString(scriptComment(m.about, "  ") + "  " + m.name + mark + ": " + scriptType(m.shape) + ";\n")
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// scriptCodes returns the file of the codes of errors: constants by name, and the type of all of them.
func scriptCodes(d definition) string {
	var b strings.Builder
	b.WriteString(scriptHeader + "\n" + scriptComment(d.about, "") + "export const " + d.name + " = {\n")
	for _, w := range d.shape.words {
		fmt.Fprintf(&b, "  %s: %q,\n", toCamelCase(strings.ReplaceAll(w, ".", "_")), w)
	}
	b.WriteString("} as const;\n\n/** One of the codes. */\n")
	fmt.Fprintf(&b, "export type %[1]s = (typeof %[1]s)[keyof typeof %[1]s];\n", d.name)
	return b.String()
}

// scriptMethod returns a method of the TypeScript client.
func scriptMethod(m method) string {
	var all, query, headers, named []string
	path := m.path
	must, may := m.splitArguments()
	for _, a := range must {
		all = append(all, toCamelCase(a.name)+": "+scriptType(a.shape))
	}
	for _, a := range m.arguments {
		value := toCamelCase(a.name)
		if !a.required {
			value = "o." + value
		}
		switch a.in {
		case "path":
			path = strings.ReplaceAll(path, "{"+a.name+"}", "${part("+value+")}")
		case "query":
			query = append(query, a.name+": "+value)
		default:
			headers = append(headers, fmt.Sprintf("%q: %s", a.name, value))
		}
	}
	for _, a := range may {
		named = append(named, toCamelCase(a.name)+"?: "+scriptType(a.shape))
	}
	how := []string{"o"}
	switch {
	case m.mayBeEmpty:
		all, how = append(all, "body: "+scriptType(*m.body)+" = {}"), append(how, "body")
	case m.body != nil:
		all, how = append(all, "body: "+scriptType(*m.body)), append(how, "body")
	}
	if m.keyed {
		how = append(how, "keyed: true")
	}
	if len(query) > 0 {
		how = append(how, "query: { "+strings.Join(query, ", ")+" }")
	}
	if len(headers) > 0 {
		how = append(how, "headers: { "+strings.Join(headers, ", ")+" }")
	}
	options := "CallOptions"
	if len(named) > 0 {
		options += " & { " + strings.Join(named, "; ") + " }"
	}
	all = append(all, "o: "+options+" = {}")
	answer := "void"
	if m.answer != nil {
		answer = scriptType(*m.answer)
	}
	address := "`" + path + "`"
	if path == m.path {
		address = fmt.Sprintf("%q", path)
	}
	return fmt.Sprintf(
		"\n%s  %s(%s): Promise<%s> {\n    return this.call(%q, %s, { %s });\n  }\n",
		scriptComment(m.describeCall(), "  "),
		m.ID,
		strings.Join(all, ", "),
		answer,
		m.http,
		address,
		strings.Join(how, ", "),
	)
}

// scriptOperations returns the file of methods.
func scriptOperations(methods []method, definitions []definition) string {
	var b strings.Builder
	for _, m := range methods {
		b.WriteString(scriptMethod(m))
	}
	body := b.String()
	mentioned := strings.Join(namesMentioned(body, definitions), ",\n  ")
	return scriptHeader + "// The operations of the contract, one method each.\nimport type {\n  " + mentioned + `,
} from "./schemas.js";
import { type CallOptions, part, Sender } from "./send.js";

/** Every operation of the partner API, named after its operationId. */
export class Operations extends Sender {` + body + "}\n"
}
