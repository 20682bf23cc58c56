package console

import (
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/url"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
)

// Subscriptions finds subscriptions by what an operator knows of them.
type Subscriptions interface {
	// SubscriptionList returns a page and the number that the next goes on from; 0 at the end.
	SubscriptionList(ctx context.Context, id partner.ID, f subscription.ListFilter) ([]subscription.Subscription, int64, error)
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
	Items []subscriptionState
	Total int64
	// Sought is the masked CPF that was looked for; empty on the plain list.
	Sought string
	// Plans reports whether the partner has any plan yet.
	Plans int
}

// subscriptionState is a subscription and whether it has ended by today's date, be it swept yet or not.
type subscriptionState struct {
	subscription.Subscription
	Ended bool
}

// subscriptionState returns a subscription with the words for its state.
func (c *Console) subscriptionState(s subscription.Subscription) subscriptionState {
	return subscriptionState{s, s.Over(subscription.DayInBrazil(c.Now()))}
}

// subscriptionStates returns subscriptions with the words for their states.
func (c *Console) subscriptionStates(list []subscription.Subscription) []subscriptionState {
	states := make([]subscriptionState, len(list))
	for i, s := range list {
		states[i] = c.subscriptionState(s)
	}
	return states
}

// listSubscriptions shows one page of a partner's subscriptions, personal values masked; without a partner only the
// choice of one.
func listSubscriptions(c *Console, r *request) (answer, error) {
	choice, err := c.choosePartner(r)
	if err != nil || choice.Current.ID == "" {
		return view{"subscriptions", "Assinaturas", subscriptionsPage{partnerChoice: choice}}, err
	}
	f, err := c.parseFilterQuery(r.Context(), &subscriptionsList, r.URL.Query(), choice.Current.ID, choice.All)
	if err != nil {
		return nil, err
	}
	list, next, err := c.Rules.FindSubscriptions.SubscriptionList(r.Context(), choice.Current.ID, f.subscriptions(perPage))
	if err != nil {
		return nil, err
	}
	running, err := c.Rules.Subscriptions.ListActive(r.Context(), choice.Current.ID, 1, 1)
	if err != nil {
		return nil, err
	}
	plans, err := c.Rules.Plans.ListPlans(r.Context(), choice.Current.ID)
	if err != nil {
		return nil, err
	}
	page := subscriptionsPage{partnerChoice: choice, Items: c.subscriptionStates(list), Total: running.Total, Plans: len(plans)}
	total := int64(-1)
	if len(f.values) == 0 && f.Person == "" {
		total = running.Total
	}
	if page.List, err = c.newListView(r, &subscriptionsList, f, choice.All, len(list), formatSeq(next), total); err != nil {
		return nil, err
	}
	for i := range page.List.Fields {
		if page.List.Fields[i].Name == "plan" {
			for _, p := range plans {
				page.List.Fields[i].Options = append(page.List.Fields[i].Options, choiceOption{string(p.ID), string(p.ID)})
			}
		}
	}
	return view{"subscriptions", "Assinaturas", page}, nil
}

// findSubscriptions looks a CPF up. It is a POST, so that the CPF stands in no address, history or log.
func findSubscriptions(c *Console, r *request) (answer, error) {
	choice, err := c.choosePartner(r)
	if err != nil {
		return nil, err
	}
	check := identifier.Required
	if choice.Current.Mode.Has(partner.AnyCheckDigits) {
		check = identifier.Waived
	}
	cpf, err := identifier.ParseCPF(r.trimmedField("cpf"), check)
	if err != nil {
		return nil, errForm.With("cpf", fault.CPFFormat).Because(err)
	}
	masked := identifier.MaskValue(identifier.CPF, cpf)
	if err := c.recordAction(r, "subscription.find", c.Rules.Subjects.Reference(subject.Person{CPF: cpf}), string(choice.Current.ID)+" "+masked); err != nil {
		return nil, err
	}
	found, err := c.Rules.FindSubscriptions.SubscriptionsOfCPF(r.Context(), choice.Current.ID, cpf)
	if err != nil {
		return nil, err
	}
	return view{"subscriptions", "Assinaturas", subscriptionsPage{
		partnerChoice: choice, Items: c.subscriptionStates(found), Total: int64(len(found)), Sought: masked, Plans: 1,
	}}, nil
}

// subscriptionPage is the data of the page of one subscription.
type subscriptionPage struct {
	Partner partner.Partner
	subscriptionState
	// Shown says that the person's data stand in clear: the operator gave a reason lately.
	Shown bool
	Path  string
	// Person is the address of the page with all that is held about the beneficiary, ref the keyed reference in it.
	Person, ref string
}

// subscriptionOf reads the subscription that a path names.
func (c *Console) subscriptionOf(r *request) (subscriptionPage, error) {
	p, err := c.Rules.Partners.GetPartner(r.Context(), partner.ID(r.PathValue("partner")))
	if err != nil {
		return subscriptionPage{}, err
	}
	seq, err := strconv.ParseInt(r.PathValue("seq"), 10, 64)
	if err != nil {
		return subscriptionPage{}, subscription.ErrNotFound
	}
	sub, err := c.Rules.FindSubscriptions.SubscriptionBySeq(r.Context(), p.ID, seq)
	if err != nil {
		return subscriptionPage{}, err
	}
	page := subscriptionPage{Partner: p, subscriptionState: c.subscriptionState(sub), Path: joinPath("subscriptions", string(p.ID), strconv.FormatInt(seq, 10))}
	if page.ref, err = c.Rules.Search.FindEnrolled(r.Context(), p.ID, sub.Beneficiary.CPF); err != nil {
		return page, err
	}
	page.Person = joinPath("people", string(p.ID), page.ref)
	reveals, err := c.currentReveals(r)
	page.Shown = reveals[page.ref] != nil
	return page, err
}

// showSubscription shows a subscription with the personal values masked.
func showSubscription(c *Console, r *request) (answer, error) {
	page, err := c.subscriptionOf(r)
	return view{"subscription", "Assinatura", page}, err
}

// auditSubject names a subscription in the audit trail.
func (p subscriptionPage) auditSubject() string {
	return string(p.Partner.ID) + "/" + strconv.FormatInt(p.Seq, 10)
}

// revealSubscription shows the person of a subscription in clear for a while, after the operator's reason is in the audit trail.
func revealSubscription(c *Console, r *request) (answer, error) {
	page, err := c.subscriptionOf(r)
	if err != nil {
		return nil, err
	}
	return c.recordReveal(r, page.ref, redirect{to: page.Path})
}

// moveSubscription ends, suspends or resumes the subscription in the path. It refuses one that has ended.
func moveSubscription(c *Console, r *request, action, done string, move subscription.Move) (answer, error) {
	page, err := c.subscriptionOf(r)
	if err != nil {
		return nil, err
	}
	if page.Ended {
		return nil, subscription.ErrNotFound.With("subscription", fault.HasEnded)
	}
	return c.changeAndRedirect(r, action, redirect{page.Path, done}, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Subscriptions.MoveSubscriptions(ctx, page.Partner.ID, subscription.Selection{Plan: page.Plan, CPF: page.Beneficiary.CPF}, move)
		return page.auditSubject(), "", err
	})
}

// endSubscription ends a subscription for good.
func endSubscription(c *Console, r *request) (answer, error) {
	return moveSubscription(c, r, "subscription.end", "subscription.ended", subscription.End)
}

// suspendSubscription pauses a subscription until it is resumed.
func suspendSubscription(c *Console, r *request) (answer, error) {
	return moveSubscription(c, r, "subscription.suspend", "subscription.suspended", subscription.Suspend)
}

// resumeSubscription continues a suspended subscription.
func resumeSubscription(c *Console, r *request) (answer, error) {
	return moveSubscription(c, r, "subscription.resume", "subscription.resumed", subscription.Resume)
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
	choice, err := c.choosePartner(r)
	return view{"subscriptions-import", "Enviar assinaturas", importPage{partnerChoice: choice}}, err
}

// importSubscriptions reads an uploaded file while it arrives. One that is only checked is kept, sealed, so that it can be created
// without being sent again.
func importSubscriptions(c *Console, r *request) (answer, error) {
	choice, err := c.enrolling(r)
	if err != nil {
		return nil, err
	}
	dryRun := r.URL.Query().Get("dry") == "1"
	file, err := uploadedFile(r)
	if err != nil {
		return nil, err
	}
	format := operator.CSV
	if name := strings.ToLower(file.FileName()); strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".ndjson") {
		format = operator.JSON
	}
	in, kept := io.Reader(file), c.newSealedFile(r, checkedFile, string(choice.Current.ID), format)
	if dryRun {
		in = io.TeeReader(file, kept)
	}
	report, err := c.enrolFromFile(r, choice.Current, in, format, dryRun)
	if err != nil {
		return nil, err
	}
	if err := kept.finishFile(report.Created); err != nil {
		return nil, err
	}
	switch {
	case dryRun && report.Created > 0:
		report.Draft = kept.ID
	case kept.begun: // nothing in it is worth a second look
		if err := c.Rules.Saved.DropExport(r.Context(), r.who.ID, kept.ID); err != nil {
			return nil, err
		}
	}
	return view{"subscriptions-import", "Enviar assinaturas", importPage{choice, report}}, nil
}

// createChecked creates what a file that was checked holds.
func createChecked(c *Console, r *request) (answer, error) {
	choice, err := c.enrolling(r)
	if err != nil {
		return nil, err
	}
	file, err := c.Rules.Saved.GetExport(r.Context(), r.who.ID, r.PathValue("file"))
	if err == nil && (file.List != checkedFile || file.About != string(choice.Current.ID)) {
		err = operator.ErrNoExport
	}
	if err != nil {
		return nil, err
	}
	report, err := c.enrolFromFile(r, choice.Current, &sealedReader{ctx: r.Context(), saved: c.Rules.Saved, file: file}, file.Format, false)
	if err != nil {
		return nil, err
	}
	err = c.Rules.Saved.DropExport(r.Context(), r.who.ID, file.ID)
	return view{"subscriptions-import", "Enviar assinaturas", importPage{choice, report}}, err
}

// enrolling returns the partner whose people are uploaded.
func (c *Console) enrolling(r *request) (partnerChoice, error) {
	choice, err := c.choosePartner(r)
	if err == nil && choice.Current.ID == "" {
		err = partner.ErrNotFound
	}
	return choice, err
}

// enrolFromFile creates what a file holds, or says what would be created.
func (c *Console) enrolFromFile(r *request, p partner.Partner, in io.Reader, format operator.Format, dryRun bool) (*importReport, error) {
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
	if err := c.recordAction(r, "subscription.import", string(p.ID), detail); err != nil {
		return nil, err
	}
	report, file := &importReport{DryRun: dryRun}, c.newSealedFile(r, rejectedFile, string(p.ID), format)
	rejects := subscription.NewRejects(file, source, c.Rules.ProblemText)
	var err error
	report.ImportReport, err = c.Rules.Subscriptions.ImportFile(r.Context(), p, source, dryRun, func(j subscription.Reject) error {
		if len(report.Rejects) < shownRejects {
			row := rejectRow{Line: j.Line}
			for _, p := range j.Problems {
				row.Problems = append(row.Problems, c.Rules.ProblemText(p))
			}
			report.Rejects = append(report.Rejects, row)
		}
		return rejects.Write(j)
	}, func(subscription.ImportReport) {})
	if err == nil {
		err = file.finishFile(report.Rejected)
	}
	if err == nil && file.begun {
		report.File = file.ID
	}
	return report, err
}

// maxField bounds a field of a form with a file.
const maxField = 16 << 10

// fieldsAndFile reads a form whose last part is the file: first the fields, then the file as a stream.
func fieldsAndFile(r *request) (*multipart.Part, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, errForm.With("file", fault.ChooseAFile).Because(err)
	}
	r.PostForm = url.Values{}
	for {
		part, err := form.NextPart()
		if err != nil {
			return nil, errForm.With("file", fault.ChooseAFile).Because(err)
		}
		if part.FormName() == "file" {
			if part.FileName() == "" {
				return nil, errForm.With("file", fault.ChooseAFile)
			}
			return part, nil
		}
		value, err := io.ReadAll(io.LimitReader(part, maxField))
		if err != nil {
			return nil, errForm.With("form", fault.ArrivedInPart).Because(err)
		}
		r.PostForm.Add(part.FormName(), string(value))
	}
}

// uploadedFile returns the first file of a form, as a stream.
func uploadedFile(r *request) (*multipart.Part, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, errForm.With("file", fault.ChooseAFile).Because(err)
	}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, errForm.With("file", fault.ChooseAFile)
		}
		if err != nil {
			return nil, errForm.With("file", fault.ArrivedInPart).Because(err)
		}
		if part.FileName() != "" {
			return part, nil
		}
	}
}

// movePage is the data of the page that ends, suspends or resumes many subscriptions at once.
type movePage struct {
	partnerChoice
	Moves []choiceOption
	// Moved is what a move came to.
	Moved *subscription.MovedTable
}

var moveOptions = []choiceOption{{"suspend", "Suspender"}, {"resume", "Retomar"}, {"end", "Encerrar"}}

var moves = map[string]subscription.Move{"suspend": subscription.Suspend, "resume": subscription.Resume, "end": subscription.End}

// newMoveView returns the page of moves by a table.
func (c *Console) newMoveView(r *request, moved *subscription.MovedTable) (answer, error) {
	choice, err := c.choosePartner(r)
	return view{"subscriptions-move", "Mover assinaturas", movePage{choice, moveOptions, moved}}, err
}

// showMoveForm shows the form of moves by a table.
func showMoveForm(c *Console, r *request) (answer, error) { return c.newMoveView(r, nil) }

// moveAsked reads which partner and which move, and records them.
func (c *Console) moveAsked(r *request, detail string) (partner.ID, subscription.Move, error) {
	choice, err := c.choosePartner(r)
	if err != nil {
		return "", 0, err
	}
	name := strings.TrimSpace(r.PostForm.Get("move"))
	move, ok := moves[name]
	if !ok {
		return "", 0, errForm.With("move", fault.OneOf, "suspend, resume, end")
	}
	if choice.Current.ID == "" {
		return "", 0, partner.ErrNotFound
	}
	return choice.Current.ID, move, c.recordAction(r, "subscription."+name, string(choice.Current.ID), detail)
}

// moveHolder moves all subscriptions that a company pays for.
func moveHolder(c *Console, r *request) (answer, error) {
	id, move, err := c.moveAsked(r, "holder")
	if err != nil {
		return nil, err
	}
	moved, err := c.Rules.Subscriptions.MoveSubscriptions(r.Context(), id, subscription.Selection{Holder: plainCNPJ(r.trimmedField("holder"))}, move)
	if err != nil {
		return nil, err
	}
	return c.newMoveView(r, &subscription.MovedTable{Found: moved.Found, Changed: moved.Changed})
}

// moveTable moves the subscriptions of an uploaded table while it arrives.
func moveTable(c *Console, r *request) (answer, error) {
	file, err := fieldsAndFile(r)
	if err != nil {
		return nil, err
	}
	id, move, err := c.moveAsked(r, "table")
	if err != nil {
		return nil, err
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
