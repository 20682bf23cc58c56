// Package guides holds the guides for partners, as text, so that a server can show them without any other network. It
// knows nothing of how they are shown. What it keeps: the code in them is run by its test, as it stands on the page,
// and the guides in Portuguese, below pt/, have the same code.
package guides

import (
	"embed"
	"strings"
)

//go:embed *.md pt/*.md
var files embed.FS

// Guide is one page.
type Guide struct {
	// Name is the file without its ending, and the last part of the page's address.
	Name  string
	Title string
	// Text is the page in Markdown, its title included.
	Text []byte
}

// order is how a newcomer reads them.
var order = []string{
	"first-hour",
	"user-hash",
	"bulk-enrolment",
	"verify-webhooks",
	"sandbox",
	"self-service",
	"limits",
	"keys",
	"messages",
	"person-page",
}

// All returns the guides of a folder in reading order: "" has those in English, "pt/" those in Portuguese.
func All(folder string) ([]Guide, error) {
	list := make([]Guide, len(order))
	for i, name := range order {
		text, err := files.ReadFile(folder + name + ".md")
		if err != nil {
			return nil, err
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		list[i] = Guide{name, title, text}
	}
	return list, nil
}
