package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/scan"
)

type breachCmd struct {
	Import  breachImportCmd  `cmd:"" help:"Import a dump of any format and find watched values in it."`
	List    breachListCmd    `cmd:"" help:"List the breaches."`
	Show    breachShowCmd    `cmd:"" help:"Show one breach."`
	Append  breachAppendCmd  `cmd:"" help:"Add what is new in further files to a published breach; findings follow."`
	Replace breachReplaceCmd `cmd:"" help:"Swap the content of a published breach; findings that no longer hold are withdrawn."`
	Relabel breachRelabelCmd `cmd:"" help:"Scan the dump of a published breach again and replace what is told of each value; findings follow."`
	Edit    breachEditCmd    `cmd:"" help:"Change what is told of a breach; statuses follow."`
	Explain breachExplainCmd `cmd:"" help:"Tell what a breach says of one value, and what was known of it before."`
	Verify  breachVerifyCmd  `cmd:"" help:"Check every byte of a breach's segment."`
	Retract breachRetractCmd `cmd:"" help:"Take a breach back: its segment is deleted, its findings are withdrawn."`
}

// breachFlags are what is told of a breach.
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

func (f *breachFlags) apply(b *cyber.Breach) error {
	set(&b.Title, f.Title)
	set(&b.Source, f.Source)
	set(&b.Description, f.Description)
	set(&b.Verified, f.Verified)
	set(&b.Fabricated, f.Fabricated)
	set(&b.SpamList, f.SpamList)
	if f.Kind != nil {
		b.Kind = cyber.SourceKind(*f.Kind)
	}
	if len(f.Exposes) > 0 {
		b.Exposes = leak.ParseExposes(f.Exposes)
	}
	if f.Date == nil {
		return nil
	}
	day, err := leak.ParseDay(*f.Date)
	b.Date = day
	return err
}

type breachView struct {
	Name        string           `json:"name"`
	Title       string           `json:"title"`
	Date        string           `json:"date"`
	Kind        string           `json:"kind"`
	Exposes     []cyber.Exposed  `json:"exposes"`
	Source      string           `json:"source"`
	Description string           `json:"description"`
	Verified    bool             `json:"verified"`
	Fabricated  bool             `json:"fabricated"`
	SpamList    bool             `json:"spam_list"`
	VendorWords bool             `json:"vendor_words"`
	State       string           `json:"state"`
	Segment     string           `json:"segment"`
	Digest      string           `json:"digest"`
	Distinct    int64            `json:"distinct"`
	Pairs       int64            `json:"pairs"`
	Measured    *leak.Measured   `json:"measured,omitempty"`
	Found       map[string]int64 `json:"found"`
	Bytes       int64            `json:"bytes"`
	Scanned     int64            `json:"scanned"`
	Streams     int64            `json:"streams"`
	Problems    int64            `json:"problems"`
	Verdict     string           `json:"verdict"`
	Inputs      inputsView       `json:"inputs"`
	Reasons     map[string]int64 `json:"reasons"`
	// Told is how many identifiers stood in a record that could be told, and Classes what stood in those.
	Told    int64            `json:"told"`
	Classes map[string]int64 `json:"classes"`
	// Nowhere are classes that it is said to expose and that were not found, Unnamed the other way round.
	Nowhere     []cyber.Exposed `json:"named_not_found"`
	Unnamed     []cyber.Exposed `json:"found_not_named"`
	AddedAt     string          `json:"added_at"`
	PublishedAt string          `json:"published_at"`
	RetractedAt string          `json:"retracted_at"`
	Renewals    int64           `json:"renewals"`
	RenewedAt   string          `json:"renewed_at"`
	// Of a spread import that is not over.
	Parts     int    `json:"parts,omitempty"`
	PartsDone int    `json:"parts_done,omitempty"`
	Running   int    `json:"parts_running,omitempty"`
	Trouble   string `json:"trouble,omitempty"`
}

// inputsView counts inputs by how much of them was read.
type inputsView struct {
	Read   int64 `json:"read"`
	Partly int64 `json:"partly_read"`
	Unread int64 `json:"not_read"`
}

// withParts adds how far a spread import is.
func (v breachView) withParts(ctx context.Context, a *app.App, r leak.Record) breachView {
	if p, failed, ok := a.SpreadProgress(ctx, r); ok {
		v.Parts, v.PartsDone, v.Running, v.Trouble = p.Parts, p.PartsDone, p.PartsRunning, p.Trouble
		if failed != "" {
			v.Running, v.Trouble = 0, failed
		}
	}
	return v
}

func viewBreach(r leak.Record) breachView {
	found, reasons := r.Tally.Found, r.Tally.Reasons
	if found == nil {
		found = map[string]int64{}
	}
	if reasons == nil {
		reasons = map[string]int64{}
	}
	counts := r.Tally.Classes
	if counts == nil {
		counts = map[string]int64{}
	}
	nowhere, unnamed := r.Tally.Against(r.Exposes)
	return breachView{
		Told: r.Tally.Told, Classes: counts, Nowhere: append([]cyber.Exposed{}, nowhere...), Unnamed: append([]cyber.Exposed{}, unnamed...),
		Name: r.Name, Title: r.Title, Date: r.Date.Format(time.DateOnly), Kind: string(r.Kind), Exposes: r.Exposes, Source: r.Source,
		Description: r.Description, Verified: r.Verified, Fabricated: r.Fabricated, SpamList: r.SpamList, VendorWords: r.HasVendorWords, State: string(r.State),
		Segment: r.Segment, Digest: r.Digest, Distinct: r.Tally.Distinct, Pairs: r.Tally.Pairs, Measured: r.Tally.Measured, Found: found, Bytes: r.Tally.Bytes, Scanned: r.Tally.Scanned,
		Streams: r.Tally.Streams, Problems: r.Tally.Problems, Verdict: r.Tally.Verdict(), Reasons: reasons,
		Inputs: inputsView{r.Tally.Read, r.Tally.Partly, r.Tally.Unread}, AddedAt: stamp(r.AddedAt), PublishedAt: stamp(r.PublishedAt),
		RetractedAt: stamp(r.RetractedAt), Renewals: r.Renewals, RenewedAt: stamp(r.RenewedAt),
	}
}

func (v breachView) text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "Breach     %s (%s, %s, %s)\nTitle      %s\nExposes    %s\nFlags      verified=%t fabricated=%t spam list=%t\nSource     %s\n"+
		"About      %s\n", v.Name, v.Kind, v.Date, v.State, v.Title, classes(v.Exposes), v.Verified, v.Fabricated, v.SpamList, v.Source, v.Description)
	_, _ = fmt.Fprintf(w, "Read       %.1f MB in %d files, %.1f MB unpacked, %d problems\nFound      %s\nDistinct   %d (e-mail domains included)\n"+
		"Pairs      %d (of an identifier and a password)\nSegment    %s\n", float64(v.Bytes)/1e6, v.Streams, float64(v.Scanned)/1e6, v.Problems, byType(v.Found),
		v.Distinct, v.Pairs, v.Segment)
	if v.Told > 0 {
		_, _ = fmt.Fprintf(w, "Records    of %d identifiers: %s\n", v.Told, shares(v.Classes, v.Told))
	}
	if len(v.Nowhere) > 0 {
		_, _ = fmt.Fprintf(w, "Warning    named, but not found: %s\n", classes(v.Nowhere))
	}
	if len(v.Unnamed) > 0 {
		_, _ = fmt.Fprintf(w, "Warning    found, but not named: %s\n", classes(v.Unnamed))
	}
	v.measured(w)
	_, _ = fmt.Fprintf(w, "Inputs     %s: %d read, %d in part, %d not\n", v.Verdict, v.Inputs.Read, v.Inputs.Partly, v.Inputs.Unread)
	for _, reason := range slices.Sorted(maps.Keys(v.Reasons)) {
		_, _ = fmt.Fprintf(w, "           %d: %s\n", v.Reasons[reason], reason)
	}
	if v.Renewals > 0 {
		_, _ = fmt.Fprintf(w, "Renewed    %d times, last at %s\n", v.Renewals, v.RenewedAt)
	}
	if v.Parts > 0 {
		_, _ = fmt.Fprintf(w, "Parts      %d of %d scanned, %d at work\n", v.PartsDone, v.Parts, v.Running)
	}
	if v.Trouble != "" {
		_, _ = fmt.Fprintf(w, "Trouble    %s\n", v.Trouble)
	}
}

// measured tells how much of the breach was known.
func (v breachView) measured(w io.Writer) {
	m := v.Measured
	if m == nil {
		return
	}
	from, _ := m.Most()
	if from != "" {
		from = ", most from " + from
	}
	_, _ = fmt.Fprintf(w, "Known      %s of the values%s\n", share(m.Known, v.Distinct), from)
}

// share is "91 %".
func share(part, whole int64) string {
	return strconv.FormatFloat(100*float64(part)/float64(max(1, whole)), 'f', 1, 64) + " %"
}

func classes(list []cyber.Exposed) string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = string(c)
	}
	return strings.Join(names, ", ")
}

// shares is "email 100 %, password 83 %", in the order of documentation.
func shares(counts map[string]int64, of int64) string {
	var parts []string
	for _, e := range cyber.AllExposed() {
		if n := counts[string(e)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %.3g %%", e, 100*float64(n)/float64(of)))
		}
	}
	return strings.Join(parts, ", ")
}

// byType is "12 cpf, 40 email".
func byType(found map[string]int64) string {
	kinds := make([]string, 0, len(found))
	for k := range found {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	parts := make([]string, len(kinds))
	for i, k := range kinds {
		parts[i] = fmt.Sprintf("%d %s", found[k], k)
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

type breachImportCmd struct {
	Name string `required:"" placeholder:"NAME" help:"Short name: a-z, 0-9, '-', '_' and '.'."`
	breachFlags
	config.Outgoing
	importOpening
	DryRun   bool     `help:"Print the first ten records as they are understood, and write nothing."`
	Force    bool     `help:"Publish even if nothing was found, or most of it could not be read."`
	NoPairs  bool     `help:"Keep nothing of the passwords that stand beside identifiers: credential-check does not know this breach."`
	Workers  int      `placeholder:"N" help:"Scan with so many threads; 0 means one per core."`
	Spread   bool     `help:"Have the workers of all replicas scan, in parts. They must reach the inputs by the same names, and share --corpora."`
	PartSize byteSize `placeholder:"SIZE" default:"256MiB" help:"Size of a part with --spread, such as 256MiB or 1GiB: so many files together. A larger file is one part."`
	Inputs   []string `arg:"" name:"input" help:"Files, folders, https addresses and objects of a bucket (s3://bucket/prefix?region=...). Archives and compression of any depth are read."`
}

// Help shows examples.
func (breachImportCmd) Help() string {
	return "Nothing but keyed fingerprints of the identifiers is kept. Ctrl-C stops cleanly; the same command goes on where it stopped.\n\n" +
		"Examples:\n  vigia breach import --name loja-exemplo --title 'Loja Exemplo' --date 2026-03-01 --exposes email,password dump.7z\n" +
		"  vigia breach import --name colecao --title Coleção --date 2025-01-01 --exposes email,password --kind combolist folder/\n" +
		"  vigia breach import --mapping nimbo.yaml --name nimbo-2026-03 --title 'Nimbo, março' --date 2026-03-01 nimbo.csv.gz\n" +
		"  vigia breach import --spread --name grande --title Grande --date 2025-01-01 --exposes email /mnt/shared/dump.txt\n" +
		"  vigia breach import --spread --part-size 1GiB --name balde --title Balde --date 2025-01-01 --exposes email 's3://dumps/2025/?region=sa-east-1'\n\n" +
		"With --spread this command only watches; Ctrl-C leaves the import to the workers, and the same command watches again, or goes on with one " +
		"that failed."
}

// importMemory makes the collector of garbage keep an import below 256 MiB; what it really holds is less. Its buffers are
// used again and again, so there is little garbage: up to that limit it is rather let lie than looked for.
const (
	importMemory  = 232 << 20
	importGarbage = 400
)

// boundMemory bounds that of a process that imports.
func boundMemory() {
	debug.SetMemoryLimit(importMemory)
	debug.SetGCPercent(importGarbage)
}

// Run imports, then matches.
func (b *breachImportCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	boundMemory()
	breach := cyber.Breach{Name: b.Name}
	if err := b.apply(&breach); err != nil {
		return err
	}
	spec, err := b.spec(ctx, b.Outgoing, b.Inputs)
	if err != nil {
		return err
	}
	spec.Breach, spec.Force, spec.NoPairs = breach, b.Force, b.NoPairs
	if b.DryRun {
		return b.preview(ctx, o, spec)
	}
	return withApp(ctx, c, func(a *app.App) error {
		a.Leaks.Importer.Workers = b.Workers
		b.bound(a.Leaks.Importer)
		imports := a.ImportBreach
		if b.Spread {
			imports = func(ctx context.Context, spec intake.Spec) (intake.Outcome, error) {
				return a.SpreadBreach(ctx, spec, int64(b.PartSize))
			}
		}
		bar := o.progress("import "+b.Name, "bytes")
		spec.Progress = func(p intake.Progress) {
			note := byType(p.Found) + partsNote(p, b.Spread)
			if p.Merging {
				note += ", merging"
			}
			bar.before = p.Before
			bar.set(p.Read, p.Total, note)
		}
		out, err := imports(ctx, spec)
		bar.end()
		if err != nil {
			if errors.Is(err, context.Canceled) && b.Spread {
				return fmt.Errorf("not watching any more; the workers go on. Give it up: vigia breach retract --name %s", b.Name)
			}
			if errors.Is(err, context.Canceled) {
				return fmt.Errorf("stopped; run the same command again to go on, or give it up: vigia breach retract --name %s", b.Name)
			}
			if errors.Is(err, intake.ErrDoubtful) {
				return errors.Join(o.imported(out, leak.MatchProgress{}), err)
			}
			return err
		}
		matching := o.progress("match "+b.Name, "values")
		match, err := a.MatchBreach(ctx, b.Name, func(p leak.MatchProgress) { matching.set(p.Probed, 0, fmt.Sprintf("%d hits", p.Hits)) })
		matching.end()
		if err != nil {
			return err
		}
		if out.Record, err = a.Leaks.Breaches.ByName(ctx, b.Name); err != nil { // with what the match has measured
			return err
		}
		return o.imported(out, match)
	})
}

// partsNote tells how far the parts of a spread import are.
func partsNote(p intake.Progress, spread bool) string {
	switch {
	case !spread:
		return ""
	case p.Parts == 0:
		return ", waiting for a worker (vigia serve --roles worker)"
	case p.Trouble != "":
		return fmt.Sprintf(", %d of %d parts, %d at work; %s", p.PartsDone, p.Parts, p.PartsRunning, p.Trouble)
	}
	return fmt.Sprintf(", %d of %d parts, %d at work", p.PartsDone, p.Parts, p.PartsRunning)
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

type breachListCmd struct{}

// Run lists the breaches.
func (breachListCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		all, err := a.Leaks.Breaches.All(ctx)
		if err != nil {
			return err
		}
		t := table[breachView]{heading: "NAME\tSTATE\tKIND\tDATE\tDISTINCT\tEXPOSES\tTITLE", none: "No breach yet. Import one: vigia breach import --help"}
		for _, r := range all {
			v := viewBreach(r).withParts(ctx, a, r)
			state := v.State
			if v.Parts > 0 {
				state = fmt.Sprintf("%s %d/%d", state, v.PartsDone, v.Parts)
			}
			t.add(v, v.Name, state, v.Kind, v.Date, v.Distinct, classes(v.Exposes), v.Title)
		}
		return t.print(o)
	})
}

// breachName is how commands name a breach.
type breachName struct {
	Name string `required:"" placeholder:"NAME" help:"The breach's name."`
}

func (o *output) breach(r leak.Record) error {
	v := viewBreach(r)
	return o.print(v, v.text)
}

type breachShowCmd struct{ breachName }

// Run shows a breach.
func (b *breachShowCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		r, err := a.Leaks.Breaches.ByName(ctx, b.Name)
		if err != nil {
			return err
		}
		v := viewBreach(r).withParts(ctx, a, r)
		return o.print(v, v.text)
	})
}

type breachEditCmd struct {
	breachName
	breachFlags
	Approve bool `help:"Let people read title, source and description that a vendor wrote; a new --title does so too."`
}

// Help shows examples.
func (breachEditCmd) Help() string {
	return "Example:\n  vigia breach edit --name loja-exemplo --exposes email,password,cpf --verified\n  vigia breach edit --name loja-exemplo --approve"
}

// Run edits a breach.
func (b *breachEditCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	var probe cyber.Breach
	if err := b.apply(&probe); err != nil {
		return err
	}
	return withApp(ctx, c, func(a *app.App) error {
		r, err := a.EditBreach(ctx, b.Name, func(t *cyber.Breach) {
			_ = b.apply(t) // checked above
			t.HasVendorWords = t.HasVendorWords && !b.Approve && b.Title == nil
		})
		if err != nil {
			return err
		}
		return o.breach(r)
	})
}

type breachVerifyCmd struct{ breachName }

// Run reads a segment from front to back.
func (b *breachVerifyCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		keys, err := a.Leaks.VerifySegment(ctx, b.Name)
		if err != nil {
			return err
		}
		return o.print(map[string]any{"name": b.Name, "whole": true, "keys": keys}, func(w io.Writer) {
			_, _ = fmt.Fprintf(w, "The segment of %s is whole: %d keys.\n", b.Name, keys)
		})
	})
}

type breachRetractCmd struct{ breachName }

// Run retracts a breach.
func (b *breachRetractCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		r, err := a.RetractBreach(ctx, b.Name)
		if err != nil {
			return err
		}
		return o.breach(r)
	})
}
