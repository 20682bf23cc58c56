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
	Table   listTable
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
		if err := c.gatherPools(r.Context(), &page); err != nil {
			return nil, err
		}
	}
	if choice.Current.ID != "" {
		f, err := c.parseFilterQuery(r.Context(), &devicesList, r.URL.Query(), choice.Current.ID, choice.All)
		if err != nil {
			return nil, err
		}
		if err := c.gatherDevices(r.Context(), r.viewer, f, &page); err != nil {
			return nil, err
		}
	}
	return view{"devices", "Dispositivos", page}, nil
}

// gatherPools adds the pools of keys and the install links to the page of devices.
func (c *Console) gatherPools(ctx context.Context, page *devicesPage) error {
	var err error
	page.Sources, err = c.Rules.Endpoints.ListSources(ctx)
	if err != nil {
		return err
	}
	page.Shares, err = c.Rules.Endpoints.ListShares(ctx)
	if err != nil {
		return err
	}
	page.InstallSystems = cyber.InstallSystems()
	page.Installs, err = c.Rules.Endpoints.InstallLinks(ctx)
	return err
}

// gatherDevices adds a page of the list to the page of devices.
func (c *Console) gatherDevices(ctx context.Context, who viewer, f filter, page *devicesPage) error {
	found, next, err := f.readDevices(ctx, &c.Rules, perPage)
	if err != nil {
		return err
	}
	list := make([]devicePage, len(found))
	for i, d := range found {
		list[i] = devicePage{Device: d, State: d.KeyStateAt(c.Now())}
	}
	page.Table = tableOfDevices(list, c.Now())
	part := listPart{partners: page.All, shown: len(found), next: next, total: -1}
	page.List, err = c.newListView(ctx, who, &devicesList, f, part)
	return err
}

// findDevice looks an activation key up; a POST, so that the key stands in no address.
func findDevice(c *Console, r *request) (answer, error) {
	d, err := c.Rules.Endpoints.FindDevice(r.Context(), r.trimmedField("key"))
	if err != nil {
		return nil, err
	}
	if err := c.recordAction(r, "epp.find", string(d.ID), ""); err != nil {
		return nil, err
	}
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
		cyber.KeyIssued: {"warn", "Aguardando ativação"},
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

func (c *Console) gatherDevice(ctx context.Context, who viewer, id cyber.KeyID) (devicePage, error) {
	d, err := c.Rules.Endpoints.DeviceByID(ctx, id)
	if err != nil {
		return devicePage{}, err
	}
	reveals, err := c.currentReveals(ctx, who.who.ID)
	if err != nil {
		return devicePage{}, err
	}
	names, err := c.partnerNames(ctx, who)
	if err != nil {
		return devicePage{}, err
	}
	return devicePage{
		Device:      d,
		Shown:       reveals[c.referenceOf(d.Partner, d.User)] != nil,
		PartnerName: names[d.Partner],
		Person:      c.personPath(d.Partner, d.User),
		State:       d.KeyStateAt(c.Now()),
		Systems:     cyber.ListSystems(),
	}, nil
}

func (p devicePage) Badge() badge { return deviceStates[p.State] }

// Ending returns why the key ended.
func (p devicePage) Ending() string { return endReasons[p.EndReason] }

// KeyMasked returns the last characters of the activation key.
func (p devicePage) KeyMasked() string { return lastFourDigits(p.Key) }

// showDevice shows a device with its key masked.
func showDevice(c *Console, r *request) (answer, error) {
	page, err := c.gatherDevice(r.Context(), r.viewer, cyber.KeyID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	return view{"device", "Dispositivo", page}, nil
}

// revealDevice shows the key of a device for a while, after the operator's reason is in the audit trail.
func revealDevice(c *Console, r *request) (answer, error) {
	d, err := c.Rules.Endpoints.DeviceByID(r.Context(), cyber.KeyID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	return c.recordReveal(r, c.referenceOf(d.Partner, d.User), redirect{to: joinPath("devices", string(d.ID))})
}

// revokeDevice ends the key of a device at once.
var revokeDevice = changeHandler("epp.revoke", "id", "/devices/{id}", "device.revoked",
	func(r *request, in *Rules, id cyber.KeyID) (string, error) {
		_, err := in.Endpoints.RevokeDevice(r.Context(), id)
		return "", err
	})

// replaceDevice ends the key of a device and gives the person one for another device, valid until the old one would
// have ended.
func replaceDevice(c *Console, r *request) (answer, error) {
	id, system := cyber.KeyID(r.PathValue("id")), cyber.System(r.trimmedField("system"))
	var made cyber.Device
	err := c.changeWithAudit(r, "epp.replace", func(ctx context.Context, in *Rules) (string, string, error) {
		var err error
		made, err = in.Endpoints.ReplaceDevice(ctx, id, system, r.trimmedField("name"))
		return string(id), string(made.ID), err
	})
	if err != nil {
		return nil, err
	}
	return redirect{joinPath("devices", string(made.ID)), "device.replaced"}, nil
}

// setSource chooses where keys of a system come from, the pool or the vendor, and at how many free keys to warn.
var setSource = changeHandler("epp.source", "system", "/devices", "device.source",
	func(r *request, in *Rules, system cyber.System) (string, error) {
		form := newFormReader(r)
		low := int64(form.readNumber("low_mark", 0))
		pooled := r.trimmedField("source") == "pool"
		returns := r.trimmedField("returns") != ""
		wanted := cyber.SourceChange{Pooled: &pooled, LowMark: &low, Returns: &returns}
		err := in.Endpoints.UpdateSource(r.Context(), system, wanted)
		return r.trimmedField("source"), form.joinFaults(err)
	})

// setInstall sets the address from which people download the program of a system.
var setInstall = changeHandler("epp.install", "system", "/devices", "device.install",
	func(r *request, in *Rules, system cyber.System) (string, error) {
		return r.trimmedField("link"), in.Endpoints.SetInstallLink(r.Context(), system, r.trimmedField("link"))
	})

// loadKeyPool reads a vendor's file into a pool.
func loadKeyPool(c *Console, r *request) (answer, error) {
	system := cyber.System(r.PathValue("system"))
	form := newFormReader(r)
	file := form.readUpload()
	if err := form.err(); err != nil {
		return nil, err
	}
	return c.recordAndRun(r, "epp.load", string(system), "", redirect{"/devices", "device.loaded"}, func() error {
		_, err := c.Rules.Endpoints.LoadKeyPool(r.Context(), system, file, func(cyber.Loaded) {})
		return err
	})
}
