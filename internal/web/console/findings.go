package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// findingsPage is the data of the list of findings.
type findingsPage struct {
	List  listView
	Table listTable
}

var resolutionOptions = []choiceOption{
	{string(cyber.ResolvedPasswordChanged), "Senha trocada"},
	{string(cyber.ResolvedAccountClosed), "Conta encerrada"},
	{string(cyber.ResolvedCardReplaced), "Cartão substituído"},
	{string(cyber.ResolvedNotMe), "Não é desta pessoa"},
	{string(cyber.ResolvedOther), "Outro motivo"},
}

// listFindings shows one page of findings of the partners that the operator may see.
func listFindings(c *Console, r *request) (answer, error) {
	all, err := c.visiblePartners(r.Context(), r.viewer)
	if err != nil {
		return nil, err
	}
	f, err := c.parseFilter(r, &findingsList, all)
	if err != nil {
		return nil, err
	}
	page, err := c.gatherFindings(r.Context(), r.viewer, f, all)
	if err != nil {
		return nil, err
	}
	return view{"findings", "Ocorrências", page}, nil
}

func (c *Console) gatherFindings(
	ctx context.Context, who viewer, f filter, all []partner.Partner,
) (findingsPage, error) {
	found, next, err := f.readFindings(ctx, &c.Rules, perPage)
	if err != nil {
		return findingsPage{}, err
	}
	total, counted, err := c.countListed(ctx, f)
	if err != nil {
		return findingsPage{}, err
	}
	if total < 0 { // more than are counted for a page: what is counted beside it is at most a minute old
		now, err := c.figuresNow(ctx)
		if err != nil {
			return findingsPage{}, err
		}
		counts := map[cyber.FindingState]int64{
			cyber.FindingOpen:     now[operator.FindingsOpen],
			cyber.FindingResolved: now[operator.FindingsResolved],
			cyber.FindingStanding: now[operator.FindingsOpen] + now[operator.FindingsResolved],
		}
		if counted, ok := counts[f.findingFilter(0).State]; ok {
			total = f.totalUnlessFiltered(counted, "state")
		}
	}
	part := listPart{partners: all, shown: len(found), next: next, total: total}
	list, err := c.newListView(ctx, who, &findingsList, f, part)
	if err != nil {
		return findingsPage{}, err
	}
	table, err := c.tableOfFindings(ctx, f, found, counted, partnerChoice{All: all}.namesByID())
	return findingsPage{List: list, Table: table}, err
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
