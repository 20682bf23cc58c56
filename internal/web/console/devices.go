package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

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
