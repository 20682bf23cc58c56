package console

import "github.com/vigiahq/vigia/internal/cyber"

// devicesPage is the data of the list of protected devices, with the pools of keys for operators of the service.
type devicesPage struct {
	listPage
	Sources []cyber.Source
	Shares  []cyber.Share
	// Installs are where the programs of the systems are installed from; InstallSystems lists all of them.
	Installs       map[cyber.System]string
	InstallSystems []cyber.System
}

// showDevices shows one page of protected devices. Pools and install links concern all partners and are left out for a
// partner's people.
func showDevices(c *Console, r *request, l *listing) (answer, error) {
	var page devicesPage
	var err error
	page.listPage, err = l.readPage(c, r)
	if err == nil && !c.confined {
		err = c.gatherPools(r.Context(), &page)
	}
	return newView(l.name, l.title, page, err)
}
