package console

import (
	"context"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// sentFilter reads the list that a path names, and the filter that a form sends along, as the page had it.
func (c *Console) sentFilter(r *request) (l *listing, f filter, err error) {
	l, err = listNamed(r)
	if err != nil {
		return l, f, err
	}
	q, err := url.ParseQuery(r.PostFormValue("query"))
	if err != nil {
		return l, f, errForm.With("query", fault.Unreadable)
	}
	id := partner.ID(q.Get("partner"))
	if id == "" && c.confined {
		id = r.scope.at.ID
	}
	all, err := c.visiblePartners(r.Context(), r.viewer)
	if err != nil {
		return l, f, err
	}
	f, err = c.parseFilter(r.Context(), l, q, id, all)
	f.After = ""
	return l, f, err
}

// keepFilter keeps the filter of a list under a name.
func keepFilter(c *Console, r *request) (answer, error) {
	l, f, err := c.sentFilter(r)
	if err != nil {
		return nil, err
	}
	name := r.trimmedField("name")
	if n := utf8.RuneCountInString(name); n < 1 || n > 60 || strings.ContainsAny(name, "\r\n\t") {
		return nil, operator.ErrFilter.With("name", fault.Length, 60)
	}
	kept := operator.KeptFilter{
		Operator: r.who.ID,
		ID:       "fl_" + uuid.Must(uuid.NewV7()).String(),
		List:     l.name,
		Name:     name,
		Query:    f.values.Encode(),
	}
	next := redirect{"/" + l.name + "?" + f.values.Encode(), "filter.kept"}
	return c.changeAndRedirect(r, "filter.keep", next, func(ctx context.Context, in *Rules) (string, string, error) {
		return l.name, "", in.Saved.KeepFilter(ctx, kept)
	})
}

// dropFilter removes one of one's own.
func dropFilter(c *Console, r *request) (answer, error) {
	l, err := listNamed(r)
	if err != nil {
		return nil, err
	}
	next := redirect{"/" + l.name, "filter.dropped"}
	return c.changeAndRedirect(r, "filter.drop", next, func(ctx context.Context, in *Rules) (string, string, error) {
		return l.name, "", in.Saved.DropFilter(ctx, r.who.ID, r.PathValue("filter"))
	})
}
