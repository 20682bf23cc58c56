package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// devicesPage is the data of the list of protected devices, with the pools of keys for operators of the service.
type devicesPage struct {
	partnerChoice
	List     listView
	Devices  []devicePage
	Sources  []cyber.Source
	Shares   []cyber.Share
	Installs []installLink
}

// installLink is where the program of a system is installed from.
type installLink struct {
	System cyber.System
	Link   string
}

// listInstallLinks returns the install links of all systems, also of those without one.
func (c *Console) listInstallLinks(ctx context.Context) ([]installLink, error) {
	links, err := c.Rules.Endpoints.InstallLinks(ctx)
	if err != nil {
		return nil, err
	}
	var list []installLink
	for _, s := range cyber.InstallSystems() {
		list = append(list, installLink{s, links[s]})
	}
	return list, nil
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
	choice, err := c.choosePartner(r)
	if err != nil {
		return nil, err
	}
	page := devicesPage{partnerChoice: choice}
	if !c.confined { // pools serve all partners
		if page.Sources, err = c.Rules.Endpoints.ListSources(r.Context()); err != nil {
			return nil, err
		}
		if page.Shares, err = c.Rules.Endpoints.ListShares(r.Context()); err != nil {
			return nil, err
		}
		if page.Installs, err = c.listInstallLinks(r.Context()); err != nil {
			return nil, err
		}
	}
	if choice.Current.ID != "" {
		f, err := c.parseFilterQuery(r.Context(), &devicesList, r.URL.Query(), choice.Current.ID, choice.All)
		if err != nil {
			return nil, err
		}
		found, next, err := c.Rules.Review.DeviceList(r.Context(), choice.Current.ID, f.deviceFilter(perPage))
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			page.Devices = append(page.Devices, devicePage{Device: d, State: d.KeyStateAt(c.Now())})
		}
		if page.List, err = c.newListView(r, &devicesList, f, choice.All, len(page.Devices), formatMark(next), -1); err != nil {
			return nil, err
		}
	}
	return view{"devices", "Dispositivos", page}, nil
}

// findDevice looks an activation key up; a POST, so that the key stands in no address.
func findDevice(c *Console, r *request) (answer, error) {
	d, err := c.Rules.Endpoints.FindDevice(r.Context(), r.trimmedField("key"))
	if err != nil {
		return nil, err
	}
	err = c.recordAction(r, "epp.find", string(d.ID), "")
	return redirect{to: joinPath("devices", string(d.ID))}, err
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
		cyber.KeyIssued: {"warn", "Aguardando ativação"}, cyber.KeyActive: {"good", "Protegido"}, cyber.KeyEnded: {"", "Encerrado"},
	}
	endReasons = map[cyber.EndReason]string{
		cyber.EndExpired: "venceu", cyber.EndRevoked: "revogada", cyber.EndMoved: "transferida para outro aparelho", cyber.EndSubscription: "fim da assinatura",
	}
)

// Badge returns the badge for the state of the key.
func (p devicePage) Badge() badge { return deviceStates[p.State] }

// Ending returns why the key ended.
func (p devicePage) Ending() string { return endReasons[p.EndReason] }

// KeyMasked returns the last characters of the activation key.
func (p devicePage) KeyMasked() string {
	if len(p.Key) < 8 {
		return "****"
	}
	return "****" + p.Key[len(p.Key)-4:]
}

// loadDevicePage returns a key with what its page shows.
func (c *Console) loadDevicePage(r *request) (devicePage, error) {
	d, err := c.Rules.Endpoints.GetDevice(r.Context(), cyber.KeyID(r.PathValue("id")))
	if err != nil {
		return devicePage{}, err
	}
	names, err := c.partnerNames(r)
	if err != nil {
		return devicePage{}, err
	}
	reveals, err := c.currentReveals(r)
	return devicePage{
		Device: d, Shown: reveals[c.referenceOf(d.Partner, d.User)] != nil, PartnerName: names[d.Partner], Person: c.personPath(d.Partner, d.User), State: d.KeyStateAt(c.Now()), Systems: cyber.ListSystems(),
	}, err
}

// showDevice shows a device with its key masked.
func showDevice(c *Console, r *request) (answer, error) {
	page, err := c.loadDevicePage(r)
	return view{"device", "Dispositivo", page}, err
}

// revealDevice shows the key of a device for a while, after the operator's reason is in the audit trail.
func revealDevice(c *Console, r *request) (answer, error) {
	page, err := c.loadDevicePage(r)
	if err != nil {
		return nil, err
	}
	return c.recordReveal(r, c.referenceOf(page.Partner, page.User), redirect{to: joinPath("devices", string(page.ID))})
}

// revokeDevice ends the key of a device at once.
func revokeDevice(c *Console, r *request) (answer, error) {
	id := cyber.KeyID(r.PathValue("id"))
	return c.changeAndRedirect(r, "epp.revoke", redirect{joinPath("devices", string(id)), "device.revoked"}, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Endpoints.RevokeDevice(ctx, id)
		return string(id), "", err
	})
}

// replaceDevice ends the key of a device and gives the person one for another device, valid until the old one would
// have ended.
func replaceDevice(c *Console, r *request) (answer, error) {
	id := cyber.KeyID(r.PathValue("id"))
	var made cyber.Device
	err := c.changeWithAudit(r, "epp.replace", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		made, err = in.Endpoints.ReplaceDevice(ctx, id, cyber.System(r.trimmedField("system")), r.trimmedField("name"))
		return string(id), string(made.ID), err
	})
	return redirect{joinPath("devices", string(made.ID)), "device.replaced"}, err
}

// setSource chooses where keys of a system come from, the pool or the vendor, and at how many free keys to warn.
func setSource(c *Console, r *request) (answer, error) {
	system := cyber.System(r.PathValue("system"))
	low := int64(r.readNumber("low_mark", 0))
	pooled, returns := r.trimmedField("source") == "pool", r.trimmedField("returns") != ""
	return c.changeAndRedirect(r, "epp.source", redirect{"/devices", "device.source"}, func(ctx context.Context, in *Rules) (string, string, error) {
		return string(system), r.trimmedField("source"), in.Endpoints.UpdateSource(ctx, system, cyber.SourceChange{Pooled: &pooled, LowMark: &low, Returns: &returns})
	})
}

// setInstall sets the address from which people download the program of a system.
func setInstall(c *Console, r *request) (answer, error) {
	system := cyber.System(r.PathValue("system"))
	return c.changeAndRedirect(r, "epp.install", redirect{"/devices", "device.install"}, func(ctx context.Context, in *Rules) (string, string, error) {
		return string(system), r.trimmedField("link"), in.Endpoints.SetInstallLink(ctx, system, r.trimmedField("link"))
	})
}

// loadKeyPool reads a vendor's file into a pool.
func loadKeyPool(c *Console, r *request) (answer, error) {
	system := cyber.System(r.PathValue("system"))
	file, err := uploadedFile(r)
	if err != nil {
		return nil, err
	}
	if err := c.recordAction(r, "epp.load", string(system), ""); err != nil {
		return nil, err
	}
	_, err = c.Rules.Endpoints.LoadKeyPool(r.Context(), system, file, func(cyber.Loaded) {})
	return redirect{"/devices", "device.loaded"}, err
}
