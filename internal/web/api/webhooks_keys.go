package api

import (
	"net/http"

	"golang.org/x/time/rate"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// webhookKeysPath is the path of the public keys of an endpoint, open to every client that knows its id.
const webhookKeysPath = "/.well-known/vigia-webhook-keys/{endpoint}"

// The public keys are read without credentials, so their rate is bounded for all callers together.
const (
	publicKeysPerSecond = 50
	publicKeysBurst     = 100
)

// webhookKeys answers with the keys that verify v1a signatures, newest first. Receivers may keep them for a while: a
// rotated key signs beside the new one for a day.
func (s *Server) webhookKeys() http.Handler {
	limit := rate.NewLimiter(publicKeysPerSecond, publicKeysBurst)
	rt := &route{method: http.MethodGet, path: webhookKeysPath, area: cyberArea}
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		ctx := telemetry.WithRequestID(hr.Context(), telemetry.RequestIDOf(hr.Context(), hr.Header.Get("x-request-id")))
		r := &request{http: hr, ctx: ctx, route: rt, server: s, reply: w.Header()}
		r.allowTime(s.DatabaseTime)
		defer func() { r.endTime() }()
		if !limit.AllowN(s.Now(), 1) {
			w.Header().Set("retry-after", "1")
			s.writeAnswer(w, r, partner.Answer{}, errRateLimited.With("rate", fault.RequestsOfAll))
			return
		}
		if err := r.readQuery(); err != nil {
			s.writeAnswer(w, r, partner.Answer{}, err)
			return
		}
		keys, err := s.Rules.Webhooks.PublicKeys(r.ctx, alert.EndpointID(hr.PathValue("endpoint")))
		if err != nil {
			s.writeAnswer(w, r, partner.Answer{}, err)
			return
		}
		answer, _ := encodeAnswer(map[string][]string{"keys": keys}) // texts encode
		h := w.Header()
		h.Set("content-type", "application/json; charset=utf-8")
		h.Set("cache-control", "public, max-age=300")
		h.Set("x-content-type-options", "nosniff")
		_, _ = w.Write(answer.Body) // a caller that is gone needs no answer
	})
}
