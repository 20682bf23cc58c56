package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/dump/scan"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/config"
)

// breachCmd groups the commands on breaches.
type breachCmd struct {
	Import  breachImportCmd  `cmd:"" help:"Import a dump of any format and find watched values in it."`
	List    breachListCmd    `cmd:"" help:"List the breaches."`
	Show    breachShowCmd    `cmd:"" help:"Show one breach."`
	Append  breachAppendCmd  `cmd:"" help:"Add what is new in further files to a published breach; findings follow."`
	Replace breachReplaceCmd `cmd:"" help:"Swap the content of a published breach; findings that no longer hold are withdrawn."`
	Edit    breachEditCmd    `cmd:"" help:"Change what is told of a breach; statuses follow."`
	Explain breachExplainCmd `cmd:"" help:"Tell what a breach says of one value, and what was known of it before."`
	Verify  breachVerifyCmd  `cmd:"" help:"Check every byte of a breach's segment."`
	Retract breachRetractCmd `cmd:"" help:"Take a breach back: its segment is deleted, its findings are withdrawn."`
}

// breachFlags describe a breach.
type breachFlags struct {
	Title       *string  `placeholder:"TEXT" help:"What people read."`
	Date        *string  `placeholder:"YYYY-MM-DD" help:"When it happened."`
	Exposes     []string `placeholder:"CLASS" help:"What it exposes, separated by commas: email, password, password_hash, cpf, phone, card, address, name, birth_date, document, health, financial, cookies, ip_address, username, other. Of an import also auto: those that are found; so it is without this flag."`
	Kind        *string  `placeholder:"KIND" help:"breach, combolist, stealer, paste or phish; default is breach."`
	Source      *string  `placeholder:"TEXT" help:"Where it comes from."`
	Description *string  `placeholder:"TEXT" help:"What happened."`
	Verified    *bool    `negatable:"" help:"It is known to be real."`
	Fabricated  *bool    `negatable:"" help:"It is known to be made up, in whole or in part."`
	SpamList    *bool    `negatable:"" help:"It is a list of addresses to send spam to."`
}

func (f *breachFlags) applyFlags(b *cyber.Breach) error {
	setIfGiven(&b.Title, f.Title)
	setIfGiven(&b.Source, f.Source)
	setIfGiven(&b.Description, f.Description)
	setIfGiven(&b.Verified, f.Verified)
	setIfGiven(&b.Fabricated, f.Fabricated)
	setIfGiven(&b.SpamList, f.SpamList)
	if f.Kind != nil {
		b.Kind = cyber.SourceKind(*f.Kind)
	}
	if len(f.Exposes) > 0 {
		b.Exposes = leak.ParseExposes(f.Exposes)
	}
	if f.Date == nil {
		return nil
	}
	day, err := leak.ParseBreachDay(*f.Date)
	b.Date = day
	return err
}

// viewBreach shows a breach; "told" is how many identifiers stood in a record that could be told and "classes" what
// stood in those, "named_not_found" the classes that it is said to expose and that were not found.
func viewBreach(r leak.Record) record {
	t := r.Tally
	nowhere, unnamed := t.CompareClasses(r.Exposes)
	view := newRecord(
		"name", r.Name,
		"title", r.Title,
		"state", r.State,
		"kind", r.Kind,
		"date", r.Date.Format(time.DateOnly),
		"exposes", r.Exposes,
		"named_not_found", nowhere,
		"found_not_named", unnamed,
		"source", r.Source,
		"description", r.Description,
		"verified", r.Verified,
		"fabricated", r.Fabricated,
		"spam_list", r.SpamList,
		"vendor_words", r.HasVendorWords,
		"bytes", t.Bytes,
		"scanned", t.Scanned,
		"streams", t.Streams,
		"found", t.Found,
		"distinct", t.Distinct,
		"pairs", t.Pairs,
		"told", t.Told,
		"classes", t.Classes,
		"verdict", t.ReadVerdict(),
		"inputs", map[string]int64{"read": t.Read, "partly_read": t.Partly, "not_read": t.Unread},
		"problems", t.Problems,
		"reasons", t.Reasons,
		"segment", r.Segment,
		"digest", r.Digest,
		"added_at", r.AddedAt,
		"published_at", r.PublishedAt,
		"retracted_at", r.RetractedAt,
		"renewals", r.Renewals,
		"renewed_at", r.RenewedAt,
	)
	if t.Measured != nil {
		view = view.withPairs("measured", newRecord("known", t.Measured.Known, "from", t.Measured.From))
	}
	return view
}

// withSkips adds what could not be read of a dump.
func withSkips(view record, skips []container.Skip) record {
	return view.withPairs("skipped", makeRecords(skips, func(s container.Skip) record {
		return newRecord("name", s.Name, "offset", s.Offset, "reason", s.Reason)
	}))
}

// breachImportCmd is 'vigia breach import', which searches dumps of any format for identifiers.
type breachImportCmd struct {
	Name string `arg:"" name:"name" help:"Short name: a-z, 0-9, '-', '_' and '.'."`
	breachFlags
	config.Outgoing
	importOpening
	DryRun  bool     `help:"Print the first ten records as they are understood, and write nothing."`
	Force   bool     `help:"Publish even if nothing was found, or most of it could not be read."`
	NoPairs bool     `help:"Keep nothing of the passwords that stand beside identifiers: credential-check does not know this breach."`
	Workers int      `placeholder:"N" help:"Scan with so many threads; 0 means one per core."`
	Inputs  []string `arg:"" name:"input" help:"Files, folders, https addresses and objects of a bucket (s3://bucket/prefix?region=...). Archives and compression of any depth are read."`
}

func (breachImportCmd) Help() string {
	return "Values are not kept: of each identifier a keyed fingerprint stays, with the classes of data in its " +
		"record and, from stealer logs, sites and the day; of passwords beside it, keyed pairs unless --no-pairs is " +
		"given. Ctrl-C stops cleanly; the same command goes on where it stopped.\n\n" +
		"Examples:\n  vigia breach import loja-exemplo --title 'Loja Exemplo' --date 2026-03-01 --exposes " +
		"email,password dump.7z\n" +
		"  vigia breach import colecao --title Coleção --date 2025-01-01 --exposes email,password --kind " +
		"combolist folder/\n" +
		"  vigia breach import balde --title Balde --date 2025-01-01 's3://dumps/2025/?region=sa-east-1'\n" +
		"  vigia breach import nimbo-2026-03 --mapping nimbo.yaml --title 'Nimbo, março' --date 2026-03-01 " +
		"nimbo.csv.gz"
}

func (b *breachImportCmd) Run(ctx context.Context, c *config.Common, open opener, o *output) error {
	boundMemory()
	breach := cyber.Breach{Name: b.Name}
	if err := b.applyFlags(&breach); err != nil {
		return err
	}
	spec, err := b.importSpec(ctx, b.Outgoing, b.Inputs)
	if err != nil {
		return err
	}
	spec.Breach, spec.Force, spec.NoPairs = breach, b.Force, b.NoPairs
	// A preview needs no installation, so it comes before open.
	if b.DryRun {
		return b.previewRecords(ctx, o, spec, c.ReaderUnconfined)
	}
	a, err := open()
	if err != nil {
		return err
	}
	a.Leaks.Importer.Workers = b.Workers
	b.setLimits(a.Leaks.Importer)
	bar := o.progress("import "+b.Name, "bytes")
	spec.Progress = func(p intake.Progress) {
		note := countsText(p.Found)
		if p.Merging {
			note += ", merging"
		}
		bar.before = p.Before
		bar.setProgress(p.Read, p.Total, note)
	}
	out, err := a.Leaks.Foreground.ImportBreach(ctx, spec)
	bar.clearLine()
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf(
			"stopped; run the same command again to go on, or give it up: vigia breach retract %s",
			b.Name,
		)
	case errors.Is(err, intake.ErrDoubtful):
		return errors.Join(o.showRecord(withSkips(viewBreach(out.Record), out.Skips)), err)
	case err != nil:
		return err
	}
	return o.matchAndShow(ctx, a, out)
}

// matchAndShow looks the watched values up in what was imported, and shows what came of both.
func (o *output) matchAndShow(ctx context.Context, a *app.App, out intake.Outcome) (err error) {
	name := out.Record.Name
	var match leak.MatchProgress
	if !out.Unchanged {
		matching := o.progress("match "+name, "values")
		match, err = a.Leaks.Foreground.MatchBreach(
			ctx,
			name,
			func(p leak.MatchProgress) { matching.setProgress(p.Probed, 0, fmt.Sprintf("%d hits", p.Hits)) },
		)
		matching.clearLine()
		if err != nil {
			return fmt.Errorf(
				"%s is published; the watched values were not all looked up in it, which a server tries again by "+
					"itself: %w",
				name,
				err,
			)
		}
	}
	if out.Record, err = a.Leaks.Breaches.FindBreach(ctx, name); err != nil { // with what the match has measured
		return err
	}
	view := viewBreach(out.Record).withPairs(
		"values_probed", match.Probed,
		"values_found", match.Hits,
		"unchanged", out.Unchanged,
		"findings_checked", match.Checked,
		"findings_withdrawn", match.Withdrawn,
		"findings_changed", match.Changed,
	)
	return o.showRecord(withSkips(view, out.Skips))
}

// byteSize is a number of bytes with a unit: 256MiB.
type byteSize int64

// UnmarshalText reads 1048576, 1024KiB, 256MiB or 1GiB.
func (s *byteSize) UnmarshalText(text []byte) error {
	digits, shift := string(text), 0
	for unit, by := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if cut, ok := strings.CutSuffix(digits, unit); ok {
			digits, shift = cut, by
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n<<shift < scan.PieceSize || n<<shift > 1<<40 {
		return errors.New("expected a size from 1MiB to 1024GiB, such as 256MiB")
	}
	*s = byteSize(n << shift)
	return nil
}

// breachRenewal is what the commands that change the content of a published breach have in common.
type breachRenewal struct {
	breachName
	config.Outgoing
	importOpening
	NoPairs bool     `help:"Keep nothing of the passwords that stand beside identifiers. So it is for a breach that was imported without pairs."`
	Workers int      `placeholder:"N" help:"Scan with so many threads; 0 means one per core."`
	Force   bool     `help:"Go on even if nothing was found, or most of it could not be read."`
	Inputs  []string `arg:"" name:"input" help:"Files, folders, https addresses and objects of a bucket, as of breach import."`
}

type (
	// breachAppendCmd is 'vigia breach append', which adds what is new in further files to a published breach.
	breachAppendCmd struct{ breachRenewal }

	// breachReplaceCmd is 'vigia breach replace'. Findings that no longer hold are withdrawn.
	breachReplaceCmd struct{ breachRenewal }
)

// renewalHelp is common to the commands that change the content of a breach.
const renewalHelp = "\n\nThe breach stays as it is until the new content is whole. Ctrl-C stops cleanly; the same " +
	"command goes on " +
	"where it stopped.\n\nExample:\n  "

func (breachAppendCmd) Help() string {
	return "Adds what is new in further files. People who are found only now are told; so are those who were found " +
		"before, if the new records say more of them." +
		renewalHelp + "vigia breach append loja-exemplo second-part.7z"
}

func (breachReplaceCmd) Help() string {
	return "Takes the content of the files for that of the breach, and the classes found in them for what it " +
		"exposes; the same dump again has its records " +
		"read as they are understood today. Findings that do not hold any more are withdrawn, as by a retraction; " +
		"what the records say beyond what was told " +
		"is told; what they do not say any more is dropped without an alert." +
		renewalHelp + "vigia breach replace loja-exemplo right-dump.7z"
}

func (b *breachAppendCmd) Run(ctx context.Context, open opener, o *output) error {
	return b.runRenewal(ctx, open, o, intake.Append, "append")
}

func (b *breachReplaceCmd) Run(ctx context.Context, open opener, o *output) error {
	return b.runRenewal(ctx, open, o, intake.Replace, "replace")
}

// runRenewal begins a renewal and shows what came of it.
func (b *breachRenewal) runRenewal(ctx context.Context, open opener, o *output, way intake.Way, word string) error {
	boundMemory()
	spec, err := b.importSpec(ctx, b.Outgoing, b.Inputs)
	if err != nil {
		return err
	}
	spec.Breach, spec.Force, spec.NoPairs = cyber.Breach{Name: b.Name}, b.Force, b.NoPairs
	a, err := open()
	if err != nil {
		return err
	}
	a.Leaks.Importer.Workers = b.Workers
	b.setLimits(a.Leaks.Importer)
	bar := o.progress(word+" "+b.Name, "bytes")
	spec.Progress = func(p intake.Progress) {
		bar.before = p.Before
		bar.setProgress(p.Read, p.Total, countsText(p.Found))
	}
	out, err := a.Leaks.Foreground.RenewBreach(ctx, way, spec)
	bar.clearLine()
	if errors.Is(err, context.Canceled) {
		return errors.New("stopped, the breach is as it was; run the same command again to go on")
	}
	if err != nil {
		return err
	}
	return o.matchAndShow(ctx, a, out)
}

// breachListCmd is 'vigia breach list', oldest first.
type breachListCmd struct{}

func (breachListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	found, err := a.Leaks.Breaches.ListBreaches(ctx)
	if err != nil {
		return err
	}
	return o.listRecords(
		makeRecords(found, viewBreach),
		"No breach yet. Import one: vigia breach import --help",
		"name",
		"state",
		"kind",
		"date",
		"distinct",
		"exposes",
		"title",
	)
}

// breachName is how commands name a breach.
type breachName struct {
	Name string `arg:"" name:"name" help:"The breach's name."`
}

// breachShowCmd is 'vigia breach show'.
type breachShowCmd struct{ breachName }

func (b *breachShowCmd) Run(ctx context.Context, a *app.App, o *output) error {
	found, err := a.Leaks.Breaches.FindBreach(ctx, b.Name)
	if err != nil {
		return err
	}
	return o.showRecord(viewBreach(found))
}

// breachEditCmd is 'vigia breach edit'. The statuses of findings follow the change.
type breachEditCmd struct {
	breachName
	breachFlags
	Approve bool `help:"Let people read title, source and description that a vendor wrote; a new --title does so too."`
}

func (breachEditCmd) Help() string {
	return "Examples:\n  vigia breach edit loja-exemplo --exposes email,password,cpf --verified\n  vigia " +
		"breach edit loja-exemplo --approve"
}

func (b *breachEditCmd) Run(ctx context.Context, a *app.App, o *output) error {
	var probe cyber.Breach
	if err := b.applyFlags(&probe); err != nil {
		return err
	}
	found, err := a.Leaks.Foreground.EditBreach(ctx, b.Name, func(t *cyber.Breach) {
		_ = b.applyFlags(t) // checked above
		t.HasVendorWords = t.HasVendorWords && !b.Approve && b.Title == nil
	})
	if err != nil {
		return err
	}
	return o.showRecord(viewBreach(found))
}

// breachVerifyCmd is 'vigia breach verify', which reads every byte of a breach's segment.
type breachVerifyCmd struct{ breachName }

// Run reads a segment from front to back.
func (b *breachVerifyCmd) Run(ctx context.Context, a *app.App, o *output) error {
	keys, err := a.Leaks.Library.VerifyBreach(ctx, b.Name)
	if err != nil {
		return err
	}
	return o.showRecord(newRecord("name", b.Name, "whole", true, "keys", keys))
}

// breachRetractCmd is 'vigia breach retract'. The segment is deleted and its findings are withdrawn.
type breachRetractCmd struct{ breachName }

func (b *breachRetractCmd) Run(ctx context.Context, a *app.App, o *output) error {
	found, err := a.Leaks.Foreground.RetractBreach(ctx, b.Name)
	if err != nil {
		return err
	}
	return o.showRecord(viewBreach(found))
}

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

// previewed is how many records a dry run shows.
const previewed = 10

// previewRecords prints what an import would make of the first records. What the operator's own file holds is shown to
// the operator alone: it goes neither to a log nor to disk.
func (b *breachImportCmd) previewRecords(ctx context.Context, o *output, spec intake.Spec, unconfined bool) error {
	im := intake.Importer{Now: time.Now, ReaderUnconfined: unconfined}
	b.setLimits(&im)
	seen, tally, err := im.PreviewRecords(ctx, spec, previewed)
	if err != nil {
		return err
	}
	view := newRecord("records", makeRecords(seen, func(u intake.Understood) record {
		values := makeRecords(
			u.Values,
			func(v intake.UnderstoodValue) record { return newRecord("type", v.Kind, "value", v.Normal) },
		)
		infected := ""
		if u.Day != 0 {
			infected = time.Unix(int64(u.Day)*86400, 0).UTC().Format(time.DateOnly)
		}
		return newRecord(
			"values", values,
			"exposes", exposedWords(uint16(u.Classes)),
			"site", u.Site,
			"infected", infected,
			"pair", u.Password,
		)
	}))
	if tally == nil {
		return o.showRecord(view, "Nothing was written. The inputs were not read to their end.")
	}
	return o.showRecord(
		view.withPairs("values_left_out", tally.LeftOut, "reasons", tally.Reasons),
		"Nothing was written.",
	)
}

// exposedWords returns the classes of data in a record, in the words of the vocabulary.
func exposedWords(classes uint16) []string {
	words, all := []string{}, cyber.AllExposed()
	for left := classes; left != 0; left &= left - 1 {
		words = append(words, string(all[bits.TrailingZeros16(left)]))
	}
	return words
}

// importOpening says how to open what is packed.
type importOpening struct {
	Password     []string `placeholder:"TEXT" sep:"none" help:"A password for what is encrypted; may be given several times. The usual ones, and names beside the archive, are tried too."`
	PasswordFile string   `placeholder:"FILE" help:"Passwords, a line each; - is the standard input."`
	Mapping      string   `placeholder:"FILE" help:"A mapping of a vendor's fields, by which the records of all inputs are read, and nothing is guessed: see docs/formats/vigia-records.md."`
	Ratio        int64    `placeholder:"N" help:"How many bytes may come out of each that is packed; 0 means 200. Honest logs that repeat themselves may need more."`
	Limit        byteSize `placeholder:"SIZE" help:"How much may be unpacked from one input, such as 500GiB; 4096GiB if it is not given."`
}

// importSpec returns what a command reads: its inputs, and how they are opened.
func (o *importOpening) importSpec(
	ctx context.Context,
	through config.Outgoing,
	inputs []string,
) (spec intake.Spec, err error) {
	out, err := app.OpenOutgoing(through)
	if err != nil {
		return spec, err
	}
	if err := checkInputs(inputs); err != nil {
		return spec, err
	}
	if spec.Inputs, err = intake.ListInputs(ctx, out.Downloads, inputs); err != nil {
		return spec, err
	}
	if spec.Passwords, err = o.passwords(); err != nil {
		return spec, err
	}
	spec.Mapping, err = o.readMapping()
	return spec, err
}

// checkInputs names the first file or folder that is not there, with its whole path. Addresses are left to the import.
func checkInputs(inputs []string) error {
	for _, input := range inputs {
		if strings.Contains(input, "://") {
			continue
		}
		if _, err := os.Stat(input); err != nil {
			return unreadableFile(input, err)
		}
	}
	return nil
}

// setLimits sets how much inputs may unfold into.
func (o *importOpening) setLimits(im *intake.Importer) {
	im.Limits.Ratio, im.Limits.Bytes = o.Ratio, int64(o.Limit)
}

// passwordsMost bounds a file of passwords: each of them costs time at every archive.
const passwordsMost = 1000

// passwords returns the passwords of archives, from the flags and the file.
func (o *importOpening) passwords() ([]string, error) {
	all := o.Password
	if o.PasswordFile == "" {
		return all, nil
	}
	f := os.Stdin
	if o.PasswordFile != "-" {
		var err error
		if f, err = openNamedFile(o.PasswordFile); err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // only read
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if all = append(all, lines.Text()); len(all) > passwordsMost {
			return nil, errors.New("--password-file: at most 1000 passwords")
		}
	}
	return all, lines.Err()
}

// readMapping returns the mapping of a vendor's fields in a file; nil without a file.
func (o *importOpening) readMapping() (*stated.Mapping, error) {
	if o.Mapping == "" {
		return nil, nil //nolint:nilnil // most imports have none, and nil is what an import takes for that
	}
	return readMapping(o.Mapping)
}

// readMapping reads a mapping's file; no name is no mapping, whose text is empty.
func readMapping(name string) (*stated.Mapping, error) {
	if name == "" {
		return &stated.Mapping{}, nil
	}
	text, err := readNamedFile(name)
	if err != nil {
		return nil, err
	}
	return stated.ParseMapping(text)
}
