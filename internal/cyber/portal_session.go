package cyber

import (
	"context"
	"crypto/rand"
	"io"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Faults of the person's page.
var (
	ErrPortalInvalid = fault.New(fault.Invalid, "portal.invalid")
	// ErrPortalClosed is every way in which a link or session does not open the page: it says nothing about why.
	ErrPortalClosed = fault.New(fault.Unauthenticated, "portal.closed")
	ErrNobodyKnown  = fault.New(fault.NotFound, "person.not_found")
)

// PortalSession is a person looking at their page.
type PortalSession struct {
	Partner partner.ID
	User    partner.UserHash
	Lang    partner.Language
	// Return is where the page leads back to; empty for nowhere.
	Return string
	// Copy says that the person may take a copy of everything that is held about them, enrolment data in the clear
	// included: the partner's key that asked for the link could read those too.
	Copy bool
	// Link names the link that all this came from, and ID the session of one browser, by chance alone. A link has no
	// ID.
	Link, ID string
	// Begun is when the link was asked for, Until when this ends.
	Begun, Until time.Time
}

// PortalStore knows people.
type PortalStore interface {
	// IsStillHeld tells whether anything is held about a person, and nothing was erased of them since a time.
	IsStillHeld(ctx context.Context, id partner.ID, u partner.UserHash, since time.Time) (bool, error)
	// EndPortalSession notes that a session ended before its time; until then HasEnded says so.
	EndPortalSession(ctx context.Context, id partner.ID, session string, until time.Time) error
	HasEnded(ctx context.Context, id partner.ID, session string) (bool, error)
}

// Tenants tells what a partner is now.
type Tenants interface {
	PartnerByID(ctx context.Context, id partner.ID) (partner.Partner, error)
}

// PortalSessions makes links to people's pages and opens them.
type PortalSessions struct {
	store   PortalStore
	tenants Tenants
	keys    Sealer
	now     func() time.Time
	random  io.Reader
}

// NewPortalSessions joins the rules to a store, the partners, the key file, a clock and a source of randomness (nil
// means the system's).
func NewPortalSessions(
	store PortalStore, tenants Tenants, keys Sealer, now func() time.Time, random io.Reader,
) *PortalSessions {
	if random == nil {
		random = rand.Reader
	}
	return &PortalSessions{store: store, tenants: tenants, keys: keys, now: now, random: random}
}

// EndSession ends a session on every replica: a copy of the text that the browser kept opens nothing any more. The link
// that it came from opens others while it lives.
func (s *PortalSessions) EndSession(ctx context.Context, session PortalSession) error {
	return s.store.EndPortalSession(ctx, session.Partner, session.ID, session.Until)
}

// ResumeSession returns the session of a text that OpenLink gave, and the partner as it is now.
func (s *PortalSessions) ResumeSession(ctx context.Context, text string) (PortalSession, partner.Partner, error) {
	session, who, err := s.openSession(ctx, placeSession, text)
	if err != nil {
		return session, who, err
	}
	ended, err := s.store.HasEnded(ctx, session.Partner, session.ID)
	if err != nil {
		return PortalSession{}, partner.Partner{}, err
	}
	if ended {
		return PortalSession{}, partner.Partner{}, ErrPortalClosed
	}
	return session, who, nil
}

// ChangeLanguage returns the same session in another language.
func (s *PortalSessions) ChangeLanguage(session PortalSession, lang partner.Language) (PortalSession, string, error) {
	session.Lang = lang
	return s.sealSession(session)
}
