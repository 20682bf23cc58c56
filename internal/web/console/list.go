package console

import (
	"context"
	"iter"
	"net/url"
	"slices"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subject"
)

// listing is a list that people filter, sort, page through, export and act on. The page, the export and the bulk action
// ask the same store method with the same filter, and take the same columns, so that none of them knows more or less
// than the others.
type listing struct {
	name, title string
	access
	fields []listField
	// persons is set when the list can be filtered by person.
	persons bool
	// action is what can be done to many lines at once; nil when nothing can.
	action *bulkAction
	// gather returns what the page shows under a filter; by default the rows and nothing else.
	gather func(c *Console, ctx context.Context, who viewer, f filter) (listPart, error)
	// show answers with the page of a list that is more than its rows; nil for the others.
	show func(c *Console, r *request, l *listing) (answer, error)
	// head returns a row without values, which has the names of the columns.
	head func(f filter) listRow
	// read returns rows, with what exports need of them, and where the next begin; empty at the end.
	read func(ctx context.Context, in *Rules, f filter, limit int) (rows []listRow, next string, err error)
}

// rowReader reads rows of a list, and where the next begin; empty at the end.
type rowReader[T any] func(f filter, ctx context.Context, in *Rules, limit int) ([]T, string, error)

// listOf returns a list of what one function reads, in the columns that the other makes of it.
func listOf[T any](l listing, read rowReader[T], row rowMaker[T]) *listing {
	if l.gather == nil {
		l.gather = func(c *Console, ctx context.Context, _ viewer, f filter) (listPart, error) {
			list, next, err := read(f, ctx, &c.Rules, perPage)
			return newListPart(f, list, row, next, -1), err
		}
	}
	l.head = row.head
	l.read = func(ctx context.Context, in *Rules, f filter, limit int) ([]listRow, string, error) {
		found, next, err := read(f, ctx, in, limit)
		rows := make([]listRow, len(found))
		for i, one := range found {
			rows[i] = row(one, f)
		}
		return rows, next, err
	}
	return &l
}

// rows reads all rows that a filter leaves, from the place where it begins.
func (l *listing) rows(ctx context.Context, in *Rules, f filter) iter.Seq2[listRow, error] {
	return func(yield func(listRow, error) bool) {
		for more := true; more; more = f.After != "" {
			rows, next, err := l.read(ctx, in, f, atOnce)
			if err != nil {
				yield(listRow{}, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			f.After = next
		}
	}
}

// listings are all lists; the fields, columns and reading of each.
var listings = []*listing{
	findingsList,
	assetsList,
	eventsList,
	deliveriesList,
	subscriptionsList,
	devicesList,
	breachesList,
	casesList,
	peopleList,
	auditList,
}

// listNamed returns the list that a path names, if the operator may see it.
func listNamed(r *request) (*listing, error) {
	i := slices.IndexFunc(listings, func(l *listing) bool { return l.name == r.PathValue("list") })
	switch {
	case i < 0:
		return nil, errNotFound
	case !listings[i].isOpenTo(r.who):
		return nil, errForbidden
	}
	return listings[i], nil
}

// showListAgain shows the list that a path names again, after a form of its was refused.
func showListAgain(c *Console, r *request) (answer, error) {
	l, err := listNamed(r)
	if err != nil {
		return nil, err
	}
	return l.showPage(c, r)
}

// listPage is the data of the page of a list; More is what only this list shows.
type listPage struct {
	partnerChoice
	List  listView
	Table listTable
	More  any
}

// showPage answers with the part of the list that a request asks for.
func (l *listing) showPage(c *Console, r *request) (answer, error) {
	if l.show != nil {
		return l.show(c, r, l)
	}
	page, err := l.readPage(c, r)
	return newView(l.name, l.title, page, err)
}

// readPage reads the part of the list that a request asks for. That of one partner at a time is empty until one is
// chosen.
func (l *listing) readPage(c *Console, r *request) (page listPage, err error) {
	var id partner.ID
	if i := slices.IndexFunc(l.fields, func(f listField) bool { return f.Name == "partner" }); i >= 0 {
		page.partnerChoice, err = c.choosePartner(r)
		ofAll := l.fields[i].None != ""
		if err != nil || !ofAll && page.Current.ID == "" {
			return page, err
		}
		if !ofAll || askedPartner(r) != "" {
			id = page.Current.ID
		}
	}
	ctx := r.Context()
	f, err := c.parseFilter(ctx, l, r.URL.Query(), id, page.All)
	if err != nil {
		return page, err
	}
	part, err := l.gather(c, ctx, r.viewer, f)
	if err != nil {
		return page, err
	}
	page.Table, page.More = part.table, part.more
	page.List, err = c.newListView(ctx, r.viewer, l, f, part)
	return page, err
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
	found := slices.DeleteFunc(hits, func(h subject.Hit) bool {
		return h.Kind != subject.HitPerson || only != "" && h.Partner != only
	})
	if err := c.noteSearch(r, found, as); err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, errPerson.With("q", fault.ManyPeople, len(found))
	}
	q := url.Values{"partner": {string(found[0].Partner)}, "person": {found[0].ID}}
	return redirect{to: "/" + l.name + "?" + q.Encode()}, nil
}
