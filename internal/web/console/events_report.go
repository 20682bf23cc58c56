package console

import (
	"cmp"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
)

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
	page := eventReportPage{
		partnerChoice: choice,
		From:          c.Now().In(brazil).Add(-24 * time.Hour).Format(formMoment),
		To:            c.Now().In(brazil).Format(formMoment),
	}
	if choice.Current.ID == "" || !r.URL.Query().Has("from") {
		return view{"events-report", "Conferência de entregas", page}, nil
	}
	form := newFormReader(r)
	from, to := form.readMoment("from"), form.readMoment("to")
	if err := form.err(); err != nil {
		return nil, err
	}
	after, _ := strconv.Atoi(r.URL.Query().Get("after")) // anything else is the first part
	page.From, page.To = r.FormValue("from"), r.FormValue("to")
	window := alert.ReportOf{From: from, To: to, After: int64(after), Most: reportPart, Show: shownMissing}
	report, err := c.Rules.History.ReportEvents(r.Context(), choice.Current.ID, window)
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
	addresses, err := c.endpointAddresses(r.Context(), choice.Current.ID)
	if err != nil {
		return nil, err
	}
	for _, e := range report.Endpoints {
		address := cmp.Or(addresses[e.Endpoint], string(e.Endpoint)) // a deleted one has its id only
		page.Endpoints = append(page.Endpoints, endpointReport{e, address})
	}
	return view{"events-report", "Conferência de entregas", page}, nil
}

// replayWindow pushes again what happened in a window.
func replayWindow(c *Console, r *request) (answer, error) {
	choice, err := c.choosePartner(r)
	if err != nil {
		return nil, err
	}
	form := newFormReader(r)
	window := alert.Selection{From: form.readMoment("from"), To: form.readMoment("to")}
	if err := form.err(); err != nil {
		return nil, err
	}
	id := choice.Current.ID
	detail := window.From.UTC().Format(time.RFC3339) + " " + window.To.UTC().Format(time.RFC3339)
	next := redirect{"/deliveries?state=pending", "event.replayed"}
	return c.recordAndRun(r, "event.replay", string(id), detail, next, func() error {
		_, err := c.Rules.History.ReplayEvents(r.Context(), id, window)
		return err
	})
}
