package api

import (
	"io"
	"net/http"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/webhook"
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
	named, err := r.idInPath("key", cyber.ErrDeviceUnknown)
	if err != nil {
		return nil, err
	}
	d, err := r.rules.Endpoints.FindOwnDevice(r.ctx, r.caller.Partner, named)
	if err != nil {
		return nil, err
	}
	links, err := r.rules.Endpoints.InstallLinks(r.ctx)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	detail := keyDetail{
		KeyID: string(d.ID), OperatingSystem: string(d.System), DeviceName: d.Name, EppKey: d.Key, State: string(d.KeyStateAt(now)),
		IssuedAt: d.IssuedAt.UTC().Format(alert.TimeFormat), ValidUntil: d.ValidUntil.UTC().Format(alert.TimeFormat),
		InstallLink: links[d.System], InstallLinks: installLinks{
			links[cyber.Android], links[cyber.IOS], links[cyber.Linux], links[cyber.MacOS], links[cyber.Windows],
		},
	}
	if !d.ActivatedAt.IsZero() {
		detail.ActivatedAt, detail.LastSeenAt = d.ActivatedAt.UTC().Format(alert.TimeFormat), d.SeenAt.UTC().Format(alert.TimeFormat)
	}
	switch {
	case !d.EndedAt.IsZero():
		detail.EndedAt, detail.EndReason = d.EndedAt.UTC().Format(alert.TimeFormat), string(d.EndReason)
	case detail.State == string(cyber.KeyEnded): // its time is over and no worker has looked yet
		detail.EndedAt, detail.EndReason = detail.ValidUntil, string(cyber.EndExpired)
	}
	return detail, nil
}

// keyReport is the body of POST /cyber/epp/{key}/activate and /heartbeat. A vendor's says what its path says, since it
// is the body that is signed; of a partner's nothing is asked.
type keyReport struct {
	EppKey string `json:"eppKey"`
	Report string `json:"report"`
}

// What a report says.
const (
	reportActivated = "activated"
	reportRunning   = "running"
)

// activateProtection takes the report that a device was activated.
func (s *Server) activateProtection(r *request) (any, error) {
	return s.reportProtection(r, reportActivated, msgKeyActivated)
}

// heartbeatProtection takes the report that a device is still protected.
func (s *Server) heartbeatProtection(r *request) (any, error) {
	return s.reportProtection(r, reportRunning, msgKeySeen)
}

// reportProtection stores a report on a key. A signed report of the vendor must name the key of the path and the
// report itself.
func (s *Server) reportProtection(r *request, report, message string) (any, error) {
	var body keyReport
	if err := r.decodeBody(&body); err != nil {
		return nil, err
	}
	named, err := r.idInPath("key", cyber.ErrDeviceUnknown)
	if err != nil {
		return nil, err
	}
	if r.vendor {
		switch {
		case body.EppKey != named:
			return nil, errBodyInvalid.With("eppKey", fault.KeyOfThePath)
		case body.Report != report:
			return nil, errBodyInvalid.With("report", fault.MustBe, report)
		}
		d, err := r.rules.Endpoints.FindDevice(r.ctx, named)
		if err != nil {
			return nil, err
		}
		r.caller.Partner = d.Partner
	}
	_, err = r.rules.Endpoints.ReportProtected(r.ctx, r.caller.Partner, named)
	return done{http.StatusOK, message}, err
}

// maxVendorBody bounds what is read of a caller before its signature is known to be right.
const maxVendorBody = 4 << 10

// fromVendor reports whether a request comes signed by the vendor of the antivirus in place of a partner's key.
func (s *Server) fromVendor(r *request) bool {
	return r.route.vendor && len(s.VendorSecrets) > 0 && len(r.http.Header.Values(keyHeader)) == 0 && r.http.Header.Get(webhook.HeaderSignature) != ""
}

// vendorCaller is the caller whose rate limit signed reports are counted against, so that they use up no partner's.
var vendorCaller = partner.Caller{Partner: "vendor", Settings: partner.Settings{RatePerSecond: 1000, Burst: 5000}}

// answerVendor runs a signed request. It may come again while its signature is fresh: a report twice is a report once.
func (s *Server) answerVendor(r *request) (partner.Answer, error) {
	// What is longer is cut, and then its signature is wrong.
	body, err := io.ReadAll(io.LimitReader(r.http.Body, maxVendorBody))
	if err == nil {
		err = webhook.VerifyRequest(r.http.Header, body, s.Now(), s.VendorSecrets)
	}
	if err != nil {
		s.slowStranger(r, partner.ErrUnauthorised)
		return partner.Answer{}, partner.ErrUnauthorised
	}
	allowed := s.limits.takeToken(vendorCaller, s.Now())
	allowed.setHeaders(r.reply)
	if allowed.wait > 0 {
		return partner.Answer{}, errRateLimited.With("rate", fault.ReportsOfVendors)
	}
	r.vendor, r.body = true, body
	return s.runRoute(r)
}

// protectionOf reads a body about a key of the person that it names.
func (r *request) protectionOf(body any, userHash *string) (named string, err error) {
	if err := r.decodeBody(body); err != nil {
		return "", err
	}
	user, err := partner.ParseUserHash("userHash", *userHash)
	if err != nil {
		return "", err
	}
	if named, err = r.idInPath("key", cyber.ErrDeviceUnknown); err != nil {
		return "", err
	}
	d, err := r.rules.Endpoints.FindOwnDevice(r.ctx, r.caller.Partner, named)
	if err != nil {
		return "", err
	}
	same, err := r.rules.Endpoints.IsSamePerson(r.ctx, r.caller.Partner, user, d.User)
	if err == nil && !same {
		err = cyber.ErrDeviceUnknown
	}
	return named, err
}

// keyRevocation is the body of POST /cyber/epp/{key}/revoke.
type keyRevocation struct {
	UserHash string `json:"userHash"`
}

// revokeProtection ends the key of a device at once.
func (s *Server) revokeProtection(r *request) (any, error) {
	var body keyRevocation
	named, err := r.protectionOf(&body, &body.UserHash)
	if err != nil {
		return nil, err
	}
	_, err = r.rules.Endpoints.RevokeOwnDevice(r.ctx, r.caller.Partner, named)
	return done{http.StatusOK, msgKeyRevoked}, err
}

// keyMove is the body of POST /cyber/epp/{key}/move.
type keyMove struct {
	UserHash        string `json:"userHash"`
	OperatingSystem string `json:"operatingSystem"`
	DeviceName      string `json:"deviceName"`
}

// movedKey is its answer.
type movedKey struct {
	KeyID string `json:"keyId"`
	protectionKey
}

// moveProtection gives a person a key for another device; the old key ends.
func (s *Server) moveProtection(r *request) (any, error) {
	var body keyMove
	named, err := r.protectionOf(&body, &body.UserHash)
	if err != nil {
		return nil, err
	}
	system, err := cyber.ParseSystem(body.OperatingSystem)
	if err != nil {
		return nil, err
	}
	d, err := r.rules.Endpoints.MoveOwnDevice(r.ctx, r.caller.Partner, named,
		cyber.DeviceRequest{System: system, Name: body.DeviceName, Mode: r.caller.Mode})
	if err != nil {
		return nil, err
	}
	return movedKey{string(d.ID), protectionKey{EppKey: d.Key, ValidUntil: d.ValidUntil.UTC().Format(alert.TimeFormat)}}, nil
}
