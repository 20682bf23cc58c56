package console

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// firstStep is one of the four that an empty installation takes to its first alert.
type firstStep struct {
	Title, Text string
	// Takes is how long it takes, After what comes before it.
	Takes, After string
	// Path leads to the step, by a button that says Link; List to what a step that is done has made.
	Path, Link, List string
	// DoneAt is when it was done first; zero until then.
	DoneAt time.Time
	// Next marks the first step that is not done.
	Next bool
}

// Done reports whether the step is done.
func (s firstStep) Done() bool { return !s.DoneAt.IsZero() }

// earlier returns the earlier of two times; the zero time is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// firstRunPage stands in the place of the overview until there is something to show there.
type firstRunPage struct {
	Steps []firstStep
	Done  int
	// Notices are changes of one's own access.
	Notices []operator.Entry
}

// gatherFirstRun returns which of the first steps are done.
func (c *Console) gatherFirstRun(ctx context.Context, overview overviewPage) (firstRunPage, error) {
	var partners, plans, sources, webhooks time.Time // when the first of each was made
	var newest partner.Partner                       // a live one, if there is one
	for _, p := range overview.Partners {
		isNewer := p.Mode == newest.Mode && p.CreatedAt.After(newest.CreatedAt)
		if newest.ID == "" || isNewer || p.Mode == partner.Live && newest.Mode != partner.Live {
			newest = p.Partner
		}
		partners = earlier(partners, p.CreatedAt)
		list, err := c.Rules.Plans.ListPlans(ctx, p.ID)
		if err != nil {
			return firstRunPage{}, err
		}
		for _, one := range list {
			plans = earlier(plans, one.CreatedAt)
		}
		endpoints, err := c.Rules.Webhooks.ListEndpoints(ctx, p.ID)
		if err != nil {
			return firstRunPage{}, err
		}
		for _, one := range endpoints {
			webhooks = earlier(webhooks, one.CreatedAt)
		}
	}
	feeds, err := c.Rules.Feeds.All(ctx)
	if err != nil {
		return firstRunPage{}, err
	}
	for _, one := range feeds {
		sources = earlier(sources, one.Created)
	}
	breaches, err := c.Rules.Breaches.ListBreaches(ctx)
	if err != nil {
		return firstRunPage{}, err
	}
	for _, one := range breaches {
		if one.State == leak.Published {
			sources = earlier(sources, one.AddedAt)
		}
	}
	newPlan, newWebhook := "/partners/new", "/partners/new"
	first := string(newest.ID)
	if first != "" {
		newPlan, newWebhook = joinPath("plans", first, "new"), joinPath("webhooks", first, "new")
	}
	page := firstRunPage{Notices: overview.Notices, Steps: []firstStep{
		{
			Title:  "Criar parceiro",
			Text:   "O banco que contrata a proteção e recebe a chave da API e o sal.",
			Takes:  "uns 2 minutos",
			Path:   "/partners/new",
			Link:   "Criar parceiro",
			List:   "/partners",
			DoneAt: partners,
		},
		{
			Title:  "Criar plano",
			Text:   "O que cada pessoa protegida recebe e por quanto tempo.",
			Takes:  "uns 3 minutos",
			After:  "Depois do passo 1",
			Path:   newPlan,
			Link:   "Criar plano",
			List:   joinPath("plans") + "?partner=" + first,
			DoneAt: plans,
		},
		{
			Title:  "Carregar o primeiro vazamento ou ligar uma fonte",
			Text:   "De onde vêm os dados procurados: um arquivo seu ou uma fonte que se atualiza.",
			Takes:  "depende do tamanho do arquivo",
			After:  "Pode ser feito já",
			Path:   "/breaches/new",
			Link:   "Carregar um arquivo",
			List:   "/breaches",
			DoneAt: sources,
		},
		{
			Title:  "Cadastrar webhook",
			Text:   "O endereço do parceiro que recebe cada alerta, com um teste na hora.",
			Takes:  "uns 2 minutos",
			After:  "Depois do passo 1",
			Path:   newWebhook,
			Link:   "Cadastrar webhook",
			List:   joinPath("partners", first),
			DoneAt: webhooks,
		},
	}}
	for i := range page.Steps {
		if page.Steps[i].Done() {
			page.Done++
			continue
		}
		if i == page.Done { // all before it are done
			page.Steps[i].Next = true
		}
	}
	return page, nil
}
