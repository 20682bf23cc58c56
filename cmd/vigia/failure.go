package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// printFailure says what went wrong: a fault by its code and detail, a refusal of the partner API by its code, anything
// else by its text.
func (o *output) printFailure(err error) {
	var f *fault.Error
	var refused *client.Error
	code, text := "failure", err.Error()
	switch {
	case errors.As(err, &f):
		code = f.Code
		if detail := f.Detail(); detail != "" {
			text = detail
		}
		text = cmp.Or(o.notFoundSentence(f.Code), text)
	case errors.As(err, &refused):
		code = cmp.Or(string(refused.Code), code)
		text = "the service answered " + strings.TrimPrefix(text, "vigia: ")
	}
	if o.json {
		_ = json.NewEncoder(o.err).Encode(map[string]string{"error": code, "detail": text})
		return
	}
	_, _ = fmt.Fprintln(o.err, "vigia:", text)
}

// listed says how a kind of thing is called, which arguments name one, and which command lists them.
type listed struct {
	noun, argument, list string
}

// listedThings are what a command may not find, by the code of the fault.
var listedThings = map[string]listed{
	"partner.not_found":  {noun: "partner", argument: "partner", list: "vigia partner list"},
	"plan.not_found":     {noun: "plan", argument: "plan", list: "vigia plan list --partner PARTNER"},
	"key.not_found":      {noun: "key", argument: "key", list: "vigia key list --partner PARTNER"},
	"webhook.not_found":  {noun: "webhook", argument: "webhook", list: "vigia webhook list"},
	"event.not_found":    {noun: "event", argument: "event", list: "vigia event list --partner PARTNER"},
	"breach.not_found":   {noun: "breach", argument: "name", list: "vigia breach list"},
	"feed.not_found":     {noun: "feed", argument: "name", list: "vigia feed list"},
	"operator.not_found": {noun: "operator", argument: "email", list: "vigia operator list"},
}

// notFoundSentence says what there is not, and which command lists what there is; empty for any other fault.
func (o *output) notFoundSentence(code string) string {
	thing, found := listedThings[code]
	name := o.given[thing.argument]
	if !found || name == "" {
		return ""
	}
	list := thing.list
	if partner := o.given["partner"]; partner != "" {
		list = strings.Replace(list, "PARTNER", partner, 1)
	}
	return fmt.Sprintf("there is no %s %s; '%s' lists them", thing.noun, name, list)
}

// givenNames returns what the arguments and flags of a command line were given as text.
func givenNames(parsed *kong.Context) map[string]string {
	given := map[string]string{}
	for _, step := range parsed.Path {
		if step.Positional != nil {
			given[step.Positional.Name] = givenText(step.Positional.Target)
		} else if step.Flag != nil {
			given[step.Flag.Name] = givenText(step.Flag.Target)
		}
	}
	return given
}
