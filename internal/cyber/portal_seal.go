package cyber

import (
	"context"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
)

// Sealer makes and reads texts that only this service can.
type Sealer interface {
	Seal(at seal.Place, plain []byte) ([]byte, error)
	Unseal(at seal.Place, sealed []byte) ([]byte, error)
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

// sealSession returns a session with the text that a browser keeps of it.
func (s *PortalSessions) sealSession(session PortalSession) (PortalSession, string, error) {
	text, err := s.writeSession(placeSession, session)
	return session, text, err
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
		strconv.FormatInt(session.Begun.UnixMicro(), 36),
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
