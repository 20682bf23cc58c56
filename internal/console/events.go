package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/webhook"
)

// Events lists events and deliveries.
type Events interface {
	// ListEvents returns a page without bodies and the number that the next goes on from; 0 at the end.
	ListEvents(ctx context.Context, id partner.ID, f alert.EventFilter) ([]alert.Kept, int64, error)
	GetEvent(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error)
	DeliveryList(ctx context.Context, f alert.DeliveryFilter) ([]alert.Listed, alert.DeliveryMark, error)
}

// eventsPage is the data of the list of a partner's events.
type eventsPage struct {
	partnerChoice
	List   listView
	Events []alert.Kept
}

// listEvents shows one page of a partner's events; without a partner only the choice of one.
func listEvents(c *Console, r *request) (answer, error) {
	choice, err := c.choosePartner(r)
	if err != nil || choice.Current.ID == "" {
		return view{"events", "Eventos", eventsPage{partnerChoice: choice}}, err
	}
	f, err := c.parseFilterQuery(r.Context(), &eventsList, r.URL.Query(), choice.Current.ID, choice.All)
	if err != nil {
		return nil, err
	}
	page := eventsPage{partnerChoice: choice}
	var next int64
	if page.Events, next, err = c.Rules.Events.ListEvents(r.Context(), choice.Current.ID, f.eventFilter(perPage)); err != nil {
		return nil, err
	}
	page.List, err = c.newListView(r, &eventsList, f, choice.All, len(page.Events), formatSeq(next), -1)
	return view{"events", "Eventos", page}, err
}

// eventPage is the data of the page of one event.
type eventPage struct {
	Partner    partner.Partner
	Event      alert.Kept
	Body       string
	Deliveries []eventDelivery
	// Person is the path of the page about the person that the event concerns; empty when it concerns none.
	Person string
}

// eventDelivery is the delivery of an event to one endpoint with all its attempts.
type eventDelivery struct {
	alert.DeliveryStatus
	Type     alert.Type
	Address  string
	Attempts []alert.AttemptLog
}

// showEvent shows an event with its deliveries and every attempt.
func showEvent(c *Console, r *request) (answer, error) {
	p, err := c.Rules.Partners.GetPartner(r.Context(), partnerOf(r))
	if err != nil {
		return nil, err
	}
	e, err := c.Rules.Events.GetEvent(r.Context(), p.ID, alert.EventID(r.PathValue("event")))
	if err != nil {
		return nil, err
	}
	statuses, tries, err := c.Rules.History.Deliveries(r.Context(), p.ID, e.ID)
	if err != nil {
		return nil, err
	}
	endpoints, err := c.Rules.Webhooks.ListEndpoints(r.Context(), p.ID)
	if err != nil {
		return nil, err
	}
	page := eventPage{Partner: p, Event: e, Body: indentJSON(string(e.Body))}
	var about struct {
		Data struct{ UserHash partner.UserHash }
	}
	if json.Unmarshal(e.Body, &about) == nil && about.Data.UserHash != "" {
		page.Person = c.personPath(p.ID, about.Data.UserHash)
	}
	for _, s := range statuses {
		d := eventDelivery{DeliveryStatus: s}
		for _, t := range tries {
			if t.Endpoint == s.Endpoint {
				d.Attempts = append(d.Attempts, t)
			}
		}
		for _, end := range endpoints {
			if end.ID == s.Endpoint {
				d.Address = withoutQuery(end.URL)
			}
		}
		page.Deliveries = append(page.Deliveries, d)
	}
	return view{"event", "Evento", page}, nil
}

// eventSample is a type of event and what one looks like to its receiver.
type eventSample struct {
	Type alert.Type
	Body string
}

// showEventTypes shows every type of event with a sample.
func showEventTypes(c *Console, _ *request) (answer, error) {
	list := make([]eventSample, len(alert.Types))
	for i, t := range alert.Types {
		body, err := alert.SampleBody(t, c.Now())
		if err != nil {
			return nil, err
		}
		list[i] = eventSample{Type: t, Body: indentJSON(string(body))}
	}
	return view{"event-types", "Tipos de evento", list}, nil
}

// replayEvent queues an event again, for one endpoint or for all.
func replayEvent(c *Console, r *request) (answer, error) {
	id, event := partnerOf(r), alert.EventID(r.PathValue("event"))
	return c.changeAndRedirect(r, "event.replay", redirect{joinPath("events", string(id), string(event)), "event.replayed"}, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.History.ReplayEvents(ctx, id, alert.Selection{Event: event, Endpoint: alert.EndpointID(r.trimmedField("endpoint"))})
		return string(event), string(id), err
	})
}

// deliveriesPage is the data of the list of deliveries.
type deliveriesPage struct {
	List  listView
	State alert.DeliveryState
	Items []alert.Listed
	Names map[partner.ID]string
	// Addresses are the destinations of the page, by endpoint.
	Addresses map[alert.EndpointID]string
	// Failed are partners with failed deliveries on the page: all of them can be repeated at once.
	Failed []failedOf
}

// failedOf is a partner with failed deliveries.
type failedOf struct {
	ID   partner.ID
	Name string
}

// listDeliveries shows one page of deliveries, the failed ones unless the filter asks for others.
func listDeliveries(c *Console, r *request) (answer, error) {
	all, err := c.visiblePartners(r)
	if err != nil {
		return nil, err
	}
	f, err := c.parseFilter(r, &deliveriesList, all)
	if err != nil {
		return nil, err
	}
	asked := f.deliveries(perPage)
	list, next, err := c.Rules.Events.DeliveryList(r.Context(), asked)
	if err != nil {
		return nil, err
	}
	now, err := c.figuresNow(r)
	if err != nil {
		return nil, err
	}
	page := deliveriesPage{State: asked.State, Items: list, Names: partnerChoice{All: all}.namesByID(), Addresses: map[alert.EndpointID]string{}}
	total := int64(-1)
	if counted, ok := map[alert.DeliveryState]operator.Figure{alert.DeliveryFailed: "deliveries.failed", alert.Pending: "deliveries.pending"}[asked.State]; ok {
		total = f.totalUnlessFiltered(now[counted], "state")
	}
	seen := map[partner.ID]bool{}
	for _, d := range page.Items {
		if _, known := page.Addresses[d.Endpoint]; !known {
			e, err := c.Rules.Webhooks.FindEndpoint(r.Context(), d.Endpoint)
			if err != nil && !errors.Is(err, alert.ErrEndpointNotFound) { // a deleted one leaves its deliveries for a while
				return nil, err
			}
			page.Addresses[d.Endpoint] = withoutQuery(e.URL)
		}
		if asked.State == alert.DeliveryFailed && !seen[d.Partner] {
			seen[d.Partner] = true
			page.Failed = append(page.Failed, failedOf{d.Partner, page.Names[d.Partner]})
		}
	}
	page.List, err = c.newListView(r, &deliveriesList, f, all, len(list), deliveryMark(next), total)
	return view{"deliveries", "Entregas", page}, err
}

// replayFailed queues all failed deliveries of a partner again. They may be many, so this is no single transaction.
func replayFailed(c *Console, r *request) (answer, error) {
	id, endpoint := partner.ID(r.trimmedField("partner")), alert.EndpointID(r.trimmedField("endpoint"))
	if err := c.recordAction(r, "event.replay", string(id), strings.TrimSpace("all failed "+string(endpoint))); err != nil {
		return nil, err
	}
	_, err := c.Rules.History.ReplayEvents(r.Context(), id, alert.Selection{Failed: true, Endpoint: endpoint})
	return redirect{"/deliveries", "event.replayed"}, err
}

// eventReportPage is the data of the report on deliveries within a window of time.
type eventReportPage struct {
	partnerChoice
	// From and To are the window as the form shows it.
	From, To  string
	Report    *alert.Report
	Endpoints []endpointReport
	// After says that this is no first part, and Next leads to the part that follows.
	After bool
	Next  string
}

// endpointReport is the part of the report about one endpoint.
type endpointReport struct {
	alert.EndpointReport
	Address string
}

const (
	// shownMissing is how many of the missing events the page names.
	shownMissing = 20
	// reportPart is how many events one page compares: each is looked up at each webhook.
	reportPart = 5000
)

const formMoment = "02/01/2006 15:04"

// reportEvents compares what happened with what the partner got. It counts, so it does so only when a window was
// chosen.
func reportEvents(c *Console, r *request) (answer, error) {
	choice, err := c.choosePartner(r)
	if err != nil {
		return nil, err
	}
	page := eventReportPage{partnerChoice: choice, From: c.Now().In(brazil).Add(-24 * time.Hour).Format(formMoment), To: c.Now().In(brazil).Format(formMoment)}
	if choice.Current.ID == "" || !r.URL.Query().Has("from") {
		return view{"events-report", "Conferência de entregas", page}, nil
	}
	from, to := r.readMoment("from"), r.readMoment("to")
	after, _ := strconv.Atoi(r.URL.Query().Get("after")) // anything else is the first part
	if r.wrong != nil {
		return nil, r.wrong
	}
	page.From, page.To = r.FormValue("from"), r.FormValue("to")
	report, err := c.Rules.History.ReportEvents(r.Context(), choice.Current.ID,
		alert.ReportOf{From: from, To: to, After: int64(after), Most: reportPart, Show: shownMissing})
	if err != nil {
		return nil, err
	}
	page.Report, page.After = &report, after > 0
	// A long window is counted in parts of reportPart events, each a page of its own.
	if report.Next > 0 {
		q := r.URL.Query()
		q.Set("after", strconv.FormatInt(report.Next, 10))
		page.Next = "/events/report?" + q.Encode()
	}
	endpoints, err := c.Rules.Webhooks.ListEndpoints(r.Context(), choice.Current.ID)
	if err != nil {
		return nil, err
	}
	// An endpoint that was deleted since is shown by its id.
	for _, e := range report.Endpoints {
		row := endpointReport{EndpointReport: e, Address: string(e.Endpoint)}
		for _, end := range endpoints {
			if end.ID == e.Endpoint {
				row.Address = withoutQuery(end.URL)
			}
		}
		page.Endpoints = append(page.Endpoints, row)
	}
	return view{"events-report", "Conferência de entregas", page}, nil
}

// replayWindow pushes again what happened in a window.
func replayWindow(c *Console, r *request) (answer, error) {
	choice, err := c.choosePartner(r)
	if err != nil {
		return nil, err
	}
	from, to := r.readMoment("from"), r.readMoment("to")
	id := choice.Current.ID
	detail := from.UTC().Format(time.RFC3339) + " " + to.UTC().Format(time.RFC3339)
	if err := c.recordAction(r, "event.replay", string(id), detail); err != nil {
		return nil, err
	}
	_, err = c.Rules.History.ReplayEvents(r.Context(), id, alert.Selection{From: from, To: to})
	return redirect{"/deliveries?state=pending", "event.replayed"}, err
}

// Webhooks are the endpoints of partners. Create and Test reach out, so they know which addresses may be called.
type Webhooks interface {
	ListEndpoints(ctx context.Context, id partner.ID) ([]alert.Endpoint, error)
	FindEndpoint(ctx context.Context, endpoint alert.EndpointID) (alert.Endpoint, error)
	Create(ctx context.Context, id partner.ID, url string, types []string) (alert.Endpoint, error)
	Test(ctx context.Context, id partner.ID, endpoint alert.EndpointID, t alert.Type) (webhook.Outcome, alert.EventID, error)
	RotateKeys(ctx context.Context, id partner.ID, endpoint alert.EndpointID, overlap time.Duration) (alert.Endpoint, error)
	EnableEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (alert.Endpoint, error)
	DisableEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (alert.Endpoint, error)
	FollowState(ctx context.Context, id partner.ID, endpoint alert.EndpointID, to alert.EndpointState) error
	DeleteEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID) error
}

// withoutQuery leaves the query of an address out: receivers keep tokens there.
func withoutQuery(address string) string { return alert.Endpoint{URL: address}.Address() }

// webhookRow is an endpoint with its URL without the query, which may hold a secret of the partner.
type webhookRow struct {
	alert.Endpoint
	Address string
}

// webhookRows returns the endpoints as rows of a table.
func webhookRows(list []alert.Endpoint) []webhookRow {
	rows := make([]webhookRow, len(list))
	for i, e := range list {
		rows[i] = webhookRow{e, withoutQuery(e.URL)}
	}
	return rows
}

// webhookPage is the data of the page of one webhook; Outcome is that of a test just made.
type webhookPage struct {
	Health     alert.Health
	Partner    partner.Partner
	Row        webhookRow
	PublicKeys []string
	Outcome    *webhook.Outcome
	Types      []alert.Type
	// Latest are the newest deliveries, those that failed or wait first, each with its tries.
	Latest []eventDelivery
}

// webhookDeliveries is how many deliveries of each state the page of a webhook lists.
const webhookDeliveries = 4

// webhookForm is the data of the form for a new webhook.
type webhookForm struct {
	Partner partner.Partner
	Types   []alert.Type
}

// newWebhook shows an empty form for a webhook of the partner in the path.
func newWebhook(c *Console, r *request) (answer, error) {
	p, err := c.Rules.Partners.GetPartner(r.Context(), partnerOf(r))
	return view{"webhook-new", "Novo webhook", webhookForm{p, alert.Types}}, err
}

const secretHelp = "Com ele o parceiro confere a assinatura de cada aviso (Standard Webhooks)."

// createWebhook creates a webhook after checking its address. The secret is shown on the answer.
func createWebhook(c *Console, r *request) (answer, error) {
	id := partnerOf(r)
	// The address is looked up before anything is written, so this is no short transaction: the line comes first.
	if err := c.recordAction(r, "webhook.create", string(id), withoutQuery(r.trimmedField("url"))); err != nil {
		return nil, err
	}
	e, err := c.Rules.Webhooks.Create(r.Context(), id, r.trimmedField("url"), r.PostForm["type"])
	if err != nil {
		return nil, err
	}
	return showSecretsNext(r, secretPage{
		Heading: "Webhook criado", Text: "O segredo aparece só agora. Depois de entregá-lo, envie um teste pela página do webhook.",
		Secrets: []shownSecret{{"Segredo", e.Secret(), secretHelp}},
		Back:    joinPath("webhooks", string(id), string(e.ID)), BackLabel: "Guardei o segredo, continuar",
	})
}

// endpointOf reads the endpoint that a path names and holds it against the path's partner.
func (c *Console) endpointOf(r *request) (alert.Endpoint, error) {
	e, err := c.Rules.Webhooks.FindEndpoint(r.Context(), alert.EndpointID(r.PathValue("endpoint")))
	if err == nil && e.Partner != partnerOf(r) {
		return alert.Endpoint{}, alert.ErrEndpointNotFound
	}
	return e, err
}

// webhookView shows a webhook with its health, and the outcome of a test when there is one.
func (c *Console) webhookView(r *request, outcome *webhook.Outcome) (answer, error) {
	e, err := c.endpointOf(r)
	if err != nil {
		return nil, err
	}
	p, err := c.Rules.Partners.GetPartner(r.Context(), e.Partner)
	if err != nil {
		return nil, err
	}
	if err := c.pictureWebhook(r, string(e.ID)); err != nil {
		return nil, err
	}
	health, err := c.Rules.History.EndpointHealth(r.Context(), p.ID, e.ID)
	if err != nil {
		return nil, err
	}
	page := webhookPage{Health: health, Partner: p, Row: webhookRow{e, withoutQuery(e.URL)}, PublicKeys: e.PublicKeys(c.Now()), Outcome: outcome, Types: alert.Types}
	for _, state := range []alert.DeliveryState{alert.DeliveryFailed, alert.Pending, alert.Held, alert.Delivered} {
		list, _, err := c.Rules.Events.DeliveryList(r.Context(), alert.DeliveryFilter{State: state, Partner: p.ID, Endpoint: e.ID, Limit: webhookDeliveries})
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			_, tries, err := c.Rules.History.Deliveries(r.Context(), p.ID, one.Event)
			if err != nil {
				return nil, err
			}
			tries = slices.DeleteFunc(tries, func(t alert.AttemptLog) bool { return t.Endpoint != e.ID })
			page.Latest = append(page.Latest, eventDelivery{DeliveryStatus: one.DeliveryStatus, Type: one.Type, Attempts: tries})
		}
	}
	return view{"webhook", "Webhook", page}, nil
}

// showWebhook shows a webhook with its health.
func showWebhook(c *Console, r *request) (answer, error) { return c.webhookView(r, nil) }

// testWebhook sends a test event to the endpoint at once and shows what it answered.
func testWebhook(c *Console, r *request) (answer, error) {
	e, err := c.endpointOf(r)
	if err != nil {
		return nil, err
	}
	sample := alert.Type(cmp.Or(r.trimmedField("type"), string(alert.WebhookTest)))
	if err := c.recordAction(r, "webhook.test", string(e.ID), string(sample)); err != nil {
		return nil, err
	}
	outcome, _, err := c.Rules.Webhooks.Test(r.Context(), e.Partner, e.ID, sample)
	if err != nil {
		return nil, err
	}
	return c.webhookView(r, &outcome)
}

// confirmRotate asks how long the old secret shall stay valid before the secret is replaced.
func confirmRotate(c *Console, r *request) (answer, error) {
	e, err := c.endpointOf(r)
	return view{"webhook-rotate", "Trocar segredo", webhookRow{e, withoutQuery(e.URL)}}, err
}

// rotateWebhook replaces the secret of a webhook. The old one stays valid for the hours in the form.
func rotateWebhook(c *Console, r *request) (answer, error) {
	e, err := c.endpointOf(r)
	if err != nil {
		return nil, err
	}
	hours := r.readNumber("hours", 0)
	err = c.changeWithAudit(r, "webhook.rotate", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		e, err = in.Webhooks.RotateKeys(ctx, e.Partner, e.ID, time.Duration(hours)*time.Hour)
		return string(e.ID), "", err
	})
	if err != nil {
		return nil, err
	}
	return showSecretsNext(r, secretPage{
		Heading: "Segredo trocado", Text: "O segredo antigo também assina por mais " + strconv.Itoa(hours) + " h. O novo aparece só agora.",
		Secrets: []shownSecret{{"Segredo", e.Secret(), secretHelp}},
		Back:    joinPath("webhooks", string(e.Partner), string(e.ID)), BackLabel: "Guardei o segredo, continuar",
	})
}

// webhookChange runs a change of the webhook in the path in a transaction with its line in the audit trail.
func (c *Console) webhookChange(r *request, action, done string, fn func(ctx context.Context, in *Rules, e alert.Endpoint) error) (answer, error) {
	e, err := c.endpointOf(r)
	if err != nil {
		return nil, err
	}
	err = c.changeWithAudit(r, action, func(ctx context.Context, in *Rules) (string, string, error) { return string(e.ID), "", fn(ctx, in, e) })
	if err != nil {
		return nil, err
	}
	to := joinPath("webhooks", string(e.Partner), string(e.ID))
	if action == "webhook.delete" {
		to = partnerPath(e.Partner)
	}
	return redirect{to, done}, nil
}

// enableWebhook resumes the deliveries of a webhook. What the endpoint missed is queued before, outside of the
// transaction.
func enableWebhook(c *Console, r *request) (answer, error) {
	e, err := c.endpointOf(r)
	if err == nil { // what the endpoint missed may be more than one transaction should hold
		err = c.Rules.Webhooks.FollowState(r.Context(), e.Partner, e.ID, alert.Enabled)
	}
	if err != nil {
		return nil, err
	}
	return c.webhookChange(r, "webhook.enable", "webhook.enabled", func(ctx context.Context, in *Rules, e alert.Endpoint) error {
		_, err := in.Webhooks.EnableEndpoint(ctx, e.Partner, e.ID)
		return err
	})
}

// disableWebhook pauses the deliveries of a webhook until it is enabled again.
func disableWebhook(c *Console, r *request) (answer, error) {
	var of alert.Endpoint
	done, err := c.webhookChange(r, "webhook.disable", "webhook.disabled", func(ctx context.Context, in *Rules, e alert.Endpoint) (err error) {
		of, err = in.Webhooks.DisableEndpoint(ctx, e.Partner, e.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return done, c.Rules.Webhooks.FollowState(r.Context(), of.Partner, of.ID, alert.Disabled)
}

// deleteWebhook deletes a webhook and returns to the page of its partner.
func deleteWebhook(c *Console, r *request) (answer, error) {
	return c.webhookChange(r, "webhook.delete", "webhook.deleted", func(ctx context.Context, in *Rules, e alert.Endpoint) error {
		return in.Webhooks.DeleteEndpoint(ctx, e.Partner, e.ID)
	})
}
