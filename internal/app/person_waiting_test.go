package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestPersonWaits shows a person, on narrow screens, what is not known of them before their values were looked for; the
// pages keep nobody out.
func TestPersonWaits(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	p := newPhoneOf(t, partner.Live, partner.Settings{FirstLooksPerHour: partner.NoFirstLooks, People: 9})
	p.ask("POST", "/v1/cyber/assets", `{"items":[
		{"userHash":"`+p.user+`","type":"email","value":"ana.carolina.de.souza@correspondencia.exemplo.com.br"},
		{"userHash":"`+p.user+`","type":"phone","value":"+5511987654321"},
		{"userHash":"`+p.user+`","type":"cpf","value":"`+ana+`"}]}`, nil)
	p.follow(partnerSite + "/")
	for _, width := range []int64{390, 320} {
		p.do(chromedp.EmulateViewport(width, 844, chromedp.EmulateMobile))
		p.page("/p/", "Ainda não olhamos os seus dados", "Ainda não sabemos", "Ainda não há data")
		p.page("/p/leaks", "Ainda não verificamos este dado")
		p.page("/p/steps", "Pode aparecer mais a fazer")
		p.page("/p/score", "Ainda não sabemos")
	}
	for _, calm := range []string{"Nada a fazer", "Nada em aberto", "Nenhum vazamento em aberto"} {
		if p.visit("/p/"); strings.Contains(p.text(), calm) {
			t.Errorf("the first page says %q", calm)
		}
	}
}

// TestConsoleTellsOfWaiting shows operators whose values have waited for a day; the notice leads to what mends it, and
// the pages keep nobody out, wide and narrow, light and dark.
func TestConsoleTellsOfWaiting(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	a := open(t, common(t, sqldb.SQLite))
	srv := serveLogged(t, a, (*app.Server).RelaxSecondFactor)
	p, _, err := a.Partners.CreatePartner(t.Context(), "Banco Ipê-Roxo", partner.Live, partner.Settings{
		FirstLooksPerHour: partner.NoFirstLooks, // or the server would make them
		People:            7,
	})
	if err != nil {
		t.Fatal(err)
	}
	longAgo := func() time.Time { return time.Now().Add(-30 * time.Hour) }
	unmatched := func(byte, []byte) uint64 { return 0 }
	rules := cyber.NewMonitoring(a.Store.Monitoring, a.Store.Partners, cyber.Unasked{}, unmatched, longAgo)
	added, err := rules.AddAssets(t.Context(), cyber.NewOwner(p.ID, p.Mode, p.Settings), []cyber.BulkItem{
		{User: "dora", Kind: "email", Value: "dora@exemplo.com.br"},
		{User: "dora", Kind: "phone", Value: "+5511987654321"},
	})
	if err != nil || added.Waiting != 2 {
		t.Fatal(added, err)
	}
	if err := a.Store.Overview.CountFigures(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t, "http://"+srv.ConsoleAddr.String())
	b.enter(a, "ana@exemplo.com.br", operator.Admin)
	b.visit("/")
	b.see("2 dados esperam a primeira busca há mais de um dia")
	b.look("overview-waiting")
	b.visit("/monitoring?status=esperando")
	b.see("Ainda não verificado")
	b.look("monitoring-waiting")
	b.visit("/")
	b.press(".notice .button")
	b.see("Pessoas cobertas pelo contrato")
}
