package console

import (
	"context"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

const (
	// maxBulk bounds one action; sampleLines is what its preview shows.
	maxBulk     = 100_000
	sampleLines = 10
	// countLines is up to how many lines a preview counts.
	countLines = 10_000
)

var (
	errNothing = fault.New(fault.Invalid, "bulk.nothing")
	errPartly  = fault.New(fault.Unavailable, "bulk.partly")
	errBulk    = fault.New(fault.Conflict, "bulk.busy")
)

// bulkPage is the data of the page that asks for confirmation before an action is applied to many lines.
type bulkPage struct {
	listView
	list   *listing
	Header []string
	Sample [][]string
	// Count is how many lines it would be; more of them when Over is set.
	Count int
	Over  bool
	// Rows are the chosen lines; All says that all are meant which fit the filter.
	Rows []string
	All  bool
}

// parseBulkForm reads what a form is about.
func (c *Console) parseBulkForm(r *request) (page bulkPage, err error) {
	page = bulkPage{Rows: r.PostForm["row"], All: r.trimmedField("all") == "1"}
	page.list, page.filter, err = c.sentFilter(r)
	if err != nil {
		return page, err
	}
	page.Name, page.Action = page.list.name, page.list.action
	switch {
	case page.Action == nil:
		return page, errNotFound
	case !page.Action.isAllowedTo(r.who):
		return page, errForbidden
	}
	if !page.All && (len(page.Rows) == 0 || len(page.Rows) > perPage) {
		err = errNothing.With("row", fault.LinesChosen, perPage)
	}
	return page, err
}

// previewBulk shows what an action would be done to, and asks.
func previewBulk(c *Console, r *request) (answer, error) {
	page, err := c.parseBulkForm(r)
	if err != nil {
		return nil, err
	}
	page.Header, _ = page.list.head(page.filter).exported()
	page.After = r.trimmedField("after")
	looked := 0
	for row, err := range page.list.rows(r.Context(), &c.Rules, page.filter) {
		if err != nil {
			return nil, err
		}
		page.Over = looked == countLines
		if page.Over || looked == atOnce && !page.All { // chosen lines stand on one page
			break
		}
		looked++
		if !page.All && !slices.Contains(page.Rows, row.Key) {
			continue
		}
		if page.Count++; len(page.Sample) < sampleLines {
			_, texts := row.exported()
			page.Sample = append(page.Sample, texts)
		}
	}
	if page.Count == 0 {
		return nil, errNothing.With("row", fault.NothingFits)
	}
	return view{"bulk", page.Action.Label, page}, nil
}

// runBulkAction does it: chosen lines at once, each with its line in the trail; all that fit as a job, with one line
// before.
func runBulkAction(c *Console, r *request) (answer, error) {
	page, err := c.parseBulkForm(r)
	if err != nil {
		return nil, err
	}
	l, back, option := page.list, page.Of(page.Query()), r.trimmedField("option")
	if len(l.action.Options) > 0 && !offersOption(l.action.Options, option) {
		return nil, errForm.With("option", fault.OneOfTheList)
	}
	if page.All {
		subject, to := l.name, redirect{"/jobs", "bulk.started"}
		if c.confined { // one partner's job must not hold up another's, and partners have no page of jobs
			subject, to = l.name+" "+string(r.scope.at.ID), redirect{back, "bulk.begun"}
		}
		run := func(ctx context.Context, tell func(any)) (any, error) { return c.applyToAll(ctx, page, option, tell) }
		return c.recordAndRun(r, l.action.audit, l.name, "all: "+page.Query()+" "+option, to, func() error {
			return c.Begin(r.Context(), KindBulk, subject, errBulk, run)
		})
	}
	for _, key := range page.Rows { // nothing is done before all lines are known to be allowed
		id, _, _ := strings.Cut(key, "/")
		if !isKnownPartner(page.known, partner.ID(id)) {
			return nil, partner.ErrNotFound
		}
	}
	for i, key := range page.Rows {
		_, rest, _ := strings.Cut(key, "/")
		err := c.changeWithAudit(r, l.action.audit, func(ctx context.Context, in *Rules) (string, string, error) {
			return rest, "bulk " + option, l.action.doTo(ctx, in, key, option)
		})
		switch {
		case err == nil || isGoneError(err):
		case i == 0:
			return nil, err
		default: // each line is a transaction: those before this one stay done
			return nil, errPartly.With("row", fault.LinesDone, i, len(page.Rows)).Because(err)
		}
	}
	return redirect{back, "bulk.done"}, nil
}

// applyToAll does an action to every line that fits. Places stay where they are while lines leave the list.
func (c *Console) applyToAll(
	ctx context.Context, page bulkPage, option string, tell func(any),
) (done listWork, err error) {
	for row, err := range page.list.rows(ctx, &c.Rules, page.filter) {
		if err != nil {
			return done, err
		}
		switch err := page.Action.doTo(ctx, &c.Rules, row.Key, option); {
		case err == nil:
			done.Lines++
		case isGoneError(err):
			done.Refused++
		default:
			return done, err
		}
		if tell(done); done.Lines == maxBulk {
			break
		}
	}
	return done, nil
}
