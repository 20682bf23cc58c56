package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/leak"
)

type breachExplainCmd struct {
	breachName
	config.Outgoing
	importOpening
	Email  personal `placeholder:"ADDRESS" xor:"value" help:"An e-mail address. As of every value, '-' reads it from standard input and '@FILE' from a file."`
	CPF    personal `name:"cpf" placeholder:"CPF" xor:"value" help:"A CPF."`
	Phone  personal `placeholder:"NUMBER" xor:"value" help:"A phone number."`
	Card   personal `placeholder:"NUMBER" xor:"value" help:"A card number."`
	PixKey personal `placeholder:"KEY" xor:"value" help:"A random Pix key."`
	CNPJ   personal `name:"cnpj" placeholder:"CNPJ" xor:"value" help:"A CNPJ."`
	Inputs []string `arg:"" optional:"" name:"dump" help:"The dump, to count the value's records in: files, folders, https addresses and objects of a bucket, as of breach import."`
}

// Help shows examples.
func (breachExplainCmd) Help() string {
	return "Tells what stood in the records of one value, how many passwords beside it, and which earlier breach knew it. How many records there " +
		"were is not kept: given the dump, the command searches it and counts them. The question is recorded in the audit trail, the value is not.\n\n" +
		"Examples:\n  vigia breach explain --name loja-exemplo --email ana@exemplo.com.br\n" +
		"  vigia breach explain --name loja-exemplo --email ana@exemplo.com.br dump.7z\n" +
		"  echo 529.982.247-25 | vigia breach explain --name loja-exemplo --cpf - --json"
}

// value is the one that was given.
func (b *breachExplainCmd) value() (identifier.Kind, string) {
	for kind, text := range map[identifier.Kind]personal{
		identifier.Email: b.Email, identifier.CPF: b.CPF, identifier.Phone: b.Phone, identifier.Card: b.Card, identifier.PixKey: b.PixKey, identifier.CNPJ: b.CNPJ,
	} {
		if text != "" {
			return kind, string(text)
		}
	}
	return 0, ""
}

// Run explains.
func (b *breachExplainCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	kind, text := b.value()
	if text == "" {
		return leak.ErrBreachInvalid.With("value: one of --email, --cpf, --phone, --card, --pix-key and --cnpj is needed")
	}
	dump, err := b.dump(ctx)
	if err != nil {
		return err
	}
	return withAppFor(ctx, c, func(a *app.App) error {
		e, err := a.Leaks.Explain(ctx, b.Name, kind, text)
		if err != nil {
			return err
		}
		v := viewExplanation(b.Name, kind, e)
		if len(dump.Inputs) > 0 {
			b.bound(a.Leaks.Importer)
			bar := o.progress("count "+b.Name, "bytes")
			dump.Progress = func(p intake.Progress) { bar.set(p.Read, p.Total, "") }
			counted, err := a.Leaks.CountRecords(ctx, dump, kind, text)
			bar.end()
			if err != nil {
				return err
			}
			v.Dump = &countedView{counted.Records, counted.Loose, viewSkips(counted.Skips)}
		}
		return o.print(v, v.text)
	})
}

// dump is what the value's records are counted in; it has no inputs if none were given.
func (b *breachExplainCmd) dump(ctx context.Context) (spec intake.Spec, err error) {
	if len(b.Inputs) == 0 {
		return spec, nil
	}
	boundMemory()
	return b.spec(ctx, b.Outgoing, b.Inputs)
}

type explanationView struct {
	Name    string          `json:"name"`
	Kind    string          `json:"type"`
	Found   bool            `json:"found"`
	News    bool            `json:"news"`
	Known   toldView        `json:"told"`
	Earlier []explainedView `json:"earlier"`
	// Dump is what a search of the dump counted; nil when none was given.
	Dump *countedView `json:"dump,omitempty"`
}

type countedView struct {
	Records int64 `json:"records"`
	// Loose are places where it stands in no record that could be told.
	Loose   int64      `json:"outside_records"`
	Skipped []skipView `json:"skipped"`
}

func (v *countedView) text(w io.Writer) {
	if v == nil {
		return
	}
	_, _ = fmt.Fprintf(w, "Records    %d of the dump hold it", v.Records)
	if v.Loose > 0 {
		_, _ = fmt.Fprintf(w, ", and %d places in no record that could be told", v.Loose)
	}
	_, _ = fmt.Fprintln(w)
	printSkips(w, v.Skipped)
}

type toldView struct {
	Basis     string          `json:"basis,omitempty"`
	Exposes   []cyber.Exposed `json:"exposed"`
	Sites     []string        `json:"sites"`
	TakenOn   string          `json:"taken_on,omitempty"`
	Passwords int             `json:"passwords"`
	// LeakedAs is how a Gmail address was spelled, without its letters.
	LeakedAs []string `json:"leaked_as,omitempty"`
}

type explainedView struct {
	Name string `json:"name"`
	toldView
	SamePassword bool `json:"same_password"`
}

func viewTold(b cyber.Breach, t cyber.Trace) toldView {
	v := toldView{Basis: string(cyber.Finding{Breach: b}.Basis()), Exposes: append([]cyber.Exposed{}, b.Exposes...), Sites: append([]string{}, t.Sites...), Passwords: len(t.Passwords), LeakedAs: t.Spellings.Masks()}
	if day := t.TakenOn(); !day.IsZero() {
		v.TakenOn = day.Format(time.DateOnly)
	}
	return v
}

func viewExplanation(name string, kind identifier.Kind, e leak.Explanation) explanationView {
	v := explanationView{Name: name, Kind: kind.String(), Found: e.Found, News: e.News, Earlier: []explainedView{}, Known: toldView{Exposes: []cyber.Exposed{}, Sites: []string{}}}
	if e.Found {
		v.Known = viewTold(e.Breach, e.Trace)
	}
	for _, b := range e.Earlier {
		v.Earlier = append(v.Earlier, explainedView{b.Breach.Name, viewTold(b.Breach, b.Trace), b.SamePassword})
	}
	return v
}

func (v explanationView) text(w io.Writer) {
	if !v.Found {
		_, _ = fmt.Fprintf(w, "%s does not hold this value (%s).\n", v.Name, v.Kind)
		v.Dump.text(w)
		return
	}
	_, _ = fmt.Fprintf(w, "Breach     %s holds this value (%s)\nTold       %s\n", v.Name, v.Kind, v.Known.line())
	v.Dump.text(w)
	for _, b := range v.Earlier {
		same := ""
		if b.SamePassword {
			same = ", a password of both"
		}
		_, _ = fmt.Fprintf(w, "Earlier    %s: %s%s\n", b.Name, b.line(), same)
	}
	if v.News {
		_, _ = fmt.Fprintln(w, "News       yes: no earlier breach told all of this")
		return
	}
	_, _ = fmt.Fprintln(w, "News       no: earlier breaches told all of this, so nobody is alerted again")
}

// line is "email, password (from the records; 2 passwords; site.example, taken 2026-03-01)".
func (t toldView) line() string {
	more := []string{"from the records"}
	if t.Basis != string(cyber.BasisRow) {
		more[0] = "as the breach as a whole"
	}
	if t.Passwords > 0 {
		more = append(more, fmt.Sprintf("%d passwords", t.Passwords))
	}
	if len(t.LeakedAs) > 0 {
		more = append(more, "spelled "+strings.Join(t.LeakedAs, " "))
	}
	if len(t.Sites) > 0 {
		more = append(more, strings.Join(t.Sites, " "))
	}
	if t.TakenOn != "" {
		more = append(more, "taken "+t.TakenOn)
	}
	return classes(t.Exposes) + " (" + strings.Join(more, "; ") + ")"
}
