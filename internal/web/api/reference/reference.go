// Package reference is the partners' documentation as pages: every operation of the contract with examples, the errors,
// the events, the guides, and a form that tries an operation out.
//
// It reads the contract that it is given and knows no route, rule or secret of the service. What it keeps: a page needs
// nothing but this server, holds nothing inline, and says only what the contract or a tested file says.
package reference

import (
	"embed"
	"html/template"

	"github.com/vigiahq/vigia/docs/guides"
)

//go:embed page.html docs.css docs.js errors.md errors.pt.md pt.fields.yaml pt.yaml snippets.json
var files embed.FS

// writeReference makes every file of the reference, by its name.
func writeReference(document []byte) (map[string][]byte, error) {
	contract, err := ParseContract(document)
	if err != nil {
		return nil, err
	}
	snippets, err := readSnippets()
	if err != nil {
		return nil, err
	}
	all, err := languages()
	if err != nil {
		return nil, err
	}
	pages := map[string][]byte{}
	for _, name := range []string{"docs.css", "docs.js"} {
		if pages[name], err = files.ReadFile(name); err != nil {
			return nil, err
		}
	}
	for _, l := range all {
		w, err := newWriter(l, all, contract, snippets)
		if err != nil {
			return nil, err
		}
		w.files = pages
		if err := w.writePages(); err != nil {
			return nil, err
		}
	}
	return pages, nil
}

// newWriter makes the writer of one language's pages.
func newWriter(l language, all []language, contract *Contract, snippets snippets) (*writer, error) {
	told, _ := l.translate(contract) // what is missing is TestPortugueseIsWhole's to tell
	list, err := guides.All(l.guides)
	if err != nil {
		return nil, err
	}
	functions := template.FuncMap{"inline": renderInline, "say": l.textInLanguage}
	layout, err := template.New("").Funcs(functions).ParseFS(files, "page.html")
	return &writer{language: l, languages: all, contract: told, snippets: snippets, guides: list, layout: layout}, err
}
