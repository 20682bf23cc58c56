package reference

import (
	"bytes"
	"html/template"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

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

// linkPages turns links between files of the repository into links between pages, which have no ending.
func linkPages(text []byte) []byte {
	links := strings.NewReplacer(
		"(../../../../docs/guides/pt/", "(guides/",
		"(../../../../docs/guides/", "(guides/",
		".md)", ")",
	)
	return []byte(links.Replace(string(text)))
}
