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
func (c *Console) figuresNow(r *request) map[operator.Figure]int64 {
	if c.confined {
		return map[operator.Figure]int64{}
	}
	return callRule(r, c.Rules.Figures.LastFigures).Now
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
	choice := c.choosePartner(r)
	f := c.parseFilter(r, &assetsList, choice.All)
	assets, next := callRulePair2(r, f.readAssets, &c.Rules, perPage)
	now := c.figuresNow(r)
	reveals := c.currentReveals(r)
	shown := map[cyber.AssetID]string{}
	for _, a := range assets {
		if len(reveals) > 0 && reveals[c.referenceOf(a.Partner, a.User)] != nil {
			shown[a.ID] = a.Value
		}
	}
	page := assetsPage{
		Status:        f.assetStatus(),
		Assets:        assets,
		Shown:         shown,
		partnerChoice: choice,
		Names:         choice.namesByID(),
	}
	counted := map[cyber.Status]operator.Figure{
		cyber.StatusMonitored: "assets.monitored", cyber.StatusAlert: "assets.alert", cyber.StatusCompromised: "assets.compromised",
	}[page.Status]
	page.List = c.newListView(
		r,
		&assetsList,
		f,
		choice.All,
		len(assets),
		next,
		f.totalUnlessFiltered(now[counted], "status"),
	)
	return view{"monitoring", "Dados monitorados", page}, nil
}

// revealAsset shows the watched values of a person in clear, after the operator's reason is in the audit trail.
func revealAsset(c *Console, r *request) (answer, error) {
	a := callRuleWith2(r, c.Rules.Review.GetAsset, partnerOf(r), cyber.AssetID(r.PathValue("asset")))
	return c.recordReveal(r, c.referenceOf(a.Partner, a.User), redirect{to: "/monitoring?" + r.URL.RawQuery})
}
