package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
)

// embed opens a site with a person's page in a frame of it.
func (p *phone) embed(site string) {
	p.t.Helper()
	html := `<!doctype html><html lang="pt-BR"><title>Site</title><link rel="icon" href="data:,">
		<iframe title="Minha proteção" width="360" height="700" src="` + p.link() + `"></iframe>`
	p.site.Store(&html)
	p.do(chromedp.Navigate(site + "/"))
}

// frame is the page inside the frame once it is there: to the browser that is a page of its own. The frame of the page
// before may still be going away, so it is known by its id.
func (p *phone) frame() *browser {
	p.t.Helper()
	frames, err := chromedp.Run(p.ctx, chromedp.Nodes("iframe"))
	if err != nil || len(frames) != 1 {
		p.t.Fatal(len(frames), err)
	}
	for deadline := time.Now().Add(browserTimeout); ; time.Sleep(50 * time.Millisecond) {
		targets, err := chromedp.Targets(p.ctx)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, at := range targets {
			if string(at.TargetID) == string(frames[0].FrameID) && strings.HasPrefix(at.URL, pageSite) {
				ctx, cancel := chromedp.NewContext(p.ctx, chromedp.WithTargetID(at.TargetID))
				p.t.Cleanup(cancel)
				p.listen(ctx)
				return &browser{t: p.t, ctx: ctx, base: p.base, axe: p.axe, strict: true, menus: map[string]bool{}}
			}
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("no frame: %+v", targets)
		}
	}
}

// TestPersonPageInFrame: a page stands in the frames of a site that the partner named, works there, and stands in
// nobody else's.
func TestPersonPageInFrame(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	p := newPhone(t)
	p.enrol()
	p.embed(partnerSite)
	p.complained("frame-ancestors 'none'")
	if _, err := p.app.Partners.UpdateTheme(
		t.Context(),
		p.of.ID,
		func(th *partner.Theme) { th.Frames = []string{partnerSite} },
	); err != nil {
		t.Fatal(err)
	}
	p.embed(partnerSite)
	frame := p.frame()
	frame.see("A sua proteção")
	frame.judge("person in a frame")
	eval[bool](frame, `document.querySelector('a[href="/p/more"]').click(); true`)
	frame.see("Idioma")
	eval[bool](frame, `document.querySelector('button[lang="es"]').click(); true`) // the session is there for forms too
	frame.see("Mis datos")

	p.embed(otherSite)
	p.complained("frame-ancestors " + partnerSite)
	refused := p.frame()
	if at := eval[string](
		refused,
		`location.href`,
	); at != "chrome-error://chromewebdata/" ||
		strings.Contains(eval[string](refused, pageText), "proteção") {
		t.Errorf("another's site shows %s:\n%s", at, refused.text())
	}
}
