package api

import (
	"io"
	"net/http"

	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

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
func (s *Server) activateProtection(r *request, in keyReport) (any, error) {
	return s.reportProtection(r, in, reportActivated, msgKeyActivated)
}

// heartbeatProtection takes the report that a device is still protected.
func (s *Server) heartbeatProtection(r *request, in keyReport) (any, error) {
	return s.reportProtection(r, in, reportRunning, msgKeySeen)
}

// reportProtection stores a report on a key. A signed report of the vendor must name the key of the path and the
// report itself.
func (s *Server) reportProtection(r *request, in keyReport, report, message string) (any, error) {
	if r.vendor {
		switch {
		case in.EppKey != r.id:
			return nil, errBodyInvalid.With("eppKey", fault.KeyOfThePath)
		case in.Report != report:
			return nil, errBodyInvalid.With("report", fault.MustBe, report)
		}
		d, err := r.rules.Endpoints.FindDevice(r.ctx, r.id)
		if err != nil {
			return nil, err
		}
		r.caller.Partner = d.Partner
	}
	_, err := r.rules.Endpoints.ReportProtected(r.ctx, r.caller.Partner, r.id)
	return done{http.StatusOK, message}, err
}

// maxVendorBody bounds what is read of a caller before its signature is known to be right.
const maxVendorBody = 4 << 10

// fromVendor reports whether a request comes signed by the vendor of the antivirus in place of a partner's key.
func (s *Server) fromVendor(r *request) bool {
	return r.route.vendor && len(s.VendorSecrets) > 0 && len(r.http.Header.Values(keyHeader)) == 0 &&
		r.http.Header.Get(webhook.HeaderSignature) != ""
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
