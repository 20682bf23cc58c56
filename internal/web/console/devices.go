package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
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
