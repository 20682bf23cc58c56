package partner

import (
	"slices"
	"strings"
	"time"
)

// KeyID names an API key in the operator's tools; it is not part of the key.
type KeyID string

// Key is an API key as the service keeps it: without the secret.
type Key struct {
	ID      KeyID
	Partner ID
	Label   string
	// Preview is the start of the key, enough to tell keys apart in a list.
	Preview string
	// Digest is the SHA-256 of the whole key. A fast hash is right for a secret of 256 random bits. In lists it is the
	// keyed hash of it that is kept.
	Digest    []byte
	Scopes    []Scope
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
	// MadeBy is the key that made this one by the API; empty where an operator or a person of the partner did.
	MadeBy KeyID
	// Line is the first of the keys that replaced one another by rolling: the key's own ID where it replaced none. Keys
	// of a line share their idempotency claims.
	Line KeyID
	// Forged is a row that this program did not write: it opens nothing, and is only in lists.
	Forged bool
}

// BUG(partner): whether a key has expired is judged by the clock of the machine: one that is set back by an hour lets a
// key live an hour longer. A revoked key stays revoked whatever the clock says.

// IsLiveAt reports whether the key opens anything at that moment.
func (k Key) IsLiveAt(t time.Time) bool {
	return !k.Forged && k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || t.Before(k.ExpiresAt))
}

// HasScope reports whether the key covers need.
func (k Key) HasScope(need Scope) bool {
	if need == ScopeAny {
		return true
	}
	if need == ScopeAnyRead {
		return k.HasScope(ScopeCyberRead) || k.HasScope(ScopeSubscriptionsRead)
	}
	return slices.Contains(k.Scopes, need) ||
		slices.Contains(k.Scopes, Scope(strings.TrimSuffix(string(need), ":read")))
}

// AuditDetail returns what the line of the audit trail says of a key that was created: whose it is and what it may do.
func (k Key) AuditDetail() string {
	words := []string{string(k.Partner)}
	for _, scope := range k.Scopes {
		words = append(words, string(scope))
	}
	return strings.Join(words, " ")
}
