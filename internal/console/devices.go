package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

type devicesPage struct {
	partnerChoice
	List    listView
	Devices []cyber.Device
	Sources []cyber.Source
	Shares  []cyber.Share
}

// SharesOf are those of one pool, of partners that took keys or have a share of their own.
func (p devicesPage) SharesOf(s cyber.System) (list []cyber.Share) {
	for _, h := range p.Shares {
		if h.Resource == cyber.PoolResource(s) {
			list = append(list, h)
		}
	}
	return list
}

// PartnerName is how the page calls a partner.
func (p devicesPage) PartnerName(id partner.ID) string {
	for _, one := range p.All {
		if one.ID == id {
			return one.Name
		}
	}
	return string(id)
}

func listDevices(c *Console, r *request) (answer, error) {
	choice, err := c.choose(r)
	if err != nil {
		return nil, err
	}
	page := devicesPage{partnerChoice: choice}
	if page.Sources, err = c.Rules.Endpoints.Sources(r.Context()); err != nil {
		return nil, err
	}
	if page.Shares, err = c.Rules.Endpoints.Shares(r.Context()); err != nil {
		return nil, err
	}
	if choice.Current.ID != "" {
		f, err := c.filterOf(r.Context(), &devicesList, r.URL.Query(), choice.Current.ID, choice.All)
		if err != nil {
			return nil, err
		}
		var next cyber.Mark
		if page.Devices, next, err = c.Rules.Review.DeviceList(r.Context(), choice.Current.ID, f.devices(perPage)); err != nil {
			return nil, err
		}
		if page.List, err = c.listView(r, &devicesList, f, choice.All, len(page.Devices), markText(next), -1); err != nil {
			return nil, err
		}
	}
	return view{"devices", "Dispositivos", page}, nil
}

// findDevice looks an activation key up; a POST, so that the key stands in no address.
func findDevice(c *Console, r *request) (answer, error) {
	d, err := c.Rules.Endpoints.Find(r.Context(), r.text("key"))
	if err != nil {
		return nil, err
	}
	if err := c.note(r, "epp.find", string(d.ID), ""); err != nil {
		return nil, err
	}
	return redirect{to: at("devices", string(d.ID))}, nil
}

type devicePage struct {
	cyber.Device
	PartnerName string
	Person      string
	Live        bool
	Shown       bool
	Systems     []cyber.System
}

// KeyMasked is the end of the activation key.
func (p devicePage) KeyMasked() string {
	if len(p.Key) < 8 {
		return "****"
	}
	return "****" + p.Key[len(p.Key)-4:]
}

func (c *Console) device(r *request) (devicePage, error) {
	d, err := c.Rules.Endpoints.Show(r.Context(), cyber.KeyID(r.PathValue("id")))
	if err != nil {
		return devicePage{}, err
	}
	names, err := c.names(r)
	return devicePage{
		Device: d, PartnerName: names[d.Partner], Person: c.personPath(d.Partner, d.User), Live: d.LiveAt(c.Now()), Systems: []cyber.System{cyber.Android, cyber.IOS, cyber.Windows, cyber.MacOS},
	}, err
}

func showDevice(c *Console, r *request) (answer, error) {
	page, err := c.device(r)
	if err != nil {
		return nil, err
	}
	return view{"device", "Dispositivo", page}, nil
}

func revealDevice(c *Console, r *request) (answer, error) {
	why, err := reason(r)
	if err != nil {
		return nil, err
	}
	page, err := c.device(r)
	if err != nil {
		return nil, err
	}
	if err := c.note(r, "epp.reveal", string(page.ID), why); err != nil {
		return nil, err
	}
	page.Shown = true
	return view{"device", "Dispositivo", page}, nil
}

func revokeDevice(c *Console, r *request) (answer, error) {
	id := cyber.KeyID(r.PathValue("id"))
	err := c.change(r, "epp.revoke", func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Endpoints.Revoke(ctx, id)
		return string(id), "", err
	})
	if err != nil {
		return nil, err
	}
	return redirect{at("devices", string(id)), "device.revoked"}, nil
}

func replaceDevice(c *Console, r *request) (answer, error) {
	id := cyber.KeyID(r.PathValue("id"))
	var made cyber.Device
	err := c.change(r, "epp.replace", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		made, err = in.Endpoints.Replace(ctx, id, cyber.System(r.text("system")), r.text("name"))
		return string(id), string(made.ID), err
	})
	if err != nil {
		return nil, err
	}
	return redirect{at("devices", string(made.ID)), "device.replaced"}, nil
}

func setSource(c *Console, r *request) (answer, error) {
	system := cyber.System(r.PathValue("system"))
	mark, err := r.number("low_mark", 0)
	if err != nil {
		return nil, err
	}
	low := int64(mark)
	pooled := r.text("source") == "pool"
	err = c.change(r, "epp.source", func(ctx context.Context, in *Rules) (string, string, error) {
		return string(system), r.text("source"), in.Endpoints.SetSource(ctx, system, &pooled, &low)
	})
	if err != nil {
		return nil, err
	}
	return redirect{"/devices", "device.source"}, nil
}

func loadPool(c *Console, r *request) (answer, error) {
	system := cyber.System(r.PathValue("system"))
	file, err := uploaded(r)
	if err != nil {
		return nil, err
	}
	if err := c.note(r, "epp.load", string(system), ""); err != nil {
		return nil, err
	}
	if _, err := c.Rules.Endpoints.LoadPool(r.Context(), system, file, func(cyber.Loaded) {}); err != nil {
		return nil, err
	}
	return redirect{"/devices", "device.loaded"}, nil
}
