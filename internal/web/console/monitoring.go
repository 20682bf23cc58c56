package console

import (
	"context"
	"net/url"
	"time"

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

// Person returns the path of the page about the person that a finding concerns.
func (p findingsPage) Person(f cyber.Found) string { return p.people(f.OwnerOfValue()) }

// findingsPage is the data of the list of findings; people returns the path of a person's page.
type findingsPage struct {
	people   func(partner.ID, partner.UserHash) string
	List     listView
	Findings []cyber.Found
	Names    map[partner.ID]string
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
	all := c.visiblePartners(r)
	f := c.parseFilter(r, &findingsList, all)
	page := findingsPage{people: c.personPath, Names: partnerChoice{All: all}.namesByID()}
	found, next := callRulePair2(r, f.readFindings, &c.Rules, perPage)
	page.Findings = found
	now := c.figuresNow(r)
	counts := map[string]int64{
		"":         now[operator.FindingsOpen],
		"open":     now[operator.FindingsOpen],
		"resolved": now[operator.FindingsResolved],
	}
	counts["all"] = counts["open"] + counts["resolved"]
	page.List = c.newListView(
		r,
		&findingsList,
		f,
		all,
		len(found),
		next,
		f.totalUnlessFiltered(counts[f.valueOfName("state")], "state"),
	)
	return view{"findings", "Ocorrências", page}, nil
}

// resolveFinding closes a finding for the reason in the form and returns to the list, or to the person's page.
func resolveFinding(c *Console, r *request) (answer, error) {
	found := c.findingOf(r)
	to := "/findings"
	if r.PostForm.Has("person") {
		to = c.personPath(found.OwnerOfValue())
	}
	return c.changeAndRedirect(r, "finding.resolve", redirect{to, "finding.resolved"}, func(ctx context.Context, in *Rules) (string, string, error) {
		id, user := found.OwnerOfValue()
		return string(found.Finding.ID), r.trimmedField("resolution"), in.Monitoring.ResolveFinding(ctx, id, user, found.Finding.ID, r.trimmedField("resolution"))
	})
}

// findingPage is one finding and what the person is to do about it.
type findingPage struct {
	cyber.Found
	Plan        cyber.Plan
	Steps       []stepLine
	Classes     []string
	Person      string
	PartnerName string
}

// stepLine is a step of the plan as an attendant reads it out.
type stepLine struct {
	cyber.PlannedStep
	What, Why string
	// Site is whose page the link leads to.
	Site string
	Late bool
}

// stepLines returns the lines of a plan, in the operators' language.
func stepLines(p cyber.Plan, now time.Time) []stepLine {
	lines := make([]stepLine, len(p.Steps))
	for i, s := range p.Steps {
		lines[i] = stepLine{
			PlannedStep: s,
			What:        s.What(partner.Portuguese),
			Why:         s.Why(partner.Portuguese),
			Late:        p.Finding.Open() && s.State == cyber.StepTodo && now.After(s.Due),
		}
		if u, err := url.Parse(s.Link); err == nil {
			lines[i].Site = u.Host
		}
	}
	return lines
}

// findingOf reads which finding an address names.
func (c *Console) findingOf(r *request) cyber.Found {
	return callRuleWith2(r, c.Rules.Review.FindingByID, partnerOf(r), cyber.FindingID(r.PathValue("finding")))
}

// showFinding shows a finding with its plan. Each look is recorded in the audit trail.
func showFinding(c *Console, r *request) (answer, error) {
	found := c.findingOf(r)
	id, user := found.OwnerOfValue()
	p := callRuleWith(r, c.Rules.Partners.GetPartner, id)
	plan := callRuleWith3(r, c.Rules.Monitoring.GetFindingPlan, id, user, found.Finding.ID)
	c.recordAction(r, "finding.view", string(found.Finding.ID), "")
	return view{"finding", "Ocorrência", findingPage{
		Found: found, Plan: plan, Steps: stepLines(plan, c.Now()), Classes: exposedLabels(found.Finding.Breach.Exposes), Person: c.personPath(id, user),
		PartnerName: p.Name,
	}}, nil
}

// markFindingStep records what a person told an attendant about a step.
func markFindingStep(c *Console, r *request) (answer, error) {
	found := c.findingOf(r)
	step, state := r.PathValue("step"), r.trimmedField("state")
	return c.changeAndRedirect(
		r,
		"finding.step",
		redirect{joinPath("findings", string(found.Asset.Partner), string(found.Finding.ID)), "finding.step"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			id, user := found.OwnerOfValue()
			_, err := in.Monitoring.MarkPlanStep(
				ctx,
				id,
				user,
				found.Finding.ID,
				cyber.StepID(step),
				cyber.StepState(state),
			)
			return string(found.Finding.ID), step + " " + state, err
		},
	)
}

// recheckFinding resolves a finding whose steps are done.
func recheckFinding(c *Console, r *request) (answer, error) {
	found := c.findingOf(r)
	var now cyber.Rechecked
	c.changeWithAudit(r, "finding.recheck", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		id, user := found.OwnerOfValue()
		now, err = in.Monitoring.RecheckFinding(ctx, id, user, found.Finding.ID)
		return string(found.Finding.ID), string(now.Finding.Resolution), err
	})
	said := "finding.resolved"
	if now.Finding.Open() {
		said = "finding.left"
	}
	return redirect{joinPath("findings", string(found.Asset.Partner), string(found.Finding.ID)), said}, nil
}

// devicesPage is the data of the list of protected devices, with the pools of keys for operators of the service.
type devicesPage struct {
	partnerChoice
	List    listView
	Devices []devicePage
	Sources []cyber.Source
	Shares  []cyber.Share
	// Installs are where the programs of the systems are installed from; InstallSystems lists all of them.
	Installs       map[cyber.System]string
	InstallSystems []cyber.System
}

// SharesOf returns the shares of one pool, of partners that took keys or have a share of their own.
func (p devicesPage) SharesOf(s cyber.System) (list []cyber.Share) {
	for _, h := range p.Shares {
		if h.Resource == cyber.PoolResource(s) {
			list = append(list, h)
		}
	}
	return list
}

// PartnerName returns the name of a partner as the page shows it.
func (p devicesPage) PartnerName(id partner.ID) string {
	for _, one := range p.All {
		if one.ID == id {
			return one.Name
		}
	}
	return string(id)
}

// listDevices shows one page of protected devices. Pools and install links concern all partners and are left out for a
// partner's people.
func listDevices(c *Console, r *request) (answer, error) {
	choice := c.choosePartner(r)
	page := devicesPage{partnerChoice: choice}
	if !c.confined { // pools serve all partners
		page.Sources, page.Shares = callRule(r, c.Rules.Endpoints.ListSources), callRule(r, c.Rules.Endpoints.ListShares)
		page.Installs, page.InstallSystems = callRule(r, c.Rules.Endpoints.InstallLinks), cyber.InstallSystems()
	}
	if choice.Current.ID != "" {
		f := c.parseFilterQuery(r, &devicesList, r.URL.Query(), choice.Current.ID, choice.All)
		found, next := callRulePair2(r, f.readDevices, &c.Rules, perPage)
		for _, d := range found {
			page.Devices = append(page.Devices, devicePage{Device: d, State: d.KeyStateAt(c.Now())})
		}
		page.List = c.newListView(r, &devicesList, f, choice.All, len(page.Devices), next, -1)
	}
	return view{"devices", "Dispositivos", page}, nil
}

// findDevice looks an activation key up; a POST, so that the key stands in no address.
func findDevice(c *Console, r *request) (answer, error) {
	d := callRuleWith(r, c.Rules.Endpoints.FindDevice, r.trimmedField("key"))
	c.recordAction(r, "epp.find", string(d.ID), "")
	return redirect{to: joinPath("devices", string(d.ID))}, nil
}

// devicePage is a device with what its page shows; Shown says that its key stands in clear.
type devicePage struct {
	cyber.Device
	PartnerName string
	Person      string
	State       cyber.KeyState
	Shown       bool
	Systems     []cyber.System
}

// Live reports whether something can still be done about the key.
func (p devicePage) Live() bool { return p.State != cyber.KeyEnded }

// badge is a word with a colour.
type badge struct{ Kind, Text string }

// deviceStates and endReasons are how the page says where a key stands.
var (
	deviceStates = map[cyber.KeyState]badge{
		cyber.KeyIssued: {
			"warn",
			"Aguardando ativação",
		},
		cyber.KeyActive: {"good", "Protegido"},
		cyber.KeyEnded:  {"", "Encerrado"},
	}
	endReasons = map[cyber.EndReason]string{
		cyber.EndExpired:      "venceu",
		cyber.EndRevoked:      "revogada",
		cyber.EndMoved:        "transferida para outro aparelho",
		cyber.EndSubscription: "fim da assinatura",
	}
)

// Badge returns the badge for the state of the key.
func (p devicePage) Badge() badge { return deviceStates[p.State] }

// Ending returns why the key ended.
func (p devicePage) Ending() string { return endReasons[p.EndReason] }

// KeyMasked returns the last characters of the activation key.
func (p devicePage) KeyMasked() string { return lastFourDigits(p.Key) }

// loadDevicePage returns a key with what its page shows.
func (c *Console) loadDevicePage(r *request) devicePage {
	d := callRuleWith(r, c.Rules.Endpoints.DeviceByID, cyber.KeyID(r.PathValue("id")))
	return devicePage{
		Device:      d,
		Shown:       c.currentReveals(r)[c.referenceOf(d.Partner, d.User)] != nil,
		PartnerName: c.partnerNames(r)[d.Partner],
		Person:      c.personPath(d.Partner, d.User),
		State:       d.KeyStateAt(c.Now()),
		Systems:     cyber.ListSystems(),
	}
}

// showDevice shows a device with its key masked.
func showDevice(c *Console, r *request) (answer, error) {
	return view{"device", "Dispositivo", c.loadDevicePage(r)}, nil
}

// revealDevice shows the key of a device for a while, after the operator's reason is in the audit trail.
func revealDevice(c *Console, r *request) (answer, error) {
	page := c.loadDevicePage(r)
	return c.recordReveal(r, c.referenceOf(page.Partner, page.User), redirect{to: joinPath("devices", string(page.ID))})
}

// revokeDevice ends the key of a device at once.
var revokeDevice = changeHandler(
	"epp.revoke",
	"id",
	"/devices/{id}",
	"device.revoked",
	func(r *request, in *Rules, id cyber.KeyID) (string, error) {
		_, err := in.Endpoints.RevokeDevice(r.Context(), id)
		return "", err
	},
)

// replaceDevice ends the key of a device and gives the person one for another device, valid until the old one would
// have ended.
func replaceDevice(c *Console, r *request) (answer, error) {
	id := cyber.KeyID(r.PathValue("id"))
	var made cyber.Device
	c.changeWithAudit(r, "epp.replace", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		made, err = in.Endpoints.ReplaceDevice(ctx, id, cyber.System(r.trimmedField("system")), r.trimmedField("name"))
		return string(id), string(made.ID), err
	})
	return redirect{joinPath("devices", string(made.ID)), "device.replaced"}, nil
}

// setSource chooses where keys of a system come from, the pool or the vendor, and at how many free keys to warn.
var setSource = changeHandler("epp.source", "system", "/devices", "device.source", func(r *request, in *Rules, system cyber.System) (string, error) {
	low, pooled, returns := int64(r.readNumber("low_mark", 0)), r.trimmedField("source") == "pool", r.trimmedField("returns") != ""
	return r.trimmedField("source"), in.Endpoints.UpdateSource(r.Context(), system, cyber.SourceChange{Pooled: &pooled, LowMark: &low, Returns: &returns})
})

// setInstall sets the address from which people download the program of a system.
var setInstall = changeHandler(
	"epp.install",
	"system",
	"/devices",
	"device.install",
	func(r *request, in *Rules, system cyber.System) (string, error) {
		return r.trimmedField("link"), in.Endpoints.SetInstallLink(r.Context(), system, r.trimmedField("link"))
	},
)

// loadKeyPool reads a vendor's file into a pool.
func loadKeyPool(c *Console, r *request) (answer, error) {
	system := cyber.System(r.PathValue("system"))
	file := uploadedFile(r)
	return c.recordAndRun(r, "epp.load", string(system), "", redirect{"/devices", "device.loaded"}, func() error {
		_, err := c.Rules.Endpoints.LoadKeyPool(r.Context(), system, file, func(cyber.Loaded) {})
		return err
	})
}
