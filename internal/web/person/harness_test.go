package person_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/web/person"
)

// world is the pages on a real store.
type world struct {
	*storetest.Env
	pages    http.Handler
	log      *strings.Builder
	registry *partner.Registry
	rules    person.Rules
}

func newWorld(t *testing.T) *world {
	t.Helper()
	e := storetest.Open(t, "sqlite")
	now := e.Clock.Now
	services := cyber.NewServices(e.Store.Services, now)
	if err := services.SeedServices(t.Context()); err != nil {
		t.Fatal(err)
	}
	trail := operator.NewTrail(e.Store.Audit, now)
	w := &world{Env: e, log: &strings.Builder{}, registry: partner.NewRegistry(e.Store.Partners, now, nil)}
	w.rules = person.Rules{
		Sessions:   cyber.NewPortalSessions(e.Store.Subjects, e.Store.Partners, e.Keys, now, nil),
		Themes:     w.registry,
		Monitoring: cyber.NewMonitoring(e.Store.Monitoring, e.Store.Partners, cyber.Unasked{}, e.Keys.Fingerprint, now),
		FirstLooks: cyber.NewFirstLooks(e.Store.Monitoring, e.Store.Partners, now),
		Persons:    cyber.NewPersons(e.Store.Advice, cyber.NewCatalogue(e.Store.Advice, now), now, nil),
		Cases: cyber.NewCases(
			e.Store.Cases,
			now,
		),
		Services:  services,
		Endpoints: cyber.NewEndpoints(e.Store.Devices, now, nil),
		Cover:     cyber.NewCover(e.Store.Cover),
		Names:     e.Store.Overview,
		Subjects:  subject.NewRights(e.Store.Subjects, e.Store.Partners, trail, now),
		Audit:     trail,
	}
	pages, err := person.NewPages(person.Options{
		Rules: w.rules, Log: slog.New(slog.NewTextHandler(w.log, nil)), Now: now, Callers: &telemetry.Callers{},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.pages = pages
	return w
}

// tenant is a partner of the world and a key of its own.
type tenant struct {
	partner.Partner
	caller partner.Caller
}

func (w *world) tenant(t *testing.T) tenant {
	t.Helper()
	p, cred := w.NewPartner(t, partner.Sandbox)
	who, err := partner.NewKeyGate(w.Store.Partners, w.Clock.Now).Authenticate(t.Context(), cred.APIKey, partner.ScopeCyber)
	if err != nil {
		t.Fatal(err)
	}
	return tenant{p, who}
}

// watch adds values of a person.
func (w *world) watch(t *testing.T, of tenant, user partner.UserHash, emails ...string) {
	t.Helper()
	for _, mail := range emails {
		if _, err := w.rules.Monitoring.AddAsset(
			t.Context(),
			cyber.AssetRequest{
				Owner: cyber.Owner{Partner: of.ID, Mode: of.Mode},
				User:  user,
				Type:  "email",
				Value: mail,
			},
		); err != nil {
			t.Fatal(err)
		}
	}
}

// openCase opens a case of a person, with something said in it.
func (w *world) openCase(t *testing.T, of tenant, user partner.UserHash, said string) cyber.CaseID {
	t.Helper()
	c, err := w.rules.Cases.OpenCaseByPhone(
		t.Context(),
		of.ID,
		cyber.CaseRequest{Service: "sv_ajuda_phishing", User: user, Mode: of.Mode},
	)
	if err == nil && said != "" {
		_, err = w.rules.Cases.AddMessage(
			t.Context(),
			cyber.CaseKey{ID: c.ID, Partner: of.ID, User: user},
			cyber.Message{Text: said},
		)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

// visitor is a browser at the pages.
type visitor struct {
	t      *testing.T
	pages  http.Handler
	cookie *http.Cookie
	// header is sent along.
	header http.Header
}

// link asks for one, as a partner does.
func (w *world) link(t *testing.T, of tenant, user partner.UserHash, lang partner.Language) string {
	t.Helper()
	token, _, err := w.rules.Sessions.CreateLink(
		context.Background(),
		of.caller,
		cyber.PortalRequest{User: user, Lang: string(lang), Return: "https://app.banco.com.br/"},
	)
	if err != nil {
		t.Fatal(err)
	}
	return "/p/enter/" + token
}

// visit follows a link.
func (w *world) visit(t *testing.T, of tenant, user partner.UserHash, lang partner.Language) *visitor {
	t.Helper()
	v := &visitor{t: t, pages: w.pages, header: http.Header{"Sec-Fetch-Site": {"same-origin"}}}
	if res, body := v.get(w.link(t, of, user, lang)); res.StatusCode != http.StatusOK || v.cookie == nil {
		t.Fatal(res.StatusCode, body)
	}
	return v
}

func (v *visitor) get(path string) (*http.Response, string) { return v.send(http.MethodGet, path, nil) }

func (v *visitor) post(path string, fields ...string) (*http.Response, string) {
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return v.send(http.MethodPost, path, form)
}

func (v *visitor) send(method, path string, form url.Values) (*http.Response, string) {
	v.t.Helper()
	req := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	if form != nil {
		req.Header.Set("content-type", "application/x-www-form-urlencoded")
	}
	for name, values := range v.header {
		req.Header[name] = values
	}
	if v.cookie != nil {
		req.AddCookie(&http.Cookie{Name: v.cookie.Name, Value: v.cookie.Value})
	}
	rec := httptest.NewRecorder()
	v.pages.ServeHTTP(rec, req)
	res := rec.Result()
	for _, c := range res.Cookies() {
		if v.cookie = c; c.MaxAge < 0 {
			v.cookie = nil
		}
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return res, string(body)
}

// sees opens a page and expects texts on it.
func (v *visitor) sees(path string, texts ...string) string {
	v.t.Helper()
	res, body := v.get(path)
	if res.StatusCode != http.StatusOK {
		v.t.Fatalf("%s: %d\n%s", path, res.StatusCode, body)
	}
	for _, text := range texts {
		if !strings.Contains(body, text) {
			v.t.Errorf("%s does not say %q:\n%s", path, text, body)
		}
	}
	return body
}

// pageList is every page that needs nothing but a session.
var pageList = []string{
	"/p/",
	"/p/leaks",
	"/p/steps",
	"/p/score",
	"/p/devices",
	"/p/cases",
	"/p/cover",
	"/p/data",
	"/p/more",
}
