package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
)

// deviceProtected is the word in an address for devices that have the program.
const deviceProtected = "protegidos"

var deviceStateField = listField{
	Name:    "state",
	Label:   "Situação",
	None:    "Chaves em vigor",
	Options: []choiceOption{{deviceProtected, "Protegidos"}},
}

var devicesList = listOf(listing{
	name: "devices", title: "Dispositivos", persons: true, access: everyone,
	fields: []listField{ofOne, {Name: "system", Label: "Sistema", None: "Todos", Options: []choiceOption{
		{string(cyber.Android), "Android"},
		{string(cyber.IOS), "iOS"},
		{string(cyber.Windows), "Windows"},
		{string(cyber.MacOS), "macOS"},
	}}, deviceStateField, fromField, toField, sortField},
	action: &revokeMany,
	show:   showDevices,
}, filter.readDevices, rowOfDevice)

func rowOfDevice(d cyber.Device, f filter) listRow {
	id := string(d.ID)
	seen := ageCell("Último contato", "x num", d.SeenAt, f.now)
	if d.SeenAt.IsZero() {
		seen.Text = "nunca"
	}
	return listRow{Key: string(d.Partner) + "/" + id, Name: "a chave " + id, Cells: []listCell{
		stampCell("emitida", d.IssuedAt),
		exportCell("sistema", string(d.System)),
		{
			Label:  "Sistema",
			Class:  "c",
			Text:   systemNames[d.System],
			Path:   joinPath("devices", id),
			Hidden: "chave " + shortenID(id),
		},
		{Label: "Pessoa", Class: "a", Export: "pessoa", Text: shortenID(d.User), IsCode: true},
		stampCell("ativada", d.ActivatedAt),
		stampCell("último contato", d.SeenAt),
		{Label: "Vale até", Class: "x", Text: formatTime(d.ValidUntil, "02/01/2006")},
		stampCell("vale até", d.ValidUntil),
		seen,
		{Label: "Situação", Class: "d", Badge: deviceStates[d.KeyStateAt(f.now)]},
		ageCell("Emitida", "b num", d.IssuedAt, f.now),
		exportCell("id", id),
	}}
}

func (f filter) readDevices(ctx context.Context, in *Rules, limit int) ([]cyber.Device, string, error) {
	list, next, err := in.Review.DeviceList(ctx, f.Partner, cyber.DeviceFilter{
		User:          f.user,
		System:        cyber.System(f.valueOfName("system")),
		ProtectedOnly: f.valueOfName("state") == deviceProtected,
		From:          f.From,
		To:            f.To,
		OldestFirst:   f.isOldestFirst(),
		Before:        f.parseMark(),
		Limit:         limit,
	})
	return list, formatMark(next), err
}

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
