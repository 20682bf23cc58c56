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
	ListAssets(ctx context.Context, f cyber.AssetFilter) ([]cyber.Asset, cyber.Mark, error)
	GetAsset(ctx context.Context, id partner.ID, asset cyber.AssetID) (cyber.Asset, error)
}

const perPage = 50

// figuresNow returns the counts of whole lists. They are the service's: a partner's people see lists of their partner
// only, and get an empty map.
func (c *Console) figuresNow(r *request) (map[operator.Figure]int64, error) {
	if c.confined {
		return map[operator.Figure]int64{}, nil
	}
	figures, err := c.Rules.Figures.LastFigures(r.Context())
	return figures.Now, err
}

// assetsPage is the data of the list of watched values.
type assetsPage struct {
	Status cyber.Status
	Assets []cyber.Asset
	partnerChoice
	List  listView
	Names map[partner.ID]string
	// Shown are the values that stand in clear, by their ids.
	Shown map[cyber.AssetID]string
}

// listAssets shows one page of watched values, masked but for those of people whom the operator gave a reason for lately.
func listAssets(c *Console, r *request) (answer, error) {
	choice, err := c.choosePartner(r)
	if err != nil {
		return nil, err
	}
	f, err := c.parseFilter(r, &assetsList, choice.All)
	if err != nil {
		return nil, err
	}
	asked := f.assetFilter(perPage)
	assets, next, err := c.Rules.Review.ListAssets(r.Context(), asked)
	if err != nil {
		return nil, err
	}
	now, err := c.figuresNow(r)
	if err != nil {
		return nil, err
	}
	reveals, err := c.currentReveals(r)
	if err != nil {
		return nil, err
	}
	shown := map[cyber.AssetID]string{}
	for _, a := range assets {
		if len(reveals) > 0 && reveals[c.referenceOf(a.Partner, a.User)] != nil {
			shown[a.ID] = a.Value
		}
	}
	page := assetsPage{Status: asked.Status, Assets: assets, Shown: shown, partnerChoice: choice, Names: choice.namesByID()}
	counted := map[cyber.Status]operator.Figure{
		cyber.StatusMonitored: "assets.monitored", cyber.StatusAlert: "assets.alert", cyber.StatusCompromised: "assets.compromised",
	}[asked.Status]
	page.List, err = c.newListView(r, &assetsList, f, choice.All, len(assets), formatMark(next), f.totalUnlessFiltered(now[counted], "status"))
	return view{"monitoring", "Dados monitorados", page}, err
}

// revealAsset shows the watched values of a person in clear, after the operator's reason is in the audit trail.
func revealAsset(c *Console, r *request) (answer, error) {
	a, err := c.Rules.Review.GetAsset(r.Context(), partner.ID(r.PathValue("partner")), cyber.AssetID(r.PathValue("asset")))
	if err != nil {
		return nil, err
	}
	return c.recordReveal(r, c.referenceOf(a.Partner, a.User), redirect{to: "/monitoring?" + r.URL.RawQuery})
}

// Person returns the path of the page about the person that a finding concerns.
func (p findingsPage) Person(f cyber.Found) string { return p.people(f.OwnerOfValue()) }

// findingsPage is the data of the list of findings; people returns the path of a person's page.
type findingsPage struct {
	people   func(partner.ID, partner.UserHash) string
	List     listView
	Findings []cyber.Found
	Names    map[partner.ID]string
	// Reasons are the resolutions that an operator may choose.
	Reasons []choiceOption
}

// choiceOption is an option of a select field.
type choiceOption struct{ Value, Label string }

var resolutionOptions = []choiceOption{
	{string(cyber.ResolvedPasswordChanged), "Senha trocada"},
	{string(cyber.ResolvedAccountClosed), "Conta encerrada"},
	{string(cyber.ResolvedCardReplaced), "Cartão substituído"},
	{string(cyber.ResolvedNotMe), "Não é desta pessoa"},
	{string(cyber.ResolvedOther), "Outro motivo"},
}

// listFindings shows one page of findings of the partners that the operator may see.
func listFindings(c *Console, r *request) (answer, error) {
	all, err := c.visiblePartners(r)
	if err != nil {
		return nil, err
	}
	f, err := c.parseFilter(r, &findingsList, all)
	if err != nil {
		return nil, err
	}
	page := findingsPage{people: c.personPath, Reasons: resolutionOptions, Names: partnerChoice{All: all}.namesByID()}
	found, next, err := c.Rules.Review.FindingList(r.Context(), f.findingFilter(perPage))
	if err != nil {
		return nil, err
	}
	page.Findings = found
	now, err := c.figuresNow(r)
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{"": now[operator.FindingsOpen], "open": now[operator.FindingsOpen], "resolved": now[operator.FindingsResolved]}
	counts["all"] = counts["open"] + counts["resolved"]
	page.List, err = c.newListView(r, &findingsList, f, all, len(found), formatMark(next), f.totalUnlessFiltered(counts[f.valueOfName("state")], "state"))
	return view{"findings", "Ocorrências", page}, err
}

// resolveFinding closes a finding for the reason in the form and returns to the list, or to the person's page.
func resolveFinding(c *Console, r *request) (answer, error) {
	found, err := c.findingOf(r)
	if err != nil {
		return nil, err
	}
	err = c.changeWithAudit(r, "finding.resolve", func(ctx context.Context, in *Rules) (string, string, error) {
		id, user := found.OwnerOfValue()
		err := in.Monitoring.ResolveFinding(ctx, id, user, found.Finding.ID, r.trimmedField("resolution"))
		return string(found.Finding.ID), r.trimmedField("resolution"), err
	})
	if err != nil {
		return nil, err
	}
	to := "/findings"
	if r.PostForm.Has("person") {
		to = c.personPath(found.OwnerOfValue())
	}
	return redirect{to, "finding.resolved"}, nil
}
