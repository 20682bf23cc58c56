package cyber

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
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

// PortalRequest is what a partner asks a link for.
type PortalRequest struct {
	User partner.UserHash
	// Lang and Return may be empty.
	Lang, Return string
}

// CreateLink makes a link for a person that the partner has registered here. It returns the sealed text for the link's
// path, and the session that it opens.
func (s *PortalSessions) CreateLink(
	ctx context.Context, who partner.Caller, r PortalRequest,
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

// ReadExpiredLink reads a link that is genuine and too old: who followed it can be told where to get another.
func (s *PortalSessions) ReadExpiredLink(token string) (PortalSession, bool) {
	session, err := s.readSession(placeLink, token)
	return session, err == nil
}
