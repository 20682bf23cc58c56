package cyber

import (
	"context"
	"net/url"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// System is what a device runs.
type System string

// The systems, to the letter of the contract.
const (
	Android System = "android"
	IOS     System = "ios"
	Windows System = "windows"
	MacOS   System = "macos"
)

// Linux has no keys by the contract; its program can be offered all the same.
const Linux System = "linux"

// IsKnown reports whether it is one of the systems, or Linux, which has an installer only: see sqldb.Enumerated.
func (s System) IsKnown() bool {
	switch s {
	case Android, IOS, Windows, MacOS, Linux:
		return true
	}
	return false
}

func ListSystems() []System { return []System{Android, IOS, Windows, MacOS} }

// ParseSystem reads the contract's word for a system.
func ParseSystem(s string) (System, error) {
	for _, known := range ListSystems() {
		if s == string(known) {
			return known, nil
		}
	}
	return "", ErrDeviceInvalid.With("operatingSystem", fault.OneOf, "android, ios, windows, macos")
}

// IsMobile tells phones from computers.
func (s System) IsMobile() bool { return s == Android || s == IOS }

// InstallSystems returns the systems that have an install link of their own.
func InstallSystems() []System { return append(ListSystems(), Linux) }

// maxInstallLink is in bytes; shops' links with campaign parameters have about 200.
const maxInstallLink = 500

// SetInstallLink sets where the program of a system is installed from; empty removes the link. People are sent there,
// so it must be https and carry no credentials.
func (e *Endpoints) SetInstallLink(ctx context.Context, system System, link string) error {
	if _, err := ParseSystem(string(system)); err != nil && system != Linux {
		return ErrDeviceInvalid.With("system", fault.OneOf, "android, ios, windows, macos, linux")
	}
	if link != "" {
		u, err := url.Parse(link)
		if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
			!partner.IsPrintable(link, maxInstallLink) {
			return ErrDeviceInvalid.With("link", fault.HTTPSAddressOf, maxInstallLink)
		}
	}
	return e.store.SetInstallLink(ctx, system, link)
}
