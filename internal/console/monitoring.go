package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// Review lists watched values and findings over all partners.
type Review interface {
	// FindingList, AssetList and DeviceList return a page and where the next begins; the zero mark at the end.
	FindingList(ctx context.Context, f cyber.FindingFilter) ([]cyber.Found, cyber.Mark, error)
	DeviceList(ctx context.Context, id partner.ID, f cyber.DeviceFilter) ([]cyber.Device, cyber.Mark, error)
	FindingByID(ctx context.Context, id partner.ID, finding cyber.FindingID) (cyber.Found, error)
	AssetList(ctx context.Context, f cyber.AssetFilter) ([]cyber.Asset, cyber.Mark, error)
	AssetByID(ctx context.Context, id partner.ID, asset cyber.AssetID) (cyber.Asset, error)
}

const perPage = 50

type assetsPage struct {
	Status cyber.Status
	Assets []cyber.Asset
	partnerChoice
	List   listView
	Names  map[partner.ID]string
	Counts map[cyber.Status]int64
	// Shown is the value that was revealed, by its id.
	Shown map[cyber.AssetID]string
}

func listAssets(c *Console, r *request) (answer, error) { return c.assetsView(r, nil) }

func (c *Console) assetsView(r *request, shown map[cyber.AssetID]string) (answer, error) {
	choice, err := c.choose(r)
	if err != nil {
		return nil, err
	}
	f, err := c.filter(r, &assetsList, choice.All)
	if err != nil {
		return nil, err
	}
	asked := f.assets(perPage)
	assets, next, err := c.Rules.Review.AssetList(r.Context(), asked)
	if err != nil {
		return nil, err
	}
	figures, err := c.Rules.Figures.Figures(r.Context())
	if err != nil {
		return nil, err
	}
	page := assetsPage{Status: asked.Status, Assets: assets, Shown: shown, partnerChoice: choice, Names: choice.names(), Counts: map[cyber.Status]int64{
		cyber.StatusMonitored: figures.Now["assets.monitored"], cyber.StatusAlert: figures.Now["assets.alert"],
		cyber.StatusCompromised: figures.Now["assets.compromised"],
	}}
	page.List, err = c.listView(r, &assetsList, f, choice.All, len(assets), markText(next), f.total(page.Counts[asked.Status], "status"))
	return view{"monitoring", "Dados monitorados", page}, err
}

func revealAsset(c *Console, r *request) (answer, error) {
	why, err := reason(r)
	if err != nil {
		return nil, err
	}
	a, err := c.Rules.Review.AssetByID(r.Context(), partner.ID(r.PathValue("partner")), cyber.AssetID(r.PathValue("asset")))
	if err != nil {
		return nil, err
	}
	if err := c.note(r, "asset.reveal", string(a.ID), why); err != nil {
		return nil, err
	}
	return c.assetsView(r, map[cyber.AssetID]string{a.ID: a.Value})
}

// Person is the page of the person whom a finding is about.
func (p findingsPage) Person(f cyber.Found) string { return p.people(f.Owner()) }

type findingsPage struct {
	people   func(partner.ID, partner.UserHash) string
	List     listView
	Findings []cyber.Found
	Names    map[partner.ID]string
	// Reasons are the resolutions that an operator may choose.
	Reasons []choiceOption
}

type choiceOption struct{ Value, Label string }

var resolutionOptions = []choiceOption{
	{string(cyber.ResolvedPasswordChanged), "Senha trocada"},
	{string(cyber.ResolvedAccountClosed), "Conta encerrada"},
	{string(cyber.ResolvedCardReplaced), "Cartão substituído"},
	{string(cyber.ResolvedNotMe), "Não é desta pessoa"},
	{string(cyber.ResolvedOther), "Outro motivo"},
}

func listFindings(c *Console, r *request) (answer, error) {
	all, err := c.visible(r)
	if err != nil {
		return nil, err
	}
	f, err := c.filter(r, &findingsList, all)
	if err != nil {
		return nil, err
	}
	page := findingsPage{people: c.personPath, Reasons: resolutionOptions, Names: partnerChoice{All: all}.names()}
	found, next, err := c.Rules.Review.FindingList(r.Context(), f.findings(perPage))
	if err != nil {
		return nil, err
	}
	page.Findings = found
	figures, err := c.Rules.Figures.Figures(r.Context())
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{"": figures.Now[operator.FindingsOpen], "open": figures.Now[operator.FindingsOpen], "resolved": figures.Now[operator.FindingsResolved]}
	counts["all"] = counts["open"] + counts["resolved"]
	page.List, err = c.listView(r, &findingsList, f, all, len(found), markText(next), f.total(counts[f.is("state")], "state"))
	return view{"findings", "Ocorrências", page}, err
}

func resolveFinding(c *Console, r *request) (answer, error) {
	found, err := c.Rules.Review.FindingByID(r.Context(), partner.ID(r.PathValue("partner")), cyber.FindingID(r.PathValue("finding")))
	if err != nil {
		return nil, err
	}
	err = c.change(r, "finding.resolve", func(ctx context.Context, in *Rules) (string, string, error) {
		id, user := found.Owner()
		err := in.Monitoring.Resolve(ctx, id, user, found.Finding.ID, r.text("resolution"))
		return string(found.Finding.ID), r.text("resolution"), err
	})
	if err != nil {
		return nil, err
	}
	to := "/findings"
	if r.PostForm.Has("person") {
		to = c.personPath(found.Owner())
	}
	return redirect{to, "finding.resolved"}, nil
}
