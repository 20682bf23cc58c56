package api

import (
	"net/http"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
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
	if err := r.recordAudit("key.create", string(k.ID), k.AuditDetail()); err != nil {
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
	if err := r.recordAudit("key.roll", r.id, string(k.ID)+" "+k.AuditDetail()); err != nil {
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
