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

// sentFilter reads the filter that a form sends along, as the page had it.
func (c *Console) sentFilter(r *request, l *listing) filter {
	q, err := url.ParseQuery(r.PostFormValue("query"))
	if err != nil {
		r.keepFailure(errForm.With("query", fault.Unreadable))
	}
	id := partner.ID(q.Get("partner"))
	if id == "" && c.confined {
		id = r.scope.at.ID
	}
	f := c.parseFilterQuery(r, l, q, id, c.visiblePartners(r))
	f.After = ""
	return f
}

// keepFilter keeps the filter of a list under a name.
func keepFilter(c *Console, r *request) (answer, error) {
	l := listNamed(r)
	f := c.sentFilter(r, l)
	name := r.trimmedField("name")
	if n := utf8.RuneCountInString(name); n < 1 || n > 60 || strings.ContainsAny(name, "\r\n\t") {
		return nil, operator.ErrFilter.With("name", fault.Length, 60)
	}
	id := uuid.Must(uuid.NewV7())
	return c.changeAndRedirect(
		r,
		"filter.keep",
		redirect{"/" + l.name + "?" + f.encodeQuery(), "filter.kept"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			return l.name, "", in.Saved.KeepFilter(
				ctx,
				operator.KeptFilter{
					Operator: r.who.ID,
					ID:       "fl_" + id.String(),
					List:     l.name,
					Name:     name,
					Query:    f.encodeQuery(),
				},
			)
		},
	)
}

// dropFilter removes one of one's own.
func dropFilter(c *Console, r *request) (answer, error) {
	l := listNamed(r)
	return c.changeAndRedirect(
		r,
		"filter.drop",
		redirect{"/" + l.name, "filter.dropped"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			return l.name, "", in.Saved.DropFilter(ctx, r.who.ID, r.PathValue("filter"))
		},
	)
}
