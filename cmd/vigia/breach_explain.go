package main

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/config"
)

// breachExplainCmd is 'vigia breach explain'. Exactly one value is asked about; "-" and "@FILE" keep it out of the
// process list.
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

func (breachExplainCmd) Help() string {
	return "Tells what stood in the records of one value, how many passwords beside it, and which earlier breach " +
		"knew it. How many records there " +
		"were is not kept: given the dump, the command searches it and counts them. The question is recorded in the " +
		"audit trail, the value is not.\n\n" +
		"Examples:\n  vigia breach explain loja-exemplo --email ana@exemplo.com.br\n" +
		"  vigia breach explain loja-exemplo --email ana@exemplo.com.br dump.7z\n" +
		"  echo 529.982.247-25 | vigia breach explain loja-exemplo --cpf - --json"
}

func (b *breachExplainCmd) givenValue() (identifier.Kind, string) {
	for kind, text := range map[identifier.Kind]personal{
		identifier.Email:  b.Email,
		identifier.CPF:    b.CPF,
		identifier.Phone:  b.Phone,
		identifier.Card:   b.Card,
		identifier.PixKey: b.PixKey,
		identifier.CNPJ:   b.CNPJ,
	} {
		if text != "" {
			return kind, string(text)
		}
	}
	return 0, ""
}

func (b *breachExplainCmd) Run(ctx context.Context, open opener, o *output) error {
	kind, text := b.givenValue()
	if text == "" {
		return leak.ErrBreachInvalid.Note(
			"value: one of --email, --cpf, --phone, --card, --pix-key and --cnpj is needed",
		)
	}
	dump, err := b.dumpSpec(ctx)
	if err != nil {
		return err
	}
	a, err := open()
	if err != nil {
		return err
	}
	fingerprint, err := a.Leaks.Importer.FingerprintOf(kind, text)
	if err != nil {
		return err
	}
	e, err := a.Leaks.Library.ExplainFingerprint(ctx, b.Name, fingerprint)
	if err != nil {
		return err
	}
	told := viewTold(e.Breach, e.Trace)
	if !e.Found {
		told = newRecord("exposed", nil, "sites", nil)
	}
	view := newRecord(
		"name", b.Name,
		"type", kind,
		"found", e.Found,
		"news", e.News,
		"told", told,
		"earlier", makeRecords(e.Earlier, func(x leak.Before) record {
			return append(
				newRecord("name", x.Breach.Name, "same_password", x.SamePassword),
				viewTold(x.Breach, x.Trace)...,
			)
		}),
	)
	if len(dump.Inputs) == 0 {
		return o.showRecord(view)
	}
	b.setLimits(a.Leaks.Importer)
	bar := o.progress("count "+b.Name, "bytes")
	dump.Progress = func(p intake.Progress) { bar.setProgress(p.Read, p.Total, "") }
	counted, err := a.Leaks.Importer.CountValue(ctx, dump, kind, text)
	bar.clearLine()
	if err != nil {
		return err
	}
	return o.showRecord(
		view.withPairs(
			"dump", withSkips(newRecord("records", counted.Records, "outside_records", counted.Loose), counted.Skips),
		),
	)
}

// viewTold shows what a breach tells of a value; "leaked_as" is how a Gmail address was spelled, without its letters.
func viewTold(b cyber.Breach, t cyber.Trace) record {
	day := t.TakenOn()
	r := newRecord(
		"basis", cyber.Finding{Breach: b}.Basis(),
		"exposed", b.Exposes,
		"sites", t.Sites,
		"passwords", len(t.Passwords),
		"leaked_as", t.Spellings.MaskedSpellings(),
	)
	if day.IsZero() {
		return r
	}
	return r.withPairs("taken_on", day.Format(time.DateOnly))
}

// dumpSpec returns the inputs in which the value's records are counted; without inputs when none were given.
func (b *breachExplainCmd) dumpSpec(ctx context.Context) (spec intake.Spec, err error) {
	if len(b.Inputs) == 0 {
		return spec, nil
	}
	boundMemory()
	return b.importSpec(ctx, b.Outgoing, b.Inputs)
}
