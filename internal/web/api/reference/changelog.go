package reference

import (
	"regexp"
	"slices"
	"strings"

	"github.com/vigiahq/vigia"
)

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
