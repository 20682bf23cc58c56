package api

import (
	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

// newProtectionKey is the body of POST /cyber/epp.
type newProtectionKey struct {
	OperatingSystem string `json:"operatingSystem"`
	Type            string `json:"type"`
	DeviceName      string `json:"deviceName"`
	UserHash        string `json:"userHash"`
}

// protectionKey is the answer to a new key of a device.
type protectionKey struct {
	EppKey     string `json:"eppKey"`
	ValidUntil string `json:"validUntil"`
}

// issueDeviceKey answers POST /cyber/epp.
func (s *Server) issueDeviceKey(r *request) (any, error) {
	var body newProtectionKey
	if err := r.decodeBody(&body); err != nil {
		return nil, err
	}
	system, err := cyber.ParseSystem(body.OperatingSystem)
	if err != nil {
		return nil, err
	}
	if body.Type != "antivirus" {
		return nil, errBodyInvalid.With("type", fault.MustBeAntivirus)
	}
	user, err := partner.ParseUserHash("userHash", body.UserHash)
	if err != nil {
		return nil, err
	}
	d, err := r.rules.Endpoints.IssueKey(r.ctx, r.caller.Partner, cyber.DeviceRequest{User: user, System: system, Name: body.DeviceName, Mode: r.caller.Mode})
	if err != nil {
		return nil, err
	}
	return protectionKey{EppKey: d.Key, ValidUntil: d.ValidUntil.UTC().Format(alert.TimeFormat)}, nil
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
	if err != nil {
		return nil, err
	}
	r.items = len(found)
	list := deviceList{ProtectedDevices: make([]protectedDevice, len(found))}
	for i, d := range found {
		list.ProtectedDevices[i] = protectedDevice{
			OperatingSystem: string(d.System), DeviceName: d.Name, EppKey: d.Key, ValidUntil: d.ValidUntil.UTC().Format(alert.TimeFormat),
		}
	}
	return list, nil
}

// optionalUser returns the person that GET /cyber/epp asks about, from the header or the query, or empty for all people.
// It refuses two different persons, and a parameter that is present but empty: answering such a mistake with the devices
// of all people would hide it.
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
