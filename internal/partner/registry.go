package partner

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Registry creates and changes partners and keys, for the command line and the console alike.
type Registry struct {
	store  Store
	now    func() time.Time
	random io.Reader
}

// NewRegistry joins the rules to a store, a clock and a source of randomness (nil means the system's).
func NewRegistry(store Store, now func() time.Time, random io.Reader) *Registry {
	if random == nil {
		random = rand.Reader
	}
	return &Registry{store: store, now: now, random: random}
}

// Credentials are shown once, when they are made.
type Credentials struct {
	APIKey string
	Salt   string
	// Key is the first key as the service keeps it.
	Key Key
}

// maxName is in characters.
const maxName = 200

var errName = ErrInvalid.With("name", fault.PlainLength, maxName)

// CreatePartner registers a partner with a salt and a first key that has every scope.
func (r *Registry) CreatePartner(
	ctx context.Context, name string, mode Mode, settings Settings,
) (Partner, Credentials, error) {
	name = strings.TrimSpace(name)
	if !IsPrintableLine(name, 1, maxName) {
		return Partner{}, Credentials{}, errName
	}
	if err := settings.checkSettings(); err != nil {
		return Partner{}, Credentials{}, err
	}
	if err := r.checkSandbox(ctx, Partner{Mode: mode, Settings: settings}); err != nil {
		return Partner{}, Credentials{}, err
	}
	for {
		p, c, err := r.insertPartner(ctx, Partner{Name: name, Mode: mode, Settings: settings, CreatedAt: r.now()})
		if !errors.Is(err, ErrTaken) { // with 10,000 partners one number in 200,000 is taken
			return p, c, err
		}
	}
}

// firstKeyLabel is what the key is called that a partner begins with, for people to read.
const firstKeyLabel = "Chave inicial"

// insertPartner draws the number, the salt and the first key of a partner and keeps all of them.
func (r *Registry) insertPartner(ctx context.Context, p Partner) (Partner, Credentials, error) {
	id, err := randomID(r.random)
	if err != nil {
		return Partner{}, Credentials{}, fmt.Errorf("make id: %w", err)
	}
	p.ID = id
	salt := make([]byte, 32)
	if _, err := io.ReadFull(r.random, salt); err != nil {
		return Partner{}, Credentials{}, fmt.Errorf("make salt: %w", err)
	}
	key, secret, err := r.generateKey(p, firstKeyLabel, firstScopes(p.Mode), time.Time{}, "")
	if err != nil {
		return Partner{}, Credentials{}, err
	}
	c := Credentials{APIKey: secret, Salt: base64.RawURLEncoding.EncodeToString(salt), Key: key}
	if err := r.store.InsertPartner(ctx, p, c.Salt, key); err != nil {
		return Partner{}, Credentials{}, fmt.Errorf("create partner: %w", err)
	}
	return p, c, nil
}

// PartnerByID returns a partner; to those of another partner (see ForPartner) it is not there.
func (r *Registry) PartnerByID(ctx context.Context, id ID) (Partner, error) {
	return r.store.PartnerByID(ctx, id)
}

// ListPartners returns all partners, oldest first.
func (r *Registry) ListPartners(ctx context.Context) ([]Partner, error) {
	return r.store.ListPartners(ctx)
}

// FindSandbox returns the sandbox of a live partner; ErrNotFound when it has none.
func (r *Registry) FindSandbox(ctx context.Context, live ID) (Partner, error) {
	all, err := r.store.ListPartners(ctx)
	if err != nil {
		return Partner{}, err
	}
	for _, p := range all {
		if live != "" && p.Settings.SandboxOf == live && p.Mode == Sandbox && !p.Forged {
			return p, nil
		}
	}
	return Partner{}, ErrNotFound
}

// checkSandbox holds the pair of a sandbox and a live partner to what it must be: one of each.
func (r *Registry) checkSandbox(ctx context.Context, p Partner) error {
	live := p.Settings.SandboxOf
	if live == "" {
		return nil
	}
	of, err := r.store.PartnerByID(ctx, live)
	if err != nil || p.Mode != Sandbox || of.Mode != Live {
		return ErrInvalid.With("sandbox of", fault.SandboxOfLive)
	}
	if other, err := r.FindSandbox(ctx, live); err == nil && other.ID != p.ID {
		return ErrInvalid.With("sandbox of", fault.HasASandbox, other.ID)
	}
	return nil
}

// SuspendPartner turns all keys of a partner off until ResumePartner; nothing is lost.
func (r *Registry) SuspendPartner(ctx context.Context, id ID) (Partner, error) {
	return r.store.UpdatePartner(ctx, id, func(p *Partner) error { p.Suspended = true; return nil })
}

// ResumePartner undoes SuspendPartner.
func (r *Registry) ResumePartner(ctx context.Context, id ID) (Partner, error) {
	return r.store.UpdatePartner(ctx, id, func(p *Partner) error { p.Suspended = false; return nil })
}

// UpdatePartner edits a partner's name or settings. The size of a live partner cannot be taken away.
func (r *Registry) UpdatePartner(ctx context.Context, id ID, edit func(*Partner)) (Partner, error) {
	return r.store.UpdatePartner(ctx, id, func(p *Partner) error {
		before := *p
		edit(p)
		p.ID, p.Mode, p.CreatedAt = before.ID, before.Mode, before.CreatedAt
		if p.Name = strings.TrimSpace(p.Name); !IsPrintableLine(p.Name, 1, maxName) {
			return errName
		}
		if p.Settings.SandboxOf != before.Settings.SandboxOf {
			if err := r.checkSandbox(ctx, *p); err != nil {
				return err
			}
		}
		if before.Settings.People > 0 {
			if err := p.CheckSize(); err != nil {
				return errors.Join(err, p.Settings.checkSettings())
			}
		}
		return p.Settings.checkSettings()
	})
}
