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

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
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
	page := eventsPage{partnerChoice: c.choosePartner(r)}
	if page.Current.ID != "" {
		f := c.parseFilterQuery(r, &eventsList, r.URL.Query(), page.Current.ID, page.All)
		events, next := callRulePair2(r, f.readEvents, &c.Rules, perPage)
		page.Events, page.List = events, c.newListView(r, &eventsList, f, page.All, len(events), next, -1)
	}
	return view{"events", "Eventos", page}, nil
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
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partnerOf(r))
	e := callRuleWith2(r, c.Rules.Events.GetEvent, p.ID, alert.EventID(r.PathValue("event")))
	statuses, tries := callRulePair2(r, c.Rules.History.Deliveries, p.ID, e.ID)
	addresses := c.endpointAddresses(r, p.ID)
	page := eventPage{Partner: p, Event: e, Body: indentJSON(string(e.Body))}
	var about struct {
		Data struct{ UserHash partner.UserHash }
	}
	if json.Unmarshal(e.Body, &about) == nil && about.Data.UserHash != "" {
		page.Person = c.personPath(p.ID, about.Data.UserHash)
	}
	for _, s := range statuses {
		page.Deliveries = append(page.Deliveries, newEventDelivery(s, "", addresses[s.Endpoint], tries))
	}
	return view{"event", "Evento", page}, nil
}

// newEventDelivery returns a delivery with those of an event's attempts that were made for it.
func newEventDelivery(s alert.DeliveryStatus, kind alert.Type, address string, tries []alert.AttemptLog) eventDelivery {
	return eventDelivery{
		s,
		kind,
		address,
		slices.DeleteFunc(slices.Clone(tries), func(t alert.AttemptLog) bool { return t.Endpoint != s.Endpoint }),
	}
}

// endpointAddresses returns where the endpoints of a partner are.
func (c *Console) endpointAddresses(r *request, id partner.ID) map[alert.EndpointID]string {
	addresses := map[alert.EndpointID]string{}
	for _, e := range callRuleWith(r, c.Rules.Webhooks.ListEndpoints, id) {
		addresses[e.ID] = e.Address()
	}
	return addresses
}

// showEventTypes shows every type of event with a sample.
func showEventTypes(*Console, *request) (answer, error) {
	return view{"event-types", "Tipos de evento", alert.Types}, nil
}

// sampleText returns what an event of a type looks like to its receiver.
func sampleText(t alert.Type, now time.Time) (string, error) {
	body, err := alert.SampleBody(t, now)
	return indentJSON(string(body)), err
}

// replayEvent queues an event again, for one endpoint or for all.
func replayEvent(c *Console, r *request) (answer, error) {
	id, event := partnerOf(r), alert.EventID(r.PathValue("event"))
	return c.changeAndRedirect(
		r,
		"event.replay",
		redirect{joinPath("events", string(id), string(event)), "event.replayed"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			_, err := in.History.ReplayEvents(
				ctx,
				id,
				alert.Selection{Event: event, Endpoint: alert.EndpointID(r.trimmedField("endpoint"))},
			)
			return string(event), string(id), err
		},
	)
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
	Failed []partner.ID
}

// listDeliveries shows one page of deliveries, the failed ones unless the filter asks for others.
func listDeliveries(c *Console, r *request) (answer, error) {
	all := c.visiblePartners(r)
	f := c.parseFilter(r, &deliveriesList, all)
	list, next := callRulePair2(r, f.readDeliveries, &c.Rules, perPage)
	now := c.figuresNow(r)
	page := deliveriesPage{
		State:     f.deliveryState(),
		Items:     list,
		Names:     partnerChoice{All: all}.namesByID(),
		Addresses: map[alert.EndpointID]string{},
	}
	total := int64(-1)
	if counted, ok := map[alert.DeliveryState]operator.Figure{alert.DeliveryFailed: "deliveries.failed", alert.Pending: "deliveries.pending"}[page.State]; ok {
		total = f.totalUnlessFiltered(now[counted], "state")
	}
	for _, d := range page.Items {
		if _, known := page.Addresses[d.Endpoint]; !known {
			e, err := c.Rules.Webhooks.FindEndpoint(r.Context(), d.Endpoint)
			if err != nil &&
				!errors.Is(err, alert.ErrEndpointNotFound) { // a deleted one leaves its deliveries for a while
				return nil, err
			}
			page.Addresses[d.Endpoint] = e.Address()
		}
		if page.State == alert.DeliveryFailed && !slices.Contains(page.Failed, d.Partner) {
			page.Failed = append(page.Failed, d.Partner)
		}
	}
	page.List = c.newListView(r, &deliveriesList, f, all, len(list), next, total)
	return view{"deliveries", "Entregas", page}, nil
}

// replayFailed queues all failed deliveries of a partner again. They may be many, so this is no single transaction.
func replayFailed(c *Console, r *request) (answer, error) {
	id, endpoint := partner.ID(r.trimmedField("partner")), alert.EndpointID(r.trimmedField("endpoint"))
	c.recordAction(r, "event.replay", string(id), strings.TrimSpace("all failed "+string(endpoint)))
	callRuleWith2(r, c.Rules.History.ReplayEvents, id, alert.Selection{Failed: true, Endpoint: endpoint})
	return redirect{"/deliveries", "event.replayed"}, nil
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
	choice := c.choosePartner(r)
	page := eventReportPage{
		partnerChoice: choice,
		From:          c.Now().In(brazil).Add(-24 * time.Hour).Format(formMoment),
		To:            c.Now().In(brazil).Format(formMoment),
	}
	if choice.Current.ID == "" || !r.URL.Query().Has("from") {
		return view{"events-report", "Conferência de entregas", page}, nil
	}
	from, to := r.readMoment("from"), r.readMoment("to")
	after, _ := strconv.Atoi(r.URL.Query().Get("after")) // anything else is the first part
	r.keepFailure(r.wrong)
	page.From, page.To = r.FormValue("from"), r.FormValue("to")
	report := callRuleWith2(r, c.Rules.History.ReportEvents, choice.Current.ID,
		alert.ReportOf{From: from, To: to, After: int64(after), Most: reportPart, Show: shownMissing})
	page.Report, page.After = &report, after > 0
	// A long window is counted in parts of reportPart events, each a page of its own.
	if report.Next > 0 {
		q := r.URL.Query()
		q.Set("after", strconv.FormatInt(report.Next, 10))
		page.Next = "/events/report?" + q.Encode()
	}
	addresses := c.endpointAddresses(r, choice.Current.ID)
	for _, e := range report.Endpoints {
		page.Endpoints = append(
			page.Endpoints,
			endpointReport{e, cmp.Or(addresses[e.Endpoint], string(e.Endpoint))},
		) // a deleted one has its id only
	}
	return view{"events-report", "Conferência de entregas", page}, nil
}

// replayWindow pushes again what happened in a window.
func replayWindow(c *Console, r *request) (answer, error) {
	choice := c.choosePartner(r)
	from, to := r.readMoment("from"), r.readMoment("to")
	id := choice.Current.ID
	detail := from.UTC().Format(time.RFC3339) + " " + to.UTC().Format(time.RFC3339)
	c.recordAction(r, "event.replay", string(id), detail)
	callRuleWith2(r, c.Rules.History.ReplayEvents, id, alert.Selection{From: from, To: to})
	return redirect{"/deliveries?state=pending", "event.replayed"}, nil
}

// Webhooks are the endpoints of partners. Create and Test reach out, so they know which addresses may be called.
type Webhooks interface {
	ListEndpoints(ctx context.Context, id partner.ID) ([]alert.Endpoint, error)
	FindEndpoint(ctx context.Context, endpoint alert.EndpointID) (alert.Endpoint, error)
	Create(ctx context.Context, id partner.ID, url string, types []string) (alert.Endpoint, error)
	Test(
		ctx context.Context,
		id partner.ID,
		endpoint alert.EndpointID,
		t alert.Type,
	) (webhook.Outcome, alert.EventID, error)
	RotateKeys(
		ctx context.Context,
		id partner.ID,
		endpoint alert.EndpointID,
		overlap time.Duration,
	) (alert.Endpoint, error)
	EnableEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (alert.Endpoint, error)
	DisableEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (alert.Endpoint, error)
	FollowEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID, to alert.EndpointState) error
	DeleteEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID) error
}

// webhookPage is the data of the page of one webhook; Outcome is that of a test just made.
type webhookPage struct {
	Health     alert.Health
	Partner    partner.Partner
	Row        alert.Endpoint
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
	return view{"webhook-new", "Novo webhook", webhookForm{callRuleWith(r, c.Rules.Partners.GetPartner, partnerOf(r)), alert.Types}}, nil
}

const secretHelp = "Com ele o parceiro confere a assinatura de cada aviso (Standard Webhooks)."

// createWebhook creates a webhook after checking its address. The secret is shown on the answer.
func createWebhook(c *Console, r *request) (answer, error) {
	id := partnerOf(r)
	// The address is looked up before anything is written, so this is no short transaction: the line comes first.
	c.recordAction(r, "webhook.create", string(id), alert.Endpoint{URL: r.trimmedField("url")}.Address())
	e := callRuleWith3(r, c.Rules.Webhooks.Create, id, r.trimmedField("url"), r.PostForm["type"])
	return showSecretsNext(r, secretPage{
		Heading:   "Webhook criado",
		Text:      "O segredo aparece só agora. Depois de entregá-lo, envie um teste pela página do webhook.",
		Secrets:   []shownSecret{{"Segredo", e.Secret(), secretHelp}},
		Back:      joinPath("webhooks", string(id), string(e.ID)),
		BackLabel: "Guardei o segredo, continuar",
	})
}

// endpointOf reads the endpoint that a path names and holds it against the path's partner.
func (c *Console) endpointOf(r *request) alert.Endpoint {
	e := callRuleWith(r, c.Rules.Webhooks.FindEndpoint, alert.EndpointID(r.PathValue("endpoint")))
	if e.Partner != partnerOf(r) {
		r.keepFailure(alert.ErrEndpointNotFound)
	}
	return e
}

// webhookView shows a webhook with its health, and the outcome of a test when there is one.
func (c *Console) webhookView(r *request, outcome *webhook.Outcome) (answer, error) {
	e := c.endpointOf(r)
	p := callRuleWith(r, c.Rules.Partners.GetPartner, e.Partner)
	c.pictureWebhook(r, string(e.ID))
	health := callRuleWith2(r, c.Rules.History.EndpointHealth, p.ID, e.ID)
	page := webhookPage{
		Health:     health,
		Partner:    p,
		Row:        e,
		PublicKeys: e.PublicKeys(c.Now()),
		Outcome:    outcome,
		Types:      alert.Types,
	}
	for _, state := range []alert.DeliveryState{alert.DeliveryFailed, alert.Pending, alert.Held, alert.Delivered} {
		list, _ := callRulePair(
			r,
			c.Rules.Events.DeliveryList,
			alert.DeliveryFilter{State: state, Partner: p.ID, Endpoint: e.ID, Limit: webhookDeliveries},
		)
		for _, one := range list {
			_, tries := callRulePair2(r, c.Rules.History.Deliveries, p.ID, one.Event)
			page.Latest = append(page.Latest, newEventDelivery(one.DeliveryStatus, one.Type, "", tries))
		}
	}
	return view{"webhook", "Webhook", page}, nil
}

// showWebhook shows a webhook with its health.
func showWebhook(c *Console, r *request) (answer, error) { return c.webhookView(r, nil) }

// testWebhook sends a test event to the endpoint at once and shows what it answered.
func testWebhook(c *Console, r *request) (answer, error) {
	e := c.endpointOf(r)
	sample := alert.Type(cmp.Or(r.trimmedField("type"), string(alert.WebhookTest)))
	c.recordAction(r, "webhook.test", string(e.ID), string(sample))
	outcome, _ := callRulePair2(
		r,
		func(ctx context.Context, endpoint alert.EndpointID, t alert.Type) (webhook.Outcome, alert.EventID, error) {
			return c.Rules.Webhooks.Test(ctx, e.Partner, endpoint, t)
		},
		e.ID,
		sample,
	)
	return c.webhookView(r, &outcome)
}

// confirmRotate asks how long the old secret shall stay valid before the secret is replaced.
func confirmRotate(c *Console, r *request) (answer, error) {
	return view{"webhook-rotate", "Trocar segredo", c.endpointOf(r)}, nil
}

// rotateWebhook replaces the secret of a webhook. The old one stays valid for the hours in the form.
func rotateWebhook(c *Console, r *request) (answer, error) {
	e := c.endpointOf(r)
	hours := r.readNumber("hours", 0)
	c.changeWithAudit(r, "webhook.rotate", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		e, err = in.Webhooks.RotateKeys(ctx, e.Partner, e.ID, time.Duration(hours)*time.Hour)
		return string(e.ID), "", err
	})
	return showSecretsNext(r, secretPage{
		Heading:   "Segredo trocado",
		Text:      "O segredo antigo também assina por mais " + strconv.Itoa(hours) + " h. O novo aparece só agora.",
		Secrets:   []shownSecret{{"Segredo", e.Secret(), secretHelp}},
		Back:      joinPath("webhooks", string(e.Partner), string(e.ID)),
		BackLabel: "Guardei o segredo, continuar",
	})
}

// webhookChange runs a change of the webhook in the path in a transaction with its line in the audit trail.
func (c *Console) webhookChange(
	r *request,
	action, done string,
	fn func(ctx context.Context, in *Rules, e alert.Endpoint) error,
) (answer, error) {
	e := c.endpointOf(r)
	c.changeWithAudit(
		r,
		action,
		func(ctx context.Context, in *Rules) (string, string, error) { return string(e.ID), "", fn(ctx, in, e) },
	)
	to := joinPath("webhooks", string(e.Partner), string(e.ID))
	if action == "webhook.delete" {
		to = partnerPath(e.Partner)
	}
	return redirect{to, done}, nil
}

// enableWebhook resumes the deliveries of a webhook. What the endpoint missed is queued before, outside of the
// transaction.
func enableWebhook(c *Console, r *request) (answer, error) {
	if e := c.endpointOf(r); r.failure == nil { // what the endpoint missed may be more than one transaction should hold
		r.failure = c.Rules.Webhooks.FollowEndpoint(r.Context(), e.Partner, e.ID, alert.Enabled)
	}
	return c.webhookChange(
		r,
		"webhook.enable",
		"webhook.enabled",
		func(ctx context.Context, in *Rules, e alert.Endpoint) error {
			_, err := in.Webhooks.EnableEndpoint(ctx, e.Partner, e.ID)
			return err
		},
	)
}

// disableWebhook pauses the deliveries of a webhook until it is enabled again.
func disableWebhook(c *Console, r *request) (answer, error) {
	var of alert.Endpoint
	done, err := c.webhookChange(
		r,
		"webhook.disable",
		"webhook.disabled",
		func(ctx context.Context, in *Rules, e alert.Endpoint) (err error) {
			of, err = in.Webhooks.DisableEndpoint(ctx, e.Partner, e.ID)
			return err
		},
	)
	if err != nil || r.failure != nil {
		return nil, err
	}
	return done, c.Rules.Webhooks.FollowEndpoint(r.Context(), of.Partner, of.ID, alert.Disabled)
}

// deleteWebhook deletes a webhook and returns to the page of its partner.
func deleteWebhook(c *Console, r *request) (answer, error) {
	return c.webhookChange(
		r,
		"webhook.delete",
		"webhook.deleted",
		func(ctx context.Context, in *Rules, e alert.Endpoint) error {
			return in.Webhooks.DeleteEndpoint(ctx, e.Partner, e.ID)
		},
	)
}
