package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/operator"
)

// command is what is recorded of a run.
type command struct {
	action, subject, detail string
	// person is the person that the command is about, if any; the trail's reference to them is then the subject.
	person personFlags
	// unrecorded commands are not recorded.
	unrecorded bool
}

// commandKey is the key of the running command in a context.
type commandKey struct{}

// unrecorded are commands that neither change nor show anything of the service's, or only the trail itself.
var unrecorded = []string{"migrate", "version", "audit list", "audit verify", "completion", "man", "keys make"}

// secretFlags are flags whose value is never kept.
var secretFlags = []string{"secret", "password", "token", "database"}

// givenText returns what a flag or an argument was given as text. Flags that may be left out are pointers.
func givenText(target reflect.Value) string {
	if target = reflect.Indirect(target); !target.IsValid() {
		return ""
	}
	return fmt.Sprint(target.Interface())
}

// withCommand notes which command runs, for recordCommand.
func withCommand(ctx context.Context, parsed *kong.Context) context.Context {
	var names, words []string
	var person personFlags
	subject := ""
	for _, step := range parsed.Path {
		switch {
		case step.Command != nil:
			names = append(names, step.Command.Name)
		case step.Positional != nil:
			text := givenText(step.Positional.Target)
			words = append(words, step.Positional.Name+"="+text)
			if strings.IndexByte(text, '_') == 2 { // an id such as pt_...
				subject = text
			}
		case step.Flag != nil && !step.Flag.Hidden && step.Flag.Name != "json" && step.Flag.Name != "data":
			value := givenText(step.Flag.Target)
			for _, s := range secretFlags {
				if strings.Contains(step.Flag.Name, s) {
					value = "..."
				}
			}
			switch step.Flag.Name { // the trail outlives an erasure: it never holds what names a person
			case "cpf":
				person.CPF, value = personal(value), maskedCPF(value)
			case "user-hash":
				person.User, value = value, "..."
			case "partner":
				person.Partner = value
			case "email", "phone", "card", "pix-key", "cnpj":
				if slices.Contains(names, "explain") { // elsewhere they are an operator's own
					value = "..."
				}
			}
			words = append(words, "--"+step.Flag.Name+"="+value)
			if step.Flag.Name == "partner" && subject == "" {
				subject = value
			}
		}
	}
	return context.WithValue(ctx, commandKey{}, command{
		strings.Join(names, "."),
		subject,
		strings.Join(words, " "),
		person,
		slices.Contains(unrecorded, strings.Join(names, " ")),
	})
}

// recordCommand adds the command to the audit trail before it runs, so that nothing runs unrecorded.
func recordCommand(ctx context.Context, a *app.App) error {
	c, ok := ctx.Value(commandKey{}).(command)
	if !ok || c.unrecorded {
		return nil
	}
	if c.person.CPF != "" {
		c.person.User, c.person.Partner = "", "" // one name for a person, whichever partner is asked
	}
	if p, err := c.person.parsePerson(); err == nil {
		c.subject = a.Subjects.Reference(p)
	}
	return a.Audit.RecordAction(ctx, systemActor(), c.action, c.subject, c.detail)
}

// systemActor returns the account and the machine that run a command, for the audit trail.
func systemActor() operator.Actor {
	name := "uid " + strconv.Itoa(os.Getuid())
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return operator.Actor{Name: "cli:" + name, From: host}
}
