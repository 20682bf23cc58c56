package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

const (
	treeRoot = "../.."
	axeFile  = treeRoot + "/.cache/axe-core/axe-4.14.0.min.js" // scripts/fetch-axe puts it there
)

// demoBrowser is one page of a real Chromium, on the console of a demo.
type demoBrowser struct {
	t    *testing.T
	ctx  context.Context // chromedp keeps the browser in it
	base string
	axe  string
	// printed is what the demo said at its start, and data its folder.
	printed, data string
}

// browseDemo starts a demo and opens its log-in.
func browseDemo(t *testing.T) *demoBrowser {
	t.Helper()
	gatetest.Needs(t, gatetest.Browser)
	axe, err := os.ReadFile(axeFile)
	if err != nil {
		t.Fatalf("axe-core, which judges pages for accessibility, is not installed: run scripts/fetch-axe (%v)", err)
	}
	data := filepath.Join(t.TempDir(), "demo")
	out, _ := startDemo(t, data)
	eventually(t, "30 days of a made-up past", out.String)
	allocated, stop := chromedp.NewExecAllocator(t.Context(), append(
		chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("lang", "pt-BR"),
		chromedp.Flag("hide-scrollbars", true),
	)...)
	t.Cleanup(stop)
	ctx, quit := chromedp.NewContext(allocated)
	t.Cleanup(quit)
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	t.Cleanup(cancel)
	b := &demoBrowser{t: t, ctx: ctx, axe: string(axe), printed: out.String(), data: data}
	b.base = demoLogin.FindStringSubmatch(b.printed)[1]
	b.do(chromedp.Navigate("about:blank"), chromedp.EmulateViewport(1440, 900))
	b.scheme("light")
	b.visit("/login")
	return b
}

var demoLogin = regexp.MustCompile(`Console +(http://\S+) +\(log in as (\S+), password (\S+)\)`)

// enter logs in as the administrator.
func (b *demoBrowser) enter() {
	b.t.Helper()
	m := demoLogin.FindStringSubmatch(b.printed)
	b.do(
		chromedp.SetValue(`[name="email"]`, m[2], chromedp.NodeVisible),
		chromedp.SetValue(`[name="password"]`, m[3], chromedp.NodeVisible),
	)
	b.press(`form[action="/login"] button`)
}

func (b *demoBrowser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *demoBrowser) visit(path string) {
	b.t.Helper()
	res, err := chromedp.Run(b.ctx, chromedp.NavigateResponse(b.base+path))
	if err != nil || res == nil || res.Status != 200 {
		b.t.Fatal(path, res, err)
	}
}

func (b *demoBrowser) press(selector string) {
	b.t.Helper()
	if _, err := chromedp.RunResponse(b.ctx, chromedp.Click(selector, chromedp.NodeVisible)); err != nil {
		b.t.Fatal(selector, err)
	}
}

func (b *demoBrowser) scheme(value string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: value},
			{Name: "prefers-reduced-motion", Value: "reduce"},
		},
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func askPage[T any](b *demoBrowser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%.120s: %v", expression, err)
	}
	return v
}

// judgeInBothColours has axe-core judge the page as it stands and each form, menu and hint of it opened by itself, in
// light and in dark. Whatever it finds fails the test, however small.
func (b *demoBrowser) judgeInBothColours(name string) {
	b.t.Helper()
	if !askPage[bool](b, `typeof window.axe === "object"`) {
		askPage[bool](b, b.axe+";true")
	}
	for _, scheme := range []string{"light", "dark"} {
		b.scheme(scheme)
		for _, found := range askPage[[]string](b, `(async () => {
			const found = [], judge = async (what, state) => {
				const options = {preload: false, resultTypes: ["violations"], rules: {"target-size": {enabled: true}}};
				for (const v of (await axe.run(what, options)).violations)
					found.push(state + v.impact + " " + v.id + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) +
						" " + (n.any[0] ? n.any[0].message : "")).join(" | "));
			};
			await judge(document, "");
			const known = new Set();
			for (const one of document.querySelectorAll("details:not([open])")) {
				const kind = one.querySelector("summary").innerText.replace(/\d+/g, "0") + one.closest("section, tr, li")?.className;
				if (known.has(kind) || known.size === 20) continue;
				known.add(kind);
				const closed = [];
				for (let d = one; d; d = d.parentElement.closest("details:not([open])")) { d.open = true; closed.push(d); }
				await judge(one, "open " + kind + ": ");
				closed.forEach(d => { d.open = false; });
			}
			for (const one of document.querySelectorAll("[popover]:not(.menu)")) {
				one.showPopover();
				await judge(one, "open " + one.id + ": ");
				one.hidePopover();
			}
			return found;
		})()`) {
			b.t.Errorf("%s (%s): %s", name, scheme, found)
		}
	}
	b.scheme("light")
}

var (
	idInPath     = regexp.MustCompile(`^([a-z]{2}_.+|.*[0-9].*|[0-9a-f-]{20,})$`)
	valueOfField = regexp.MustCompile(`=[^&]*`)
)

// kindOfPage returns an address without ids and without the values of its query: pages of one kind have one template.
func kindOfPage(address string) string {
	path, query, _ := strings.Cut(address, "?")
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if idInPath.MatchString(part) {
			parts[i] = "{}"
		}
	}
	if len(parts) > 2 && slices.Contains([]string{"breaches", "content", "plans", "messages"}, parts[1]) {
		for i := 2; i < len(parts); i++ {
			if !slices.Contains([]string{"new", "edit", "renew"}, parts[i]) {
				parts[i] = "{}"
			}
		}
	}
	if query != "" && slices.Contains([]string{"/plans", "/subscriptions", "/devices", "/events"}, path) &&
		strings.HasPrefix(query, "partner=") && !strings.Contains(query, "&") {
		return address // of a partner these are other pages than without one
	}
	if strings.HasPrefix(query, "aba=") {
		return strings.Join(parts, "/") + "?" + query
	}
	if fields := strings.Split(valueOfField.ReplaceAllString(query, ""), "&"); slices.Contains(fields, "view") {
		return strings.Join(parts, "/") + "?view"
	}
	return strings.Join(parts, "/")
}

// TestDemoPagesKeepNobodyOut: axe-core finds nothing at all on any page of the console that links lead to from the
// log-in on, with what its menus, forms and hints hold, in light and in dark. The pages that a day's work comes by are
// judged by the stories of package app, too.
func TestDemoPagesKeepNobodyOut(t *testing.T) {
	if !long() {
		t.Skip("takes five minutes: VIGIA_TEST_LONG=1")
	}
	b := browseDemo(t)
	b.judgeInBothColours("/login")
	b.do(
		chromedp.SetValue(`[name="email"]`, "ninguem@example.com", chromedp.NodeVisible),
		chromedp.SetValue(`[name="password"]`, "errada", chromedp.NodeVisible),
	)
	b.press(`form[action="/login"] button`)
	b.judgeInBothColours("/login, refused")
	b.enter()
	seen, queue := map[string]bool{"/": true}, []string{"/", "/account", "/prove?next=/", "/nada"}
	for len(queue) > 0 {
		address := queue[0]
		queue = queue[1:]
		b.do(chromedp.Navigate(b.base + address))
		b.judgeInBothColours(address)
		for _, next := range askPage[[]string](b, `[...document.querySelectorAll("a[href]:not([download])")]
			.map(a => a.getAttribute("href").split("#")[0]).filter(h => h.startsWith("/"))`) {
			kind := kindOfPage(next)
			if file := kind == "/content/{}" && strings.HasSuffix(next, "/export"); file || seen[kind] {
				continue
			}
			seen[kind] = true
			queue = append(queue, next)
		}
	}
	for _, kind := range []string{
		"/partners/{}", "/partners/{}/keys/new", "/partners/{}/keys/{}/roll", "/partners/{}/theme", "/partners/{}/usage",
		"/partners/{}/requests", "/partners/{}/invite", "/partners/new", "/services", "/services/{}",
		"/webhooks/{}/new", "/webhooks/{}/{}", "/webhooks/{}/{}/rotate", "/plans", "/plans/{}/new", "/plans/{}/edit/{}",
		"/subscriptions", "/subscriptions/import", "/subscriptions/move", "/subscriptions/{}/{}", "/people",
		"/people/{}/{}", "/monitoring", "/findings", "/findings/{}/{}", "/breaches", "/breaches/new", "/breaches/{}",
		"/breaches/{}/edit", "/breaches/{}/renew", "/feeds", "/feeds/new", "/passwords", "/cases", "/cases?view",
		"/cases/{}", "/answers", "/devices", "/devices/{}", "/messages", "/messages/{}/{}/{}", "/content",
		"/content/new", "/content/{}", "/events", "/events/types", "/events/{}/{}", "/deliveries", "/exports", "/jobs",
		"/subjects", "/subjects/erase", "/incidents", "/keys", "/audit", "/operators", "/operators/new",
		"/operators/{}",
	} {
		if !seen[kind] {
			t.Errorf("no link led to %s", kind)
		}
	}
	t.Logf("%d kinds of pages", len(seen))
}

// comparedPages are those beside which the mocks of the design are laid: where each is, and the link that leads on.
var comparedPages = []struct{ name, path, link string }{
	{"overview", "/", ""},
	{"desk", "/cases", ""},
	{"desk-lanes", "/cases?view=lanes", ""},
	{"case-sealed", "/cases", ".open"},
	{"people", "/people", ""},
	{"person", "/people?state=open", "tbody a.open"},
	{"findings", "/findings", ""},
	{"finding", "/findings", "tbody a.open"},
	{"leak", "/breaches/clube-de-viagem", ""},
	{"breaches", "/breaches", ""},
	{"partner", "", ""},
	{"audit", "/audit", ""},
	{"incidents", "/incidents", ""},
}

// TestDemoPagesAgainstMocks keeps pictures of the pages that have a mock, wide and on a telephone, in light and dark.
func TestDemoPagesAgainstMocks(t *testing.T) {
	if os.Getenv("VIGIA_TEST_PICTURES") == "" {
		t.Skip("VIGIA_TEST_PICTURES is not set")
	}
	b := browseDemo(t)
	b.keepPictures("login")
	b.enter()
	live := livePartnerPage(t, b.printed)
	for _, p := range comparedPages {
		if p.path == "" {
			p.path = live
		}
		b.visit(p.path)
		if p.link != "" {
			b.press(p.link)
		}
		b.keepPictures(p.name)
	}
	b.visit("/cases")
	b.press(".open")
	const reveal = `form[action$="/reveal"]`
	b.do(chromedp.Click(`details:has(`+reveal+`) > summary`, chromedp.NodeVisible))
	b.press(reveal + ` button[name="preset"]`)
	b.keepPictures("case")

	b.press(`form[action="/logout"] button`)
	b.enterAsDeveloper(partner.ID(strings.TrimPrefix(live, "/partners/")))
	b.keepPictures("portal")

	herPage := regexp.MustCompile(`Her page +(http://\S+)`).FindStringSubmatch(b.printed)
	b.do(chromedp.Navigate(herPage[1]), chromedp.WaitVisible(".hello"))
	b.base = strings.Split(herPage[1], "/p/")[0]
	for name, path := range map[string]string{
		"home": "/p/", "leaks": "/p/leaks", "plan": "/p/steps", "cases": "/p/cases", "more": "/p/more",
	} {
		b.visit(path)
		b.keepPictures("person-" + name)
	}
	b.enterEmpty()
	b.keepPictures("first-run")
}

// keepPictures draws the page wide and on a telephone, in light and dark.
func (b *demoBrowser) keepPictures(name string) {
	b.t.Helper()
	folder := filepath.Join(treeRoot, "test-artifacts", "mocks")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		b.t.Fatal(err)
	}
	for _, width := range []int64{1440, 390} {
		b.do(chromedp.EmulateViewport(width, 900))
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(scheme)
			image, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
			if err != nil {
				b.t.Fatal(err)
			}
			file := name + "-" + strconv.FormatInt(width, 10) + "-" + scheme + ".png"
			if err := os.WriteFile(filepath.Join(folder, file), image, 0o600); err != nil {
				b.t.Fatal(err)
			}
		}
		over := askPage[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`)
		if over > 0 {
			b.t.Errorf("%s is %d pixels too wide at %d", name, over, width)
		}
	}
	b.do(chromedp.EmulateViewport(1440, 900))
	b.scheme("light")
}

// enterAsDeveloper logs in as one of a partner's own people.
func (b *demoBrowser) enterAsDeveloper(id partner.ID) {
	b.t.Helper()
	a, err := app.OpenApp(b.t.Context(), config.Common{Data: b.data}, sqldb.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	_, token, err := a.Operators.InvitePartnerOperator(
		b.t.Context(), id, "dev@banco.example", operator.Developer)
	if err != nil {
		b.t.Fatal(err)
	}
	b.followInvitation(token)
}

// followInvitation takes a one-time link to the first page.
func (b *demoBrowser) followInvitation(token string) {
	b.t.Helper()
	const password = "girafa amarela no telhado"
	b.visit("/link/" + token)
	b.do(
		chromedp.SetValue(`main form [name="password"]`, password, chromedp.NodeVisible),
		chromedp.SetValue(`main form [name="again"]`, password, chromedp.NodeVisible),
	)
	b.press("main form button")
	b.visit("/")
}

// enterEmpty runs the console of an empty installation and logs in there.
func (b *demoBrowser) enterEmpty() {
	t := b.t
	t.Helper()
	a, err := app.OpenApp(t.Context(), config.Common{Data: filepath.Join(t.TempDir(), "empty")}, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	srv, err := app.NewServer(t.Context(), a, config.Serve{
		Listen:         "127.0.0.1:0",
		ConsoleListen:  "127.0.0.1:0",
		Roles:          []string{"console"},
		MaxConnections: 4,
		StopTime:       time.Minute,
	}, slog.New(slog.DiscardHandler), "test")
	if err != nil {
		t.Fatal(err)
	}
	srv.RelaxSecondFactor()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, a.Close()); err != nil {
			t.Error(err)
		}
	})
	<-srv.Ready
	_, token, err := a.Operators.CreateOperator(t.Context(), "ana@exemplo.com.br", operator.Admin)
	if err != nil {
		t.Fatal(err)
	}
	b.base = "http://" + srv.ConsoleAddr.String()
	b.followInvitation(token)
}
