package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Your shell: bash, zsh or fish."`
}

// Help shows examples.
func (completionCmd) Help() string {
	return "Prints a few lines that make your shell ask this program what comes next, so that they never go stale.\n\nExamples:\n" +
		"  vigia completion bash > /etc/bash_completion.d/vigia\n  vigia completion zsh > \"${fpath[1]}/_vigia\"\n" +
		"  vigia completion fish > ~/.config/fish/completions/vigia.fish"
}

// shellScripts ask the hidden command for lines "word<tab>description". Where it has nothing to say they offer files.
var shellScripts = map[string]string{
	"bash": `_vigia() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("${line%%$'\t'*}")
  done < <(vigia complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _vigia vigia
`,
	"zsh": `#compdef vigia
_vigia() {
  local line
  local -a found
  while IFS= read -r line; do
    found+=("${line%%$'\t'*}:${line#*$'\t'}")
  done < <(vigia complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( ${#found} )); then
    _describe vigia found
  else
    _files
  fi
}
compdef _vigia vigia
`,
	"fish": `function __vigia_complete
  set -l words (commandline -opc) (commandline -ct)
  vigia complete -- $words[2..-1] 2>/dev/null
end
complete -c vigia -f -n 'test -n "$(__vigia_complete)"' -a '(__vigia_complete)'
`,
}

// Run prints the script.
func (c *completionCmd) Run(o *output) error {
	script := shellScripts[c.Shell]
	return o.print(map[string]string{"shell": c.Shell, "script": script}, func(w io.Writer) { _, _ = io.WriteString(w, script) })
}

type completeCmd struct {
	Words []string `arg:"" optional:"" help:"The words typed so far, the last one unfinished."`
}

// Help says what it is for.
func (completeCmd) Help() string {
	return "Asked by the shells; see vigia completion.\n\nExample:\n  vigia complete -- partner cr"
}

// Run prints what may come next.
func (c *completeCmd) Run(k *kong.Context, o *output) error {
	list := nextWords(k.Model.Node, c.Words)
	return o.print(list, func(w io.Writer) {
		for _, s := range list {
			_, _ = fmt.Fprintf(w, "%s\t%s\n", s.Word, s.About)
		}
	})
}

// suggestion is a word that may come next.
type suggestion struct {
	Word  string `json:"word"`
	About string `json:"about"`
}

// nextWords walks the words through the commands and offers what fits the last one.
func nextWords(root *kong.Node, words []string) []suggestion {
	if len(words) == 0 {
		words = []string{""}
	}
	typed, last := words[:len(words)-1], words[len(words)-1]
	node := root
	var waiting *kong.Flag // a flag whose value comes next
	for _, w := range typed {
		switch {
		case waiting != nil:
			waiting = nil
		case strings.HasPrefix(w, "-"):
			waiting = valueFlag(node, w)
		default:
			if child := childNamed(node, w); child != nil {
				node = child
			}
		}
	}
	var all []suggestion
	switch {
	case waiting != nil:
		all = enumWords(waiting.Value)
	case strings.HasPrefix(last, "-"):
		all = flagWords(node)
	default:
		for _, child := range node.Children {
			if !child.Hidden {
				all = append(all, suggestion{child.Name, firstSentence(child.Help)})
			}
		}
		for _, p := range node.Positional {
			all = append(all, enumWords(p)...)
		}
	}
	fitting := make([]suggestion, 0, len(all))
	for _, s := range all {
		if strings.HasPrefix(s.Word, last) {
			fitting = append(fitting, s)
		}
	}
	return fitting
}

func childNamed(node *kong.Node, word string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == word {
			return child
		}
	}
	return nil
}

// valueFlag finds a flag that waits for its value in the next word; --flag=value and switches do not.
func valueFlag(node *kong.Node, word string) *kong.Flag {
	for n := node; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			if word == "--"+f.Name && !f.IsBool() {
				return f
			}
		}
	}
	return nil
}

func flagWords(node *kong.Node) []suggestion {
	var list []suggestion
	for n := node; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			if !f.Hidden {
				list = append(list, suggestion{"--" + f.Name, firstSentence(f.Help)})
			}
		}
	}
	return list
}

func enumWords(v *kong.Value) []suggestion {
	if v.Enum == "" {
		return nil
	}
	var list []suggestion
	for _, word := range v.EnumSlice() {
		if word != "" {
			list = append(list, suggestion{word, ""})
		}
	}
	return list
}

// firstSentence keeps a description on one line.
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i > 0 {
		text = text[:i+1]
	}
	return text
}
