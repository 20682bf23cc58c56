package console

import (
	"cmp"
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

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
	return cmp.Or(namesByID(p.All)[id], string(id))
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
