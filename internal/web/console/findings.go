package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
)

var resolutionOptions = []choiceOption{
	{string(cyber.ResolvedPasswordChanged), "Senha trocada"},
	{string(cyber.ResolvedAccountClosed), "Conta encerrada"},
	{string(cyber.ResolvedCardReplaced), "Cartão substituído"},
	{string(cyber.ResolvedNotMe), "Não é desta pessoa"},
	{string(cyber.ResolvedOther), "Outro motivo"},
}

// gatherFindings returns one page of findings, under the leaks that they are of unless the filter says otherwise.
func (c *Console) gatherFindings(ctx context.Context, _ viewer, f filter) (listPart, error) {
	rows, next, err := f.readFindings(ctx, &c.Rules, perPage)
	if err != nil {
		return listPart{}, err
	}
	if err := c.completeFindings(ctx, rows); err != nil {
		return listPart{}, err
	}
	total, counted, err := c.countListed(ctx, f)
	if err != nil {
		return listPart{}, err
	}
	if total < 0 { // more than are counted for a page: what is counted beside it is at most a minute old
		now, err := c.figuresNow(ctx)
		if err != nil {
			return listPart{}, err
		}
		counts := map[cyber.FindingState]int64{
			cyber.FindingOpen:     now[operator.FindingsOpen],
			cyber.FindingResolved: now[operator.FindingsResolved],
			cyber.FindingStanding: now[operator.FindingsOpen] + now[operator.FindingsResolved],
		}
		if counted, ok := counts[f.findingFilter(0).State]; ok {
			total = f.totalIfOnly(counted, "state", "sort")
		}
	}
	part := newListPart(f, rows, rowOfFinding, next, total)
	if part.table.IsGrouped() {
		err = c.describeLeaks(ctx, f, part.table.Groups, rows, counted)
	}
	return part, err
}

// resolveFinding closes a finding for the reason in the form and returns to the list, or to the person's page.
func resolveFinding(c *Console, r *request) (answer, error) {
	found, err := c.findingOf(r)
	if err != nil {
		return nil, err
	}
	id, user := found.OwnerOfValue()
	reason := r.trimmedField("resolution")
	next := redirect{"/findings", "finding.resolved"}
	switch {
	case r.PostForm.Has("person"):
		next.to = c.personPath(id, user)
	case r.PostForm.Has("finding"):
		next.to = findingPath(found)
	}
	resolve := func(ctx context.Context, in *Rules) (string, string, error) {
		err := in.Monitoring.ResolveFinding(ctx, id, user, found.Finding.ID, reason)
		return string(found.Finding.ID), reason, err
	}
	return c.changeAndRedirect(r, "finding.resolve", next, resolve)
}
