package console

import (
	"context"
	"net/url"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subject"
)

// listing is a list that people filter, sort, page through, export and act on. The page, the export and the bulk action
// ask the same store method with the same filter, so that none of them knows more or less than the others.
type listing struct {
	name, title string
	// role is who may see it, portal who of a partner's people may, of what is theirs.
	role   operator.Role
	portal operator.Right
	fields []listField
	// header names the columns of an export.
	header []string
	// read returns a page of lines and where the next begins; empty at the end.
	read func(ctx context.Context, in *Rules, f filter, limit int) (lines []listLine, next string, err error)
	// persons is set when the list can be filtered by person.
	persons bool
	// action is what can be done to many lines at once; nil when nothing can.
	action *bulkAction
}

// listLine is a line of an export, and of the preview of a bulk action. Personal values in it are masked.
type listLine struct {
	// key names the line in forms: ids, never a value.
	key   string
	cells []string
}

// listNamed returns the list that a path names, if the operator may see it.
func listNamed(r *request) (*listing, error) {
	for _, l := range listings {
		if l.name != r.PathValue("list") {
			continue
		}
		if !isAllowedTo(r.who, l.role, l.portal) {
			return nil, errForbidden
		}
		return l, nil
	}
	return nil, errNotFound
}

// showListAgain shows the list that a path names again, after a form of its was refused.
func showListAgain(c *Console, r *request) (answer, error) {
	show := map[string]handler{
		findingsList.name:      listFindings,
		assetsList.name:        listAssets,
		eventsList.name:        listEvents,
		deliveriesList.name:    listDeliveries,
		subscriptionsList.name: listSubscriptions,
		devicesList.name:       listDevices,
		breachesList.name:      listBreaches,
		casesList.name:         showCases,
		peopleList.name:        listPeople,
		auditList.name:         listAudit,
	}[r.PathValue("list")]
	if show == nil {
		return nil, errNotFound
	}
	return show(c, r)
}

// pickPerson filters a list by one person. The typed text is looked up as in the search and never gets into an address,
// which carries the keyed reference instead.
func pickPerson(c *Console, r *request) (answer, error) {
	l, err := listNamed(r)
	if err != nil {
		return nil, err
	}
	hits, as, err := c.Rules.Search.FindText(r.Context(), r.PostFormValue("q"))
	if err != nil {
		return nil, err
	}
	only := partner.ID(r.trimmedField("partner"))
	var found []subject.Hit
	for _, h := range hits {
		if h.Kind == subject.HitPerson && (only == "" || h.Partner == only) {
			found = append(found, h)
		}
	}
	if err := c.noteSearch(r, found, as); err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, errPerson.With("q", fault.ManyPeople, len(found))
	}
	q := url.Values{"partner": {string(found[0].Partner)}, "person": {found[0].ID}}
	return redirect{to: "/" + l.name + "?" + q.Encode()}, nil
}

// ListNames names every list, as paths do.
func ListNames() []string {
	names := make([]string, len(listings))
	for i, l := range listings {
		names[i] = l.name
	}
	return names
}

// listings are all lists; the fields, columns and reading of each.
var listings = []*listing{
	&findingsList,
	&assetsList,
	&eventsList,
	&deliveriesList,
	&subscriptionsList,
	&devicesList,
	&breachesList,
	&casesList,
	&peopleList,
	&auditList,
}

// linesOf returns what a list reads for its exports and bulk actions: the rows of its page as lines.
func linesOf[T any](
	rows func(f filter, ctx context.Context, in *Rules, limit int) ([]T, string, error),
	line func(f filter, partners map[partner.ID]string, one T) listLine,
) func(context.Context, *Rules, filter, int) ([]listLine, string, error) {
	return func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		list, next, err := rows(f, ctx, in, limit)
		if err != nil {
			return nil, "", err
		}
		partners, err := in.Partners.ListPartners(ctx)
		if err != nil {
			return nil, "", err
		}
		names := partnerChoice{All: partners}.namesByID()
		lines := make([]listLine, len(list))
		for i, one := range list {
			lines[i] = line(f, names, one)
		}
		return lines, next, nil
	}
}
