package console

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

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
