package reference

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"github.com/vigiahq/vigia"
	"github.com/vigiahq/vigia/docs/guides"
)

// space between tags, and the two ways to write what has two.
var space = regexp.MustCompile(`\s*(<[^>]*>)\s*`)

func shape(html string) string {
	return strings.NewReplacer(" />", ">", "&quot;", `"`, "&#39;", "'", ` tabindex="0"`, "").Replace(space.ReplaceAllString(html, "$1"))
}

// TestMarkdownHasOneReading: another library reads our texts as ours does, headings' anchors included. Raw HTML, which
// the other one leaves out, would show too.
func TestMarkdownHasOneReading(t *testing.T) {
	second := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	texts := map[string]string{"changelog": vigia.Changelog}
	for _, name := range []string{"errors.md", "errors.pt.md"} {
		raw, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(raw)
	}
	for _, folder := range []string{"", "pt/"} {
		all, err := guides.All(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range all {
			texts[folder+g.Name] = string(g.Text)
		}
	}
	c := contract(t)
	texts["contract"] = c.Description
	for _, op := range c.Operations {
		texts[op.ID], texts[op.ID+" rules"] = op.Description, op.Rules
	}
	texts["anchors"] = "## Wörter & *Zeichen*\n\n## a_b-c `d`\n\n## Two\n\n## Two\n\n## Two\n\n## ?\n"
	for name, text := range texts {
		var other bytes.Buffer
		if err := second.Convert([]byte(text), &other); err != nil {
			t.Fatal(err)
		}
		if ours, theirs := shape(string(render([]byte(text)))), shape(other.String()); ours != theirs {
			i := 0
			for i < min(len(ours), len(theirs)) && ours[i] == theirs[i] {
				i++
			}
			from := max(0, i-80)
			t.Errorf("%s:\n%s\n%s", name, ours[from:min(len(ours), i+120)], theirs[from:min(len(theirs), i+120)])
		}
	}
}
