package api

import (
	"net/http"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// newProtectionKey is the body of POST /cyber/epp.
type newProtectionKey struct {
	OperatingSystem string `json:"operatingSystem"`
	Type            string `json:"type"`
	DeviceName      string `json:"deviceName"`
	personBody
}

// protectionKey is the answer to a new key of a device.
type protectionKey struct {
	EppKey     string `json:"eppKey"`
	ValidUntil string `json:"validUntil"`
}

// issueDeviceKey answers POST /cyber/epp.
func (s *Server) issueDeviceKey(r *request, body newProtectionKey) (any, error) {
	system, err := cyber.ParseSystem(body.OperatingSystem)
	if err != nil {
		return nil, err
	}
	if body.Type != "antivirus" {
		return nil, errBodyInvalid.With("type", fault.MustBeAntivirus)
	}
	d, err := r.rules.Endpoints.IssueKey(
		r.ctx,
		r.caller.Partner,
		cyber.DeviceRequest{User: r.user, System: system, Name: body.DeviceName, Mode: r.caller.Mode},
	)
	return protectionKey{EppKey: d.Key, ValidUntil: formatMoment(d.ValidUntil)}, err
}

// deviceList is the answer of GET /cyber/epp.
type deviceList struct {
	ProtectedDevices []protectedDevice `json:"protectedDevices"`
}

// protectedDevice is a device in the list of devices; its members are those of the contract.
type protectedDevice struct {
	OperatingSystem string `json:"operatingSystem"`
	DeviceName      string `json:"deviceName"`
	EppKey          string `json:"eppKey"`
	ValidUntil      string `json:"validUntil"`
}

// listDevices answers with the devices of one person, or of all people of the partner when the request names none.
func (s *Server) listDevices(r *request) (any, error) {
	user, err := r.optionalUser()
	if err != nil {
		return nil, err
	}
	var found []cyber.Device
	if user != "" {
		found, err = r.rules.Endpoints.ListDevices(r.ctx, r.caller.Partner, user)
	} else {
		if err := r.beginRead(cyber.MaxListed); err != nil {
			return nil, err
		}
		var more bool
		if found, more, err = r.rules.Endpoints.ListPartnerDevices(r.ctx, r.caller.Partner); more {
			r.reply.Set("x-truncated", "true")
		}
	}
	r.items = len(found)
	return deviceList{showAll(found, func(d cyber.Device) protectedDevice {
		return protectedDevice{
			OperatingSystem: string(d.System),
			DeviceName:      d.Name,
			EppKey:          d.Key,
			ValidUntil:      formatMoment(d.ValidUntil),
		}
	})}, err
}

// optionalUser returns the person that GET /cyber/epp asks about, from the header or the query, or empty for all
// people. It refuses two different persons, and a parameter that is present but empty: answering such a mistake with
// the devices of all people would hide it.
func (r *request) optionalUser() (partner.UserHash, error) {
	named := map[string][]string{"x-user-hash": r.http.Header.Values("x-user-hash"), "userHash": r.query["userHash"]}
	var user partner.UserHash
	for _, field := range []string{"x-user-hash", "userHash"} {
		for _, text := range named[field] {
			u, err := partner.ParseUserHash(field, text)
			if err != nil {
				return "", err
			}
			if user != "" {
				same, err := r.server.Rules.Endpoints.IsSamePerson(r.ctx, r.caller.Partner, u, user)
				if err != nil {
					return "", err
				}
				if !same {
					return "", partner.ErrUserHash.With(field, fault.AnotherPerson)
				}
			}
			user = u
		}
	}
	return user, nil
}

// keyDetail is the answer of GET /cyber/epp/{key}.
type keyDetail struct {
	KeyID           string `json:"keyId"`
	OperatingSystem string `json:"operatingSystem"`
	DeviceName      string `json:"deviceName"`
	EppKey          string `json:"eppKey"`
	State           string `json:"state"`
	IssuedAt        string `json:"issuedAt"`
	ValidUntil      string `json:"validUntil"`
	ActivatedAt     string `json:"activatedAt,omitempty"`
	LastSeenAt      string `json:"lastSeenAt,omitempty"`
	EndedAt         string `json:"endedAt,omitempty"`
	EndReason       string `json:"endReason,omitempty"`
	// InstallLink is that of the device's system.
	InstallLink  string       `json:"installLink,omitempty"`
	InstallLinks installLinks `json:"installLinks"`
}

// installLinks are the links of all systems that have one.
type installLinks struct {
	Android string `json:"android,omitempty"`
	IOS     string `json:"ios,omitempty"`
	Linux   string `json:"linux,omitempty"`
	MacOS   string `json:"macos,omitempty"`
	Windows string `json:"windows,omitempty"`
}

// showProtection answers with the state of a device and the links to install its program.
func (s *Server) showProtection(r *request) (any, error) {
	d, err := r.rules.Endpoints.FindOwnDevice(r.ctx, r.caller.Partner, r.id)
	if err != nil {
		return nil, err
	}
	links, err := r.rules.Endpoints.InstallLinks(r.ctx)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	detail := keyDetail{
		KeyID:           string(d.ID),
		OperatingSystem: string(d.System),
		DeviceName:      d.Name,
		EppKey:          d.Key,
		State:           string(d.KeyStateAt(now)),
		IssuedAt:        d.IssuedAt.UTC().Format(alert.TimeFormat),
		ValidUntil:      d.ValidUntil.UTC().Format(alert.TimeFormat),
		ActivatedAt:     formatMoment(d.ActivatedAt),
		InstallLink:     links[d.System],
		InstallLinks: installLinks{
			links[cyber.Android], links[cyber.IOS], links[cyber.Linux], links[cyber.MacOS], links[cyber.Windows],
		},
	}
	if !d.ActivatedAt.IsZero() {
		detail.LastSeenAt = formatMoment(d.SeenAt)
	}
	switch {
	case !d.EndedAt.IsZero():
		detail.EndedAt, detail.EndReason = d.EndedAt.UTC().Format(alert.TimeFormat), string(d.EndReason)
	case detail.State == string(cyber.KeyEnded): // its time is over and no worker has looked yet
		detail.EndedAt, detail.EndReason = detail.ValidUntil, string(cyber.EndExpired)
	}
	return detail, nil
}

// revokeProtection ends the key of a device at once.
func (s *Server) revokeProtection(r *request, _ personBody) (any, error) {
	if err := r.checkKeyOwner(); err != nil {
		return nil, err
	}
	_, err := r.rules.Endpoints.RevokeOwnDevice(r.ctx, r.caller.Partner, r.id)
	return done{http.StatusOK, msgKeyRevoked}, err
}

// keyMove is the body of POST /cyber/epp/{key}/move.
type keyMove struct {
	personBody
	OperatingSystem string `json:"operatingSystem"`
	DeviceName      string `json:"deviceName"`
}

// movedKey is its answer.
type movedKey struct {
	KeyID string `json:"keyId"`
	protectionKey
}

// moveProtection gives a person a key for another device; the old key ends.
func (s *Server) moveProtection(r *request, body keyMove) (any, error) {
	if err := r.checkKeyOwner(); err != nil {
		return nil, err
	}
	system, err := cyber.ParseSystem(body.OperatingSystem)
	if err != nil {
		return nil, err
	}
	d, err := r.rules.Endpoints.MoveOwnDevice(r.ctx, r.caller.Partner, r.id,
		cyber.DeviceRequest{System: system, Name: body.DeviceName, Mode: r.caller.Mode})
	return movedKey{string(d.ID), protectionKey{EppKey: d.Key, ValidUntil: formatMoment(d.ValidUntil)}}, err
}

// checkKeyOwner refuses a key of the path that is not one of the person whom the body names.
func (r *request) checkKeyOwner() error {
	d, err := r.rules.Endpoints.FindOwnDevice(r.ctx, r.caller.Partner, r.id)
	if err != nil {
		return err
	}
	same, err := r.rules.Endpoints.IsSamePerson(r.ctx, r.caller.Partner, r.user, d.User)
	if err == nil && !same {
		err = cyber.ErrDeviceUnknown
	}
	return err
}
