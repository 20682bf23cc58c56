package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
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

// subjectEraseCmd is 'vigia subject erase'. An erasure needs a reason and cannot be undone.
type subjectEraseCmd struct {
	personFlags
	confirmFlag
	Reason string `required:"" placeholder:"TEXT" help:"Why; kept sealed with the erasure, and in the audit trail."`
}

func (subjectEraseCmd) Help() string {
	return "Takes away subscriptions, watched values, findings, cases, devices, answers, scores and events with " +
		"their deliveries, takes the\n" +
		"person out of kept answers, and has the deleted bytes overwritten. What stays: the audit trail, and a " +
		"tombstone of keyed indexes,\n" +
		"which names nobody and by which 'vigia restore' and 'vigia subject replay' erase the person again. A " +
		"partner may enrol the\n" +
		"person anew. Segments stay: what they hold is not joined to a person, but to keyed fingerprints of leaked " +
		"values.\n\n" +
		"Examples:\n  vigia subject erase --cpf 529.982.247-25 --reason 'pedido 1234, art. 18 VI'\n" +
		"  vigia subject erase --user-hash e3d5a0... --partner pt_... --reason 'pedido 1235' --yes"
}

func (e *subjectEraseCmd) Run(ctx context.Context, a *app.App, o *output) error {
	p, err := e.parsePerson()
	if err != nil {
		return err
	}
	if err := e.confirmErasure(ctx, a, o, p); err != nil {
		return err
	}
	out, err := a.EraseSubject(ctx, systemActor(), p, e.Reason)
	if err != nil {
		return err
	}
	erased, total := make([]record, len(out.Partners)), int64(0)
	for i, done := range out.Partners {
		erased[i] = newRecord(
			"partner_id", done.Partner,
			"erasure_id", out.Tombstones[i].ID,
			"rows", done.Counts,
			"total", done.Total(),
		)
		total += done.Total()
	}
	return o.showRecord(
		newRecord("partners", erased, "rows", total, "scrubbed", out.Scrubbed, "log", app.ErasureLog(a.Config)),
		"The log holds the tombstones: keep a copy of it apart from backups.",
	)
}

// confirmErasure shows how much would be erased, by partner, and asks.
func (e *subjectEraseCmd) confirmErasure(ctx context.Context, a *app.App, o *output, p subject.Person) error {
	if e.Yes {
		return nil
	}
	held, err := a.Subjects.ExportPerson(ctx, p)
	if err != nil {
		return err
	}
	return e.confirm(o, "Erase all of it? It cannot be undone.", newRecord("held", makeRecords(held,
		func(h subject.Held) record {
			return newRecord(
				"partner", h.Partner.Name,
				"subscriptions", len(h.Subscriptions),
				"watched_values", len(h.Assets),
				"findings", len(h.Findings),
				"cases", len(h.Cases),
				"devices", len(h.Devices),
				"answers", len(h.Answers),
				"events", len(h.Events),
			)
		})))
}

// subjectLogCmd is 'vigia subject log'. The log holds keyed indexes only and is to be kept apart from backups.
type subjectLogCmd struct{}

func (subjectLogCmd) Help() string {
	return "One JSON object a line, keyed indexes only. It names nobody without the keys, so it may be kept " +
		"anywhere.\n\n" +
		"Example:\n  vigia subject log > /safe/erasures.jsonl"
}

func (subjectLogCmd) Run(ctx context.Context, a *app.App, o *output) error {
	_, err := a.Subjects.WriteErasureLog(ctx, o.w)
	return err
}

// subjectReplayCmd is 'vigia subject replay', for a database that was restored by other means than 'vigia restore'.
type subjectReplayCmd struct {
	File string `arg:"" name:"log" help:"The log of erasures."`
}

func (subjectReplayCmd) Help() string {
	return "For a database that was restored from a copy older than an erasure, by pg_restore for instance: whatever " +
		"is older than its person's\n" +
		"erasure is erased again. What a partner enrolled after it stays.\n\nExample:\n  vigia subject replay " +
		"/safe/erasures.jsonl"
}

func (r *subjectReplayCmd) Run(ctx context.Context, a *app.App, o *output) error {
	log, err := openNamedFile(r.File)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // only read
	done, err := a.Subjects.ReplayLog(ctx, log)
	if err != nil {
		return err
	}
	return o.showRecord(newRecord("erasures", done.Lines, "rows", done.Rows, "scrubbed", done.Scrubbed))
}

// maskedCPF returns a CPF as the audit trail holds it.
func maskedCPF(text string) string { return identifier.MaskValue(identifier.CPF, text) }

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
		strings.Join(
			names,
			".",
		),
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

// auditCmd groups the commands on the audit trail.
type auditCmd struct {
	List   auditListCmd   `cmd:"" help:"Show lines of the trail, newest first."`
	Verify auditVerifyCmd `cmd:"" help:"Check the whole trail: a line that was changed, removed, moved or added is found."`
}

// auditListCmd is 'vigia audit list'. Its flags narrow the list and can be combined.
type auditListCmd struct {
	Actor   string `placeholder:"WHO" help:"Only what this operator (op_...) or account (cli:...) did."`
	Action  string `placeholder:"ACTION" help:"Only this action, such as partner.create."`
	Subject string `placeholder:"ID" help:"Only what was done to this."`
	Before  int64  `placeholder:"LINE" help:"Only lines before this one."`
	Limit   int    `default:"50" placeholder:"N" help:"At most so many lines."`
}

func (auditListCmd) Help() string {
	return "Example:\n  vigia audit list --subject pt_... --limit 200 --json"
}

func (l *auditListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	found, err := a.Audit.ListEntries(ctx, operator.Filter{
		Actor: l.Actor, Action: l.Action, Subject: l.Subject, Before: l.Before, Limit: max(l.Limit, 1),
	})
	if err != nil {
		return err
	}
	return o.listRecords(makeRecords(found, func(e operator.Entry) record {
		return newRecord(
			"line", e.Seq,
			"at", e.At,
			"actor", e.Name,
			"from", e.From,
			"action", e.Action,
			"subject", e.Subject,
			"detail", e.Detail,
		)
	}), "No line.")
}

// auditVerifyCmd is 'vigia audit verify'. Only a head that was noted elsewhere reveals that the end of the trail was
// cut off.
type auditVerifyCmd struct {
	Expect string `placeholder:"LINE:HEAD" help:"A head noted earlier (printed by this command and, once an hour, in the log): the trail must still hold it."`
}

func (auditVerifyCmd) Help() string {
	return "A trail that was cut off and put back to an older copy of the database can only be found with a head " +
		"noted elsewhere.\n\n" +
		"Example:\n  vigia audit verify --expect 1042:5f2c..."
}

func (v *auditVerifyCmd) Run(ctx context.Context, a *app.App, o *output) error {
	expect, err := operator.ParseHead(v.Expect)
	if err != nil {
		return err
	}
	head, err := a.Audit.VerifyTrail(ctx, expect, nil)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%d:%x", head.Seq, head.MAC)
	return o.showRecord(
		newRecord("lines", head.Seq, "head", text, "intact", true),
		"Note this head elsewhere, to check against later.",
	)
}
