package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subject"
)

// openErasure is an erasure that was asked for. Ref is the person's, by which their page is found.
type openErasure struct {
	subject.ErasureRequest
	Ref       string
	CanCancel bool
}

// requestErasure asks for the erasure of what a partner holds about a person, a day later. Without the confirmation
// word and a reason it refuses; the rule records who asked.
func requestErasure(c *Console, r *request) (answer, error) {
	form := newFormReader(r)
	if r.trimmedField("confirm") != eraseWord {
		form.noteFault(errForm.With("confirm", fault.TypeToConfirm, eraseWord))
	}
	p, why, err := c.readPerson(form)
	if err != nil {
		return nil, err
	}
	if _, err := c.Rules.Subjects.RequestErasure(r.Context(), r.auditActor(), p, why); err != nil {
		return nil, err
	}
	return redirect{"/subjects", "erasure.asked"}, nil
}

// showErasureRequest shows the form again that requestErasure refused, without what is held: that look was recorded
// once.
func showErasureRequest(c *Console, r *request) (answer, error) {
	page, err := c.newSubjectsPage(r)
	if err != nil {
		return nil, err
	}
	page.MayAsk = true
	return view{"subjects", "Titulares", page}, nil
}

// cancelErasure takes back an erasure that has not begun; the rule records who did.
func cancelErasure(c *Console, r *request) (answer, error) {
	id := partner.ID(r.PathValue("partner"))
	_, err := c.Rules.Subjects.CancelErasure(r.Context(), r.auditActor(), id, r.PathValue("request"))
	if err != nil {
		return nil, err
	}
	return redirect{"/subjects", "erasure.cancelled"}, nil
}

// gatherOpenErasures returns the erasures of a partner that are not over.
func (c *Console) gatherOpenErasures(ctx context.Context, id partner.ID) ([]openErasure, error) {
	list, err := c.Rules.Subjects.ListOpenErasures(ctx, id)
	if err != nil {
		return nil, err
	}
	open := make([]openErasure, len(list))
	for i, e := range list {
		open[i] = openErasure{e, c.referenceOf(id, e.User), e.State == subject.RequestPending}
	}
	return open, nil
}
