package api

import (
	"net/http"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// unknownPath refuses what no route matches.
func (s *Server) unknownPath(w http.ResponseWriter, hr *http.Request) {
	err, allow := error(errPathNotFound), ""
	if there := s.routes.findRoutes(pathSegments(hr.URL)); len(there) > 0 {
		allow = there.listMethods()
		err = errMethodNotAllowed.With("method", fault.AllowedAre, allow)
	}
	s.refuseUnrouted(w, hr, allow, err)
}

// refuseNobody answers where there is no area, and so no credentials.
func (s *Server) refuseNobody(w http.ResponseWriter, hr *http.Request, refusal error) {
	ctx := telemetry.WithRequestID(hr.Context(), telemetry.RequestIDOf(hr.Context(), hr.Header.Get(requestIDHeader)))
	rt := &route{method: "-", path: "unknown", area: cyberArea}
	s.writeAnswer(
		w,
		&request{http: hr, ctx: ctx, route: rt, server: s, rules: &s.Rules, reply: w.Header()},
		partner.Answer{},
		refusal,
	)
}

// refuseUnrouted answers in the shape of the path's area, after the credentials like everything else.
func (s *Server) refuseUnrouted(w http.ResponseWriter, hr *http.Request, allow string, refusal error) {
	rt := &route{method: "-", path: "unknown", run: func(_ *Server, r *request) (any, error) {
		if allow != "" {
			r.reply.Set("allow", allow)
		}
		return nil, refusal
	}}
	rt.area, rt.scope = areaOfPath(pathSegments(hr.URL))
	if rt.area == nil { // outside both areas: no credentials to check, no details to give
		s.refuseNobody(w, hr, refusal)
		return
	}
	s.serveRequest(w, hr, rt, s.newObserved(rt))
}
