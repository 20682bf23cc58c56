package console

import (
	"context"
	"errors"
	"net/url"
	"strings"
)

// changeWithAudit runs a change and its line in the audit trail in one transaction: fn works with the rules it is given and no others,
// must be short, and must not reach outside the database.
func (c *Console) changeWithAudit(r *request, action string, fn func(ctx context.Context, in *Rules) (subject, detail string, err error)) {
	if r.failure != nil {
		return
	}
	ctx := r.Context()
	r.failure = c.InTx(ctx, func(in *Rules) error {
		subject, detail, err := fn(ctx, in)
		if err = errors.Join(r.wrong, err); err != nil {
			return err
		}
		return in.Audit.RecordAction(ctx, r.auditActor(), action, subject, detail)
	})
}

// changeAndRedirect is changeWithAudit for a form that leads on to another page.
func (c *Console) changeAndRedirect(
	r *request,
	action string,
	next redirect,
	fn func(ctx context.Context, in *Rules) (subject, detail string, err error),
) (answer, error) {
	c.changeWithAudit(r, action, fn)
	return next, nil
}

// changeHandler makes the handler of a form that changes what the value key of its path names. That is also the subject of the line in
// the audit trail; change returns the detail. The browser is led on to next, in which {key} stands for the value.
func changeHandler[ID ~string](
	action, key, next, done string,
	change func(r *request, in *Rules, id ID) (detail string, err error),
) handler {
	return func(c *Console, r *request) (answer, error) {
		id := r.PathValue(key)
		return c.changeAndRedirect(
			r,
			action,
			redirect{strings.Replace(next, "{"+key+"}", url.PathEscape(id), 1), done},
			func(_ context.Context, in *Rules) (string, string, error) {
				detail, err := change(r, in, ID(id))
				return id, detail, err
			},
		)
	}
}

// recordAction records what is about to be done or shown, for work that does not fit into one transaction.
func (c *Console) recordAction(r *request, action, subject, detail string) {
	if r.keepFailure(r.wrong); r.failure == nil {
		r.failure = c.Rules.Audit.RecordAction(r.Context(), r.auditActor(), action, subject, detail)
	}
}

// recordAndRun records what is about to be done, does it, and leads on to another page.
func (c *Console) recordAndRun(
	r *request,
	action, subject, detail string,
	next redirect,
	run func() error,
) (answer, error) {
	if c.recordAction(r, action, subject, detail); r.failure != nil {
		return nil, r.failure
	}
	return next, run()
}
