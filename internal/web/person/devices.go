package person

import (
	"context"
	"fmt"
	"strings"

	"rsc.io/qr"

	"github.com/vigiahq/vigia/internal/cyber"
)

// A page shows so many devices: each brings a picture.
const mostDevices = 8

// devicesPage is what is protected, and how to protect it.
type devicesPage struct {
	Devices []deviceView
	More    int
}

// deviceView is a protected device as the page shows it.
type deviceView struct {
	cyber.Device
	// Active says that the device reported itself protected; Link is where its program comes from.
	Active bool
	Link   string
	// Code is the key as a picture: the path of its dark squares on a grid of Size.
	Code string
	Size int
}

// SystemName returns what people call the system of the device.
func (d deviceView) SystemName() string { return systemNames[d.System] }

// systemNames are the same in every language.
var systemNames = map[cyber.System]string{
	cyber.Android: "Android",
	cyber.IOS:     "iPhone, iPad",
	cyber.Windows: "Windows",
	cyber.MacOS:   "macOS",
}

// showDevices shows the person's devices, at most mostDevices, with their keys and where to install the program from.
func showDevices(p *Pages, r *request) (answer, error) {
	page, err := p.gatherDevices(r.Context(), r.visitor)
	if err != nil {
		return nil, err
	}
	return view{"devices", "devices.title", page}, nil
}

func (p *Pages) gatherDevices(ctx context.Context, v visitor) (devicesPage, error) {
	list, err := p.Rules.Endpoints.ListDevices(ctx, v.who.ID, v.session.User)
	if err != nil {
		return devicesPage{}, err
	}
	links, err := p.Rules.Endpoints.InstallLinks(ctx)
	if err != nil {
		return devicesPage{}, err
	}
	page := devicesPage{More: max(0, len(list)-mostDevices)}
	for _, d := range list[:len(list)-page.More] {
		shown := deviceView{Device: d, Active: d.ProtectsAt(p.Now()), Link: links[d.System]}
		shown.Code, shown.Size, err = drawQRCode(d.Key)
		if err != nil {
			return devicesPage{}, err
		}
		page.Devices = append(page.Devices, shown)
	}
	return page, nil
}

// quiet is the margin that readers need around a code, in squares.
const quiet = 4

// drawQRCode draws a text as a QR code: runs of dark squares, so that it is a few kilobytes of the page and no request
// of its own.
func drawQRCode(text string) (path string, size int, err error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", 0, fmt.Errorf("draw a code: %w", err)
	}
	var out strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&out, "M%d %dh%dv1h-%dz", from+quiet, y+quiet, x-from, x-from)
			}
		}
	}
	return out.String(), code.Size + 2*quiet, nil
}
