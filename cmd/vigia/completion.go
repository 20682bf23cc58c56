package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd is 'vigia completion'. The script asks this program for what fits, so it never has to be made anew.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCmd) Help() string {
	return "Prints a script for the shell, which asks this program what fits. Packages install it.\n\nExamples:\n" +
		"  vigia completion bash > /etc/bash_completion.d/vigia\n" +
		"  vigia completion zsh > \"${fpath[1]}/_vigia\"\n" +
		"  vigia completion fish > ~/.config/fish/completions/vigia.fish"
}

func (c completionCmd) Run(o *output) error {
	_, err := io.WriteString(o.w, completionScripts[c.Shell])
	return err
}

// completeWord is the argument with which the scripts ask for what fits; what follows are the words of the command line
// up to the one that is being typed.
const completeWord = "__complete"

// completionScripts are what the shells load. A line of an answer is a word, a tab and its help.
var completionScripts = map[string]string{
	"bash": `_vigia() {
	local IFS=$'\n'
	COMPREPLY=($(vigia ` + completeWord + ` "${COMP_WORDS[@]:1:COMP_CWORD}" | cut -f 1))
}
complete -o default -F _vigia vigia
`,
	"zsh": `#compdef vigia
_vigia() {
	local -a found
	found=("${(@f)$(vigia ` + completeWord + ` "${(@)words[2,CURRENT]}" | sed -e 's/:/\\:/g' -e 's/\t/:/')}")
	if [[ -n "$found" ]]; then
		_describe vigia found
	else
		_files
	fi
}
compdef _vigia vigia
`,
	"fish": `function __vigia_complete
	set -l found (vigia ` + completeWord + ` (commandline -opc)[2..-1] (commandline -ct))
	if test -n "$found"
		string join \n $found
	else
		__fish_complete_path (commandline -ct)
	end
end
complete -c vigia -f -a '(__vigia_complete)'
`,
}

// suggestion is one word that fits, and what it means.
type suggestion struct{ word, help string }

// printSuggestions writes what fits the last word of a command line.
func printSuggestions(w io.Writer, app *kong.Application, words []string) {
	for _, s := range suggestWords(app, words) {
		_, _ = fmt.Fprintf(w, "%s\t%s\n", s.word, s.help)
	}
}

// suggestWords returns the commands, flags or values that begin with the last of the words. What is left to the shell,
// such as the names of files, is not among them.
func suggestWords(app *kong.Application, words []string) []suggestion {
	if len(words) == 0 {
		words = []string{""}
	}
	typed := words[len(words)-1]
	node, positional := app.Node, 0
	var valueOf *kong.Flag // the flag whose value comes next
	for _, word := range words[:len(words)-1] {
		switch {
		case valueOf != nil:
			valueOf = nil
		case strings.HasPrefix(word, "-"):
			valueOf = flagWithValue(node, word)
		default:
			if child := findCommand(node, word); child != nil {
				node = child
			} else {
				positional++
			}
		}
	}
	var all []suggestion
	switch {
	case valueOf != nil:
		all = enumSuggestions(valueOf.Value)
	case strings.HasPrefix(typed, "-"):
		all = flagSuggestions(node)
	case node.Leaf():
		if positional < len(node.Positional) {
			all = enumSuggestions(node.Positional[positional])
		}
	default:
		for _, child := range node.Children {
			if !child.Hidden {
				all = append(all, suggestion{child.Name, child.Help})
			}
		}
	}
	return slices.DeleteFunc(all, func(s suggestion) bool { return !strings.HasPrefix(s.word, typed) })
}

// findCommand returns the command of a group that has the name; nil where there is none.
func findCommand(group *kong.Node, name string) *kong.Node {
	for _, child := range group.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// flagWithValue returns the flag of a word such as --partner if its value is the next word; nil otherwise.
func flagWithValue(node *kong.Node, word string) *kong.Flag {
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			if "--"+f.Name == word && !f.IsBool() {
				return f
			}
		}
	}
	return nil
}

// enumSuggestions returns the values that a flag or an argument may have, if they are a list.
func enumSuggestions(v *kong.Value) []suggestion {
	var all []suggestion
	if v.Enum != "" {
		for _, word := range v.EnumSlice() {
			all = append(all, suggestion{word: word})
		}
	}
	return all
}

// flagSuggestions returns the flags of a command, and those of every command behind them.
func flagSuggestions(node *kong.Node) []suggestion {
	var all []suggestion
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			all = append(all, suggestion{"--" + f.Name, f.Help})
		}
	}
	return all
}
