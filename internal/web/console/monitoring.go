package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// Review lists watched values and findings over all partners.
type Review interface {
	// FindingList, ListAssets and DeviceList return a page and where the next begins; the zero mark at the end.
	FindingList(ctx context.Context, f cyber.FindingFilter) ([]cyber.Found, cyber.Mark, error)
	DeviceList(ctx context.Context, id partner.ID, f cyber.DeviceFilter) ([]cyber.Device, cyber.Mark, error)
	// GroupFindings counts the findings that fit, all of them or not more than most: see cyber.CountFindings.
	GroupFindings(ctx context.Context, f cyber.FindingFilter, most int) ([]cyber.FindingGroup, error)
	// StepMarks returns what was said of the steps of findings of a partner.
	StepMarks(ctx context.Context, id partner.ID, findings []cyber.FindingID) ([]cyber.StepMark, error)
	// CountAffected counts the people of each partner with findings that fit, ListAffected lists them.
	CountAffected(ctx context.Context, f cyber.FindingFilter) (map[partner.ID]int64, error)
	ListAffected(ctx context.Context, f cyber.FindingFilter) ([]cyber.Affected, cyber.Mark, error)
	FindingByID(ctx context.Context, id partner.ID, finding cyber.FindingID) (cyber.Found, error)
	ListAssets(ctx context.Context, f cyber.AssetFilter) ([]cyber.Asset, cyber.Mark, error)
	GetAsset(ctx context.Context, id partner.ID, asset cyber.AssetID) (cyber.Asset, error)
}

const perPage = 50

// figuresNow returns the counts of whole lists. They are the service's: a partner's people see lists of their partner
// only, and get an empty map.
func (c *Console) figuresNow(ctx context.Context) (map[operator.Figure]int64, error) {
	if c.confined {
		return map[operator.Figure]int64{}, nil
	}
	last, err := c.Rules.Figures.LastFigures(ctx)
	return last.Now, err
}

// assetFigures are the figures that count the watched values which a word of an address asks for; without one it is
// those that are compromised.
var assetFigures = map[string]operator.Figure{
	"":                              operator.AssetsCompromised,
	string(cyber.StatusCompromised): operator.AssetsCompromised,
	string(cyber.StatusAlert):       operator.AssetsAlert,
	string(cyber.StatusMonitored):   operator.AssetsMonitored,
	notSearched:                     operator.AssetsUnlooked,
}

// assetsPart is what the list of watched values has in the place of a table.
type assetsPart struct {
	Status cyber.Status
	Assets []cyber.Asset
	Names  map[partner.ID]string
	// Shown are the values that stand in clear, by their ids.
	Shown map[cyber.AssetID]string
}

// gatherAssets returns one page of watched values, masked but for those of people whom the operator gave a reason for
// lately.
func (c *Console) gatherAssets(ctx context.Context, who viewer, f filter) (listPart, error) {
	assets, next, err := f.readAssets(ctx, &c.Rules, perPage)
	if err != nil {
		return listPart{}, err
	}
	now, err := c.figuresNow(ctx)
	if err != nil {
		return listPart{}, err
	}
	reveals, err := c.currentReveals(ctx, who.who.ID)
	if err != nil {
		return listPart{}, err
	}
	shown := map[cyber.AssetID]string{}
	for _, a := range assets {
		if reveals[c.referenceOf(a.Partner, a.User)] != nil {
			shown[a.ID] = a.Value
		}
	}
	return listPart{
		shown: len(assets),
		next:  next,
		total: f.totalIfOnly(now[assetFigures[f.valueOfName("status")]], "status", "sort"),
		more:  assetsPart{f.assetStatus(), assets, f.partners, shown},
	}, nil
}

// revealAsset shows the watched values of a person in clear, after the operator's reason is in the audit trail.
func revealAsset(c *Console, r *request) (answer, error) {
	a, err := c.Rules.Review.GetAsset(r.Context(), partnerOf(r), cyber.AssetID(r.PathValue("asset")))
	if err != nil {
		return nil, err
	}
	return c.recordReveal(r, c.referenceOf(a.Partner, a.User), redirect{to: "/monitoring?" + r.URL.RawQuery})
}
