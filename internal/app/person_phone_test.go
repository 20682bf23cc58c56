package app_test

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// Where things are on a person's phone: their partner's site, one that has no business with them, and their own pages.
// To the browser these are three sites, all by TLS; one listener of this machine answers for them.
const (
	partnerSite = "https://app.banco.exemplo.com.br"
	otherSite   = "https://premios.exemplo.org"
	pageSite    = "https://minha.protecao.example"
)

// ana is made up.
const ana = "52998224725"

// phone is a partner's API, a person's browser on a small screen, and the service behind both.
type phone struct {
	*browser
	app  *app.App
	api  string
	key  string
	of   partner.Partner
	user string
	// site is what the partner's site, or another, answers with.
	site atomic.Pointer[string]
	// sent counts what went out to the phone, TLS and headers included.
	sent atomic.Int64
	// tapped is when the link was, in milliseconds of the browser's clock; before is what had been sent by then.
	tapped float64
	before int64
}

// meter counts what is written to the connections of a listener.
type meter struct {
	net.Listener
	sent *atomic.Int64
}

type metered struct {
	net.Conn
	sent *atomic.Int64
}

func (m meter) Accept() (net.Conn, error) {
	c, err := m.Listener.Accept()
	return metered{c, m.sent}, err
}

func (m metered) Write(b []byte) (int, error) {
	n, err := m.Conn.Write(b)
	m.sent.Add(int64(n))
	return n, err
}

func newPhone(t *testing.T) *phone {
	t.Helper()
	return newPhoneOf(t, partner.Sandbox, partner.Settings{})
}

// newPhoneOf is newPhone for a partner of a mode, with settings.
func newPhoneOf(t *testing.T, mode partner.Mode, settings partner.Settings) *phone {
	t.Helper()
	a, err := app.OpenApp(
		context.Background(),
		config.Common{Data: filepath.Join(t.TempDir(), "data")},
		sqldb.Options{MaxConns: 4},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	of, cred, err := a.Partners.CreatePartner(
		context.Background(),
		"Banco Exemplo",
		mode,
		settings,
	)
	if err != nil {
		t.Fatal(err)
	}
	srv := serveAt(t, a, pageSite)
	p := &phone{
		app:  a,
		api:  "http://" + srv.APIAddr.String(),
		key:  cred.APIKey,
		of:   of,
		user: string(partner.LongUserHash(ana, cred.Salt)),
	}
	address := p.front(t)
	p.browser = newBrowser(
		t,
		pageSite,
		chromedp.Flag("ignore-certificate-errors", true),
		chromedp.Flag(
			"host-resolver-rules",
			"MAP *.exemplo.com.br "+address+" , MAP *.exemplo.org "+address+" , MAP *.protecao.example "+address+" , MAP * ~NOTFOUND",
		),
	)
	p.strict = true
	p.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	return p
}

// front answers by TLS for all three sites, as the proxy of an installation does for its own.
func (p *phone) front(t *testing.T) (address string) {
	t.Helper()
	service, err := url.Parse(p.api)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(service)
		r.Out.Host = r.In.Host
	}}
	front := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if "https://"+r.Host == pageSite {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("content-type", "text/html; charset=utf-8")
		if html := p.site.Load(); html != nil {
			_, _ = io.WriteString(w, *html)
		}
	}))
	front.Config.ErrorLog = log.New(io.Discard, "", 0) // connections that the browser opens and does not use
	front.Listener = meter{front.Listener, &p.sent}
	front.StartTLS()
	t.Cleanup(front.Close)
	return front.Listener.Addr().String()
}

// ask calls the partner API and expects it to agree.
func (p *phone) ask(method, path, body string, into any) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.api+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("x-api-key", p.key)
	req.Header.Set("content-type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		p.t.Fatalf("%s %s: %d %s %v", method, path, res.StatusCode, text, err)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			p.t.Fatal(err)
		}
	}
}

// enrol makes Ana a customer of the partner's plan, by its API.
func (p *phone) enrol() {
	p.t.Helper()
	var outcome struct {
		Result string
		Items  int `json:"total_created_items"`
	}
	p.ask(
		"POST",
		"/v1/subscriptions",
		`[{"start_date":"2026-01-01","expiry_date":"","plan_id":"protecao","is_group_plan":false,"beneficiary":{
		"primary_card":"1","user_card":"1","name":"Ana Souza","cpf":"`+ana+`","birth_date":"1990-05-17","gender":"F","email":"ana@vazamento.test",
		"phone_number":"5511987654321","address":{"zipcode":"01001000","street":"Rua A","number":"1","neighborhood":"Centro","city":"São Paulo","state":"SP"}}}]`,
		&outcome,
	)
	if outcome.Result != "success" || outcome.Items != 1 {
		p.t.Fatalf("not enrolled: %+v", outcome)
	}
}

// link is a fresh one to Ana's pages.
func (p *phone) link() string {
	p.t.Helper()
	var link struct{ URL string }
	p.ask("POST", "/v1/cyber/portal-session", `{"userHash":"`+p.user+`","returnUrl":"`+partnerSite+`/"}`, &link)
	return link.URL
}

// follow has the person open an address of the partner's site, where they are logged in, and tap what leads on to their
// own pages.
func (p *phone) follow(address string) {
	p.t.Helper()
	html := `<!doctype html><html lang="pt-BR"><title>App</title><link rel="icon" href="data:,"><a id="go" href="` + p.link() + `">Minha proteção</a>`
	p.site.Store(&html)
	p.do(chromedp.Navigate(address))
	p.tapped, p.before = eval[float64](p.browser, `performance.timeOrigin + performance.now()`), p.sent.Load()
	p.press("#go")
	p.see("A sua proteção")
}

// page opens a page and judges it.
func (p *phone) page(path string, texts ...string) {
	p.t.Helper()
	p.visit(path)
	for _, text := range texts {
		p.see(text)
	}
	p.here(path)
}

// mostBytes is what a page may weigh with its style and logo.
const mostBytes = 60_000

// here judges the page as it stands: nothing keeps people out, nothing is wider than the screen, nothing weighs too
// much.
func (p *phone) here(name string) {
	p.t.Helper()
	p.judge("person " + name)
	p.scheme("dark")
	p.judgeBy("person "+name+" (dark)", `, runOnly: ["color-contrast"]`)
	p.picture("person" + strings.ReplaceAll(name, "/", "-") + "-dark")
	p.scheme("light")
	if over := eval[int](
		p.browser,
		`document.documentElement.scrollWidth - document.documentElement.clientWidth`,
	); over > 0 {
		p.t.Errorf("%s is %d pixels too wide", name, over)
	}
	if bytes := eval[int](
		p.browser,
		`[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
		.reduce((sum, e) => sum + e.encodedBodySize, 0)`,
	); bytes == 0 ||
		bytes >= mostBytes {
		p.t.Errorf("%s weighs %d bytes", name, bytes)
	}
	p.picture("person" + strings.ReplaceAll(name, "/", "-"))
}

// document keeps what the screen shows for docs/person-page.md, when scripts/screenshots asks for it.
func (p *phone) document(name string) {
	p.t.Helper()
	if os.Getenv("VIGIA_TEST_SCREENSHOTS") == "" {
		return
	}
	image, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(treeRoot, "docs", "person", name+".png"), image, 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// firstRead follows a link on a cheap phone on 3G, nothing kept from before, and says what that costs: 400 ms until an
// answer begins, 400 kbit/s, a processor a quarter as fast as this machine's.
func (p *phone) firstRead(address string) {
	p.t.Helper()
	p.network(&network.Conditions{Latency: 400, DownloadThroughput: 50_000, UploadThroughput: 50_000}, 4)
	p.follow(address)
	const paint = `new Promise(done => new PerformanceObserver(list => {
		const first = list.getEntriesByName("first-contentful-paint")[0]; if (first) done(performance.timeOrigin + first.startTime) }).observe({type: "paint", buffered: true}))`
	first := eval[float64](p.browser, paint)
	sent := p.sent.Load() - p.before
	p.t.Logf(
		"first page on 3G: text is there %.0f ms after the tap; %d bytes over the line, two pages, two style sheets, "+
			"a logo",
		first-p.tapped,
		sent,
	)
	if sent == 0 || sent >= mostBytes {
		p.t.Errorf("the first page takes %d bytes", sent)
	}
	p.network(nil, 1)
}

// network makes the line and the processor slow, or what they are without conditions.
func (p *phone) network(line *network.Conditions, slower float64) {
	p.t.Helper()
	var rules network.EmulateNetworkConditionsByRuleParams
	rules.MatchedNetworkConditions = []*network.Conditions{}
	if line != nil {
		rules.MatchedNetworkConditions = append(rules.MatchedNetworkConditions, line)
	}
	if _, err := chromedp.Call(p.ctx, network.EmulateNetworkConditionsByRule, rules); err != nil {
		p.t.Fatal(err)
	}
	if _, err := chromedp.Call(
		p.ctx,
		emulation.SetCPUThrottlingRate,
		emulation.SetCPUThrottlingRateParams{Rate: slower},
	); err != nil {
		p.t.Fatal(err)
	}
}
