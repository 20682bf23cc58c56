// Package partner holds the tenants of the service: partners, their API keys and scopes, and the salt and userHash by
// which their people are known.
//
// It knows nothing of HTTP, SQL or the product's operations. The invariant it keeps: the secret part of a key exists
// only in the hands of the partner; here there is its digest, and every way of failing to authenticate looks the same.
package partner

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Partner is one tenant.
type Partner struct {
	ID        ID
	Name      string
	Mode      Mode
	Suspended bool
	Settings  Settings
	CreatedAt time.Time
	// Forged marks a row that this program did not write: it authenticates no caller, and is only shown in lists.
	Forged bool
}

// Faults of this package.
var (
	ErrNotFound     = fault.New(fault.NotFound, "partner.not_found")
	ErrTaken        = fault.New(fault.Conflict, "partner.taken")
	ErrInvalid      = fault.New(fault.Invalid, "partner.invalid")
	ErrKeyNotFound  = fault.New(fault.NotFound, "key.not_found")
	ErrUnauthorised = fault.New(fault.Unauthenticated, "key.refused")
	// ErrScopeMissing is the refusal of a live key that may not do what it was shown for.
	ErrScopeMissing = fault.New(fault.Unauthenticated, "key.scope_missing")
)

// Store is what the rules of this package need to keep.
type Store interface {
	// InsertPartner keeps a new partner with its sealed salt and its first key, all or nothing. ErrTaken means that
	// another partner has its number.
	InsertPartner(ctx context.Context, p Partner, salt string, first Key) error
	PartnerByID(ctx context.Context, id ID) (Partner, error)
	ListPartners(ctx context.Context) ([]Partner, error)
	UpdatePartner(ctx context.Context, id ID, change func(*Partner) error) (Partner, error)
	// AgeSandbox makes everything of a partner so many days older.
	AgeSandbox(ctx context.Context, id ID, days int) error
	// InsertKey keeps a new key; ErrUnauthorised when the key that made it has ended.
	InsertKey(ctx context.Context, id ID, k Key) error
	ListKeys(ctx context.Context, id ID) ([]Key, error)
	// UpdateKeys lets change set the times of a partner's keys, all of them in one transaction.
	UpdateKeys(ctx context.Context, id ID, change func(keys []Key) error) error
	// KeyByDigest returns the key with this digest, together with its partner. What is kept is a keyed hash of the
	// digest.
	KeyByDigest(ctx context.Context, digest []byte) (Key, Partner, error)
	// AccessEpoch changes whenever a key, a partner or one of its plans changes, so that caches know when to forget.
	AccessEpoch(ctx context.Context) (int64, error)
	// OpenSalt opens the partner's salt.
	OpenSalt(ctx context.Context, id ID) (string, error)
	ThemeStore
}

// CheckSize refuses a live partner of which nobody said how many people its contract covers: only a thousand of its
// values would be looked for in past breaches at once, and whoever makes it does not know.
func (p Partner) CheckSize() error {
	if p.Mode == Live && p.Settings.People < 1 {
		return ErrInvalid.With("people", fault.PeopleCovered, maxPeople)
	}
	return nil
}
