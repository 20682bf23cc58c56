package person

import (
	"fmt"
	"strings"
	"time"

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
	System, Name, Key string
	Until             time.Time
	// Active says that the device reported itself protected, Seen when it last did; Link is where its program comes from.
	Active bool
	Seen   time.Time
	Link   string
	// Code is the key as a picture: the path of its dark squares on a grid of Size.
	Code string
	Size int
}

// systemNames are the same in every language.
var systemNames = map[cyber.System]string{cyber.Android: "Android", cyber.IOS: "iPhone, iPad", cyber.Windows: "Windows", cyber.MacOS: "macOS"}

// showDevices shows the person's devices, at most mostDevices, with their keys and where to install the program from.
func showDevices(p *Pages, r *request) (answer, error) {
	list, err := p.Rules.Endpoints.ListDevices(r.Context(), r.who.ID, r.session.User)
	if err != nil {
		return nil, err
	}
	links, err := p.Rules.Endpoints.InstallLinks(r.Context())
	if err != nil {
		return nil, err
	}
	var page devicesPage
	for i, d := range list {
		if i >= mostDevices {
			page.More = len(list) - i
			break
		}
		v := deviceView{System: systemNames[d.System], Name: d.Name, Key: d.Key, Until: d.ValidUntil, Active: d.ProtectsAt(p.Now()), Seen: d.SeenAt, Link: links[d.System]}
		if v.Code, v.Size, err = drawQRCode(d.Key); err != nil {
			return nil, err
		}
		page.Devices = append(page.Devices, v)
	}
	return view{"devices", "devices.title", page}, nil
}

// quiet is the margin that readers need around a code, in squares.
const quiet = 4

// drawQRCode draws a text as a QR code: runs of dark squares, so that it is a few kilobytes of the page and no request of its
// own.
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
