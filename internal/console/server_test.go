package console

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// posted is a request that carries a form.
func posted(t *testing.T, path, form string) *request {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if err := r.ParseForm(); err != nil {
		t.Fatal(err)
	}
	return &request{Request: r}
}

// TestLocalPath: nobody is sent elsewhere after a log-in.
func TestLocalPath(t *testing.T) {
	for path, want := range map[string]string{
		"/partners?x=1": "/partners?x=1", "/": "/", "": "/", "//evil.example": "/", "https://evil.example/": "/", `/\evil.example`: "/",
		"partners": "/", "/a\r\nSet-Cookie: x": "/", "javascript:alert(1)": "/", "/%zz": "/",
	} {
		if got := localPath(path); got != want {
			t.Errorf("%q leads to %q, want %q", path, got, want)
		}
	}
}

// TestToLogin: where somebody wanted to look is remembered, what somebody wanted to do is not.
func TestToLogin(t *testing.T) {
	for _, c := range []struct{ method, path, want string }{
		{http.MethodGet, "/", "/login"}, {http.MethodGet, "/plans?partner=a%20b", "/login?next=%2Fplans%3Fpartner%3Da%2520b"},
		{http.MethodPost, "/plans", "/login"},
	} {
		if got := redirectToLogin(&request{Request: httptest.NewRequest(c.method, c.path, nil)}, false); got != (redirect{to: c.want}) {
			t.Errorf("%s %s: %+v", c.method, c.path, got)
		}
	}
}

// TestProofPage: after the password was given again one goes on at a page, never at an action.
func TestProofPage(t *testing.T) {
	for _, c := range []struct{ method, route, path, want string }{
		{http.MethodGet, "/partners/new", "/partners/new?x=1", "/partners/new?x=1"},
		{http.MethodPost, "/partners/new", "/partners/new", "/partners/new"},
		{http.MethodPost, "/partners/{id}/suspend", "/partners/pt_1/suspend", "/partners/pt_1"},
	} {
		rt := route{method: c.method, path: c.route}
		if got := rt.proofPage(httptest.NewRequest(c.method, c.path, nil)); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.method, c.path, got, c.want)
		}
	}
}

// TestMendable: a form is shown again for what a person can mend, and for nothing else.
func TestMendable(t *testing.T) {
	for err, want := range map[error]bool{
		fault.New(fault.Invalid, "x"): true, fault.New(fault.Conflict, "x"): true, fault.New(fault.NotFound, "x"): true,
		operator.ErrRefused: true, operator.ErrNoSession: false, fault.New(fault.RateLimited, "x"): true,
		fault.New(fault.Forbidden, "x"): false, fault.New(fault.Unavailable, "x"): false, errors.New("x"): false,
	} {
		if got := isMendable(err); got != want {
			t.Errorf("%v: %t", err, got)
		}
	}
}

// TestFields: what forms hold.
func TestFields(t *testing.T) {
	r := posted(t, "/x", "n=+12+&neg=-1&word=x&at=2026-12-24T15%3A00&bad=24%2F12&reason=ok&why=pedido")
	for name, want := range map[string]int{"n": 12, "missing": 7} {
		if got, err := r.parseNumberField(name, 7); err != nil || got != want {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
	for _, name := range []string{"neg", "word"} {
		if _, err := r.parseNumberField(name, 7); !errors.Is(err, errForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := r.parseMomentField("at"); err != nil || !got.Equal(time.Date(2026, 12, 24, 18, 0, 0, 0, time.UTC)) {
		t.Error("a time is read as Brasília's:", got, err)
	}
	if got, err := r.parseMomentField("missing"); err != nil || !got.IsZero() {
		t.Error(got, err)
	}
	if _, err := r.parseMomentField("bad"); !errors.Is(err, errForm) {
		t.Error(err)
	}
	if _, err := parseReason(r); !errors.Is(err, errReason) {
		t.Error("two letters are no reason:", err)
	}
	if why, err := parseReason(posted(t, "/x", "reason=+pedido+")); err != nil || why != "pedido" {
		t.Error(why, err)
	}
}

// TestSettingsOf: nothing means the default, and a word is refused.
func TestSettingsOf(t *testing.T) {
	s, err := settingsOf(posted(t, "/x", "default_plan=ouro&rate=10&burst=&mask_cards=on"))
	if err != nil || s != (partner.Settings{DefaultPlan: "ouro", RatePerSecond: 10, MaskCards: true}) {
		t.Error(s, err)
	}
	if _, err := settingsOf(posted(t, "/x", "rate=viele")); !errors.Is(err, partner.ErrInvalid) {
		t.Error(err)
	}
}

// TestAllowed: the menu shows a page to whom its route lets in, and no page without a route.
func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		role operator.Role
		path string
		want bool
	}{
		{operator.Viewer, "/", true}, {operator.Viewer, "/partners", true}, {operator.Viewer, "/partners/new", false},
		{operator.Admin, "/partners/new", true}, {operator.Viewer, "/nowhere", false}, {"", "/", false},
	} {
		if got := isMenuAllowed(operator.Operator{Role: c.role}, c.path); got != c.want {
			t.Errorf("%s at %s: %t", c.role, c.path, got)
		}
	}
	for _, g := range menu {
		for _, s := range g.sections {
			if !isMenuAllowed(operator.Operator{Role: operator.Admin}, s.path) {
				t.Errorf("the menu leads to %s, which nobody may open", s.path)
			}
		}
	}
}

// TestOldAndPicked: a refused form keeps what was typed; a page that was not sent shows what is.
func TestOldAndPicked(t *testing.T) {
	problem := &sentence{}
	for _, c := range []struct {
		f         frame
		old       string
		x, y, now bool
	}{
		{frame{}, "now", true, false, true},
		{frame{Form: url.Values{"a": {"typed"}, "b": {"y"}}}, "now", true, false, true}, // not refused
		{frame{Problem: problem, Form: url.Values{"a": {"typed"}, "b": {"y"}}}, "typed", false, true, true},
		{frame{Problem: problem}, "now", true, false, true},
	} {
		if got := c.f.Old("a", "now"); got != c.old {
			t.Errorf("%+v: old %q, want %q", c.f, got, c.old)
		}
		if x, y := c.f.Picked("b", "x", true), c.f.Picked("b", "y", false); x != c.x || y != c.y {
			t.Errorf("%+v: picked %t, %t", c.f, x, y)
		}
	}
	if got := (frame{}).Old("a", nil); got != "" {
		t.Error(got)
	}
}

// TestCellsAreNoFormulas: nothing that somebody wrote becomes a formula, whichever separator a spreadsheet believes in,
// and in whichever width its characters are.
func TestCellsAreNoFormulas(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "Ana": "Ana", "a-b": "a-b", "ana@exemplo.com.br": "ana@exemplo.com.br", "=1+1": "'=1+1", "+55 11": "'+55 11", "-1": "'-1", "@SUM(1)": "'@SUM(1)",
		" =1": " '=1", "\t=1": "'\t'=1", "\r=1": "'\r'=1", "x,=1": "x,'=1", "x;=1": "x;'=1", "x|=1": "x|'=1", "x\t=1": "x\t'=1", "x\n=1": "x\n'=1", "x; \"=1": "x; \"'=1",
		"\uff1d1": "'\uff1d1", "\uff0b1": "'\uff0b1", "\uff0d1": "'\uff0d1", "\uff20SUM": "'\uff20SUM", "x;\uff1d1": "x;'\uff1d1", "\u30001": "\u30001", "\ufeff=1": "\ufeff'=1",
	} {
		if got := plainCell(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
