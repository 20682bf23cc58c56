package console

import (
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
)

// Subscriptions finds subscriptions by what an operator knows of them.
type Subscriptions interface {
	// SubscriptionList returns a page and the number that the next goes on from; 0 at the end.
	SubscriptionList(
		ctx context.Context,
		id partner.ID,
		f subscription.ListFilter,
	) ([]subscription.Subscription, int64, error)
	SubscriptionBySeq(ctx context.Context, id partner.ID, seq int64) (subscription.Subscription, error)
	SubscriptionsOfCPF(ctx context.Context, id partner.ID, cpf string) ([]subscription.Subscription, error)
	// NamesOfUsers returns the names of those people of a partner who have a subscription.
	NamesOfUsers(ctx context.Context, id partner.ID, users []partner.UserHash) (map[partner.UserHash]string, error)
	// SubscriptionsOfUser returns the subscriptions of the person with a userHash, those that have not ended first.
	SubscriptionsOfUser(ctx context.Context, id partner.ID, user partner.UserHash) ([]subscription.Subscription, error)
}

// subscriptionsPage is the data of the list of a partner's subscriptions.
type subscriptionsPage struct {
	partnerChoice
	List  listView
	Items []subscription.Subscription
	Total int64
	// Sought is the masked CPF that was looked for; empty on the plain list.
	Sought string
	// Plans reports whether the partner has any plan yet.
	Plans int
}

// hasEnded reports whether a subscription has ended by today's date, be it swept yet or not.
func hasEnded(s subscription.Subscription, now time.Time) bool {
	return s.Over(subscription.DayInBrazil(now))
}

// subscriptionBadge returns the word for the state of a subscription.
func subscriptionBadge(s subscription.Subscription, now time.Time) badge {
	switch {
	case hasEnded(s, now):
		return badge{"", "Encerrada"}
	case !s.SuspendedAt.IsZero():
		return badge{"warn", "Suspensa"}
	}
	return badge{"good", "Ativa"}
}

// listSubscriptions shows one page of a partner's subscriptions, personal values masked; without a partner only the
// choice of one.
func listSubscriptions(c *Console, r *request) (answer, error) {
	page := subscriptionsPage{partnerChoice: c.choosePartner(r)}
	id := page.Current.ID
	if id == "" {
		return view{"subscriptions", "Assinaturas", page}, nil
	}
	f := c.parseFilterQuery(r, &subscriptionsList, r.URL.Query(), id, page.All)
	list, next := callRulePair2(r, f.readSubscriptions, &c.Rules, perPage)
	plans := callRuleWith(r, c.Rules.Plans.ListPlans, id)
	page.Items, page.Total, page.Plans = list, callRuleWith3(r, c.Rules.Subscriptions.ListActive, id, 1, 1).Total, len(plans)
	total := int64(-1)
	if len(f.values) == 0 && f.Person == "" {
		total = page.Total
	}
	page.List = c.newListView(r, &subscriptionsList, f, page.All, len(list), next, total)
	for _, p := range plans {
		page.List.offerOption("plan", choiceOption{string(p.ID), string(p.ID)})
	}
	return view{"subscriptions", "Assinaturas", page}, nil
}

// findSubscriptions looks a CPF up. It is a POST, so that the CPF stands in no address, history or log.
func findSubscriptions(c *Console, r *request) (answer, error) {
	choice := c.choosePartner(r)
	check := identifier.Required
	if choice.Current.Mode.Has(partner.AnyCheckDigits) {
		check = identifier.Waived
	}
	cpf, err := identifier.ParseCPF(r.trimmedField("cpf"), check)
	if err != nil {
		return nil, errForm.With("cpf", fault.CPFFormat).Because(err)
	}
	masked := identifier.MaskValue(identifier.CPF, cpf)
	c.recordAction(
		r,
		"subscription.find",
		c.Rules.Subjects.Reference(subject.Person{CPF: cpf}),
		string(choice.Current.ID)+" "+masked,
	)
	found := callRuleWith2(r, c.Rules.FindSubscriptions.SubscriptionsOfCPF, choice.Current.ID, cpf)
	return view{"subscriptions", "Assinaturas", subscriptionsPage{
		partnerChoice: choice, Items: found, Total: int64(len(found)), Sought: masked, Plans: 1,
	}}, nil
}

// subscriptionPage is the data of the page of one subscription.
type subscriptionPage struct {
	Partner partner.Partner
	subscription.Subscription
	// Shown says that the person's data stand in clear: the operator gave a reason lately.
	Shown bool
	Path  string
	// Person is the address of the page with all that is held about the beneficiary, ref the keyed reference in it.
	Person, ref string
}

// subscriptionOf reads the subscription that a path names.
func (c *Console) subscriptionOf(r *request) subscriptionPage {
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partnerOf(r))
	seq, err := strconv.ParseInt(r.PathValue("seq"), 10, 64)
	if err != nil {
		r.keepFailure(subscription.ErrNotFound)
	}
	sub := callRuleWith2(r, c.Rules.FindSubscriptions.SubscriptionBySeq, p.ID, seq)
	ref := callRuleWith2(r, c.Rules.Search.FindEnrolled, p.ID, sub.Beneficiary.CPF)
	return subscriptionPage{
		Partner: p, Subscription: sub, Path: joinPath("subscriptions", string(p.ID), strconv.FormatInt(seq, 10)),
		ref: ref, Person: joinPath("people", string(p.ID), ref), Shown: c.currentReveals(r)[ref] != nil,
	}
}

// showSubscription shows a subscription with the personal values masked.
func showSubscription(c *Console, r *request) (answer, error) {
	return view{"subscription", "Assinatura", c.subscriptionOf(r)}, nil
}

// revealSubscription shows the person of a subscription in clear for a while, after the operator's reason is in the audit trail.
func revealSubscription(c *Console, r *request) (answer, error) {
	page := c.subscriptionOf(r)
	return c.recordReveal(r, page.ref, redirect{to: page.Path})
}

// endSubscription ends a subscription for good.
var endSubscription = moveSubscription("subscription.end", "subscription.ended", subscription.End)

// suspendSubscription pauses a subscription until it is resumed.
var suspendSubscription = moveSubscription("subscription.suspend", "subscription.suspended", subscription.Suspend)

// resumeSubscription continues a suspended subscription.
var resumeSubscription = moveSubscription("subscription.resume", "subscription.resumed", subscription.Resume)

// moveSubscription makes the handler that ends, suspends or resumes the subscription in the path. It refuses one that has ended.
func moveSubscription(action, done string, move subscription.Move) handler {
	return func(c *Console, r *request) (answer, error) {
		page := c.subscriptionOf(r)
		if hasEnded(page.Subscription, c.Now()) {
			return nil, subscription.ErrNotFound.With("subscription", fault.HasEnded)
		}
		return c.changeAndRedirect(
			r,
			action,
			redirect{page.Path, done},
			func(ctx context.Context, in *Rules) (string, string, error) {
				_, err := in.Subscriptions.MoveSubscriptions(
					ctx,
					page.Partner.ID,
					subscription.Selection{Plan: page.Plan, CPF: page.Beneficiary.CPF},
					move,
				)
				return string(page.Partner.ID) + "/" + strconv.FormatInt(page.Seq, 10), "", err
			},
		)
	}
}

// shownRejects is how many refused records the page lists; the rest are counted.
const shownRejects = 200

// importPage is the data of the page that uploads a file of subscriptions; Report is nil before a file was sent.
type importPage struct {
	partnerChoice
	Report *importReport
}

// importReport is the outcome of an upload as the page shows it: counts, a sample of the rejects, and files to
// download.
type importReport struct {
	subscription.ImportReport
	DryRun  bool
	Rejects []rejectRow
	// File holds the refused records, Draft the checked file, which can be created as it is; each empty when there is none.
	File, Draft string
}

// rejectRow says what is wrong with a record, without repeating the record: it holds a person's data.
type rejectRow struct {
	Line     int
	Problems []string
}

// showImport shows the form that uploads subscriptions for the chosen partner.
func showImport(c *Console, r *request) (answer, error) {
	return view{"subscriptions-import", "Enviar assinaturas", importPage{partnerChoice: c.choosePartner(r)}}, nil
}

// importSubscriptions reads an uploaded file while it arrives. One that is only checked is kept, sealed, so that it can be created
// without being sent again.
func importSubscriptions(c *Console, r *request) (answer, error) {
	choice := c.enrolling(r)
	dryRun := r.URL.Query().Get("dry") == "1"
	file := uploadedFile(r)
	if r.keepFailure(r.wrong); r.failure != nil {
		return nil, r.failure
	}
	format := operator.CSV
	if name := strings.ToLower(file.FileName()); strings.HasSuffix(name, ".jsonl") ||
		strings.HasSuffix(name, ".ndjson") {
		format = operator.JSON
	}
	in, kept := io.Reader(file), c.newSealedFile(r, checkedFile, string(choice.Current.ID), format)
	if dryRun {
		in = io.TeeReader(file, kept)
	}
	report, err := c.enrolFromFile(r, choice.Current, in, format, dryRun)
	if err == nil {
		err = kept.finishFile(int64(report.Created))
	}
	switch {
	case err != nil:
	case dryRun && report.Created > 0:
		report.Draft = kept.ID
	case kept.begun: // nothing in it is worth a second look
		err = c.Rules.Saved.DropExport(r.Context(), r.who.ID, kept.ID)
	}
	return view{"subscriptions-import", "Enviar assinaturas", importPage{choice, report}}, err
}

// createChecked creates what a file that was checked holds.
func createChecked(c *Console, r *request) (answer, error) {
	choice := c.enrolling(r)
	file := callRuleWith2(r, c.Rules.Saved.GetExport, r.who.ID, r.PathValue("file"))
	if file.List != checkedFile || file.About != string(choice.Current.ID) {
		r.keepFailure(operator.ErrNoExport)
	}
	report, err := c.enrolFromFile(
		r,
		choice.Current,
		&sealedReader{ctx: r.Context(), saved: c.Rules.Saved, file: file},
		file.Format,
		false,
	)
	if err == nil {
		err = c.Rules.Saved.DropExport(r.Context(), r.who.ID, file.ID)
	}
	return view{"subscriptions-import", "Enviar assinaturas", importPage{choice, report}}, err
}

// enrolling returns the partner whose people are uploaded.
func (c *Console) enrolling(r *request) partnerChoice {
	choice := c.choosePartner(r)
	if choice.Current.ID == "" {
		r.keepFailure(partner.ErrNotFound)
	}
	return choice
}

// enrolFromFile creates what a file holds, or says what would be created.
func (c *Console) enrolFromFile(
	r *request,
	p partner.Partner,
	in io.Reader,
	format operator.Format,
	dryRun bool,
) (*importReport, error) {
	if r.failure != nil {
		return nil, r.failure
	}
	source := subscription.NewJSONLines(in)
	if format == operator.CSV {
		table, err := subscription.NewCSVReader(in)
		if err != nil {
			return nil, err
		}
		source = table
	}
	detail := "upload"
	if dryRun {
		detail = "dry run"
	}
	if c.recordAction(r, "subscription.import", string(p.ID), detail); r.failure != nil {
		return nil, r.failure
	}
	report, file := &importReport{DryRun: dryRun}, c.newSealedFile(r, rejectedFile, string(p.ID), format)
	rejects := subscription.NewRejects(file, source, c.Rules.ProblemText)
	var err error
	report.ImportReport, err = c.Rules.Subscriptions.ImportFile(
		r.Context(),
		p,
		source,
		dryRun,
		func(j subscription.Reject) error {
			if len(report.Rejects) < shownRejects {
				row := rejectRow{Line: j.Line}
				for _, p := range j.Problems {
					row.Problems = append(row.Problems, c.Rules.ProblemText(p))
				}
				report.Rejects = append(report.Rejects, row)
			}
			return rejects.Write(j)
		},
		func(subscription.ImportReport) {},
	)
	if err == nil {
		err = file.finishFile(int64(report.Rejected))
	}
	if err == nil && file.begun {
		report.File = file.ID
	}
	return report, err
}

// maxField bounds a field of a form with a file.
const maxField = 16 << 10

// uploadedFile reads a form whose last part is the file: first the fields, then the file as a stream. Without one the form is wrong,
// and nothing may be read from what is returned.
func uploadedFile(r *request) *multipart.Part {
	form, err := r.MultipartReader()
	for r.PostForm = (url.Values{}); err == nil; {
		var part *multipart.Part
		if part, err = form.NextPart(); err != nil {
			break
		}
		if part.FormName() == "file" && part.FileName() != "" {
			return part
		}
		var value []byte
		value, err = io.ReadAll(io.LimitReader(part, maxField))
		r.PostForm.Add(part.FormName(), string(value))
	}
	rule := fault.ChooseAFile
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, http.ErrNotMultipart) {
		rule = fault.ArrivedInPart
	}
	r.noteFormError(errForm.With("file", rule).Because(err))
	return &multipart.Part{}
}

// movePage is the data of the page that ends, suspends or resumes many subscriptions at once.
type movePage struct {
	partnerChoice
	// Moved is what a move came to.
	Moved *subscription.MovedTable
}

var moveOptions = []choiceOption{{"suspend", "Suspender"}, {"resume", "Retomar"}, {"end", "Encerrar"}}

var moves = map[string]subscription.Move{
	"suspend": subscription.Suspend,
	"resume":  subscription.Resume,
	"end":     subscription.End,
}

// newMoveView returns the page of moves by a table.
func (c *Console) newMoveView(r *request, moved *subscription.MovedTable) (answer, error) {
	choice := c.choosePartner(r)
	return view{"subscriptions-move", "Mover assinaturas", movePage{choice, moved}}, nil
}

// showMoveForm shows the form of moves by a table.
func showMoveForm(c *Console, r *request) (answer, error) { return c.newMoveView(r, nil) }

// moveAsked reads which partner and which move, and records them.
func (c *Console) moveAsked(r *request, detail string) (partner.ID, subscription.Move) {
	id := c.choosePartner(r).Current.ID
	name := r.trimmedField("move")
	move, ok := moves[name]
	if !ok {
		r.keepFailure(errForm.With("move", fault.OneOf, "suspend, resume, end"))
	}
	if id == "" {
		r.keepFailure(partner.ErrNotFound)
	}
	c.recordAction(r, "subscription."+name, string(id), detail)
	return id, move
}

// moveHolder moves all subscriptions that a company pays for.
func moveHolder(c *Console, r *request) (answer, error) {
	id, move := c.moveAsked(r, "holder")
	moved := callRuleWith3(
		r,
		c.Rules.Subscriptions.MoveSubscriptions,
		id,
		subscription.Selection{Holder: plainCNPJ(r.trimmedField("holder"))},
		move,
	)
	return c.newMoveView(r, &subscription.MovedTable{Found: moved.Found, Changed: moved.Changed})
}

// moveTable moves the subscriptions of an uploaded table while it arrives.
func moveTable(c *Console, r *request) (answer, error) {
	file := uploadedFile(r)
	id, move := c.moveAsked(r, "table")
	if r.failure != nil {
		return nil, r.failure
	}
	table, err := subscription.NewCSVReader(file)
	if err != nil {
		return nil, err
	}
	moved, err := c.Rules.Subscriptions.MoveTable(r.Context(), id, table, move, func(int64, subscription.MovedTable) {})
	if err != nil {
		return nil, err
	}
	return c.newMoveView(r, &moved)
}
