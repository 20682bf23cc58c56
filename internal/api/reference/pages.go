package reference

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"github.com/vigiahq/vigia/docs/guides"
)

// writer makes the pages, one after the other.
type writer struct {
	contract *Contract
	snippets snippets
	guides   []guides.Guide
	layout   *template.Template
	files    map[string][]byte
}

// markdown refuses raw HTML, as goldmark does unless told otherwise.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

func render(text []byte) (template.HTML, error) {
	var b bytes.Buffer
	if err := markdown.Convert(text, &b); err != nil {
		return "", err
	}
	// Wide code scrolls, and what scrolls must be reachable by keyboard.
	html := strings.ReplaceAll(b.String(), "<pre>", `<pre tabindex="0">`)
	return template.HTML(html), nil //nolint:gosec // our own text, and goldmark escapes the rest
}

// inline renders a sentence of the contract, without the paragraph that Markdown would make of it.
func inline(text string) (template.HTML, error) {
	html, err := render([]byte(text))
	if strings.Count(string(html), "<p>") == 1 {
		html = template.HTML(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(string(html)), "<p>"), "</p>")) //nolint:gosec // as above
	}
	return html, err
}

// entry is a line of the navigation.
type entry struct{ Href, Label, Method string }

type section struct {
	Title   string
	Entries []entry
}

func (w *writer) navigation(root string) []section {
	start := section{Title: "Start", Entries: []entry{{Href: root, Label: "Overview"}}}
	for _, g := range w.guides {
		start.Entries = append(start.Entries, entry{Href: root + "guides/" + g.Name, Label: g.Title})
	}
	list := []section{start}
	for _, t := range w.contract.Tags {
		s := section{Title: t.Name}
		for _, op := range w.contract.Operations {
			if op.Tag == t.Name {
				s.Entries = append(s.Entries, entry{root + "operations/" + op.ID, op.Summary, op.Method})
			}
		}
		list = append(list, s)
	}
	return append(list, section{"More", []entry{
		{Href: root + "errors", Label: "Errors"}, {Href: root + "events", Label: "Webhook events"}, {Href: root + "../openapi.yaml", Label: "openapi.yaml"},
	}})
}

// pages writes all of them.
func (w *writer) pages() error {
	steps := []func() error{w.overview, w.errorsPage, w.events}
	for _, g := range w.guides {
		steps = append(steps, func() error { return w.guide(g) })
	}
	for _, op := range w.contract.Operations {
		steps = append(steps, func() error { return w.operation(op) })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// put writes one page. Addresses are relative, so that the pages also work behind a proxy that adds a prefix.
func (w *writer) put(name, title, part string, data any) error {
	root := strings.Repeat("../", strings.Count(name, "/"))
	if root == "" {
		root = "./"
	}
	var content, whole bytes.Buffer
	if err := w.layout.ExecuteTemplate(&content, part, data); err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	err := w.layout.ExecuteTemplate(&whole, "page", map[string]any{
		"Title": title, "Root": root, "Navigation": w.navigation(root), "Here": root + name, "Contract": w.contract,
		"Content": template.HTML(content.String()), //nolint:gosec // made by a template
	})
	if err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	w.files[name] = whole.Bytes()
	return nil
}

func (w *writer) overview() error {
	about, err := render([]byte(w.contract.Description))
	if err != nil {
		return err
	}
	return w.put("", w.contract.Title, "overview", map[string]any{"Contract": w.contract, "About": about, "Guides": w.guides})
}

func (w *writer) guide(g guides.Guide) error {
	text, err := render(asPage(g.Text))
	if err != nil {
		return err
	}
	return w.put("guides/"+g.Name, g.Title, "text", text)
}

// asPage turns links between files of the repository into links between pages, which have no ending.
func asPage(text []byte) []byte {
	return []byte(strings.NewReplacer("(../../../docs/guides/", "(guides/", ".md)", ")").Replace(string(text)))
}

func (w *writer) errorsPage() error {
	raw, err := files.ReadFile("errors.md")
	if err != nil {
		return err
	}
	text, err := render(asPage(raw))
	if err != nil {
		return err
	}
	return w.put("errors", "Errors", "text", text)
}

func (w *writer) events() error {
	return w.put("events", "Webhook events", "events", w.contract.Events)
}

func (w *writer) operation(op Operation) error {
	about, err := render([]byte(op.Description))
	if err != nil {
		return err
	}
	var good, bad []Response
	for _, r := range op.Responses {
		if strings.HasPrefix(r.Status, "2") {
			good = append(good, r)
		} else {
			bad = append(bad, r)
		}
	}
	return w.put("operations/"+op.ID, op.Summary, "operation", map[string]any{
		"Op": op, "About": about, "Examples": op.examples(w.snippets), "Good": good, "Bad": bad,
	})
}
