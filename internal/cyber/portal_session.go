package cyber

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
)

// How a person comes to the page of their own: the partner, who knows who they are, asks for a link; the link is good
// for a few minutes and gives the browser that opens it a session. Both are sealed texts that hold all their data, so
// that any replica can read them; only sessions that people ended before their time are stored, until then. See
// docs/internal/design/0016-person-page.md.

const (
	// LinkLife is how long a link opens the page, SessionLife how long the page stays open after that.
	LinkLife    = 15 * time.Minute
	SessionLife = time.Hour

	maxReturn     = 500
	maxPortalText = 4096
	linkBytes     = 9
	portalParts   = 9
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

// PortalRequest is what a partner asks a link for.
type PortalRequest struct {
	User partner.UserHash
	// Lang and Return may be empty.
	Lang, Return string
}

// Sealer makes and reads texts that only this service can.
type Sealer interface {
	Seal(at seal.Place, plain []byte) ([]byte, error)
	Unseal(at seal.Place, sealed []byte) ([]byte, error)
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
	store PortalStore,
	tenants Tenants,
	keys Sealer,
	now func() time.Time,
	random io.Reader,
) *PortalSessions {
	if random == nil {
		random = rand.Reader
	}
	return &PortalSessions{store: store, tenants: tenants, keys: keys, now: now, random: random}
}

// CreateLink makes a link for a person that the partner has registered here. It returns the sealed text for the link's
// path, and the session that it opens.
func (s *PortalSessions) CreateLink(
	ctx context.Context,
	who partner.Caller,
	r PortalRequest,
) (string, PortalSession, error) {
	lang, err := partner.ParseLanguage(r.Lang)
	if err != nil {
		return "", PortalSession{}, err
	}
	if err := checkReturn(r.Return, who.Settings.ListSites()); err != nil {
		return "", PortalSession{}, err
	}
	now := s.now()
	stands, err := s.store.IsStillHeld(ctx, who.Partner, r.User, now)
	if err != nil {
		return "", PortalSession{}, err
	}
	if !stands {
		return "", PortalSession{}, ErrNobodyKnown.With("userHash", fault.NothingHeld)
	}
	link, err := s.drawName()
	if err != nil {
		return "", PortalSession{}, err
	}
	session := PortalSession{
		Partner: who.Partner,
		User:    r.User,
		Lang:    lang,
		Return:  r.Return,
		Copy:    who.HasScope(partner.ScopeSubscriptionsRead),
		Link:    link,
		Begun:   now,
		Until:   now.Add(LinkLife),
	}
	token, err := s.writeSession(placeLink, session)
	return token, session, err
}

// drawName returns a name for a link or a session.
func (s *PortalSessions) drawName() (string, error) {
	name := make([]byte, linkBytes)
	if _, err := io.ReadFull(s.random, name); err != nil {
		return "", fmt.Errorf("draw a name: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(name), nil
}

// checkReturn refuses what the page could not safely lead to. Where the partner's sites are known it leads to one of
// them.
func checkReturn(text string, sites []string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || len(text) > maxReturn || !strings.HasPrefix(text, "https://") || u.Hostname() == "" ||
		u.User != nil ||
		strings.ContainsFunc(text, unprintable) {
		return ErrPortalInvalid.With("returnUrl", fault.HTTPSAddressLength, maxReturn)
	}
	if len(sites) == 0 {
		return nil
	}
	host := strings.ToLower(u.Hostname())
	for _, site := range sites {
		if host == site || strings.HasSuffix(host, "."+site) {
			return nil
		}
	}
	return ErrPortalInvalid.With("returnUrl", fault.PartnersOwnSite)
}

// unprintable reports whether r may not stand in a return address: only visible ASCII may.
func unprintable(r rune) bool { return r <= ' ' || r > '~' }

// OpenLink opens a link and gives the session that it stands for, with the text that a browser keeps of it. A link
// opens as often as it is followed while it lives: those who look at links before people do, mail filters and previews
// of messages, must not close it.
func (s *PortalSessions) OpenLink(ctx context.Context, token string) (PortalSession, string, error) {
	session, _, err := s.openSession(ctx, placeLink, token)
	if err != nil {
		return PortalSession{}, "", err
	}
	session.Until = s.now().Add(SessionLife)
	if session.ID, err = s.drawName(); err != nil {
		return PortalSession{}, "", err
	}
	return s.sealSession(session)
}

// EndSession ends a session on every replica: a copy of the text that the browser kept opens nothing any more. The link
// that it came from opens others while it lives.
func (s *PortalSessions) EndSession(ctx context.Context, session PortalSession) error {
	return s.store.EndPortalSession(ctx, session.Partner, session.ID, session.Until)
}

// ResumeSession returns the session of a text that Enter gave, and the partner as it is now.
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

// sealSession returns a session with the text that a browser keeps of it.
func (s *PortalSessions) sealSession(session PortalSession) (PortalSession, string, error) {
	text, err := s.writeSession(placeSession, session)
	return session, text, err
}

// ReadExpiredLink reads a link that is genuine and too old: who followed it can be told where to get another.
func (s *PortalSessions) ReadExpiredLink(token string) (PortalSession, bool) {
	session, err := s.readSession(placeLink, token)
	return session, err == nil
}

// The two texts are sealed for places of their own, so that neither passes for the other.
const (
	placeLink    = "link"
	placeSession = "session"
)

// portalPlace binds a sealed text to its purpose: a link cannot be used as a session, nor the other way round.
func portalPlace(column string) seal.Place {
	return seal.Place{Table: "portal_session", Column: column}
}

// writeSession seals a session, a line for each of its parts: none of them holds a line break, and it stands in an
// address.
func (s *PortalSessions) writeSession(column string, session PortalSession) (string, error) {
	plain := strings.Join([]string{
		string(session.Partner),
		string(session.Lang),
		strconv.FormatBool(session.Copy),
		session.Link,
		session.ID,
		strconv.FormatInt(
			session.Begun.UnixMicro(),
			36,
		),
		strconv.FormatInt(session.Until.UnixMicro(), 36),
		session.Return,
		string(session.User),
	}, "\n")
	sealed, err := s.keys.Seal(portalPlace(column), []byte(plain))
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// readSession opens what writeSession sealed.
func (s *PortalSessions) readSession(column, text string) (PortalSession, error) {
	if len(text) > maxPortalText {
		return PortalSession{}, ErrPortalClosed
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return PortalSession{}, ErrPortalClosed
	}
	plain, err := s.keys.Unseal(portalPlace(column), sealed)
	if err != nil {
		return PortalSession{}, ErrPortalClosed.Because(err)
	}
	parts := strings.Split(string(plain), "\n")
	if len(parts) != portalParts {
		return PortalSession{}, ErrPortalClosed
	}
	begun, berr := strconv.ParseInt(parts[5], 36, 64)
	until, uerr := strconv.ParseInt(parts[6], 36, 64)
	if err := errors.Join(berr, uerr); err != nil {
		return PortalSession{}, ErrPortalClosed.Because(err)
	}
	return PortalSession{
		Partner: partner.ID(parts[0]), Lang: partner.Language(parts[1]), Copy: parts[2] == "true", Link: parts[3],
		ID: parts[4], Begun: time.UnixMicro(begun), Until: time.UnixMicro(until), Return: parts[7],
		User: partner.UserHash(parts[8]),
	}, nil
}

// openSession reads a text and asks whether it still holds: in time, of a partner that is served, about a person who is
// there.
func (s *PortalSessions) openSession(ctx context.Context, column, text string) (PortalSession, partner.Partner, error) {
	session, err := s.readSession(column, text)
	if err != nil || !s.now().Before(session.Until) {
		return PortalSession{}, partner.Partner{}, ErrPortalClosed
	}
	who, err := s.tenants.PartnerByID(ctx, session.Partner)
	if err != nil {
		if fault.KindOf(err) == fault.NotFound {
			err = ErrPortalClosed
		}
		return PortalSession{}, partner.Partner{}, err
	}
	stands, err := s.store.IsStillHeld(ctx, session.Partner, session.User, session.Begun)
	if err != nil {
		return PortalSession{}, partner.Partner{}, err
	}
	if who.Suspended || !stands {
		return PortalSession{}, partner.Partner{}, ErrPortalClosed
	}
	return session, who, nil
}
