package person

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// cookieName carries the prefix by which a browser refuses the cookie unless it is Secure. Browsers take localhost and
// 127.0.0.1 as secure, so that the demo works without a certificate.
const cookieName = "__Secure-vigia-page"

// sessionCookie returns the cookie of a session: for these pages only, and never sent with a request that another site
// starts.
func sessionCookie(text string) *http.Cookie {
	return &http.Cookie{
		Name: cookieName, Value: text, Path: Prefix, Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: int(cyber.SessionLife / time.Second),
	}
}

// keepSession has the browser keep a session, drop forget it.
func (r *request) keepSession(text string) {
	r.cookie = sessionCookie(text)
	// To a browser a page inside a partner's own is another site, which sees no Strict cookie. It is kept apart by the
	// site that the page stands in, and forms that others send are refused by where they come from.
	if dest := r.Header.Get("Sec-Fetch-Dest"); dest == "iframe" || dest == "frame" {
		r.cookie.SameSite, r.cookie.Partitioned = http.SameSiteNoneMode, true //nolint:gosec // see sessionCookie
	}
}

// dropSession has the browser forget the session.
func (r *request) dropSession() {
	r.keepSession("")
	r.cookie.MaxAge = -1 //nolint:gosec // it has all three attributes: see sessionCookie
}

// openSession turns a link into a session. The answer is a page that leads on by itself, and not a redirect: a browser
// that was sent here by another site would not show a Strict cookie to where it is redirected.
func openSession(p *Pages, r *request) (answer, error) {
	session, text, err := p.Rules.Sessions.OpenLink(r.Context(), r.PathValue("token"))
	if err != nil {
		if p.Strangers.TakeToken(r.from) > 0 {
			return nil, errTooMany
		}
		if old, genuine := p.Rules.Sessions.ReadExpiredLink(r.PathValue("token")); genuine {
			r.lang, r.session.Return = old.Lang, old.Return // an expired link still says where to get a new one
		}
		return nil, err
	}
	if p.links.TakeToken(session.Link) > 0 {
		return nil, errTooMany
	}
	_, who, err := p.Rules.Sessions.ResumeSession(r.Context(), text)
	if err != nil {
		return nil, err
	}
	if err := p.setPerson(r, session, who); err != nil {
		return nil, err
	}
	r.keepSession(text)
	r.begun = true
	return view{"enter", "enter.title", nil}, nil
}

// changeLanguage says everything in another language from now on.
func changeLanguage(p *Pages, r *request) (answer, error) {
	lang, err := partner.ParseLanguage(r.trimmedField("lang"))
	if err != nil {
		return nil, err
	}
	_, text, err := p.Rules.Sessions.ChangeLanguage(r.session, lang)
	if err != nil {
		return nil, err
	}
	r.keepSession(text)
	back := r.trimmedField("back")
	for _, item := range slices.Concat(menu, others) { // nowhere else
		if item.path == back {
			return redirect{to: back}, nil
		}
	}
	return redirect{to: Prefix}, nil
}

// leaveSession ends the session, in this browser and for every copy of its cookie.
func leaveSession(p *Pages, r *request) (answer, error) {
	if err := p.Rules.Sessions.EndSession(r.Context(), r.session); err != nil {
		return nil, err
	}
	r.dropSession()
	r.who, r.theme = partner.Partner{}, partner.Theme{} // nothing of it is shown any more
	return view{"left", "left.title", nil}, nil
}

// resumeSession finds out whose page this is.
func (p *Pages) resumeSession(r *request) error {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return cyber.ErrPortalClosed
	}
	session, who, err := p.Rules.Sessions.ResumeSession(r.Context(), cookie.Value)
	if err != nil {
		if errors.Is(err, cyber.ErrPortalClosed) {
			r.dropSession()
		}
		return err
	}
	if p.links.TakeToken(session.Link) > 0 {
		return errTooMany
	}
	return p.setPerson(r, session, who)
}

// setPerson makes a request one of a person.
func (p *Pages) setPerson(r *request, session cyber.PortalSession, who partner.Partner) error {
	theme, err := p.Rules.Themes.GetTheme(r.Context(), who.ID)
	if err != nil {
		return err
	}
	r.session, r.who, r.lang, r.theme = session, who, session.Lang, theme
	return nil
}
