package console

import (
	"context"

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
	Done             bool
	// Next marks the first step that is not done.
	Next bool
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
	plans, webhooks := 0, 0
	var first partner.ID
	for _, p := range overview.Partners {
		first = p.ID // the newest
		list, err := c.Rules.Plans.ListPlans(ctx, p.ID)
		if err != nil {
			return firstRunPage{}, err
		}
		endpoints, err := c.Rules.Webhooks.ListEndpoints(ctx, p.ID)
		if err != nil {
			return firstRunPage{}, err
		}
		plans, webhooks = plans+len(list), webhooks+len(endpoints)
	}
	feeds, err := c.Rules.Feeds.All(ctx)
	if err != nil {
		return firstRunPage{}, err
	}
	newPlan, newWebhook := "/partners/new", "/partners/new"
	if first != "" {
		newPlan, newWebhook = joinPath("plans", string(first), "new"), joinPath("webhooks", string(first), "new")
	}
	page := firstRunPage{Notices: overview.Notices, Steps: []firstStep{
		{
			Title: "Criar parceiro",
			Text:  "O banco que contrata a proteção e recebe a chave da API e o sal.",
			Takes: "uns 2 minutos",
			Path:  "/partners/new",
			Link:  "Criar parceiro",
			List:  "/partners",
			Done:  len(overview.Partners) > 0,
		},
		{
			Title: "Criar plano",
			Text:  "O que cada pessoa protegida recebe e por quanto tempo.",
			Takes: "uns 3 minutos",
			After: "Depois do passo 1",
			Path:  newPlan,
			Link:  "Criar plano",
			List:  joinPath("plans") + "?partner=" + string(first),
			Done:  plans > 0,
		},
		{
			Title: "Carregar o primeiro vazamento ou ligar uma fonte",
			Text:  "De onde vêm os dados procurados: um arquivo seu ou uma fonte que se atualiza.",
			Takes: "depende do tamanho do arquivo",
			After: "Pode ser feito já",
			Path:  "/breaches/new",
			Link:  "Carregar um arquivo",
			List:  "/breaches",
			Done:  overview.Breaches > 0 || len(feeds) > 0,
		},
		{
			Title: "Cadastrar webhook",
			Text:  "O endereço do parceiro que recebe cada alerta, com um teste na hora.",
			Takes: "uns 2 minutos",
			After: "Depois do passo 1",
			Path:  newWebhook,
			Link:  "Cadastrar webhook",
			List:  joinPath("partners", string(first)),
			Done:  webhooks > 0,
		},
	}}
	for i := range page.Steps {
		if page.Steps[i].Done {
			page.Done++
			continue
		}
		if i == page.Done { // all before it are done
			page.Steps[i].Next = true
		}
	}
	return page, nil
}
