package app_test

import (
	"bytes"
	"context"
	"encoding/base32"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

const consolePassword = "girafa amarela no telhado"

// serveLogged starts a server whose errors fail the test.
func serveLogged(t *testing.T, a *app.App, prepare ...func(*app.Server)) *app.Server {
	t.Helper()
	return serveAt(t, a, "", prepare...)
}

// serveAt does so for people who open their pages at an address.
func serveAt(t *testing.T, a *app.App, pages string, prepare ...func(*app.Server)) *app.Server {
	t.Helper()
	cfg := config.Serve{
		Listen:         "127.0.0.1:0",
		ConsoleListen:  "127.0.0.1:0",
		Roles:          []string{"api", "worker", "console"},
		MaxConnections: 8,
		StopTime:       time.Minute,
		WebhookAllow:   []string{"127.0.0.0/8"},
		PageURL:        pages,
	}
	errs := &errorLog{t: t}
	srv, err := app.NewServer(
		context.Background(),
		a,
		cfg,
		slog.New(slog.NewTextHandler(errs, &slog.HandlerOptions{Level: slog.LevelError})),
		"test",
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range prepare {
		step(srv)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	<-srv.Ready
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error("stop:", err)
		}
	})
	return srv
}

// errorLog fails a test with what the server logs as an error.
type errorLog struct{ t *testing.T }

func (l *errorLog) Write(p []byte) (int, error) {
	l.t.Errorf("the server logged: %s", p)
	return len(p), nil
}

// receiver is a partner's server: it notes what arrives and refuses while told to.
type receiver struct {
	*httptest.Server
	got chan string
}

func newReceiver(t *testing.T, answer string) *receiver {
	t.Helper()
	r := &receiver{got: make(chan string, 100)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.got <- req.Header.Get("webhook-id") + " " + string(body)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(r.Close)
	return r
}

// wait returns the next delivery that speaks of something.
func (r *receiver) wait(t *testing.T, about string) string {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	for {
		select {
		case got := <-r.got:
			if strings.Contains(got, about) {
				return got
			}
		case <-deadline:
			t.Fatalf("nothing about %q was delivered", about)
		}
	}
}

// enter follows a one-time link, chooses a password, sets up the second factor and returns its secret.
func (b *browser) enter(a *app.App, email string, role operator.Role) []byte {
	b.t.Helper()
	_, token, err := a.Operators.CreateOperator(context.Background(), email, role)
	if err != nil {
		b.t.Fatal(err)
	}
	b.visit("/link/" + token)
	b.look("link")
	b.fill("form", "password", "deusnocomando", "again", "deusnocomando")
	b.press("form button")
	b.see("aparece em vazamentos")
	b.fill("form", "password", consolePassword, "again", consolePassword)
	b.press("form button")
	b.see("Segundo fator")
	b.look("second-factor")
	text := eval[string](b, `document.querySelector(".secret-text").textContent`)
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		b.t.Fatal(err)
	}
	b.fill("form", "code", "000000")
	b.press("form button")
	b.see("O código não confere")
	b.fill("form", "code", operator.AuthenticatorCode(secret, time.Now()))
	b.press("form button")
	b.see("Códigos de recuperação")
	b.look("recovery-codes")
	b.press("main p a.button")
	b.see("Visão geral")
	return secret
}

// call sends a request of a partner.
func call(t *testing.T, method, url, key, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-api-key", key)
	if body != "" {
		req.Header.Set("content-type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

func (b *browser) must(t *testing.T, method, url, key, body string) string {
	t.Helper()
	status, answer := call(t, method, url, key, body)
	if status != http.StatusOK {
		t.Fatalf("%s %s: %d %s", method, url, status, answer)
	}
	return answer
}

// TestConsoleStory is an operator's first day, in a real browser: from the one-time link to a replayed delivery.
func TestConsoleStory(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	a := open(t, common(t, sqldb.SQLite))
	srv := serveLogged(t, a)
	b := newBrowser(t, "http://"+srv.ConsoleAddr.String())
	api := "http://" + srv.APIAddr.String() + "/v1"
	sink := newReceiver(t, "obrigado")
	ctx := context.Background()

	b.visit("/login")
	b.look("login")
	b.enter(a, "ana@exemplo.com.br", operator.Admin)
	b.look("overview-empty")

	// A partner, made in the browser; its key opens the API.
	b.press(`.first-steps a.button`)
	b.look("partner-new")
	b.fill("main form", "name", "Banco Exemplo", "rate", "muitas")
	b.do(chromedp.RemoveAttribute(`main form [name="rate"]`, "pattern"))
	b.press(`main form button[type="submit"]`)
	b.see("Escreva um número inteiro")
	b.see("Diga quantas pessoas o contrato cobre")
	b.fill("main form", "rate", "500", "people", "1000")
	b.press(`main form button[type="submit"]`)
	b.see("aparecem só agora")
	b.look("secret")
	key, salt := b.secretAt(0), b.secretAt(1)
	if !strings.HasPrefix(key, "vg_live_") || salt == "" {
		t.Fatal("no key or no salt")
	}
	b.press("main p a.button")
	id := strings.TrimPrefix(eval[string](b, `location.pathname`), "/partners/")
	p, err := a.Partners.PartnerByID(ctx, partner.ID(id))
	if err != nil || p.Settings.RatePerSecond != 500 {
		t.Fatal(p, err)
	}
	user := strings.Repeat("ab", 32)
	b.must(
		t,
		"POST",
		api+"/cyber/monitoring",
		key,
		`{"userHash":"`+user+`","type":"email","value":"vitima@exemplo.com.br"}`,
	)

	// A webhook, tested from its page.
	b.visit("/webhooks/" + id + "/new")
	b.look("webhook-new")
	b.fill("main form", "url", sink.URL+"/vigia?token=segredo")
	b.press(`main form button[type="submit"]`)
	b.see("O segredo aparece só agora")
	b.press("main p a.button")
	webhook := eval[string](b, `location.pathname`)
	if strings.Contains(b.text(), "token=segredo") {
		t.Error("the page shows the receiver's token")
	}
	b.press(`form[action$="/test"] button`)
	b.see("O teste chegou")
	b.look("webhook")
	sink.wait(t, "webhook.test")

	// A plan, and subscriptions from a file.
	b.visit("/plans/" + id + "/new")
	b.look("plan-new")
	b.fill("main form", "id", "ouro", "name", "Plano Ouro", "limit", "50.000,00", "types", "Roubo de identidade")
	b.press(`main form button[type="submit"]`)
	b.see("Plano salvo")
	b.look("plans")
	b.press(`td a`)
	b.look("plan")
	csv := filepath.Join(t.TempDir(), "pessoas.csv")
	if err := os.WriteFile(
		csv,
		[]byte(
			"plan_id;is_group_plan;start_date;name;cpf;birth_date;gender;email;phone_number;primary_card;user_card;zipcode;street;number;neighborhood;city;state\n"+
				"ouro;false;2026-01-01;Maria da Silva;52998224725;1980-02-03;F;maria@exemplo.com.br;+5511987654321;4111111111111111;4111111111111111;01310100;Avenida Paulista;1;Bela Vista;São Paulo;SP\n"+
				"ouro;false;2026-01-01;Sem CPF;123;1980-02-03;F;x;+5511987654321;;;01310100;Rua;1;Centro;São "+
				"Paulo;SP\n",
		),
		0o600,
	); err != nil {
		t.Fatal(err)
	}
	b.visit("/subscriptions/import?partner=" + id)
	b.look("subscriptions-import")
	b.do(chromedp.SetUploadFiles(`form[action$="dry=1"] input[type="file"]`, []string{csv}))
	b.press(`form[action$="dry=1"] button`)
	b.see("Seriam criadas\n1")
	b.look("subscriptions-checked")
	b.press(`form[action*="/subscriptions/import/ex_"] button`) // the file is not chosen again
	b.see("Resultado")
	b.see("Criadas\n1")
	b.see("Recusadas\n1")
	b.look("subscriptions-report")
	b.visit("/subscriptions?partner=" + id)
	b.look("subscriptions")
	b.fill(`form[action$="/find"]`, "cpf", "529.982.247-25")
	b.press(`form[action$="/find"] button`)
	b.see("***.***.247-**")
	b.press(`td a`)
	b.look("subscription")
	if strings.Contains(b.text(), "Maria da Silva") {
		t.Error("a personal value is shown without a reason")
	}
	b.do(chromedp.Click(`details:has(form[action$="/reveal"]) > summary`, chromedp.NodeVisible))
	b.fill(`form[action$="/reveal"]`, "reason", "chamado 42 da pessoa")
	b.press(`form[action$="/reveal"] button`)
	b.see("Maria da Silva")
	b.see("529.982.247-25")
	lines, err := a.Audit.ListEntries(ctx, operator.Filter{Action: "person.reveal", Limit: 10})
	if err != nil || len(lines) != 1 || lines[0].Detail != "chamado 42 da pessoa" {
		t.Error("the reveal left no line:", lines, err)
	}

	// A dump, uploaded; the page follows the import, and the alert is delivered.
	dump := filepath.Join(t.TempDir(), "dump.txt")
	if err := os.WriteFile(
		dump,
		bytes.Repeat([]byte("alguem@exemplo.org:senha\nvitima@exemplo.com.br:123456\n"), 1000),
		0o600,
	); err != nil {
		t.Fatal(err)
	}
	b.visit("/breaches")
	b.look("breaches-empty")
	b.visit("/breaches/new")
	b.look("breach-new")
	b.visit("/breaches/new?from=upload")
	b.fill("main form", "name", "loja-exemplo", "title", "Loja Exemplo", "date", "2026-03-01")
	b.do(
		chromedp.Click(`input[name="exposes"][value="email"]`),
		chromedp.Click(`input[name="exposes"][value="password"]`),
		chromedp.SetUploadFiles(`input[type="file"]`, []string{dump}),
	)
	b.look("breach-upload")
	b.press(`main form button[type="submit"]`)
	b.see("Importação iniciada")
	b.waitHere("Publicado")
	alert := sink.wait(t, "monitoring.leak_detected")
	if !strings.Contains(alert, user) {
		t.Error("the alert is about somebody else:", alert)
	}
	b.wait("/findings", "Loja Exemplo")
	b.look("findings")
	b.settle("/breaches/loja-exemplo")
	b.do(chromedp.Click(`details:has(form[action$="/verify"]) > summary`, chromedp.NodeVisible))
	b.press(`form[action$="/verify"] button`)
	b.waitOver("Todos os bytes conferem")
	b.look("breach")
	b.visit("/breaches")
	b.look("breaches")
	b.wait("/deliveries?state=delivered", "monitoring.leak_detected")
	b.look("deliveries")

	// A replay arrives again, under the same id.
	b.press(`td a`)
	b.look("event")
	b.press(`form[action$="/replay"] button`)
	b.see("Reenvio na fila")
	event := eval[string](b, `location.pathname.split("/").pop()`)
	if again := sink.wait(t, event); !strings.HasPrefix(again, event) {
		t.Error("the replay has another id:", again)
	}

	// The finding is resolved, and a case is moved.
	b.visit("/findings")
	b.press(`td.c a`)
	b.do(chromedp.Click(`details:has(form[action$="/resolve"]) > summary`, chromedp.NodeVisible))
	b.press(`form[action$="/resolve"] button`)
	b.see("Ocorrência resolvida")
	services := b.must(t, "GET", api+"/cyber/services", key, "")
	service := strings.Split(strings.Split(services, `"_id":"`)[1], `"`)[0]
	b.must(t, "POST", api+"/cyber/case", key, `{"userHash":"`+user+`","serviceId":"`+service+`"}`)
	b.visit("/cases")
	b.look("cases")
	b.visit("/cases?view=lanes")
	b.look("cases-lanes")
	b.visit("/answers")
	b.look("answers")
	b.visit("/cases")
	b.press(".open")
	b.look("case")
	b.press(`form[action$="/take"] button`)
	b.see("Caso assumido")
	sink.wait(t, "case.status_changed")

	// A job that runs: the page follows it without being reloaded.
	b.followJob(a)

	b.must(
		t,
		"POST",
		api+"/cyber/epp",
		key,
		`{"userHash":"`+user+`","operatingSystem":"android","type":"antivirus","deviceName":"Celular da Maria"}`,
	)
	if err := a.Store.Overview.CountFigures(ctx, 0); err != nil {
		t.Fatal(err)
	}
	b.law(a, user)
	b.rest(id, webhook)
}

// law is a person's request: what is held, who looked, and the erasure.
func (b *browser) law(a *app.App, user string) {
	b.t.Helper()
	b.visit("/subjects")
	b.look("subjects")
	b.fill("main form", "cpf", "529.982.247-25", "reason", "pedido 77")
	b.press(`main form button`)
	b.see("1 assinatura")
	b.glance("subjects-held")
	b.fill("main form", "reason", "pedido 77")
	b.press(`button[formaction="/subjects/access"]`)
	b.see("chamado 42 da pessoa")
	b.glance("subjects-access")
	b.visit("/incidents")
	b.look("incidents")
	b.fill("main form", "breach", "loja-exemplo")
	b.press(`main form button`)
	b.see("1 e-mail")
	b.glance("incident")
	b.visit("/monitoring")
	b.fill(`form[action="/monitoring/find"]`, "user_hash", user)
	b.press(`form[action="/monitoring/find"] button`)
	b.see("E-mail")
	b.look("person")
	b.visit("/subjects/erase")
	b.look("subject-erase")
	b.fill("main form", "cpf", "529.982.247-25", "reason", "pedido 78", "confirm", "APAGAR")
	b.press(`main form button`)
	b.see("Titular apagado")
	b.glance("subject-erased")

	// A key is rotated; the page follows the work, and every value is sealed anew.
	b.visit("/keys")
	b.look("keys")
	b.do(chromedp.Click(`details:has(form[action="/keys/rotate"]) > summary`, chromedp.NodeVisible))
	b.press(`form[action="/keys/rotate"] button`)
	b.see("Chave nova em uso")
	b.waitHere("Concluída")
	if _, old, err := a.Store.Upkeep.SealedUnder(context.Background()); err != nil || old != 0 {
		b.t.Error(old, "values are under old keys:", err)
	}
}

// followJob shows a job that a test worker moves on: the page's own stream brings what changes.
func (b *browser) followJob(a *app.App) {
	b.t.Helper()
	ctx := context.Background()
	const kind, worker = "breach.import", "w_test"
	if _, err := a.Store.Jobs.EnqueueJob(ctx, kind, "grande", struct{}{}); err != nil {
		b.t.Fatal(err)
	}
	j, taken, err := a.Store.Jobs.TakeJobOf(ctx, worker, kind, "grande")
	if err != nil || !taken {
		b.t.Fatal(taken, err)
	}
	save := func(read int) {
		b.t.Helper()
		if err := a.Store.Jobs.SaveJob(
			ctx,
			worker,
			j.ID,
			map[string]any{"Read": read, "Total": 1000000, "Found": map[string]int{"email": read / 100}},
		); err != nil {
			b.t.Fatal(err)
		}
	}
	save(250_000)
	b.visit("/breaches/grande")
	b.see("250,0 kB de 1,0 MB")
	b.look("progress")
	save(750_000)
	if _, err := chromedp.Run(
		b.ctx,
		chromedp.Poll[bool](
			`document.querySelector("progress").value === 75`,
			chromedp.WithPollingTimeout(browserTimeout),
		),
	); err != nil {
		b.t.Fatal("the page does not follow the job:", err)
	}
	b.press(`form[action$="/cancel"] button`)
	b.see("Cancelamento pedido")
	if cancel, err := a.Store.Jobs.RenewJob(ctx, worker, j.ID); err != nil || !cancel {
		b.t.Fatal("the job was not told to stop:", err)
	}
	if err := a.Store.Jobs.FinishJob(ctx, worker, j, "cancelled", ""); err != nil {
		b.t.Fatal(err)
	}
	// The stream tells that it is over and the page loads itself anew.
	b.waitOver("Cancelada")
}

// rest looks at every page that the story has not come by.
func (b *browser) rest(id, webhook string) {
	b.t.Helper()
	for _, p := range []struct{ name, path string }{
		{"overview", "/"},
		{"partners", "/partners"},
		{"partner", "/partners/" + id},
		{"key-new", "/partners/" + id + "/keys/new"},
		{"webhook-rotate", webhook + "/rotate"},
		{"monitoring", "/monitoring?status=monitorado"},
		{"passwords", "/passwords"},
		{"services", "/services"},
		{"devices", "/devices?partner=" + id},
		{"content", "/content"},
		{"content-new", "/content/new"},
		{"events", "/events?partner=" + id},
		{"deliveries-failed", "/deliveries"},
		{"jobs", "/jobs"},
		{"audit", "/audit"},
		{"operators", "/operators"},
		{"operator-new", "/operators/new"},
		{"account", "/account"},
		{"prove", "/prove?next=/partners"},
		{"feeds", "/feeds"},
		{"feed-new", "/feeds/new"},
		{"subscriptions-move", "/subscriptions/move?partner=" + id},
		{"exports", "/exports"},
		{"breach-renew", "/breaches/loja-exemplo/renew"},
		{"partner-invite", "/partners/" + id + "/invite"},
		{"requests", "/partners/" + id + "/requests"},
		{"theme", "/partners/" + id + "/theme"},
		{"messages", "/messages"},
		{"events-report", "/events/report?partner=" + id + "&from=2026-01-01T00:00&to=2100-01-01T00:00"},
	} {
		b.visit(p.path)
		b.look(p.name)
	}
	for _, p := range []struct{ name, list, link string }{
		{"service", "/services", "td a"},
		{"content-item", "/content", "td a"},
		{"device", "/devices?partner=" + id, "td a"},
		{"operator", "/operators", "td a"},
		{"key-roll", "/partners/" + id, `a[href$="/roll"]`},
	} {
		b.visit(p.list)
		b.press(p.link)
		b.look(p.name)
	}
	res, err := chromedp.Run(b.ctx, chromedp.NavigateResponse(b.base+"/nada"))
	if err != nil || res.Status != http.StatusNotFound {
		b.t.Error("an unknown page:", res.Status, err)
	}
	b.look("problem")
	b.visit("/audit")
	b.press(`form[action="/audit/verify"] button`)
	b.see("A trilha está íntegra")
	b.press(`form[action="/logout"] button`)
	b.see("Você saiu")
	b.visit("/partners")
	if path := eval[string](b, `location.pathname`); path != "/login" {
		b.t.Error("the session did not end:", path)
	}
}
