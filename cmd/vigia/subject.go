package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/subject"
)

// subjectCmd groups the commands that serve the rights of a person over their data.
type subjectCmd struct {
	Export subjectExportCmd `cmd:"" help:"Tell a person everything that is held about them."`
	Erase  subjectEraseCmd  `cmd:"" help:"Erase everything that is held about a person."`
	Log    subjectLogCmd    `cmd:"" help:"Print the log of erasures, to be kept apart from backups."`
	Replay subjectReplayCmd `cmd:"" help:"Erase again whoever a restored backup brought back."`
}

// personFlags name a person.
type personFlags struct {
	CPF     personal `name:"cpf" placeholder:"CPF" help:"The person's CPF, with or without dots and dash; '-' reads it from standard input, '@FILE' from a file."`
	User    string   `name:"user-hash" placeholder:"HASH" help:"The person as a partner names them; needs --partner."`
	Partner string   `placeholder:"PARTNER" help:"Only what is held for this partner; all of them when it is left out."`
}

// parsePerson returns the person that the flags name.
func (f personFlags) parsePerson() (subject.Person, error) {
	return subject.ParsePerson(string(f.CPF), f.User, f.Partner)
}

// subjectExportCmd is 'vigia subject export'. The export is in clear, so a file of it is readable by its owner only.
type subjectExportCmd struct {
	personFlags
	Out    string `placeholder:"FILE" type:"path" help:"Write to a new file of mode 0600 instead of the screen."`
	Letter bool   `help:"Write a letter to the person: a page of HTML to be read, printed or kept as PDF."`
}

func (subjectExportCmd) Help() string {
	return "The plain form is a Portuguese text to be handed to the person, --letter a page to be printed; --json is " +
		"complete and can be read by another program.\n" +
		"The export is recorded in the audit trail before it is shown.\n\n" +
		"Examples:\n  vigia subject export --cpf @cpf.txt --out ana.txt\n  vigia subject export --cpf @cpf.txt " +
		"--letter --out ana.html\n  vigia subject export --cpf 52998224725 --partner pt_... --json"
}

func (e *subjectExportCmd) Run(ctx context.Context, a *app.App, o *output) error {
	p, err := e.parsePerson()
	if err != nil {
		return err
	}
	held, err := a.Subjects.ExportPerson(ctx, p)
	if err != nil {
		return err
	}
	if len(held) == 0 {
		return subject.ErrNobody.Note("nothing is held about this person")
	}
	write := subject.WriteText
	switch {
	case o.json:
		write = subject.WriteJSON
	case e.Letter:
		write = func(w io.Writer, all []subject.Held) error { return subject.WriteLetter(w, all, a.Now()) }
	}
	if e.Out == "" {
		return write(o.w, held)
	}
	var text bytes.Buffer
	if err := write(&text, held); err != nil {
		return err
	}
	if err := durable.WriteNewFile(filepath.Clean(e.Out), text.Bytes()); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return o.showRecord(newRecord("file", e.Out, "partners", len(held)))
}

// maskedCPF returns a CPF as the audit trail holds it.
func maskedCPF(text string) string { return identifier.MaskValue(identifier.CPF, text) }
