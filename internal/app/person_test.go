package app_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
)

// dress gives the partner's pages its look, and its SMS the address of its own site.
func (p *phone) dress() {
	p.t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 160, 40))
	for x := range 160 {
		for y := range 40 {
			picture.Set(x, y, color.RGBA{uint8(x), uint8(4 * y), 160, 255})
		}
	}
	var logo bytes.Buffer
	if err := png.Encode(&logo, picture); err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.app.Partners.UpdateTheme(p.t.Context(), p.of.ID, func(th *partner.Theme) {
		th.Accent, th.Title, th.Logo = "#7a1fa2", "Proteção Banco Exemplo", logo.Bytes()
		th.Texts = map[partner.Language]partner.ThemeTexts{
			partner.Portuguese: {Intro: "Bem-vinda.", Contact: "Ligue 4004 0000."},
		}
	}); err != nil {
		p.t.Fatal(err)
	}
	key := message.Key{Event: alert.LeakDetected, Channel: message.SMS, Language: partner.Portuguese}
	text := "{parceiro}: seu {dado} apareceu em um vazamento. Veja o que fazer: " + partnerSite + "/protecao"
	if err := p.app.Messages.SetTemplate(p.t.Context(), p.of.ID, message.Template{Key: key, Text: text}); err != nil {
		p.t.Fatal(err)
	}
}

// told is what Ana reads of the leak on her phone, and the address in it.
func (p *phone) told() (address string) {
	p.t.Helper()
	var page struct {
		Events []struct {
			ID   string
			Body struct {
				Type string
				Data struct{ UserHash string }
			}
		}
	}
	p.ask("GET", "/v1/events", "", &page)
	for _, e := range page.Events {
		if e.Body.Type != string(alert.LeakDetected) || e.Body.Data.UserHash != p.user {
			continue
		}
		var sms struct{ Text string }
		p.ask("GET", "/v1/events/"+e.ID+"/message?channel=sms", "", &sms)
		if len(sms.Text) > 160 || !strings.Contains(sms.Text, "Banco Exemplo: seu e-mail apareceu em um vazamento.") ||
			strings.Contains(sms.Text, "ana@") {
			p.t.Errorf("the SMS says %q", sms.Text)
		}
		return regexp.MustCompile(`https://\S+`).FindString(sms.Text)
	}
	p.t.Fatalf("no event tells of the leak: %+v", page)
	return ""
}

// TestPersonStory tells the story of a person through the API and their pages alone, on a screen of 390 pixels:
// enrolled, a leak found, the text of an SMS and the address in it, a link, a key activated, a case solved, every step
// done, the risk fallen. It says what the first page costs on a cheap phone.
func TestPersonStory(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	p := newPhone(t)
	ctx := t.Context()
	p.dress()
	if _, err := p.app.Cases.AddFreeSlots(
		ctx,
		"sv_ajuda_phishing",
		"",
		[]time.Time{
			time.Now().Add(48 * time.Hour).Truncate(time.Hour),
			time.Now().Add(72 * time.Hour).Truncate(time.Hour),
		},
	); err != nil {
		t.Fatal(err)
	}
	p.enrol()
	p.ask("POST", "/v1/cyber/monitoring", `{"userHash":"`+p.user+`","type":"email","value":"ana@vazamento.test"}`, nil)
	var issued struct{ EppKey string }
	p.ask(
		"POST",
		"/v1/cyber/epp",
		`{"userHash":"`+p.user+`","operatingSystem":"android","type":"antivirus","deviceName":"Celular da Ana"}`,
		&issued,
	)
	var before, after struct{ BreachScore, AssessmentScore float64 }
	p.ask("GET", "/v1/cyber/score/"+p.user, "", &before)

	p.firstRead(p.told())
	p.see("Um passo de cada vez. Comece por este:")
	p.here("/p/")
	if cookies := eval[string](p.browser, `document.cookie`); cookies != "" {
		t.Error("a script could read the session:", cookies)
	}
	p.page("/p/leaks", "an•••@vazamento.test", "senha", "Não vazou:")
	p.page("/p/score", "Ao longo do tempo")
	p.page("/p/devices", "Celular da Ana", "Chave de ativação")
	p.see("Falta instalar")
	p.do(chromedp.Click("summary", chromedp.NodeVisible))
	p.here("/p/devices, open")
	p.ask("POST", "/v1/cyber/epp/"+issued.EppKey+"/activate", `{}`, nil)
	p.page("/p/devices", "Protegido")
	p.page("/p/cover", "R$")
	p.page("/p/data", "Baixar meus dados")
	p.page("/p/cases", "Nenhum atendimento ainda.")

	p.page("/p/services/sv_ajuda_phishing", "Escolha um horário")
	p.do(chromedp.SendKeys("#text", "Cliquei em um link estranho."))
	eval[bool](p.browser, `document.querySelector("#time").selectedIndex = 1; true`)
	p.press("main form button")
	p.see("Atendimento aberto.")
	p.see("Horário marcado")
	p.here("/p/cases/one")
	path := eval[string](p.browser, `location.pathname`)
	id := cyber.CaseID(strings.TrimPrefix(path, "/p/cases/"))
	if _, err := p.app.Cases.MoveCase(ctx, id, cyber.CaseInProgress, "op_1", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := p.app.Cases.AddReply(
		ctx,
		id,
		"op_1",
		"Já bloqueamos o link. Precisa de mais alguma coisa?",
	); err != nil {
		t.Fatal(err)
	}
	p.visit(path)
	p.see("Já bloqueamos o link.")
	p.do(chromedp.SendKeys("#text", "Não, obrigada."))
	p.press(`form[action$="/reply"] button`)
	p.see("Mensagem enviada.")
	if _, err := p.app.Cases.MoveCase(ctx, id, cyber.CaseResolved, "op_1", ""); err != nil {
		t.Fatal(err)
	}
	p.visit(path)
	p.press(`form[action$="/rate"] button`)
	p.see("Obrigado pela avaliação.")
	p.here("/p/cases/solved")

	p.visit("/p/leaks")
	p.do(chromedp.Click("section summary", chromedp.NodeVisible))
	p.here("/p/leaks, open")
	p.page("/p/steps", "passos feitos", "Comece por aqui")
	for eval[bool](p.browser, `document.querySelector("button[value=done]") !== null`) {
		p.press("button[value=done]")
	}
	p.see("Tudo feito: vazamento resolvido.")
	p.here("/p/steps/solved")
	p.visit("/p/")
	p.see("Nenhum vazamento em aberto.")
	p.ask("GET", "/v1/cyber/score/"+p.user, "", &after)
	if after.BreachScore >= before.BreachScore || after.AssessmentScore >= before.AssessmentScore {
		t.Errorf("the risk did not fall: %+v, then %+v", before, after)
	}
	p.page("/p/more", "Cobertura")
	p.press(`button[lang="es"]`)
	p.see("Cobertura")
	p.page("/p/", "Su protección")
	p.page("/p/leaks", "Filtraciones")
	p.page("/p/steps")
	p.visit("/p/more")
	p.press(`form[action="/p/leave"] button`)
	p.see("Usted salió")
	p.here("/p/left")
}

// TestPersonTicksThreeSteps has a person open their page in each language on a screen of 390 pixels, find the one thing
// to do now, and do three steps: each tick is said where the step stood, and the next step stands there.
func TestPersonTicksThreeSteps(t *testing.T) {
	t.Parallel()
	for lang, said := range map[partner.Language][4]string{
		partner.Portuguese: {"Começar", "Anotado.", "Tudo feito: vazamento resolvido.", "Oi, Ana"},
		partner.Spanish:    {"Empezar", "Anotado.", "Todo hecho: filtración resuelta.", "Hola, Ana"},
		partner.English:    {"Start", "Noted.", "All done: the leak is dealt with.", "Hello, Ana"},
	} {
		t.Run(string(lang), func(t *testing.T) {
			p := newPhone(t)
			p.dress()
			p.enrol()
			p.ask(
				"POST",
				"/v1/cyber/monitoring",
				`{"userHash":"`+p.user+`","type":"email","value":"ana@vazamento.test"}`,
				nil,
			)
			p.ask(
				"POST",
				"/v1/cyber/monitoring",
				`{"userHash":"`+p.user+`","type":"email","value":"ana.alerta@vazamento.test"}`,
				nil,
			)
			p.follow(partnerSite + "/")
			p.visit("/p/more")
			p.press(`button[lang="` + string(lang) + `"]`)
			p.visit("/p/")
			p.here("/p/ in " + string(lang))
			p.document("home-" + string(lang))
			p.see(said[0])
			p.see(said[3])
			p.clicks = 0
			p.press("main a.btn")
			p.here("/p/steps in " + string(lang))
			p.document("steps-" + string(lang))
			for n := range 3 {
				first := eval[string](p.browser, `document.querySelector("#passo-0 h3").textContent`)
				p.press("#passo-0 button[value=done]")
				p.see(said[1+n/2])
				if place := eval[string](p.browser, `location.hash`); place != "#passo-0" {
					t.Errorf("tick %d leads to %q", n+1, place)
				}
				if top := eval[float64](
					p.browser,
					`document.querySelector("#passo-0").getBoundingClientRect().top`,
				); top < -10 ||
					top > 844 {
					t.Errorf("after tick %d the place is out of sight: %f", n+1, top)
				}
				if eval[bool](p.browser, `document.querySelector("#passo-0 h3")?.textContent === `+quoted(first)) {
					t.Errorf("%q is still the first step", first)
				}
			}
			if left := eval[bool](
				p.browser,
				`document.querySelector("button[value=done]") !== null`,
			); left ||
				p.clicks != 4 {
				t.Errorf("all steps of two findings: %d clicks, some left: %t", p.clicks, left)
			}
			if text := eval[string](p.browser, pageText); lang != partner.Portuguese && strings.Contains(text, "Você") {
				t.Errorf("Portuguese on a page in %s:\n%s", lang, text)
			}
		})
	}
}
