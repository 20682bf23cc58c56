package stored_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subject"
)

// portalWorld is a partner with a person of whom a value is watched.
type portalWorld struct {
	*storetest.Env
	sessions *cyber.PortalSessions
	who      partner.Caller
	user     partner.UserHash
}

func newPortalWorld(t *testing.T, e *storetest.Env) *portalWorld {
	t.Helper()
	p, cred := e.NewPartner(t, partner.Sandbox)
	caller, err := partner.NewKeyGate(e.Store.Partners, e.Clock.Now).Authenticate(t.Context(), cred.APIKey, partner.ScopeCyber)
	if err != nil {
		t.Fatal(err)
	}
	w := &portalWorld{
		e,
		cyber.NewPortalSessions(e.Store.Subjects, e.Store.Partners, e.Keys, e.Clock.Now, nil),
		caller,
		"pessoa-do-portal",
	}
	w.watch(t, p)
	return w
}

func (w *portalWorld) watch(t *testing.T, p partner.Partner) {
	t.Helper()
	m := cyber.NewMonitoring(w.Store.Monitoring, w.Store.Partners, cyber.Unasked{}, w.Keys.Fingerprint, w.Clock.Now)
	if _, err := m.AddAsset(
		t.Context(),
		cyber.AssetRequest{
			Owner: cyber.Owner{Partner: p.ID, Mode: p.Mode},
			User:  w.user,
			Type:  "email",
			Value: "ana@vazamento.test",
		},
	); err != nil {
		t.Fatal(err)
	}
}

func (w *portalWorld) offer(t *testing.T) string {
	t.Helper()
	token, link, err := w.sessions.CreateLink(t.Context(), w.who, cyber.PortalRequest{User: w.user, Lang: "es"})
	if err != nil || !link.Until.Equal(w.Clock.Now().Add(cyber.LinkLife)) {
		t.Fatal(link, err)
	}
	return token
}

func (w *portalWorld) enter(t *testing.T) string {
	t.Helper()
	_, text, err := w.sessions.OpenLink(t.Context(), w.offer(t))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// closed expects that neither a link nor a session opens anything any more.
func (w *portalWorld) closed(t *testing.T, link, session string) {
	t.Helper()
	if _, _, err := w.sessions.OpenLink(t.Context(), link); !errors.Is(err, cyber.ErrPortalClosed) {
		t.Error("the link still opens:", err)
	}
	if _, _, err := w.sessions.ResumeSession(t.Context(), session); !errors.Is(err, cyber.ErrPortalClosed) {
		t.Error("the session is still open:", err)
	}
}

// TestPortalSessionLife: a link opens for its time and not once only, gives a session of its own length, and neither
// passes for the other.
func TestPortalSessionLife(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		w := newPortalWorld(t, e)
		link := w.offer(t)
		for range 2 { // who looks at links before the person does must not close them
			session, _, err := w.sessions.OpenLink(t.Context(), link)
			if err != nil {
				t.Fatal(err)
			}
			want := session
			want.User, want.Partner, want.Lang, want.Copy = w.user, w.who.Partner, partner.Spanish, true
			difftest.Must(t, "the session", session, want)
		}
		text := w.enter(t)
		if _, who, err := w.sessions.ResumeSession(t.Context(), text); err != nil || who.ID != w.who.Partner {
			t.Fatal(who, err)
		}
		w.closed(t, text, link) // each in the other's place
		for _, broken := range []string{"", "x", link[:len(link)-1], link + "A", strings.ToUpper(link), strings.Repeat("A", 9000), link[:20] + "AAAA" + link[24:]} {
			w.closed(t, broken, broken)
		}
		e.Clock.Advance(cyber.LinkLife)
		if _, _, err := w.sessions.OpenLink(t.Context(), link); !errors.Is(err, cyber.ErrPortalClosed) {
			t.Error("an old link opens:", err)
		}
		if old, genuine := w.sessions.ReadExpiredLink(link); !genuine || old.Lang != partner.Spanish {
			t.Error("nobody can be told where to get another:", old, genuine)
		}
		if _, _, err := w.sessions.ResumeSession(t.Context(), text); err != nil {
			t.Error("a session ends with its link:", err)
		}
		e.Clock.Advance(cyber.SessionLife - cyber.LinkLife)
		w.closed(t, link, text)
	})
}

// TestPortalClosesAtOnce: suspending the partner and erasing the person close what is open, also when the person is
// enrolled anew a moment later.
func TestPortalClosesAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		w := newPortalWorld(t, e)
		link, text := w.offer(t), w.enter(t)
		registry := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil)
		if _, err := registry.SuspendPartner(t.Context(), w.who.Partner); err != nil {
			t.Fatal(err)
		}
		w.closed(t, link, text)
		p, err := registry.ResumePartner(t.Context(), w.who.Partner)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.sessions.ResumeSession(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		e.Clock.Advance(time.Second)
		rights := subject.NewRights(
			e.Store.Subjects,
			e.Store.Partners,
			operator.NewTrail(e.Store.Audit, e.Clock.Now),
			e.Clock.Now,
		)
		_, err = rights.ErasePerson(
			t.Context(),
			operator.Actor{Name: "cli:teste"},
			subject.Person{User: w.user, Partner: p.ID},
			"pediu",
			func([]subject.Tombstone) error { return nil },
		)
		if err != nil {
			t.Fatal(err)
		}
		w.closed(t, link, text)
		if _, _, err := w.sessions.CreateLink(t.Context(), w.who, cyber.PortalRequest{User: w.user}); !errors.Is(err, cyber.ErrNobodyKnown) {
			t.Error("a link for nobody:", err)
		}
		e.Clock.Advance(time.Second)
		w.watch(t, p)
		w.closed(t, link, text)
		if _, _, err := w.sessions.OpenLink(t.Context(), w.offer(t)); err != nil {
			t.Error("a new link does not open:", err)
		}
	})
}

// TestPortalRequests: what a link may be asked for.
func TestPortalRequests(t *testing.T) {
	e := storetest.Open(t, "sqlite")
	w := newPortalWorld(t, e)
	for text, good := range map[string]bool{
		"": true, "https://banco.com.br/conta?a=1": true, "http://banco.com.br/": false, "javascript:alert(1)": false, "https://u:p@banco.com.br/": false,
		"https://": false, "//banco.com.br": false, "https://banco.com.br/\n": false, "https://banco.com.br/" + strings.Repeat("a", 500): false,
	} {
		_, _, err := w.sessions.CreateLink(context.Background(), w.who, cyber.PortalRequest{User: w.user, Return: text})
		if (err == nil) != good || err != nil && !errors.Is(err, cyber.ErrPortalInvalid) {
			t.Errorf("return to %q: %v", text, err)
		}
	}
	w.who.Settings.Sites = "banco.com.br outro.com.br"
	for text, good := range map[string]bool{
		"https://banco.com.br/": true, "https://APP.banco.com.br:8443/x": true, "https://mau-banco.com.br/": false, "https://banco.com.br.mau.com/": false,
	} {
		if _, _, err := w.sessions.CreateLink(
			context.Background(),
			w.who,
			cyber.PortalRequest{User: w.user, Return: text},
		); (err == nil) != good {
			t.Errorf("return to %q: %v", text, err)
		}
	}
	if _, _, err := w.sessions.CreateLink(context.Background(), w.who, cyber.PortalRequest{User: w.user, Lang: "fr"}); !errors.Is(err, partner.ErrLanguage) {
		t.Error("a language that nothing is written in:", err)
	}
	if _, _, err := w.sessions.CreateLink(context.Background(), w.who, cyber.PortalRequest{User: "ninguem"}); !errors.Is(err, cyber.ErrNobodyKnown) {
		t.Error("a link for nobody:", err)
	}
}
