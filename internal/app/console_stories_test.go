package app_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// stage is where the stories happen: a live partner with a person whose e-mail is watched, and an older breach.
type stage struct {
	*browser
	app     *app.App
	partner partner.ID
	api     string
	key     string
	cpf     string
	user    string
}

const (
	stagePerson = "Ana Souza" // the name in simItem
	stageEmail  = "ana@exemplo.com.br"
	oldBreach   = "loja-antiga"
)

// TestStories walks four people through their work from the first page to the last, in a real browser: who answers the
// telephone, who brings leaks in, who connects a partner, and who answers for its people's data.
func TestStories(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	a := open(t, common(t, sqldb.SQLite))
	s := newStage(t, a)
	srv := serveLogged(t, a, (*app.Server).RelaxSecondFactor)
	s.browser, s.api = newBrowser(t, "http://"+srv.ConsoleAddr.String()), "http://"+srv.APIAddr.String()+"/v1"
	s.must(t, "POST", s.api+"/subscriptions", s.key, "["+fmt.Sprintf(simItem, s.cpf)+"]")
	s.must(
		t,
		"POST",
		s.api+"/cyber/monitoring",
		s.key,
		`{"userHash":"`+s.user+`","type":"email","value":"`+stageEmail+`"}`,
	)
	for _, story := range []struct {
		name string
		tell func(*stage)
	}{{"attendant", (*stage).attendant}, {"analyst", (*stage).analyst}, {"developer", (*stage).developer}, {"officer", (*stage).officer}} {
		t.Run(story.name, func(t *testing.T) {
			whole := s.t
			s.t = t
			defer func() { s.t = whole }()
			story.tell(s)
		})
	}
}

func newStage(t *testing.T, a *app.App) *stage {
	t.Helper()
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p, cred, err := a.Partners.CreatePartner(ctx, "Banco Exemplo", partner.Live, partner.Settings{})
	must(err)
	_, err = a.Plans.CreatePlan(
		ctx,
		plan.Plan{ID: "ouro", Partner: p.ID, Name: "Plano Ouro", Coverage: plan.DemoCoverage()},
	)
	must(err)
	s := &stage{app: a, partner: p.ID, key: cred.APIKey, cpf: simCPF(1)}
	s.user = client.UserHash(s.cpf, cred.Salt)
	dump := writeLines(t, 1000)
	inputs, err := intake.ListInputs(ctx, nil, []string{dump})
	must(err)
	_, err = a.Leaks.Foreground.ImportBreach(ctx, intake.Spec{Inputs: inputs, Breach: cyber.Breach{
		Name:    oldBreach,
		Title:   "Loja Antiga",
		Kind:    cyber.SourceBreach,
		Exposes: []cyber.Exposed{cyber.ExposedEmail, cyber.ExposedPassword},
		Date:    time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC),
	}})
	must(err)
	return s
}

// writeLines writes a dump of so many made-up addresses with passwords, and what else is to stand in it.
func writeLines(t *testing.T, n int, more ...string) string {
	t.Helper()
	var text bytes.Buffer
	for i := range n {
		_, _ = fmt.Fprintf(&text, "alguem%d@exemplo.org:senha%d\n", i, i)
	}
	for _, line := range more {
		text.WriteString(line + "\n")
	}
	path := filepath.Join(t.TempDir(), "dump.txt")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// come follows a one-time link to the first page.
func (s *stage) come(token string, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	s.visit("/link/" + token)
	s.fill("main form", "password", consolePassword, "again", consolePassword)
	s.press("main form button")
	s.see("Pular nesta demonstração")
	s.press(`a[href="/"]`)
	s.see("Visão geral")
}

func (s *stage) leave() {
	s.t.Helper()
	s.press(`form[action="/logout"] button`)
	s.see("Você saiu")
}

// unfold opens what a summary hides.
func (s *stage) unfold(form string) {
	s.t.Helper()
	s.tap(`details:has(` + form + `) > summary`)
}

// attendant: somebody calls and says their CPF. They are found, what is known is shown with a reason, a case is opened,
// taken, answered and worked to its end; the partner sees every step.
func (s *stage) attendant() {
	s.t.Helper()
	_, token, err := s.app.Operators.CreateOperator(s.ctx, "atende@exemplo.com.br", operator.Support)
	s.come(token, err)
	s.fill("form.search", "q", s.cpf[:3]+"."+s.cpf[3:6]+"."+s.cpf[6:9]+"-"+s.cpf[9:])
	s.press("form.search button")
	s.see("Pessoa de Banco Exemplo")
	if address := eval[string](s.browser, `location.href`); strings.Contains(address, s.cpf) {
		s.t.Error("the address of a person's page holds the CPF")
	}
	if text := s.text(); strings.Contains(text, stagePerson) || strings.Contains(text, stageEmail) {
		s.t.Error("a personal value is shown without a reason")
	}
	s.unfold(`form[action$="/reveal"]`)
	s.fill(`form[action$="/reveal"]`, "reason", "ligou para a central")
	s.press(`form[action$="/reveal"] button`)
	s.see(stagePerson)
	s.see("ligou para a central")

	s.unfold(`form[action$="/case"]`)
	s.press(`form[action$="/case"] button`)
	s.see("Caso aberto em nome da pessoa")
	id := cyber.CaseID(strings.TrimPrefix(eval[string](s.browser, `location.pathname`), "/cases/"))
	s.press(`form[action$="/take"] button`)
	s.see("Caso assumido")
	s.fill(`form.compose`, "text", "Pode mandar a mensagem que recebeu?")
	s.press(`form.compose button.tone`)
	s.see("Pode mandar a mensagem")
	s.do(chromedp.Click(`.modes label:nth-of-type(2)`, chromedp.NodeVisible))
	s.fill(`form.compose`, "text", "conferir o telefone de recuperação")
	s.press(`form.compose button.tone`)
	s.see("Nota interna, só a equipe vê")
	s.look("case")
	s.press(`form.resolve button[value="next"]`)
	s.see("O parceiro será avisado em 10 segundos")
	s.wait("/cases/"+string(id), "Você · Resolvido")
	s.unfold(`form[action$="/move"] button[value="Fechado"]`)
	s.press(`form[action$="/move"] button[value="Fechado"]`)
	s.see("Caso movido")
	c, moves, err := s.app.Cases.GetCase(s.ctx, id)
	if err != nil || c.Status != cyber.CaseClosed || c.Assignee != "atende@exemplo.com.br" || len(moves) != 6 {
		s.t.Error(c.Status, c.Assignee, len(moves), err)
	}
	s.visit("/cases")
	if strings.Contains(s.text(), string(id)) {
		s.t.Error("a closed case is still on the desk")
	}
	theirs := s.must(s.t, "GET", s.api+"/cyber/cases/"+s.user, s.key, "")
	if !strings.Contains(theirs, `"Fechado"`) {
		s.t.Error("the partner does not see the end:", theirs)
	}
	s.leave()
}

// analyst: a dump is uploaded, the page follows it, people are found in it, the page says how much of it was new; then
// it proves to be forged and is taken back, and nobody is called compromised any more.
func (s *stage) analyst() {
	s.t.Helper()
	_, token, err := s.app.Operators.CreateOperator(s.ctx, "analisa@exemplo.com.br", operator.Admin)
	s.come(token, err)
	s.visit("/breaches/new?from=upload")
	s.fill("main form", "name", oldBreach, "title", "Loja Nova", "date", "01/10/2026")
	s.do(chromedp.SetUploadFiles(`input[type="file"]`, []string{writeLines(s.t, 1500, stageEmail+":flor azul")}))
	s.do(
		chromedp.Click(`main form button[type="submit"]`, chromedp.NodeVisible),
	) // a taken name is found before the file is sent, which stays chosen
	s.see("Este nome já está em uso")
	if !eval[bool](s.browser, `document.activeElement.name === "name" && document.querySelector("[type=file]").files.length === 1`) {
		s.t.Error("the name is not where one goes on, or the file has to be chosen again")
	}
	s.glance("breach-new-refused")
	s.fill("main form", "name", "loja-nova")
	s.press(`main form button[type="submit"]`)
	s.see("Importação iniciada")
	s.waitHere("Publicado")
	s.settle("/breaches/loja-nova")
	s.see("Já conhecidos: ")
	s.see("a maior parte de " + oldBreach)
	s.see("Senha")
	s.wait("/findings?breach=loja-nova", "Em aberto")
	if n := eval[int](s.browser, `document.querySelectorAll("tbody a.open").length`); n != 1 {
		s.t.Errorf("%d people were found in it", n)
	}
	s.press(`tbody a.open`)
	s.press(`a[href^="/people/"]`)
	s.see("Pessoa de Banco Exemplo")
	s.see("Loja Nova")
	s.visit("/breaches")
	s.see("Novidade dos mais recentes")

	s.visit("/breaches/loja-nova")
	s.unfold(`form[action$="/retract"]`)
	s.fill(`form[action$="/retract"]`, "confirm", "loja-nova")
	s.press(`form[action$="/retract"] button`)
	s.see("Vazamento retirado")
	s.wait("/findings?breach=loja-nova", "Nenhuma ocorrência")
	if now := s.must(s.t, "GET", s.api+"/cyber/monitoring/"+s.user, s.key, ""); !strings.Contains(now, `"monitorado"`) {
		s.t.Error("a withdrawn leak still counts:", now)
	}
	s.leave()
}

// openNewEvent does what makes an event of a type, and opens it from the list. Older ones, of other stories, are on the
// list too, and it may be left to a worker to tell of the new one.
func (s *stage) openNewEvent(kind string, do func()) {
	s.t.Helper()
	const link = `tbody tr:first-child a.open`
	newest := func() string {
		s.visit("/events?partner=" + string(s.partner) + "&type=" + kind)
		return eval[string](s.browser, "document.querySelector(`"+link+"`)?.getAttribute(\"href\") ?? \"\"")
	}
	before := newest()
	do()
	polltest.Watch(s.t, func() (string, bool) {
		return fmt.Sprint("no new event on the list:", s.text()), newest() != before
	})
	s.press(link)
}

// developer: a partner's administrator makes a key that shows people, which a developer may not, and the developer a
// webhook whose receiver is broken. The attempts are there to read, the receiver is mended, and what it missed is sent
// again under the same id.
func (s *stage) developer() {
	s.t.Helper()
	var mended atomic.Bool
	got := make(chan string, 100)
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if !mended.Load() {
			http.Error(w, "banco de dados cheio", http.StatusInternalServerError)
			return
		}
		got <- r.Header.Get("webhook-id")
	}))
	defer sink.Close()
	_, token, err := s.app.Operators.InvitePartnerOperator(s.ctx, s.partner, "adm@exemplo.com.br", operator.PartnerAdmin)
	s.come(token, err)
	home := "/partners/" + string(s.partner)
	s.visit(home)
	s.press(`a[href$="/keys/new"]`)
	s.fill("main form", "label", "integração nova")
	s.do(chromedp.SetValue("#scope-cyber", "cyber")) // a key only reads unless it is told
	s.press(`main form button[type="submit"]`)
	key := s.secretAt(0)
	s.press("main p a.button")
	s.leave()
	_, token, err = s.app.Operators.InvitePartnerOperator(s.ctx, s.partner, "dev@exemplo.com.br", operator.Developer)
	s.come(token, err)
	for _, list := range []string{"findings", "monitoring", "devices", "deliveries", "cases", "exports", "audit"} {
		s.visit("/" + list)
		s.glance("portal-" + list)
	}
	s.visit(home)
	s.press(`a[href$="/keys/new"]`)
	s.see("Peça a adm@exemplo.com.br")
	s.must(s.t, "GET", s.api+"/cyber/services", key, "")
	req, err := http.NewRequestWithContext(
		s.ctx,
		http.MethodPost,
		s.api+"/cyber/monitoring",
		strings.NewReader(`{"userHash":"`+s.user+`","type":"email","value":"torto"}`),
	)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("x-api-key", key)
	req.Header.Set("content-type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = res.Body.Close()
	s.wait(
		home+"/requests?failed=1",
		"asset.invalid: value",
	) // the log says what was refused and why, and not what was sent
	s.look("requests")
	if strings.Contains(s.text(), "torto") {
		s.t.Error("the request log holds a value")
	}
	s.visit("/")
	s.see("Recusadas hoje")
	s.look("portal-home")

	s.visit(home)
	s.press(`a[href^="/webhooks/"][href$="/new"]`)
	s.fill("main form", "url", sink.URL)
	s.press(`main form button[type="submit"]`)
	s.see("O segredo aparece só agora")
	s.press("main p a.button")
	webhook := eval[string](s.browser, `location.pathname`)
	s.visit("/events/types")
	s.see("epp.key_expiring")
	s.look("event-types")
	s.visit(webhook)
	s.fill(`form[action$="/test"]`, "type", "case.rated")
	s.press(`form[action$="/test"] button`)
	s.see("O teste não chegou. Resposta 500.")
	s.see("banco de dados cheio")
	if !strings.Contains(eval[string](s.browser, `location.search`), "test=evt_") {
		s.t.Error("a reload would send the test again")
	}
	s.press(`.delivery a[href*="/events/"]`)
	s.see("case.rated") // what was sent, and not that it was a test of something
	s.visit(webhook)

	s.openNewEvent("monitoring.leak_detected", func() {
		s.must(s.t, "POST", s.api+"/cyber/monitoring", key,
			`{"userHash":"`+s.user+`","type":"email","value":"alguem7@exemplo.org"}`)
	})
	event := eval[string](s.browser, `location.pathname.split("/").pop()`)
	s.wait(eval[string](s.browser, `location.pathname`), "banco de dados cheio")
	s.see("500")
	s.wait(webhook, "banco de dados cheio") // the destination tells of its tries
	s.look("webhook-tries")
	s.press(`.delivery a[href$="` + event + `"]`)
	mended.Store(true)
	s.press(`.delivery form[action$="/replay"] button`)
	s.see("Reenvio na fila")
	for deadline := time.After(browserTimeout); ; {
		select {
		case id := <-got:
			if id != event {
				continue // what else was waiting
			}
		case <-deadline:
			s.t.Fatal("the replay never came")
		}
		break
	}
	s.wait(eval[string](s.browser, `location.pathname`), "Entregue")
	s.visit(webhook)
	s.see("Ligado")
	s.leave()
}

// officer is a partner's data protection officer: a person asks what is held and to be erased, then changes their mind.
func (s *stage) officer() {
	_, token, err := s.app.Operators.InvitePartnerOperator(s.ctx, s.partner, "dpo@exemplo.com.br", operator.Officer)
	s.come(token, err)
	s.visit("/subjects")
	s.look("portal-subjects")
	s.fill("main form", "cpf", s.cpf, "reason", "protocolo 12")
	s.press(`main form button`)
	s.see("1 assinatura")
	s.look("portal-subject-held")
	s.fill(`form[action="/subjects/requests"]`, "reason", "protocolo 12", "confirm", "APAGAR")
	s.press(`form[action="/subjects/requests"] button`)
	s.see("Apagamento pedido")
	s.see("protocolo 12")
	s.look("portal-erasures")
	s.press(`form[action$="/cancel"] button`)
	s.see("Apagamento cancelado")
	s.visit("/incidents")
	s.fill("main form", "breach", oldBreach)
	s.press(`main form button`)
	s.see("Avisar até")
	s.look("portal-incident")
	s.leave()
}
