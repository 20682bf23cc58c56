package console

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
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
		"/partners?x=1": "/partners?x=1", "/": "/", "": "/", "//evil.example": "/", "https://evil.example/": "/",
		`/\evil.example`: "/",
		"partners":       "/", "/a\r\nSet-Cookie: x": "/", "javascript:alert(1)": "/", "/%zz": "/",
	} {
		if got := localPath(path); got != want {
			t.Errorf("%q leads to %q, want %q", path, got, want)
		}
	}
}

// TestToLogin: where somebody wanted to look is remembered, what somebody wanted to do is not.
func TestToLogin(t *testing.T) {
	for _, c := range []struct{ method, path, want string }{
		{http.MethodGet, "/", "/login"},
		{http.MethodGet, "/plans?partner=a%20b", "/login?next=%2Fplans%3Fpartner%3Da%2520b"},
		{http.MethodPost, "/plans", "/login"},
	} {
		if got := redirectToLogin(
			&request{Request: httptest.NewRequest(c.method, c.path, nil)},
			false,
		); got != (redirect{to: c.want}) {
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
	r := newFormReader(posted(t, "/x", "n=+12+&neg=-1&word=x&at=2026-12-24T15%3A00&bad=24%2F12&reason=ok&why=pedido"))
	for name, want := range map[string]int{"n": 12, "missing": 7} {
		if got := r.readNumber(name, 7); got != want {
			t.Errorf("%s: %d", name, got)
		}
	}
	if got := r.readMoment("at"); !got.Equal(time.Date(2026, 12, 24, 18, 0, 0, 0, time.UTC)) {
		t.Error("a time is read as Brasília's:", got)
	}
	if got := r.readMoment("missing"); !got.IsZero() || r.err() != nil {
		t.Error(got, r.err())
	}
	for i, read := range []func(){
		func() { r.readNumber("neg", 7) },
		func() { r.readNumber("word", 7) },
		func() { r.readMoment("bad") },
	} {
		if read(); len(faultsIn(r.err())) != i+1 || !errors.Is(r.err(), errForm) {
			t.Errorf("%d: %v", i, r.err())
		}
	}
	rule := errForm.With("name", fault.Taken)
	if got := faultsIn(r.joinFaults(rule)); len(got) != 4 {
		t.Error("what a rule found is not told with what is wrong with the form:", got)
	}
	if err := newFormReader(r.request).joinFaults(nil); err != nil {
		t.Error("nothing is wrong:", err)
	}
	if _, err := parseReason(r.request); !errors.Is(err, errReason) {
		t.Error("two letters are no reason:", err)
	}
	if why, err := parseReason(posted(t, "/x", "reason=+pedido+")); err != nil || why != "pedido" {
		t.Error(why, err)
	}
}

// TestReadSettings: nothing means the default, and a word is refused.
func TestReadSettings(t *testing.T) {
	form := newFormReader(posted(t, "/x", "default_plan=ouro&rate=10&burst=&mask_cards=on"))
	want := partner.Settings{DefaultPlan: "ouro", RatePerSecond: 10, MaskCards: true}
	if s := form.readSettings(); form.err() != nil || s != want {
		t.Error(s, form.err())
	}
	form = newFormReader(posted(t, "/x", "rate=viele&burst=muitas"))
	if form.readSettings(); len(faultsIn(form.err())) != 2 {
		t.Error(form.err())
	}
}

// TestAllowed: the menu shows a page to whom its route lets in, and no page without a route.
func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		role operator.Role
		path string
		want bool
	}{
		{operator.Viewer, "/", true},
		{operator.Viewer, "/partners", true},
		{operator.Viewer, "/partners/new", false},
		{operator.Admin, "/partners/new", true},
		{operator.Viewer, "/nowhere", false},
		{"", "/", false},
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

// TestRefusedForm: the form that was refused keeps what was sent and says what is wrong beside each field, the first of
// which has the focus; another form of the page shows what is there, and what no field is about is left to the top of
// the page.
func TestRefusedForm(t *testing.T) {
	f := &frame{Path: "/x", Form: url.Values{"a": {`typed"`}, "b": {"y"}}}
	f.refuseForm(
		errors.Join(
			errForm.With("a", fault.WholeNumber),
			errForm.With("b", fault.DateFormat),
			errForm.With("z", fault.NoSuchDay),
		),
	)
	f.Post("/other")
	if got := f.Field("a", "now"); got != `name="a" value="now" ` {
		t.Errorf("another form has %q", got)
	}
	f.Post("/y?n=1", "/x?n=2")
	for got, want := range map[string]string{
		string(f.Field("a", "now")):      `name="a" aria-invalid="true" aria-describedby="erro-a" autofocus value="typed&#34;" `,
		string(f.Pick("b", "y", false)):  `name="b" aria-invalid="true" aria-describedby="erro-b" value="y" checked`,
		string(f.Option("b", "x", true)): `value="x" `,
		string(f.Field("c", 3)):          `name="c" value="3" `,
		string(f.Unfold("/x")):           "open",
		string(f.Focus()):                "",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := string(f.Wrong("a")); !strings.Contains(got, `id="erro-a"`) || f.Wrong("c") != "" {
		t.Error(got)
	}
	if left := f.Unplaced(); len(left) != 1 {
		t.Error(left)
	}
}

// TestCellsAreNoFormulas: nothing that somebody wrote becomes a formula, whichever separator a spreadsheet believes in,
// and in whichever width its characters are.
func TestCellsAreNoFormulas(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "Ana": "Ana", "a-b": "a-b", "ana@exemplo.com.br": "ana@exemplo.com.br", "=1+1": "'=1+1",
		"+55 11": "'+55 11", "-1": "'-1", "@SUM(1)": "'@SUM(1)",
		" =1": " '=1", "\t=1": "'\t'=1", "\r=1": "'\r'=1", "x,=1": "x,'=1", "x;=1": "x;'=1", "x|=1": "x|'=1",
		"x\t=1": "x\t'=1", "x\n=1": "x\n'=1", "x; \"=1": "x; \"'=1",
		"\uff1d1": "'\uff1d1", "\uff0b1": "'\uff0b1", "\uff0d1": "'\uff0d1", "\uff20SUM": "'\uff20SUM",
		"x;\uff1d1": "x;'\uff1d1", "\u30001": "\u30001", "\ufeff=1": "\ufeff'=1",
	} {
		if got := plainCell(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
