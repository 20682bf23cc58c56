package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/time/rate"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// keyItem is an element of GET /keys.
type keyItem struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	// Starts is how the key begins, enough to tell keys apart.
	Starts    string          `json:"starts"`
	Scopes    []partner.Scope `json:"scopes"`
	State     string          `json:"state"`
	CreatedAt string          `json:"createdAt"`
	ExpiresAt string          `json:"expiresAt,omitempty"`
	RevokedAt string          `json:"revokedAt,omitempty"`
	// MadeBy is the key that made it; absent where a person did. It ends with that key.
	MadeBy string `json:"madeBy,omitempty"`
	// Calling marks the key of this request.
	Calling bool `json:"calling"`
}

// madeKey is the answer that shows a key whole, once.
type madeKey struct {
	keyItem
	APIKey string `json:"apiKey"`
}

// newKeyItem returns a key as answers show it.
func (s *Server) newKeyItem(k partner.Key, who partner.Caller) keyItem {
	item := keyItem{
		ID:        string(k.ID),
		Label:     k.Label,
		Starts:    k.Preview,
		Scopes:    k.Scopes,
		State:     "live",
		CreatedAt: formatMoment(k.CreatedAt),
		ExpiresAt: formatMoment(k.ExpiresAt),
		RevokedAt: formatMoment(k.RevokedAt),
		MadeBy:    string(k.MadeBy),
		Calling:   k.ID == who.KeyID,
	}
	switch {
	case !k.RevokedAt.IsZero():
		item.State = "revoked"
	case !k.IsLiveAt(s.Now()):
		item.State = "expired"
	}
	return item
}

// listPartnerKeys answers with the partner's keys.
func (s *Server) listPartnerKeys(r *request) (any, error) {
	keys, err := r.rules.Keys.ListKeys(r.ctx, r.caller.Partner)
	return showAll(keys, func(k partner.Key) keyItem { return s.newKeyItem(k, r.caller) }), err
}

// newKey is the body of POST /keys.
type newKey struct {
	Label     string   `json:"label"`
	Scopes    []string `json:"scopes"`
	ExpiresAt string   `json:"expiresAt"`
}

// createKey creates an API key of the caller's partner. It refuses an end in the past.
func (s *Server) createKey(r *request, in newKey) (any, error) {
	expires, err := parseMoment("expiresAt", in.ExpiresAt)
	if err != nil {
		return nil, err
	}
	if !expires.IsZero() && !expires.After(s.Now()) {
		return nil, errBodyInvalid.With("expiresAt", fault.InTheFuture)
	}
	if err := r.mayChange(); err != nil {
		return nil, err
	}
	k, text, err := r.rules.Keys.CreateKeyBy(r.ctx, r.caller, in.Label, in.Scopes, expires)
	if err != nil {
		return nil, err
	}
	if err := r.recordAudit("key.create", string(k.ID), string(r.caller.Partner)); err != nil {
		return nil, err
	}
	return encodeSecret(string(k.ID), madeKey{s.newKeyItem(k, r.caller), text})
}

// rolling is the body of POST /keys/{id}/roll.
type rolling struct {
	Grace *int64 `json:"graceHours"`
}

// rollPartnerKey replaces a key.
func (s *Server) rollPartnerKey(r *request, in rolling) (any, error) {
	grace, err := parseHours("graceHours", in.Grace)
	if err != nil {
		return nil, err
	}
	if err := r.mayChange(); err != nil {
		return nil, err
	}
	k, text, err := r.rules.Keys.RollKeyBy(r.ctx, r.caller, partner.KeyID(r.id), grace)
	if err != nil {
		return nil, err
	}
	if err := r.recordAudit("key.roll", r.id, string(k.ID)); err != nil {
		return nil, err
	}
	return encodeSecret(string(k.ID), madeKey{s.newKeyItem(k, r.caller), text})
}

// revokeKey ends a key and the keys that it made. The calling key ends itself only with self=true, against accidents.
func (s *Server) revokeKey(r *request) (any, error) {
	self, err := r.flagInQuery("self")
	if err != nil {
		return nil, err
	}
	if err := r.mayChange(); err != nil {
		return nil, err
	}
	ended, err := r.rules.Keys.RevokeKeyBy(r.ctx, r.caller, partner.KeyID(r.id), self)
	if err != nil {
		return nil, err
	}
	return done{http.StatusOK, msgKeyRevoked}, r.recordAudit("key.revoke", r.id, partner.JoinKeyIDs(ended[1:]))
}

// What a partner changes of its own set-up is rare, and each change is a line of the audit trail: a partner gets
// changesAtOnce of them without delay and one more every changeEvery.
const (
	changesAtOnce = 60
	changeEvery   = 10 * time.Second
)

// mayChange takes one of the partner's changes.
func (l *limiter) mayChange(id partner.ID, now time.Time) time.Duration {
	l.mu.Lock()
	b := l.changes[id]
	if b == nil { // one per partner that exists: nothing to evict
		b = rate.NewLimiter(rate.Every(changeEvery), changesAtOnce)
		l.changes[id] = b
	}
	l.mu.Unlock()
	return spendToken(b, now)
}

// recordChange takes one of the partner's changes and writes who is about to make it into the audit trail.
func (r *request) recordChange(action, subject, detail string) error {
	if err := r.mayChange(); err != nil {
		return err
	}
	return r.recordAudit(action, subject, detail)
}

// mayChange refuses a partner that changes too much.
func (r *request) mayChange() error {
	if wait := r.server.limits.mayChange(r.caller.Partner, r.server.Now()); wait > 0 {
		r.reply.Set("retry-after", wholeSeconds(wait))
		return errRateLimited.With("rate", fault.ChangesOfPartner)
	}
	return nil
}

// recordAudit writes a line of the audit trail.
func (r *request) recordAudit(action, subject, detail string) error {
	from := r.server.Callers
	who := operator.Actor{Name: "api:" + string(r.caller.KeyID), From: from.AddressForLog(from.CallerAddress(r.http))}
	return r.rules.Audit.RecordAction(r.ctx, who, action, subject, detail)
}

// withRules returns the request with other rules: those of the transaction that keeps the answer.
func (r *request) withRules(in *Rules) *request {
	inner := *r
	inner.rules = in
	return &inner
}

// formatMoment writes a moment; nothing of one that is not there.
func formatMoment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(alert.TimeFormat)
}

// parseMoment reads a moment of a body.
func parseMoment(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Year() < 1970 || strings.ContainsAny(text, ",") {
		return time.Time{}, errBodyInvalid.With(field, fault.DateTimeOffset)
	}
	return t, nil
}

// mostHours is how long what was replaced may stay valid.
const mostHours = 7 * 24

// parseHours reads a number of hours that must be given.
func parseHours(field string, hours *int64) (time.Duration, error) {
	if hours == nil {
		return 0, errBodyInvalid.With(field, fault.OverlapHours)
	}
	if *hours < 0 || *hours > mostHours {
		return 0, errBodyInvalid.With(field, fault.HoursUpTo, mostHours)
	}
	return time.Duration(*hours) * time.Hour, nil
}

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

// optionalText returns the text of a member that may be left out; it refuses a member that is present and no text.
func optionalText(field string, raw jsontext.Value) (text string, err error) {
	if raw == nil {
		return "", nil
	}
	if raw.Kind() != '"' || json.Unmarshal(raw, &text) != nil {
		return "", errBodyInvalid.With(field, fault.WrongJSONType)
	}
	return text, nil
}

// errNoPageURL means that links for live partners cannot be made, because no public address is configured.
var errNoPageURL = fault.New(fault.Unavailable, "portal.no_address")

// pageOrigin returns the origin that links to the person's page begin with. The Host header is not trusted, since the
// client writes it. Without a configured address it returns the listener's, which is refused to a live partner unless the
// listener is local to this machine.
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

// clockMove is the body of POST /sandbox/clock.
type clockMove struct {
	Days int `json:"days"`
}

// advanceClock lets days pass for a sandbox partner, and has done what became due before it answers.
func (s *Server) advanceClock(r *request, in clockMove) (any, error) {
	answer, err := r.runIdempotently(func(rules *Rules) (any, error) {
		inner := r.withRules(rules)
		if err := rules.Keys.AdvanceClock(r.ctx, r.caller, in.Days); err != nil {
			return nil, err
		}
		err := inner.recordChange("sandbox.clock", string(r.caller.Partner), "")
		return done{http.StatusOK, msgClockMoved}, err
	})
	if err != nil {
		return nil, err
	}
	return answer, s.DueWork(r.ctx)
}
