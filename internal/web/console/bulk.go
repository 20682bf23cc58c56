package console

import (
	"context"
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
	List, Title string
	Action      *bulkAction
	Header      []string
	Sample      [][]string
	// Count is how many lines it would be; more of them when Over is set.
	Count int
	Over  bool
	// Rows are the chosen lines; All says that all are meant which fit Query.
	Rows  []string
	All   bool
	Query string
}

// Back returns the path of the list that the action was chosen on.
func (p bulkPage) Back() string { return "/" + p.List + "?" + p.Query }

// parseBulkForm reads what a form is about.
func (c *Console) parseBulkForm(r *request) (*listing, filter, bulkPage, error) {
	l, err := listNamed(r)
	if err != nil {
		return nil, filter{}, bulkPage{}, err
	}
	if l.action == nil {
		return nil, filter{}, bulkPage{}, errNotFound
	}
	if !l.action.isAllowedTo(r.who) {
		return nil, filter{}, bulkPage{}, errForbidden
	}
	f, err := c.sentFilter(r, l)
	if err != nil {
		return nil, filter{}, bulkPage{}, err
	}
	page := bulkPage{
		List:   l.name,
		Title:  l.title,
		Action: l.action,
		Rows:   r.PostForm["row"],
		All:    r.trimmedField("all") == "1",
		Query:  f.values.Encode(),
	}
	page.Header, _ = l.head(f).exported()
	if !page.All && (len(page.Rows) == 0 || len(page.Rows) > perPage) {
		return nil, filter{}, bulkPage{}, errNothing.With("row", fault.LinesChosen, perPage)
	}
	return l, f, page, nil
}

// previewBulk shows what an action would be done to, and asks.
func previewBulk(c *Console, r *request) (answer, error) {
	l, f, page, err := c.parseBulkForm(r)
	if err != nil {
		return nil, err
	}
	chosen := map[string]bool{}
	for _, key := range page.Rows {
		chosen[key] = true
	}
	f.After = r.trimmedField("after")
	for looked := 0; looked < countLines; {
		lines, next, err := l.read(r.Context(), &c.Rules, f, atOnce)
		if err != nil {
			return nil, err
		}
		for _, line := range lines {
			if !page.All && !chosen[line.Key] {
				continue
			}
			if page.Count++; len(page.Sample) < sampleLines {
				_, texts := line.exported()
				page.Sample = append(page.Sample, texts)
			}
		}
		looked += max(1, len(lines))
		if f.After = next; next == "" || !page.All { // chosen lines stand on one page
			break
		}
		page.Over = looked >= countLines
	}
	if page.Count == 0 {
		return nil, errNothing.With("row", fault.NothingFits)
	}
	return view{"bulk", page.Action.Label, page}, nil
}

// runBulkAction does it: chosen lines at once, each with its line in the trail; all that fit as a job, with one line
// before.
func runBulkAction(c *Console, r *request) (answer, error) {
	l, f, page, err := c.parseBulkForm(r)
	if err != nil {
		return nil, err
	}
	option := r.trimmedField("option")
	if len(l.action.Options) > 0 && !offersOption(l.action.Options, option) {
		return nil, errForm.With("option", fault.OneOfTheList)
	}
	if page.All {
		subject, to := l.name, redirect{"/jobs", "bulk.started"}
		if c.confined { // one partner's job must not hold up another's, and partners have no page of jobs
			subject, to = l.name+" "+string(r.scope.at.ID), redirect{page.Back(), "bulk.begun"}
		}
		run := func(ctx context.Context, tell func(any)) (any, error) { return c.applyToAll(ctx, l, f, option, tell) }
		return c.recordAndRun(r, l.action.audit, l.name, "all: "+page.Query+" "+option, to, func() error {
			return c.Begin(r.Context(), KindBulk, subject, errBulk, run)
		})
	}
	all, err := c.visiblePartners(r.Context(), r.viewer)
	if err != nil {
		return nil, err
	}
	for _, key := range page.Rows { // nothing is done before all lines are known to be allowed
		id, _, _ := strings.Cut(key, "/")
		if !isKnownPartner(all, partner.ID(id)) {
			return nil, partner.ErrNotFound
		}
	}
	for i, key := range page.Rows {
		id, rest, _ := strings.Cut(key, "/")
		err := c.changeWithAudit(r, l.action.audit, func(ctx context.Context, in *Rules) (string, string, error) {
			return rest, "bulk " + option, l.action.do(ctx, in, partner.ID(id), strings.Split(rest, "/"), option)
		})
		switch {
		case err == nil || isGoneError(err):
		case i == 0:
			return nil, err
		default: // each line is a transaction: those before this one stay done
			return nil, errPartly.With("row", fault.LinesDone, i, len(page.Rows)).Because(err)
		}
	}
	return redirect{page.Back(), "bulk.done"}, nil
}

// applyToAll does an action to every line that fits. Places stay where they are while lines leave the list.
func (c *Console) applyToAll(
	ctx context.Context, l *listing, f filter, option string, tell func(any),
) (listWork, error) {
	var done listWork
	for {
		lines, next, err := l.read(ctx, &c.Rules, f, atOnce)
		if err != nil {
			return done, err
		}
		for _, line := range lines {
			id, rest, _ := strings.Cut(line.Key, "/")
			switch err := l.action.do(ctx, &c.Rules, partner.ID(id), strings.Split(rest, "/"), option); {
			case err == nil:
				done.Lines++
			case isGoneError(err):
				done.Refused++
			default:
				return done, err
			}
			tell(done)
		}
		if f.After = next; next == "" || done.Lines >= maxBulk {
			return done, nil
		}
	}
}
