package reference

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"github.com/vigiahq/vigia"
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

// dialect is what our texts are written in. Raw HTML in them is left out.
var dialect = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
)

// errorCode is what a heading about a code of an error looks like.
var errorCode = regexp.MustCompile(`^[a-z_]+\.[a-z_]+$`)

// headingIDs makes the anchors of headings. That of an error's code is the code itself, so that a program, a log or a
// page can link to what it was told; others are as usual.
type headingIDs struct{ others parser.IDs }

// Generate returns the anchor of a heading.
func (h headingIDs) Generate(heading []byte, kind ast.NodeKind) []byte {
	if errorCode.Match(heading) {
		return heading
	}
	return h.others.Generate(heading, kind)
}

// Put notes an anchor that is taken.
func (h headingIDs) Put(anchor []byte) { h.others.Put(anchor) }

func renderMarkdown(text []byte) template.HTML {
	var page bytes.Buffer
	anchors := parser.WithIDs(headingIDs{parser.NewContext().IDs()})
	if err := dialect.Convert(text, &page, parser.WithContext(parser.NewContext(anchors))); err != nil {
		panic(err) // a buffer takes everything
	}
	// Wide code scrolls, and what scrolls must be reachable by keyboard.
	scrolling := strings.ReplaceAll(page.String(), "<pre>", `<pre tabindex="0">`)
	return template.HTML(scrolling) //nolint:gosec // our own text
}

// renderInline renders a sentence of the contract, without the paragraph that Markdown would make of it.
func renderInline(text string) template.HTML {
	rendered := renderMarkdown([]byte(text))
	if strings.Count(string(rendered), "<p>") == 1 {
		inner := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(string(rendered)), "<p>"), "</p>")
		rendered = template.HTML(inner) //nolint:gosec // as above
	}
	return rendered
}

// entry is a line of the navigation.
type entry struct{ Href, Label, Method string }

// section is a part of the menu of the reference.
type section struct {
	Title   string
	Entries []entry
}

// navigation returns the menu; root leads to the overview in the writer's language, top to /docs/.
func (w *writer) navigation(root, top string) ([]section, error) {
	start := section{Title: "Start", Entries: []entry{{Href: root, Label: "Overview"}}}
	more := section{"More", []entry{
		{Href: root + "search", Label: "Search"},
		{Href: root + "errors", Label: "Errors"},
		{Href: root + "events", Label: "Webhook events"},
		{Href: root + "changelog", Label: "Changelog"},
		{Href: root + "deprecations", Label: "Deprecations"},
	}}
	for _, words := range []*section{&start, &more} {
		var err error
		if words.Title, err = w.language.textInLanguage(words.Title); err != nil {
			return nil, err
		}
		for i := range words.Entries {
			if words.Entries[i].Label, err = w.language.textInLanguage(words.Entries[i].Label); err != nil {
				return nil, err
			}
		}
	}
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
	document := "openapi.yaml"
	if w.language.texts != nil {
		document = "openapi.pt.yaml"
	}
	more.Entries = append(more.Entries, entry{Href: top + "../" + document, Label: document})
	return append(list, more), nil
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
		"",
		w.contract.Title,
		"overview",
		map[string]any{"Contract": w.contract, "About": about, "Guides": w.guides},
	)
}

// writeGuide writes the page of a guide.
func (w *writer) writeGuide(g guides.Guide) error {
	text := renderMarkdown(linkPages(g.Text))
	return w.writePage("guides/"+g.Name, g.Title, "text", text)
}

// linkPages turns links between files of the repository into links between pages, which have no ending.
func linkPages(text []byte) []byte {
	links := strings.NewReplacer(
		"(../../../../docs/guides/pt/", "(guides/",
		"(../../../../docs/guides/", "(guides/",
		".md)", ")",
	)
	return []byte(links.Replace(string(text)))
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
		"errors",
		"Errors",
		"errors",
		map[string]any{"Text": text, "Details": w.languages[0].texts.Details},
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

// found is a line of the page of the search.
type found struct{ Href, Title, Words string }

// tag finds the markup in rendered Markdown, to search its text alone.
var tag = regexp.MustCompile(`<[^>]*>`)

// distinctWords returns the different words of a page, which is all that a search needs of it.
func distinctWords(page string) string {
	text := strings.ToLower(html.UnescapeString(tag.ReplaceAllString(page, " ")))
	words := strings.FieldsFunc(
		text,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' },
	)
	words = slices.DeleteFunc(words, func(w string) bool { return len(w) < 3 || len(w) > 40 })
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}

// writeSearch lists every page, which helps without a script too; the script leaves those that have the words.
func (w *writer) writeSearch() error {
	return w.writeTitledPage("search", "Search", "search", slices.Clone(w.found))
}

// besideUs are links to other files of the repository, which are no pages here.
var besideUs = regexp.MustCompile(`\[([^\]]+)\]\((?:[a-zA-Z0-9_./-]+)(?:#[a-z0-9-]*)?\)`)

// changelog writes the page of the changelog, without the links that only work in the repository.
func (w *writer) changelog() error {
	_, entries, _ := strings.Cut(vigia.Changelog, "\n## ")
	text := renderMarkdown(besideUs.ReplaceAll([]byte("## "+entries), []byte("$1")))
	return w.writeTitledPage("changelog", "Changelog", "changelog", text)
}

// deprecated is what the contract marks so: an operation, or a parameter or member of one.
type deprecated struct {
	Op   Operation
	What string
}

// deprecations writes the page that lists every deprecated operation, parameter and member.
func (w *writer) deprecations() error {
	var list []deprecated
	for _, op := range w.contract.Operations {
		if op.Deprecated {
			list = append(list, deprecated{op, ""})
		}
		for _, q := range op.Parameters {
			if q.Deprecated {
				list = append(list, deprecated{op, q.Name})
			}
		}
		members := slices.Clone(op.Members)
		for _, r := range op.Responses {
			members = append(members, r.Members...)
		}
		for _, m := range members {
			if m.Deprecated {
				list = append(list, deprecated{op, m.Name})
			}
		}
	}
	return w.writeTitledPage("deprecations", "Deprecations", "deprecations", list)
}
