package reference

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"github.com/vigiahq/vigia/docs/guides"
)

// writer makes the pages of one language, one after the other.
type writer struct {
	language  language
	languages []language
	contract  *Contract
	snippets  snippets
	guides    []guides.Guide
	layout    *template.Template
	files     map[string][]byte
	// found is what the page of the search lists: the pages written so far.
	found []found
}

func (w *writer) writePages() error {
	steps := []func() error{w.writeOverview, w.errorsPage, w.writeEvents, w.changelog, w.deprecations}
	for _, g := range w.guides {
		steps = append(steps, func() error { return w.writeGuide(g) })
	}
	for _, op := range w.contract.Operations {
		steps = append(steps, func() error { return w.operation(op) })
	}
	for _, step := range append(steps, w.writeSearch) { // which lists the others
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// translation is the same page in a language.
type translation struct{ Code, Name, Href string }

// pathToRoot leads from a page to the folder that its name begins in.
func pathToRoot(name string) string {
	if up := strings.Repeat("../", strings.Count(name, "/")); up != "" {
		return up
	}
	return "./"
}

// writePage writes one page. Addresses are relative, so that the pages also work behind a proxy that adds a prefix.
func (w *writer) writePage(name, title, part string, data any) error {
	root, top := pathToRoot(name), pathToRoot(w.language.folder+name)
	var content, whole bytes.Buffer
	if err := w.layout.ExecuteTemplate(&content, part, data); err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	menu, err := w.navigation(root, top)
	if err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	var same []translation
	for _, l := range w.languages {
		same = append(same, translation{l.Code, l.Name, top + l.folder + name})
	}
	err = w.layout.ExecuteTemplate(&whole, "page", map[string]any{
		"Title": title, "Root": root, "Top": top, "Navigation": menu, "Here": root + name, "Contract": w.contract,
		"Language": w.language.Code, "Translations": same,
		"Content": template.HTML(content.String()), //nolint:gosec // made by a template
	})
	if err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	w.files[w.language.folder+name] = whole.Bytes()
	w.found = append(w.found, found{Href: "./" + name, Title: title, Words: distinctWords(content.String())})
	return nil
}

// writeOverview writes the first page.
func (w *writer) writeOverview() error {
	about := renderMarkdown([]byte(w.contract.Description))
	return w.writePage(
		"", w.contract.Title, "overview", map[string]any{"Contract": w.contract, "About": about, "Guides": w.guides},
	)
}

// writeGuide writes the page of a guide.
func (w *writer) writeGuide(g guides.Guide) error {
	text := renderMarkdown(linkPages(g.Text))
	return w.writePage("guides/"+g.Name, g.Title, "text", text)
}

// errorsPage writes the page about errors, in the language of the pages.
func (w *writer) errorsPage() error {
	name := "errors.md"
	if w.language.texts != nil {
		name = "errors.pt.md"
	}
	raw, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	text := renderMarkdown(linkPages(raw))
	return w.writeTitledPage(
		"errors", "Errors", "errors", map[string]any{"Text": text, "Details": w.languages[0].texts.Details},
	)
}

// writeEvents writes the page of events.
func (w *writer) writeEvents() error {
	return w.writeTitledPage("events", "Webhook events", "events", w.contract.Events)
}

// writeTitledPage writes a page whose title is one of the pages' own words.
func (w *writer) writeTitledPage(name, english, part string, data any) error {
	title, err := w.language.textInLanguage(english)
	if err != nil {
		return err
	}
	return w.writePage(name, title, part, data)
}

// operation writes the page of an operation with its examples; answers of success come before refusals.
func (w *writer) operation(op Operation) error {
	about := renderMarkdown([]byte(op.Description))
	var good, bad []Response
	for _, r := range op.Responses {
		if strings.HasPrefix(r.Status, "2") {
			good = append(good, r)
		} else {
			bad = append(bad, r)
		}
	}
	return w.writePage("operations/"+op.ID, op.Summary, "operation", map[string]any{
		"Op":       op,
		"About":    about,
		"Top":      pathToRoot(w.language.folder + "operations/"),
		"Examples": op.makeExamples(w.snippets),
		"Good":     good,
		"Bad":      bad,
	})
}
