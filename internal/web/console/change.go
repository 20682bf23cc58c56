package console

import (
	"context"
	"net/url"
	"strings"
)

// change changes something with the rules that it is given and no others: they belong to one transaction. It must be
// short and must not reach outside the database. It returns the subject and the detail of its line in the audit trail.
type change func(ctx context.Context, in *Rules) (subject, detail string, err error)

// changeWithAudit runs a change and its line in the audit trail in one transaction.
func (c *Console) changeWithAudit(r *request, action string, run change) error {
	ctx := r.Context()
	return c.InTx(ctx, func(in *Rules) error {
		subject, detail, err := run(ctx, in)
		if err != nil {
			return err
		}
		return in.Audit.RecordAction(ctx, r.auditActor(), action, subject, detail)
	})
}

// changeAndRedirect is changeWithAudit for a form that leads on to another page.
func (c *Console) changeAndRedirect(r *request, action string, next redirect, run change) (answer, error) {
	if err := c.changeWithAudit(r, action, run); err != nil {
		return nil, err
	}
	return next, nil
}

// changeHandler makes the handler of a form that changes what the value key of its path names. That is also the subject
// of the line in the audit trail; change returns the detail. The browser is led on to next, in which {key} stands for
// the value.
func changeHandler[ID ~string](
	action, key, next, done string,
	change func(r *request, in *Rules, id ID) (detail string, err error),
) handler {
	return func(c *Console, r *request) (answer, error) {
		id := r.PathValue(key)
		to := redirect{strings.Replace(next, "{"+key+"}", url.PathEscape(id), 1), done}
		return c.changeAndRedirect(r, action, to, func(_ context.Context, in *Rules) (string, string, error) {
			detail, err := change(r, in, ID(id))
			return id, detail, err
		})
	}
}

// recordAction records what is about to be done or shown, for work that does not fit into one transaction.
func (c *Console) recordAction(r *request, action, subject, detail string) error {
	return c.Rules.Audit.RecordAction(r.Context(), r.auditActor(), action, subject, detail)
}

// recordAndRun records what is about to be done, does it, and leads on to another page.
func (c *Console) recordAndRun(
	r *request, action, subject, detail string, next redirect, run func() error,
) (answer, error) {
	if err := c.recordAction(r, action, subject, detail); err != nil {
		return nil, err
	}
	if err := run(); err != nil {
		return nil, err
	}
	return next, nil
}
