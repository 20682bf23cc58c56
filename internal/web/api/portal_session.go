package api

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// portalRequest is the body of POST /cyber/portal-session.
type portalRequest struct {
	personBody
	// A plain text would take null for a member that is not there.
	Lang      jsontext.Value `json:"lang"`
	ReturnURL jsontext.Value `json:"returnUrl"`
}

// portalLink is its answer.
type portalLink struct {
	URL       string `json:"url"`
	ExpiresAt string `json:"expiresAt"`
}

// portalPath is where links lead; internal/web/person answers there.
const portalPath = "/p/enter/"

// openPortal answers with a one-time link to the page of a person.
func (s *Server) openPortal(r *request, in portalRequest) (any, error) {
	wanted := cyber.PortalRequest{User: r.user}
	var err error
	if wanted.Lang, err = optionalText("lang", in.Lang); err != nil {
		return nil, err
	}
	if wanted.Return, err = optionalText("returnUrl", in.ReturnURL); err != nil {
		return nil, err
	}
	origin, err := s.pageOrigin(r)
	if err != nil {
		return nil, err
	}
	token, link, err := r.rules.Sessions.CreateLink(r.ctx, r.caller, wanted)
	if err != nil {
		return nil, err
	}
	return encodeSecret(link.Link, portalLink{origin + portalPath + token, link.Until.UTC().Format(alert.TimeFormat)})
}

// errNoPageURL means that links for live partners cannot be made, because no public address is configured.
var errNoPageURL = fault.New(fault.Unavailable, "portal.no_address")

// pageOrigin returns the origin that links to the person's page begin with. The Host header is not trusted, since the
// client writes it. Without a configured address it returns the listener's, which is refused to a live partner unless
// the listener is local to this machine.
func (s *Server) pageOrigin(r *request) (string, error) {
	if s.PageURL != "" {
		return s.PageURL, nil
	}
	at, local := telemetry.ListenerURL(r.http)
	if !local && !r.caller.Mode.Has(partner.LocalLinks) {
		return "", errNoPageURL.With("public-url", fault.PublicURLForLinks)
	}
	return at.String(), nil
}
