package console

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// Review lists watched values and findings over all partners.
type Review interface {
	FindingList(ctx context.Context, f cyber.FindingFilter) ([]cyber.Found, error)
	FindingByID(ctx context.Context, id partner.ID, finding cyber.FindingID) (cyber.Found, error)
	AssetList(ctx context.Context, f cyber.AssetFilter) ([]cyber.Asset, error)
	AssetByID(ctx context.Context, id partner.ID, asset cyber.AssetID) (cyber.Asset, error)
}

const perPage = 50

// markOf reads where a list goes on from the address.
func markOf(q url.Values) cyber.Mark {
	at, err := strconv.ParseInt(q.Get("at"), 10, 64)
	if err != nil {
		return cyber.Mark{}
	}
	return cyber.Mark{At: time.UnixMicro(at), ID: q.Get("id")}
}

// nextMark is the query that goes on after the last line of a full page.
func nextMark(at time.Time, id string) string {
	return "at=" + strconv.FormatInt(at.UnixMicro(), 10) + "&id=" + url.QueryEscape(id)
}

type assetsPage struct {
	Status cyber.Status
	Assets []cyber.Asset
	partnerChoice
	Names  map[partner.ID]string
	Counts map[cyber.Status]int64
	// Shown is the value that was revealed, by its id.
	Shown map[cyber.AssetID]string
	Next  string
}

func listAssets(c *Console, r *request) (answer, error) { return c.assetsView(r, nil) }

func (c *Console) assetsView(r *request, shown map[cyber.AssetID]string) (answer, error) {
	status := cyber.Status(r.URL.Query().Get("status"))
	if status != cyber.StatusMonitored && status != cyber.StatusAlert {
		status = cyber.StatusCompromised
	}
	assets, err := c.Rules.Review.AssetList(r.Context(), cyber.AssetFilter{Status: status, Before: markOf(r.URL.Query()), Limit: perPage + 1})
	if err != nil {
		return nil, err
	}
	page := assetsPage{Status: status, Assets: assets, Shown: shown}
	if len(assets) > perPage {
		page.Assets = assets[:perPage]
		last := assets[perPage-1]
		page.Next = nextMark(last.AddedAt, string(last.ID))
	}
	if page.partnerChoice, err = c.choose(r); err != nil {
		return nil, err
	}
	page.Names = page.partnerChoice.names()
	figures, err := c.Rules.Figures.Figures(r.Context())
	if err != nil {
		return nil, err
	}
	page.Counts = map[cyber.Status]int64{
		cyber.StatusMonitored: figures.Now["assets.monitored"], cyber.StatusAlert: figures.Now["assets.alert"],
		cyber.StatusCompromised: figures.Now["assets.compromised"],
	}
	return view{"monitoring", "Dados monitorados", page}, nil
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
	OpenOnly bool
	Breach   string
	Findings []cyber.Found
	Names    map[partner.ID]string
	Next     string
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
	q := r.URL.Query()
	page := findingsPage{people: c.personPath, OpenOnly: q.Get("all") == "", Breach: q.Get("breach"), Reasons: resolutionOptions}
	found, err := c.Rules.Review.FindingList(r.Context(), cyber.FindingFilter{
		Breach: page.Breach, OpenOnly: page.OpenOnly, Before: markOf(q), Limit: perPage + 1,
	})
	if err != nil {
		return nil, err
	}
	page.Findings = found
	if len(found) > perPage {
		page.Findings = found[:perPage]
		last := found[perPage-1].Finding
		page.Next = nextMark(last.FoundAt, string(last.ID))
	}
	if page.Names, err = c.names(r); err != nil {
		return nil, err
	}
	return view{"findings", "Ocorrências", page}, nil
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
