package app_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/vigiahq/vigia/internal/platform/gatetest"
)

// axeFile is where scripts/fetch-axe puts the judge of accessibility; screenshotFolder is what .gitignore leaves out.
const (
	axeFile          = treeRoot + "/.cache/axe-core/axe-4.14.0.min.js"
	screenshotFolder = treeRoot + "/test-artifacts/console"
)

// browserTimeout is how long a step may take on a starved machine.
const browserTimeout = 2 * time.Minute

// browser is one page of a real Chromium. Whatever the page complains about fails the test at its end.
type browser struct {
	t    *testing.T
	ctx  context.Context // chromedp keeps the browser in it
	base string
	axe  string
	// strict has axe-core's minor findings fail too.
	strict bool
	// menus are those that were judged: they are the same on many pages.
	menus map[string]bool
	// clicks counts those of press, tap and choose.
	clicks int

	mu         sync.Mutex
	complaints []string
}

// chromium is the browser that tests share. Each has a profile of its own in it, as in a private window.
var chromium struct {
	once sync.Once
	ctx  context.Context // chromedp keeps the browser in it
	stop func()
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if chromium.stop != nil {
		chromium.stop()
	}
	os.Exit(code)
}

// newChromium is a context in which Chromium will be started. It cannot reach anything but this machine.
func newChromium(more ...chromedp.ExecAllocatorOption) (ctx context.Context, stop func()) {
	options := append(
		chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.WindowSize(1280, 900),
		chromedp.Flag(
			"disable-background-networking",
			true,
		),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
		chromedp.Flag(
			"host-resolver-rules",
			"MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
		),
		chromedp.Flag("lang", "pt-BR"),
		chromedp.WSURLReadTimeout(browserTimeout),
	)
	allocated, stopAllocator := chromedp.NewExecAllocator(context.Background(), append(options, more...)...)
	ctx, cancel := chromedp.NewContext(allocated)
	return ctx, func() { cancel(); stopAllocator() }
}

// newProfile is a context with a profile of its own, in the browser that tests share or, with more options, in another.
func newProfile(t *testing.T, more ...chromedp.ExecAllocatorOption) (ctx context.Context, stop func()) {
	t.Helper()
	if len(more) > 0 {
		return newChromium(more...)
	}
	chromium.once.Do(func() {
		chromium.ctx, chromium.stop = newChromium()
		chromium.err = chromedp.Do(chromium.ctx)
	})
	if chromium.err != nil {
		t.Fatal(chromium.err)
	}
	return chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
}

// newBrowser opens a page in the browser that tests share, or with more options in one of its own.
func newBrowser(t *testing.T, base string, more ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	gatetest.Needs(t, gatetest.Browser)
	axe, err := os.ReadFile(axeFile)
	if err != nil {
		t.Fatalf("axe-core, which judges pages for accessibility, is not installed: run scripts/fetch-axe (%v)", err)
	}
	ctx, stop := newProfile(t, more...)
	limited, cancelTime := context.WithTimeout(ctx, 25*time.Minute)
	b := &browser{t: t, ctx: limited, base: base, axe: string(axe), strict: true, menus: map[string]bool{}}
	t.Cleanup(func() {
		cancelTime()
		stop()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, c := range b.complaints {
			t.Error("the browser complained:", c)
		}
	})
	b.listen(limited)
	b.do(chromedp.Navigate("about:blank"), chromedp.EmulateViewport(1280, 900))
	b.scheme("light")
	return b
}

// listen gathers what the pages of a target complain about.
func (b *browser) listen(ctx context.Context) {
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			// A page that answers 4xx on purpose is a line in the browser's log, and no fault of the page.
			if m.Type == "error" && m.Source != "network" || m.IsException() || m.Source == "security" ||
				m.Type == "warning" {
				b.mu.Lock()
				b.complaints = append(b.complaints, m.String()+" "+m.URL)
				b.mu.Unlock()
			}
		}
	}()
}

// complained waits for a complaint that a test is about, takes it away, and expects it to be the only one.
func (b *browser) complained(text string) {
	b.t.Helper()
	for deadline := time.Now().Add(browserTimeout); ; time.Sleep(50 * time.Millisecond) {
		b.mu.Lock()
		list := b.complaints
		if len(list) > 0 {
			b.complaints = nil
		}
		b.mu.Unlock()
		if len(list) == 1 && strings.Contains(list[0], text) {
			return
		}
		if len(list) > 0 || time.Now().After(deadline) {
			b.t.Fatalf("the browser complained of %q, and should of %q", list, text)
		}
	}
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, browserTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%v\n%s", err, b.text())
	}
}

// text is what the page says, for failures.
func (b *browser) text() string {
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	text, err := chromedp.Run(
		ctx,
		chromedp.Evaluate[string](`location.pathname + "\n" + document.body.innerText.slice(0, 3000)`),
	)
	if err != nil {
		return err.Error()
	}
	return text
}

// eval asks the page, again if it loads itself anew while it is asked.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, browserTimeout)
	defer cancel()
	for {
		v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
		if err == nil {
			return v
		}
		if ctx.Err() != nil || !leftWhileAsked(err) {
			b.t.Fatalf("%.80s: %v", expression, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// leftWhileAsked tells Chromium's complaint that the page went away under a question.
func leftWhileAsked(err error) bool {
	return slices.ContainsFunc(
		[]string{
			"context was destroyed",
			"Cannot find context",
			"navigated or closed",
			"Cannot find default execution context",
		},
		func(s string) bool { return strings.Contains(err.Error(), s) },
	)
}

// visit opens a page and expects it to be there.
func (b *browser) visit(path string) {
	b.t.Helper()
	if strings.Contains(path, "#") {
		b.do(chromedp.Navigate("about:blank")) // a move within a page has no answer to look at
	}
	res, err := chromedp.Run(b.ctx, chromedp.NavigateResponse(b.base+path))
	for try := 0; try < 20 && (err == nil && res == nil || err != nil && strings.Contains(err.Error(), "ERR_ABORTED")); try++ {
		time.Sleep(50 * time.Millisecond) // the page before was just loading itself anew
		res, err = chromedp.Run(b.ctx, chromedp.NavigateResponse(b.base+path))
	}
	if err != nil || res == nil {
		b.t.Fatalf("%s: %v", path, err)
	}
	if res.Status != 200 {
		b.t.Fatalf("%s: status %d\n%s", path, res.Status, b.text())
	}
}

// fill types into fields by their names.
func (b *browser) fill(form string, fields ...string) {
	b.t.Helper()
	for i := 0; i < len(fields); i += 2 {
		b.do(chromedp.SetValue(form+` [name="`+fields[i]+`"]`, fields[i+1], chromedp.NodeVisible))
	}
}

// press clicks and waits for the page that follows. A page that shows a job's progress loads itself again: when that
// and the click meet, one load gives way to the other, and the click is repeated if it was the click's.
func (b *browser) press(selector string) {
	b.t.Helper()
	b.clicks++
	ctx, cancel := context.WithTimeout(b.ctx, browserTimeout)
	defer cancel()
	_, err := chromedp.RunResponse(ctx, chromedp.Click(selector, chromedp.NodeVisible))
	if err != nil && strings.Contains(err.Error(), "net::ERR_ABORTED") {
		b.do(chromedp.WaitReady("body"))
		if err = nil; eval[bool](b, "document.querySelector("+strconv.Quote(selector)+") !== null") {
			_, err = chromedp.RunResponse(ctx, chromedp.Click(selector, chromedp.NodeVisible))
		}
	}
	if err != nil {
		b.t.Fatalf("click %s: %v\n%s", selector, err, b.text())
	}
}

// tap clicks what leads to no other page.
func (b *browser) tap(selector string) {
	b.t.Helper()
	b.clicks++
	b.do(chromedp.Click(selector, chromedp.NodeVisible))
}

// choose takes a value from a list: one click opens it, another takes the value.
func (b *browser) choose(selector, value string) {
	b.t.Helper()
	b.clicks += 2
	b.do(chromedp.SetValue(selector, value, chromedp.NodeVisible))
}

// pageText is all that a page says; nothing while it is being loaded: what it says then is there before its script and
// style are, and a click would meet neither.
const pageText = `document.readyState === "complete" ? document.body.innerText : ""`

// see expects a text on the page, which may need a moment to show it.
func (b *browser) see(text string) {
	b.t.Helper()
	for deadline := time.Now().Add(browserTimeout); !strings.Contains(eval[string](b, pageText), text); {
		if time.Now().After(deadline) {
			b.t.Fatalf("the page does not say %q:\n%s", text, b.text())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// wait reloads a page until it says a text.
func (b *browser) wait(path, text string) {
	b.t.Helper()
	for deadline := time.Now().Add(browserTimeout); ; {
		b.visit(path)
		if strings.Contains(eval[string](b, pageText), text) {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%s never said %q:\n%s", path, text, b.text())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// waitHere waits until the page says a text by itself: it follows a job, and loads itself anew when that is over.
func (b *browser) waitHere(text string) {
	b.t.Helper()
	b.waitFor(text, pageText)
}

// waitOver does so for a text that the job itself tells at its end: the page then says it a moment before it loads
// itself anew, and is not to be looked at until it has.
func (b *browser) waitOver(text string) {
	b.t.Helper()
	b.waitFor(text, `document.querySelector("[data-events]") === null ? `+pageText+` : ""`)
}

// widest names the innermost elements that reach beyond the right edge of the window.
const widest = `[...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right >
	document.documentElement.clientWidth + 1 && ![...e.children].some(c => c.getBoundingClientRect().right >
	document.documentElement.clientWidth + 1)).slice(0, 6).map(e => e.outerHTML.slice(0, 160)).join("\n")`

func (b *browser) waitFor(text, said string) {
	b.t.Helper()
	for deadline := time.Now().Add(browserTimeout); !strings.Contains(eval[string](b, said), text); {
		if time.Now().After(deadline) {
			b.t.Fatalf("the page never said %q:\n%s", text, b.text())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// settle opens a page that follows jobs until none is at work any more.
func (b *browser) settle(path string) {
	b.t.Helper()
	for deadline := time.Now().Add(browserTimeout); ; time.Sleep(100 * time.Millisecond) {
		b.visit(path)
		if !eval[bool](b, `document.querySelector("[data-events]") !== null`) {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%s never came to rest:\n%s", path, b.text())
		}
	}
}

// fullLooks tells whether every page is judged in every way and drawn.
func fullLooks() bool {
	return os.Getenv("VIGIA_TEST_LONG") != "" || os.Getenv("VIGIA_TEST_PICTURES") != ""
}

// narrow are the rules that another width or other colours can break; the rest of a page is the same.
const narrow = `, runOnly: ["color-contrast", "target-size", "scrollable-region-focusable", "link-in-text-block", "nested-interactive", "meta-viewport"]`

// looked are the pages that were judged, by their names: some tests come by the same.
var looked sync.Map

// look judges the page as it stands: light and wide, dark on a phone, and in a window beside another. At full size dark
// and phone are judged apart too, and pictures are kept.
func (b *browser) look(name string) {
	b.t.Helper()
	if _, before := looked.LoadOrStore(name, true); before && !fullLooks() {
		return
	}
	if hidden := eval[int](
		b,
		`(m => m ? m.scrollHeight - m.clientHeight : 0)(document.querySelector(".menu-scroll"))`,
	); hidden > 0 {
		b.t.Errorf("%s: %d pixels of the menu are out of sight in a window of 900 lines", name, hidden)
	}
	b.judge(name)
	b.picture(name)
	b.scheme("dark")
	if fullLooks() {
		b.judgeBy(name+" (dark)", `, runOnly: ["color-contrast"]`) // nothing else of a page changes with its colours
		b.picture(name + "-dark")
	}
	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	b.judgeBy(name+" (dark phone)", narrow)
	b.scheme("light")
	if fullLooks() {
		b.judge(name + " (phone)")
		b.picture(name + "-phone")
	}
	if over := eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		b.t.Errorf("%s: on a phone the page is %d pixels too wide: %s", name, over, eval[string](b, widest))
	}
	b.do(chromedp.EmulateViewport(900, 700)) // a window beside another: the menu leaves the page its room
	if room := eval[int](
		b,
		`document.querySelector("main").clientWidth`,
	); room < 800 &&
		!eval[bool](b, `document.body.classList.contains("bare")`) {
		b.t.Errorf("%s: in a window of 900 pixels the page has %d", name, room)
	}
	if over := eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		b.t.Errorf(
			"%s: in a window of 900 pixels the page is %d too wide: %s",
			name,
			over,
			eval[string](b, `[...document.querySelectorAll("main *")]
			.filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth).pop()?.outerHTML.slice(0, 200) ?? "?"`),
		)
	}
	b.picture(name + "-window")
	b.do(chromedp.EmulateViewport(1280, 900))
}

// glance is look for a page that has been looked at before and now says something more: an open form or menu, a refusal.
func (b *browser) glance(name string) {
	b.t.Helper()
	b.judge(name)
	b.picture(name)
	b.scheme("dark")
	b.judgeBy(name+" (dark)", `, runOnly: ["color-contrast"]`) // nothing else of a page changes with its colours
	b.picture(name + "-dark")
	b.scheme("light")
}

func (b *browser) scheme(value string) {
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

// typeKeys presses keys as a keyboard does: a letter that the page has taken as an order is not typed as well, which it is
// by chromedp.KeyEvent alone.
func (b *browser) typeKeys(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys, func(k *input.DispatchKeyEventParams) {
		if k.Type == kb.KeyDown {
			k.Type = kb.KeyRawDown
		}
	}))
}

// media shows the page as on a medium: print, or the screen.
func (b *browser) media(name string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: name})
	if err != nil {
		b.t.Fatal(err)
	}
}

// judge has axe-core look for what keeps people out.
func (b *browser) judge(name string) {
	b.t.Helper()
	b.judgeBy(name, "")
}

// judgeBy does so with further options. But for full looks, of a long list the first rows are judged, and a menu only
// once so, at this size and in these colours.
func (b *browser) judgeBy(name, more string) {
	b.t.Helper()
	page := eval[struct {
		Loaded bool
		Menu   string
	}](b, `({Loaded: typeof window.axe === "object", Menu: innerWidth + " " + matchMedia("(prefers-color-scheme: dark)").matches + " " +
		[...document.querySelectorAll("nav")].map(n => n.innerText).join("\n")})`)
	judge := "" // goes with the question: a page that loads itself anew in between has none
	if !page.Loaded {
		judge = b.axe + ";\n"
	}
	what := "document"
	if !fullLooks() {
		leaveOut := "tr:nth-child(n+9), li:nth-child(n+9)" // one template makes all rows of a list
		if menu := more + page.Menu; b.menus[menu] {
			leaveOut += ", nav"
		} else {
			b.menus[menu] = true
		}
		what = `{exclude: [...document.querySelectorAll("` + leaveOut + `")]}`
	}
	found := eval[[]string](
		b,
		judge+`axe.run(`+what+`, {preload: false, selectors: false, resultTypes: ["violations"], rules: {"target-size": {enabled: true}}`+more+`}).then(r => r.violations
		.filter(v => v.impact === "serious" || v.impact === "critical" || v.impact === "moderate" || `+strconv.FormatBool(
			b.strict,
		)+`)
		.map(v => v.impact + " " + v.id + ": " + v.help + " " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + " " + (n.any[0] ? n.any[0].message : "")).join(" | ")))`,
	)
	for _, f := range found {
		b.t.Errorf("%s: %s", name, f)
	}
}

func (b *browser) picture(name string) {
	b.t.Helper()
	if !fullLooks() {
		return // drawing whole pages takes longer than judging them
	}
	if err := os.MkdirAll(screenshotFolder, 0o750); err != nil {
		b.t.Fatal(err)
	}
	image, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(screenshotFolder, name+".png"), image, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// secretAt reads the n-th secret of a page that shows secrets.
func (b *browser) secretAt(n int) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`document.querySelectorAll(".secret .secret-text")[%d].textContent`, n))
}
