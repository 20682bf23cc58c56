package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subscription"
	"github.com/vigiahq/vigia/internal/web/api"
)

// Lists that only read, for scripts. What is done with such things is done in the console and through the API.

// subscriptionCmd groups the commands on subscriptions.
type subscriptionCmd struct {
	Import subscriptionImportCmd `cmd:"" help:"Create subscriptions from a CSV or JSON-lines file."`
	List   subscriptionListCmd   `cmd:"" help:"List a partner's subscriptions; the people are masked."`
}

// eventListCmd is 'vigia event list'; with --event it shows the deliveries of that event instead.
type eventListCmd struct {
	Partner string `required:"" placeholder:"ID" help:"The partner's id."`
	Event   string `placeholder:"ID" help:"Show where this event went, try by try."`
	After   int64  `placeholder:"SEQ" help:"Begin behind this number."`
	Limit   int    `default:"100" placeholder:"N" help:"Events at most, up to 1000."`
}

func (eventListCmd) Help() string {
	return "Examples:\n  vigia event list --partner pt_... --after 2500\n  vigia event list --partner pt_... --event " +
		"evt_..."
}

func (l *eventListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	if l.Event != "" {
		deliveries, tries, err := a.History.Deliveries(ctx, partner.ID(l.Partner), alert.EventID(l.Event))
		if err != nil {
			return err
		}
		return o.showRecord(newRecord("deliveries", makeRecords(deliveries, func(d alert.DeliveryStatus) record {
			return newRecord(
				"webhook", d.Endpoint,
				"state", d.State,
				"attempts", d.Attempts,
				"next_at", d.NextAt,
				"finished_at", d.FinishedAt,
			)
		}), "attempts", makeRecords(tries, func(t alert.AttemptLog) record {
			return newRecord(
				"webhook", t.Endpoint,
				"at", t.At,
				"status", t.Status,
				"failure", t.Failure,
				"milliseconds", t.Duration.Milliseconds(),
				"answer", t.Answer,
			)
		})))
	}
	found, err := a.History.ListEvents(ctx, partner.ID(l.Partner), l.After, l.Limit)
	if err != nil {
		return err
	}
	return o.listRecords(makeRecords(found, func(e alert.Kept) record {
		return newRecord("seq", e.Seq, "id", e.ID, "at", e.At, "type", e.Type, "body", e.Body)
	}), "No event.", "seq", "id", "at", "type")
}

// caseListCmd is 'vigia case list'. Its flags narrow the list and can be combined.
type caseListCmd struct {
	Partner  string `placeholder:"ID" help:"Only of this partner."`
	Service  string `placeholder:"ID" help:"Only for this service."`
	Status   string `placeholder:"STATUS" help:"Only in this status, such as em-andamento."`
	Assignee string `placeholder:"NAME" help:"Only of this person."`
	Open     bool   `help:"Only those that are not closed."`
	Limit    int    `default:"50" help:"At most so many."`
}

func (caseListCmd) Help() string {
	return "Examples:\n  vigia case list --open --service sv_ajuda_phishing\n  vigia case list --status " +
		"aguardando-cliente --json"
}

func (l *caseListCmd) Run(ctx context.Context, a *app.App, o *output) (err error) {
	f := cyber.CaseFilter{
		Partner:  partner.ID(l.Partner),
		Service:  cyber.ServiceID(l.Service),
		Assignee: l.Assignee,
		OpenOnly: l.Open,
		Limit:    max(l.Limit, 1),
	}
	if l.Status != "" {
		if f.Status, err = cyber.ParseCaseStatus(l.Status); err != nil {
			return err
		}
	}
	if f.Partner != "" {
		if _, err := a.Partners.GetPartner(ctx, f.Partner); err != nil {
			return err
		}
	}
	now := a.Now()
	found, err := a.Cases.ListCases(ctx, f)
	if err != nil {
		return err
	}
	return o.listRecords(makeRecords(found, func(c cyber.Case) record {
		due, _ := c.Clock.Due()
		return newRecord(
			"case_id", c.ID,
			"partner_id", c.Partner,
			"service_id", c.Service,
			"status", c.Status,
			"assignee", c.Assignee,
			"booked", c.Booked,
			"time_used", c.Clock.UsedAt(now).Round(time.Second),
			"time_target", c.Clock.Target,
			"due", due,
			"late", c.Clock.Late(now),
			"created_at", c.CreatedAt,
			"changed_at", c.ChangedAt,
		)
	}), "No case.", "case_id", "created_at", "status", "service_id", "assignee", "due", "late")
}

// assetListCmd is 'vigia asset list'. Values are masked, since terminals are logged.
type assetListCmd struct {
	Partner string `required:"" placeholder:"PARTNER" help:"The partner's id."`
	User    string `required:"" name:"user-hash" placeholder:"HASH" help:"User hash."`
}

func (l *assetListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	user, err := partner.ParseUserHash("user-hash", l.User)
	if err != nil {
		return err
	}
	if _, err := a.Partners.GetPartner(ctx, partner.ID(l.Partner)); err != nil {
		return err
	}
	found, err := a.Monitoring.ListAssets(ctx, cyber.AssetScope{Partner: partner.ID(l.Partner), User: user})
	if err != nil {
		return err
	}
	return o.listRecords(makeRecords(found, func(v cyber.Asset) record {
		return newRecord(
			"id", v.ID,
			"type", v.Kind,
			"masked", identifier.MaskValue(v.Kind, v.Value),
			"status", v.Status,
			"added_at", v.AddedAt,
		)
	}), "Nothing is watched for this person.")
}

// messageListCmd is 'vigia message list'. With --partner it shows the texts that the partner's people get.
type messageListCmd struct {
	Partner string `placeholder:"PARTNER" help:"As they count for this partner."`
	Lang    string `default:"pt-BR" enum:"pt-BR,es,en" help:"pt-BR, es or en."`
}

func (l *messageListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	if l.Partner != "" {
		if _, err := a.Partners.GetPartner(ctx, partner.ID(l.Partner)); err != nil {
			return err
		}
	}
	all, err := a.Messages.ListTemplates(ctx, partner.ID(l.Partner))
	if err != nil {
		return err
	}
	var rows []record
	for _, t := range all {
		if string(t.Language) == l.Lang {
			rows = append(rows, viewMessage(t))
		}
	}
	return o.listRecords(rows, "No text.", "event", "channel", "lang", "origin")
}

// viewMessage returns a message text as a record of output; origin says who wrote it.
func viewMessage(t message.Template) record {
	return newRecord(
		"event", t.Event,
		"channel", t.Channel,
		"lang", t.Language,
		"origin", t.Origin,
		"subject", t.Subject,
		"text", t.Text,
	)
}

// subscriptionListCmd is 'vigia subscription list'. Personal values are masked.
type subscriptionListCmd struct {
	Partner string `required:"" placeholder:"ID" help:"The partner's id."`
	Plan    string `placeholder:"PLAN" help:"Only of this plan."`
	State   string `enum:"running,suspended,ended" default:"running" help:"running, suspended or ended."`
	After   int64  `placeholder:"SEQ" help:"Begin behind this number."`
	Limit   int    `default:"100" placeholder:"N" help:"At most so many."`
}

func (l *subscriptionListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	if _, err := a.Partners.GetPartner(ctx, partner.ID(l.Partner)); err != nil {
		return err
	}
	state := subscription.ListState(l.State)
	if l.State == "running" {
		state = subscription.ListRunning
	}
	list, _, err := a.Store.Overview.SubscriptionList(ctx, partner.ID(l.Partner), subscription.ListFilter{
		State: state, Plan: plan.ID(l.Plan), After: l.After, Limit: max(l.Limit, 1),
	})
	if err != nil {
		return err
	}
	return o.listRecords(makeRecords(list, func(s subscription.Subscription) record {
		return newRecord(
			"seq", s.Seq,
			"plan_id", s.Plan,
			"cpf", identifier.MaskValue(identifier.CPF, s.Beneficiary.CPF),
			"start_date", s.Start,
			"expiry_date", s.Expiry,
			"benefit_holder", s.Holder,
			"partner_internal_id", s.InternalID,
			"suspended_at", s.SuspendedAt,
			"ended_at", s.EndedAt,
			"created_at", s.CreatedAt,
		)
	}), "No subscription.")
}

// subscriptionImportCmd is 'vigia subscription import'. Refused records go to a file that can be mended and imported
// again.
type subscriptionImportCmd struct {
	File    string     `arg:"" name:"file" help:"FILE.csv or FILE.jsonl."`
	Partner partner.ID `required:"" placeholder:"ID" help:"The partner's id."`
	Rejects string     `placeholder:"FILE" help:"Where to write what was refused, with the reasons; by default beside the file, with .rejects in its name."`
	DryRun  bool       `help:"Check everything, create nothing."`
}

func (subscriptionImportCmd) Help() string {
	return "A .jsonl file has one item of the bulk request per line. A .csv file has a heading with the names of an " +
		"item's members\n" +
		"(start_date, expiry_date, plan_id, is_group_plan, group_size, benefit_holder, partner_metadata, " +
		"partner_internal_id,\n" +
		"primary_card, user_card, name, cpf, birth_date, gender, email, phone_number, zipcode, street, number, " +
		"complement,\n" +
		"neighborhood, city, state), separated by commas or semicolons.\n\n" +
		"Running a file again creates only what is not there yet. Rejects can be mended and imported as a file of " +
		"their own.\n\n" +
		"Examples:\n  vigia subscription import funcionarios.csv --partner pt_...\n" +
		"  vigia subscription import lote.jsonl --partner pt_... --dry-run --json"
}

func (i *subscriptionImportCmd) Run(ctx context.Context, a *app.App, o *output) (err error) {
	file, err := openNamedFile(i.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	read := &countingReader{r: file}
	source, rejects, err := i.openSource(read)
	if err != nil {
		return err
	}
	p, err := a.Partners.GetPartner(ctx, i.Partner)
	if err != nil {
		return err
	}
	bar := o.progress("import", "bytes")
	report, err := a.Subscriptions.ImportFile(
		ctx,
		p,
		source,
		i.DryRun,
		subscription.NewRejects(rejects, source, api.ItemError).Write,
		func(r subscription.ImportReport) {
			bar.setProgress(
				read.n,
				info.Size(),
				fmt.Sprintf("%d created, %d already there, %d rejected", r.Created, r.Known, r.Rejected),
			)
		},
	)
	bar.clearLine()
	if err = errors.Join(err, rejects.closeFile()); err != nil {
		return err
	}
	view := newRecord(
		"created", report.Created,
		"already_there", report.Known,
		"rejected", report.Rejected,
		"watched", report.Watched.String(),
		"dry_run", i.DryRun,
	)
	if report.Rejected == 0 {
		return o.showRecord(view)
	}
	return errors.Join(
		o.showRecord(view.withPairs("rejects_file", rejects.path), "The rejects file holds personal data."),
		errRejected.Note("%d records were refused: they are in %s, with the reasons", report.Rejected, rejects.path),
	)
}

// errRejected ends an import of which some records were refused.
var errRejected = fault.New(fault.Unprocessable, "import.rejects")

// countingReader tells how far a file has been read.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// openSource chooses the reader by the file's name.
func (i *subscriptionImportCmd) openSource(r io.Reader) (subscription.Source, *rejectsFile, error) {
	dot := strings.LastIndexByte(i.File, '.')
	if dot < 0 {
		dot = len(i.File)
	}
	out := &rejectsFile{path: i.Rejects}
	if out.path == "" {
		out.path = i.File[:dot] + ".rejects" + i.File[dot:]
	}
	switch strings.ToLower(i.File[dot:]) {
	case ".jsonl", ".ndjson":
		return subscription.NewJSONLines(r), out, nil
	case ".csv":
		table, err := subscription.NewCSVReader(r)
		if err != nil {
			return nil, nil, err
		}
		return table, out, nil
	}
	return nil, nil, subscription.ErrFile.Note("%s: expected a name that ends in .csv or .jsonl", i.File)
}

// rejectsFile is made only when there is something to write, readable by its owner alone.
type rejectsFile struct {
	path string
	file *os.File
}

func (r *rejectsFile) Write(text []byte) (int, error) {
	if r.file == nil {
		f, err := os.OpenFile(r.path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return 0, err
		}
		r.file = f
	}
	return r.file.Write(text)
}

// closeFile closes the file of rejects, if there is one.
func (r *rejectsFile) closeFile() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
