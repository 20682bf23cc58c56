package console

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// deviceProtected is the word in an address for devices that have the program.
const deviceProtected = "protegidos"

var deviceStateField = listField{
	Name:    "state",
	Label:   "Situação",
	None:    "Chaves em vigor",
	Options: []choiceOption{{deviceProtected, "Protegidos"}},
}

var devicesList = listing{
	name: "devices", title: "Dispositivos", persons: true, role: operator.Viewer, portal: look,
	fields: []listField{ofOne, {Name: "system", Label: "Sistema", None: "Todos", Options: []choiceOption{
		{string(cyber.Android), "Android"},
		{string(cyber.IOS), "iOS"},
		{string(cyber.Windows), "Windows"},
		{string(cyber.MacOS), "macOS"},
	}}, deviceStateField, fromField, toField, sortField},
	header: []string{"emitida", "sistema", "pessoa", "ativada", "último contato", "vale até", "id"},
	action: &revokeMany,
	read: linesOf(filter.readDevices, func(_ filter, _ map[partner.ID]string, d cyber.Device) listLine {
		return listLine{string(d.Partner) + "/" + string(d.ID), []string{
			formatStamp(d.IssuedAt),
			string(d.System),
			shortenID(d.User),
			formatStamp(d.ActivatedAt),
			formatStamp(d.SeenAt),
			formatStamp(d.ValidUntil),
			string(d.ID),
		}}
	}),
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

// tableOfDevices lays a partner's devices out.
func tableOfDevices(list []devicePage, now time.Time) listTable {
	t := newListTable("Dispositivos", listColumn{"Sistema", "c"}, listColumn{"Pessoa", "a"},
		listColumn{"Vale até", "x"}, listColumn{"Último contato", "x num"}, listColumn{"Situação", "d"},
		listColumn{"Emitida", "b num"})
	for _, d := range list {
		seen := listCell{Text: "nunca"}
		if !d.SeenAt.IsZero() {
			seen = ageCell(d.SeenAt, now)
		}
		t.addRow(listRow{
			Key:  string(d.Partner) + "/" + string(d.ID),
			Name: "a chave " + string(d.ID),
			Cells: []listCell{
				{
					Text:   orDash(systemNames[d.System]),
					Path:   joinPath("devices", string(d.ID)),
					Hidden: "chave " + shortenID(string(d.ID)),
				},
				{Text: shortenID(string(d.User)), IsCode: true},
				{Text: formatTime(d.ValidUntil, "02/01/2006")},
				seen,
				{Badge: d.Badge()},
				ageCell(d.IssuedAt, now),
			},
		})
	}
	return t
}
