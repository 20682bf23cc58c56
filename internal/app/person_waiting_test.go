package app_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
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
