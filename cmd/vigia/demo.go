package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// demoCmd is 'vigia demo'. It needs no configuration and keeps its own data folder.
type demoCmd struct {
	Listen         string `default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address of the partner API; any free port when this one is taken and the flag is left out, as for the next two."`
	ConsoleListen  string `name:"console-listen" default:"127.0.0.1:8081" placeholder:"ADDR" help:"Address of the operator's console."`
	ReceiverListen string `name:"receiver-listen" default:"127.0.0.1:8082" placeholder:"ADDR" help:"Address of the page that receives the demo's alerts."`
	Fresh          bool   `help:"Forget the last demo and start over."`
}

// Help shows examples.
func (demoCmd) Help() string {
	return "Everything runs in one process on an embedded database, with made-up people, a plan, a leak, a case, and a receiver of\n" +
		"signed alerts. A second partner is live, with a made-up past of 30 days: import the dump whose name is printed and its people\n" +
		"are found in it. The folder (--data, by default ./data/demo) is kept between runs, and so are keys, people and log-in.\n\nExamples:\n  vigia demo\n  vigia demo --fresh --listen 127.0.0.1:9000"
}

// demoSecrets is kept beside the demo's database, because the service itself keeps no key or password it could print again.
type demoSecrets struct {
	Sandbox demoTenant `json:"sandbox"`
	Live    demoTenant `json:"live"`
	// ConsolePassword is the administrator's as long as the database has ConsoleHash of it: people may choose another.
	ConsolePassword string `json:"console_password"`
	ConsoleHash     string `json:"console_hash"`
	// Past says that the made-up past was begun: it is made once.
	Past bool `json:"past"`
}

// demoTenant is what is known of one partner: its key, its salt, and its endpoints by their path at the receiver.
type demoTenant struct {
	PartnerID string              `json:"partner_id"`
	APIKey    string              `json:"api_key"`
	Salt      string              `json:"salt"`
	Endpoints map[string]demoHook `json:"endpoints"`
}

// demoHook is a webhook of the demo as it is kept for the next start.
type demoHook struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

// demoFile holds the demo's keys and passwords in its data folder, so that a second start shows the same ones.
const demoFile = "demo.json"

// Run starts the demo and serves until a signal comes.
func (d *demoCmd) Run(ctx context.Context, c *config.Common, o *output) (err error) {
	common := *c
	if usual, err := filepath.Abs("data"); err == nil && common.Data == usual {
		common.Data = filepath.Join(usual, "demo") // a demo does not mix with an installation in the usual folder
	}
	common.ReaderUnconfined = true // its dumps are its own, and it must start everywhere
	if !reader.HasConfinement() {
		_, _ = fmt.Fprintln(
			o.err,
			"This system has neither Landlock nor seccomp: the demo reads dumps in a process that nothing confines. Import none but its own.",
		)
	}
	if common.Database != "" {
		return errors.New("a demo has a database of its own: leave --database and VIGIA_DATABASE empty")
	}
	if d.Fresh {
		if err := forgetDemo(common.Data); err != nil {
			return err
		}
	}
	receiver, err := newReceiver(ctx, freeListenAddress(ctx, d.ReceiverListen, "127.0.0.1:8082"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, receiver.closeServer()) }()
	serve := config.Serve{
		Listen: freeListenAddress(
			ctx,
			d.Listen,
			"127.0.0.1:8080",
		),
		ConsoleListen:  freeListenAddress(ctx, d.ConsoleListen, "127.0.0.1:8081"),
		Roles:          []string{"api", "worker", "console"},
		LogLevel:       "error",
		LogFormat:      "auto",
		MaxConnections: 8,
		WebhookAllow:   []string{"127.0.0.0/8", "::1/128"},
		StopTime:       10 * time.Second, // none at all would call a stop beside an open connection a failure
	}
	log, closeLog, err := openLogger(o.err, serve)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLog()) }()
	a, err := app.OpenApp(ctx, common, sqldb.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	world, err := openWorld(ctx, a, common.Data, receiver, serve)
	if err != nil {
		return err
	}
	srv, err := app.NewServer(ctx, a, serve, log, versionText())
	if err != nil {
		return err
	}
	srv.RelaxSecondFactor()
	past := make(chan struct{})
	srv.WorkAfter(past) // or workers would find today what the past is about to find
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		select {
		case <-running.Done():
		case <-srv.Ready:
			world.api, world.console = "http://"+srv.APIAddr.String(), "http://"+strings.Replace(
				srv.ConsoleAddr.String(),
				"127.0.0.1",
				"localhost",
				1,
			) // passkeys need a name
			err := world.beginWorld(running, o.w)
			if err == nil {
				err = world.remember(running, o.w)
			}
			close(past)
			if err != nil {
				stop(err)
			}
		}
	}()
	defer func() { stop(nil); <-begun }() // the past has the database open too
	err = srv.Run(running)
	if cause := context.Cause(running); cause != nil && !errors.Is(cause, context.Canceled) {
		err = errors.Join(err, cause)
	}
	return err
}

// freeListenAddress returns the default address, or a free port on the same host when the default is taken. An address that
// the user chose is returned unchanged, so that the user sees the error that it is taken.
func freeListenAddress(ctx context.Context, addr, usual string) string {
	if addr != usual {
		return addr
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		host, _, _ := net.SplitHostPort(addr) // ours, and right
		return net.JoinHostPort(host, "0")
	}
	_ = l.Close() // nothing was sent
	return addr
}

// forgetDemo removes the folder of an earlier demo, and nothing that is not one.
func forgetDemo(data string) error {
	if _, err := os.Stat(filepath.Join(data, demoFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(data); err == nil {
				return fmt.Errorf("--fresh: %s does not hold a demo, so it is left alone", data)
			}
			return nil
		}
		return fmt.Errorf("--fresh: %w", err)
	}
	return os.RemoveAll(data)
}

// readSecrets returns what an earlier demo kept; empty when there was none.
func readSecrets(data string) (demoSecrets, error) {
	var s demoSecrets
	raw, err := os.ReadFile(filepath.Join(data, demoFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read %s: %w", demoFile, err)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("read %s: %w", demoFile, err)
	}
	return s, nil
}

// writeSecrets keeps the demo's secrets in its data folder.
func (s demoSecrets) writeSecrets(data string) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(data, demoFile), append(raw, '\n'), 0o600)
}

// findPartner makes sure that a partner of an earlier run is still there, or makes it.
func findPartner(
	ctx context.Context,
	registry *partner.Registry,
	s *demoTenant,
	name string,
	mode partner.Mode,
	settings partner.Settings,
) error {
	if s.PartnerID != "" {
		_, err := registry.GetPartner(ctx, partner.ID(s.PartnerID))
		if err == nil || !errors.Is(err, partner.ErrNotFound) {
			return err
		}
	}
	p, cred, err := registry.CreatePartner(ctx, name, mode, settings)
	if err != nil {
		return err
	}
	*s = demoTenant{PartnerID: string(p.ID), APIKey: cred.APIKey, Salt: cred.Salt, Endpoints: map[string]demoHook{}}
	return nil
}

// step is one line of the tour: what it shows, the request, and how the answer begins.
type step struct {
	about, method, path, body string
	// begins is the start of the answer where the whole differs from run to run; empty means that the demo asks by
	// itself and prints the start of what it got.
	begins string
}

// shownAnswer bounds a printed answer.
const shownAnswer = 110

// printTour prints links and lines to paste. Every line works as it stands, more than once and in any order, except that the
// removal works once for each start of the demo.
func (w *world) printTour(ctx context.Context, out io.Writer, logIn, dump string) error {
	steps := w.tourSteps(ctx)
	if w.err != nil {
		return w.err
	}
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"Vigia is up: a demo with a sandbox partner, a live partner, an embedded database and made-up people.\n\n"+
			"  Partner API   %s\n  Reference     %s/docs/\n  Console       %s   (%s)\n  Alerts        %s   (signed alerts arrive here)\n"+
			"  Leak          %s\n                (made up: import it at %s/breaches/new and see people of the live partner found)\n"+
			"  API key       %s   (of the sandbox partner)\n  Salt          %s\n",
		w.api,
		w.api,
		w.console,
		logIn,
		w.receiver.url,
		dump,
		w.console,
		w.secrets.Sandbox.APIKey,
		w.secrets.Sandbox.Salt,
	)
	b.WriteString("\nPaste any of these. Under each stands how its answer begins.\n")
	for i, s := range steps {
		fmt.Fprintf(&b, "\n# %d. %s\n%s\n#    %s\n", i+1, s.about, w.curlLine(s), s.begins)
	}
	b.WriteString(
		"\nStop with Ctrl-C. The same partners and people are there at the next start; --fresh starts over.\n",
	)
	_, err := io.WriteString(out, b.String())
	return err
}

// curlLine returns the command line to paste.
func (w *world) curlLine(s step) string {
	line := "curl -sS"
	if s.method != http.MethodGet && s.body == "" {
		line += " -X " + s.method
	}
	line += " -H 'x-api-key: " + w.secrets.Sandbox.APIKey + "'"
	if s.body != "" {
		line += " -H 'content-type: application/json' -d '" + s.body + "'"
	}
	return line + " '" + w.api + s.path + "'"
}

// tourSteps fills the contract's operations with real values.
func (w *world) tourSteps(ctx context.Context) []step {
	ana := w.userHashOf(people[0])
	old := w.findAssetID(ctx, ana, "ana.antiga@exemplo.com.br")
	post, get := http.MethodPost, http.MethodGet
	fernanda := newPerson(
		"Fernanda Jacarandá",
		"11122233396",
		"1991-07-14",
		"F",
		"fernanda@exemplo.com.br",
		"+5581998765432",
		"Rua da Aurora",
		"Recife",
		"PE",
		"50050000",
	)
	steps := []step{
		{
			"Enrol people in bulk; a dry run checks everything and creates nothing.", post, "/v1/subscriptions?dry_run=true",
			"[" + subscriptionItem(fernanda, "2026-01-01") + "]", `{"result":"success","total_created_items":1,"total_not_created_items":0,"not_created_items":[]}`,
		},
		{
			"A bad item says everything that is wrong with it.", post, "/v1/subscriptions",
			`[{"plan_id":"` + demoPlan + `","is_group_plan":true,"beneficiary":{"cpf":"123"}}]`, `{"result":"failure","total_created_items":0,"total_not_created_items":1,"not_created_items":[{"cpf":"123"`,
		},
		{"List the partner's subscriptions.", get, "/v1/subscriptions?page=1&page_size=2", "", ""},
		{"Fetch Ana's subscription.", get, "/v1/subscriptions/" + demoPlan + "/" + people[0].CPF, "", ""},
		{
			"Watch one more e-mail of Ana's. In the sandbox, addresses at @vazamento.test are found at once; look at the alerts page.",
			post,
			"/v1/cyber/monitoring",
			fmt.Sprintf(
				`{"value":"ana.trabalho@vazamento.test","type":"email","userHash":"%s"}`,
				ana,
			),
			`{"status":200,"description":"Dados adicionados com sucesso."}`,
		},
		{"What is watched for Ana, and how it stands.", get, "/v1/cyber/monitoring/" + ana, "", ""},
		{"The findings behind those statuses.", get, "/v1/cyber/findings/" + ana, "", `[{"id":"fd_`},
		{
			"Stop watching an old address (works once for each start).",
			http.MethodDelete,
			"/v1/cyber/monitoring/" + old + "/" + ana,
			"",
			`{"status":200,"description":"Dados removidos com sucesso."}`,
		},
		{
			"Is a password known from breaches? These are the first ten characters of SHA-1 of \"password\".",
			post,
			"/v1/cyber/password-check",
			`{"passwordHashPrefix":"5BAA61E4C9"}`,
			`{"exposed":true,"recommendations":["Esta senha`,
		},
		{"Services that people can get help with.", get, "/v1/cyber/services", "", ""},
		{
			"Open a support case.",
			post,
			"/v1/cyber/case",
			fmt.Sprintf(
				`{"serviceId":"sv_ajuda_phishing","userHash":"%s"}`,
				ana,
			),
			`{"msg":"Caso criado com sucesso.","task":{"id":"`,
		},
		{
			"An antivirus key for Ana's phone: the same device gets the same key.",
			post,
			"/v1/cyber/epp",
			fmt.Sprintf(
				`{"operatingSystem":"android","type":"antivirus","deviceName":"Celular da Ana","userHash":"%s"}`,
				ana,
			),
			`{"eppKey":"`,
		},
		{"Her protected devices.", get, "/v1/cyber/epp?userHash=" + ana, "", ""},
		{"Advice that fits her situation.", get, "/v1/cyber/advise/" + ana, "", ""},
		{"Her risk score: 0 is best.", get, "/v1/cyber/score/" + ana, "", `{"breachScore":`},
		{"Her insurance cover, in reais.", get, "/v1/cyber/insurance/" + ana, "", ""},
		{"Every plan in force for her, with sub-limits and waiting period.", get, "/v1/cyber/cover/" + ana, "", ""},
		{"Every event of the partner, in order.", get, "/v1/events?limit=1", "", `{"events":[{"id":"evt_`},
	}
	for i := range steps {
		if steps[i].begins == "" {
			steps[i].begins = beginning(w.callPartnerAPI(ctx, steps[i].method, steps[i].path, "", nil))
		}
	}
	return steps
}

// beginning cuts an answer where the eye has seen enough.
func beginning(answer string) string {
	runes := []rune(answer)
	if len(runes) <= shownAnswer {
		return answer
	}
	return string(runes[:shownAnswer])
}

// findAssetID finds the id of a watched value.
func (w *world) findAssetID(ctx context.Context, user, value string) string {
	var list []struct {
		ID    string `json:"id"`
		Value string `json:"value"`
	}
	w.callPartnerAPI(ctx, http.MethodGet, "/v1/cyber/monitoring/"+user, "", &list)
	for _, a := range list {
		if a.Value == value {
			return a.ID
		}
	}
	w.err = cmp.Or(w.err, fmt.Errorf("demo: %s is not watched", value))
	return ""
}

// receiver is the partner's side of the demo: it takes alerts, verifies their signatures the way a partner would, and
// shows them on a page that renews itself.
type receiver struct {
	url string
	srv *http.Server

	mu      sync.Mutex
	secrets []string
	got     []received
}

// received is a webhook that reached the receiver; Verified says that its signature was right.
type received struct {
	At       time.Time
	ID, Type string
	Verified bool
	Body     string
}

// keepReceived bounds the page.
const keepReceived = 100

// newReceiver starts a receiver of webhooks for the demo. Besides the good path it has one that always refuses, to
// show retries.
func newReceiver(ctx context.Context, address string) (*receiver, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--receiver-listen: %w", err)
	}
	r := &receiver{url: "http://" + ln.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+alertsPath, r.takeWebhook)
	mux.HandleFunc("POST "+brokenPath, refuseRequest)
	mux.HandleFunc("GET /{$}", r.showPage)
	r.srv = &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	go func() { _ = r.srv.Serve(ln) }() // ends with close
	return r, nil
}

// closeServer stops the receiver.
func (r *receiver) closeServer() error {
	if err := r.srv.Close(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// trustSecret adds the secret of an endpoint that sends here.
func (r *receiver) trustSecret(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = append(r.secrets, secret)
}

// The paths of the receiver: one takes alerts, the other is a system that is down, so that failures can be looked at.
const (
	alertsPath = "/alertas"
	brokenPath = "/crm-fora-do-ar"
)

// refuseRequest answers like a system that is down.
func refuseRequest(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "em manutenção", http.StatusServiceUnavailable)
}

// takeWebhook verifies and keeps a webhook.
func (r *receiver) takeWebhook(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 64<<10))
	if err != nil {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	event, err := client.VerifyWebhook(r.secrets, req.Header, body, time.Now())
	if err != nil {
		http.Error(w, "signature refused", http.StatusBadRequest)
		return
	}
	if slices.ContainsFunc(r.got, func(old received) bool { return old.ID == event.ID }) {
		return // a repeat: taken, and counted once
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, body, "", "  "); err != nil {
		http.Error(w, "not JSON", http.StatusBadRequest)
		return
	}
	r.got = append(
		r.got,
		received{
			At:       event.Body.Timestamp,
			ID:       event.ID,
			Type:     string(event.Body.Type),
			Verified: true,
			Body:     indented.String(),
		},
	)
	if len(r.got) > keepReceived {
		r.got = r.got[1:]
	}
}

// receiverPage shows the alerts that arrived at the demo's receiver, newest first.
var receiverPage = template.Must(template.New("receiver").Parse(`<!doctype html>
<html lang="pt-BR"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="3"><title>Alertas recebidos</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
article { border: 1px solid #8886; border-radius: .5rem; padding: .75rem 1rem; margin: 1rem 0; }
h2 { font-size: 1rem; margin: 0; } p { margin: .25rem 0; } pre { overflow: auto; margin: .5rem 0 0; font-size: .85rem; }
</style></head><body>
<h1>Alertas recebidos</h1>
<p>Esta página faz o papel do sistema do parceiro: cada alerta foi entregue por HTTP e sua assinatura conferida. Ela se renova a cada 3 segundos.</p>
{{range .}}<article><h2>{{.Type}}</h2><p>{{.At.Format "02/01/2006 15:04:05"}} UTC, assinatura conferida, {{.ID}}</p><pre>{{.Body}}</pre></article>
{{else}}<p>Nenhum alerta ainda. Cole no terminal a linha do passeio que monitora um e-mail em @vazamento.test, ou importe no console o arquivo que o terminal mostra.</p>{{end}}
</body></html>
`))

// showPage lists what arrived.
func (r *receiver) showPage(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	list := slices.Clone(r.got)
	r.mu.Unlock()
	slices.Reverse(list)
	w.Header().Set("content-type", "text/html; charset=utf-8")
	w.Header().Set("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'")
	_ = receiverPage.Execute(w, list) // the client may have disconnected
}

// world is what the demo shows: a sandbox partner, its people, a live partner, and where everything listens.
type world struct {
	app          *app.App
	secrets      demoSecrets
	receiver     *receiver
	api, console string
	// err is the first error of a call of the API; behind it none is made.
	err error
}

// newPerson returns a made-up person. The CPFs have valid check digits and are known test numbers.
func newPerson(name, cpf, birth, gender, email, phone, street, city, state, zip string) subscription.Beneficiary {
	return subscription.Beneficiary{
		PrimaryCard: "0001-" + cpf[:4],
		UserCard:    "0002-" + cpf[:4],
		Name:        name,
		CPF:         cpf,
		BirthDate:   birth,
		Gender:      gender,
		Email:       email,
		Phone:       phone,
		Address: subscription.Address{
			Zipcode:      zip,
			Street:       street,
			Number:       "100",
			Neighborhood: "Centro",
			City:         city,
			State:        state,
		},
	}
}

// people are those of the sandbox partner; the tour's curl lines name the first.
var people = []subscription.Beneficiary{
	newPerson(
		"Ana Beatriz Jequitibá",
		"52998224725",
		"1988-04-12",
		"F",
		"ana@vazamento.test",
		"+5511987654321",
		"Rua das Palmeiras",
		"São Paulo",
		"SP",
		"01310100",
	),
	newPerson(
		"Caio Ipê Fernandes",
		"11144477735",
		"1975-09-30",
		"M",
		"caio.ipe@exemplo.com.br",
		"+5521987651234",
		"Rua do Catete",
		"Rio de Janeiro",
		"RJ",
		"22220000",
	),
	newPerson(
		"Davi Aroeira Lima",
		"12345678909",
		"1999-01-05",
		"M",
		"davi.aroeira@exemplo.com.br",
		"+5531988887777",
		"Avenida Afonso Pena",
		"Belo Horizonte",
		"MG",
		"30130001",
	),
	newPerson(
		"Elisa Cedro Martins",
		"98765432100",
		"1962-11-21",
		"F",
		"elisa.cedro@exemplo.com.br",
		"+5571999998888",
		"Ladeira do Pelourinho",
		"Salvador",
		"BA",
		"40026280",
	),
}

// demoPlan is the id of the one plan that both partners of the demo sell.
const demoPlan = "protecao-familia"

// openWorld finds or makes what the rules of the operator make: the partners, their plan, their endpoints. The live partner
// is as old as the past that it gets.
func openWorld(ctx context.Context, a *app.App, data string, r *receiver, serve config.Serve) (*world, error) {
	secrets, err := readSecrets(data)
	if err != nil {
		return nil, err
	}
	out, err := app.OpenOutgoing(serve.OutgoingSettings())
	if err != nil {
		return nil, err
	}
	now := time.Now()
	longAgo := func() time.Time { return now.AddDate(0, 0, -pastDays-1) }
	before := partner.NewRegistry(a.Store.Partners, longAgo, nil)
	if err := findPartner(
		ctx,
		before,
		&secrets.Live,
		"Banco Ipê-Roxo (demonstração)",
		partner.Live,
		partner.Settings{},
	); err != nil {
		return nil, err
	}
	testing := partner.Settings{SandboxOf: partner.ID(secrets.Live.PartnerID)}
	if err := findPartner(
		ctx,
		a.Partners,
		&secrets.Sandbox,
		"Banco Jequitibá (demonstração)",
		partner.Sandbox,
		testing,
	); err != nil {
		return nil, err
	}
	for _, t := range []struct {
		*demoTenant
		plans     *plan.Catalogue
		endpoints *alert.Endpoints
		paths     []string
	}{
		{&secrets.Live, plan.NewCatalogue(a.Store.Plans, longAgo), alert.NewEndpoints(a.Store.Alerts, longAgo, nil), []string{alertsPath, brokenPath}},
		{&secrets.Sandbox, a.Plans, a.Webhooks, []string{alertsPath}},
	} {
		if err := demoPlanOf(ctx, t.plans, partner.ID(t.PartnerID)); err != nil {
			return nil, err
		}
		if err := t.pointWebhooks(ctx, t.endpoints, r, t.paths, out.Guard); err != nil {
			return nil, err
		}
	}
	return &world{app: a, secrets: secrets, receiver: r}, secrets.writeSecrets(data)
}

// demoPlanOf makes sure that a partner sells the plan.
func demoPlanOf(ctx context.Context, plans *plan.Catalogue, id partner.ID) error {
	_, err := plans.CreatePlan(ctx, plan.Plan{
		ID: demoPlan, Partner: id, Name: "Proteção Digital Família", MaxDevices: 5, KeyDays: 365,
		Coverage: plan.Coverage{
			Limit:      30_000_00,
			Types:      []string{"Transações não autorizadas", "Roubo de identidade", "Compras on-line não entregues"},
			Conditions: "Carência de 7 dias a partir do início da assinatura. Comunicar o evento em até 30 dias e registrar boletim de ocorrência.",
			Exclusions: "Perdas anteriores à assinatura e transações feitas pelo próprio titular.",
			SubLimits: []plan.SubLimit{
				{Name: "Roubo de identidade", Limit: 10_000_00},
				{Name: "Compras on-line não entregues", Limit: 2_500_00},
			},
			WaitingDays: 7,
		},
	})
	if errors.Is(err, plan.ErrExists) {
		return nil
	}
	return err
}

// pointWebhooks has the partner's alerts sent to the receiver; a receiver at another address than last time gets new endpoints.
func (t *demoTenant) pointWebhooks(
	ctx context.Context,
	endpoints *alert.Endpoints,
	r *receiver,
	paths []string,
	guard alert.AddressCheck,
) error {
	id := partner.ID(t.PartnerID)
	list, err := endpoints.ListEndpoints(ctx, id)
	if err != nil {
		return err
	}
	for _, path := range paths {
		i := slices.IndexFunc(list, func(e alert.Endpoint) bool { return string(e.ID) == t.Endpoints[path].ID })
		if i >= 0 && list[i].URL != r.url+path {
			if err := endpoints.DeleteEndpoint(ctx, id, list[i].ID); err != nil {
				return err
			}
			i = -1
		}
		if i < 0 {
			made, err := endpoints.CreateEndpoint(ctx, id, r.url+path, nil, guard)
			if err != nil {
				return err
			}
			t.Endpoints[path] = demoHook{string(made.ID), made.Secret()}
		}
		r.trustSecret(t.Endpoints[path].Secret)
	}
	return nil
}

// beginWorld fills the world through the API, as a partner would, and prints the tour.
func (w *world) beginWorld(ctx context.Context, out io.Writer) error {
	w.enrolEverybody(ctx)
	ana := w.userHashOf(people[0])
	for _, asset := range [][2]string{{"email", people[0].Email}, {"cpf", people[0].CPF}, {"phone", people[0].Phone}, {"email", "ana.antiga@exemplo.com.br"}} {
		w.callPartnerAPI(
			ctx,
			http.MethodPost,
			"/v1/cyber/monitoring",
			fmt.Sprintf(`{"value":%q,"type":%q,"userHash":%q}`, asset[1], asset[0], ana),
			nil,
		)
	}
	device := fmt.Sprintf(
		`{"operatingSystem":"android","type":"antivirus","deviceName":"Celular da Ana","userHash":%q}`,
		ana,
	)
	var key struct{ EppKey string }
	w.callPartnerAPI(ctx, http.MethodPost, "/v1/cyber/epp", device, &key)
	w.callPartnerAPI(ctx, http.MethodPost, "/v1/cyber/epp/"+key.EppKey+"/activate", "{}", nil)
	if w.err != nil {
		return w.err
	}
	logIn, err := w.makeLogin(ctx)
	if err != nil {
		return err
	}
	dump, err := w.writeDump()
	if err != nil {
		return err
	}
	return w.printTour(ctx, out, logIn, dump)
}

// userHashOf returns the user hash of a person.
func (w *world) userHashOf(p subscription.Beneficiary) string {
	return client.UserHash(p.CPF, w.secrets.Sandbox.Salt)
}

// enrolEverybody sends everybody in one bulk request; at a later start they are all there already, which is fine.
func (w *world) enrolEverybody(ctx context.Context) {
	items := make([]string, len(people))
	for i, p := range people {
		items[i] = subscriptionItem(p, "2026-01-01")
	}
	w.callPartnerAPI(ctx, http.MethodPost, "/v1/subscriptions", "["+strings.Join(items, ",")+"]", nil)
}

// subscriptionItem returns one element of a bulk request.
func subscriptionItem(p subscription.Beneficiary, start string) string {
	item := struct {
		StartDate   string                   `json:"start_date"`
		ExpiryDate  string                   `json:"expiry_date"`
		PlanID      string                   `json:"plan_id"`
		IsGroupPlan bool                     `json:"is_group_plan"`
		Beneficiary subscription.Beneficiary `json:"beneficiary"`
	}{StartDate: start, PlanID: demoPlan, Beneficiary: p}
	text, _ := json.Marshal(item) // plain strings encode
	return string(text)
}

// demoAdmin is the operator whose one-time link the demo prints.
const demoAdmin = "admin@exemplo.com.br"

// makeLogin makes the first administrator with a password that is printed at each start, and says how to get in: people may
// have chosen another password, or switched the second factor on.
func (w *world) makeLogin(ctx context.Context) (string, error) {
	o, err := w.app.Operators.FindByEmail(ctx, demoAdmin)
	switch {
	case errors.Is(err, operator.ErrNotFound):
		_, token, err := w.app.Operators.CreateOperator(ctx, demoAdmin, operator.Admin)
		if err != nil {
			return "", err
		}
		if o, err = w.choosePassword(ctx, token); err != nil {
			return "", err
		}
	case err != nil:
		return "", err
	}
	text := "log in as " + demoAdmin + ", password " + w.secrets.ConsolePassword
	if o.Password != w.secrets.ConsoleHash {
		return "log in as " + demoAdmin + " with the password that you chose (forgotten: vigia operator reset --data " + w.app.Config.Data + " --email " + demoAdmin + ")", nil
	}
	if o.TOTPOn {
		text += ", and the code of your app"
	}
	return text, nil
}

// choosePassword uses a one-time link up.
func (w *world) choosePassword(ctx context.Context, token string) (operator.Operator, error) {
	w.secrets.ConsolePassword = strings.ToLower(rand.Text())
	o, _, err := w.app.Operators.AcceptInvitation(ctx, token, w.secrets.ConsolePassword, "demo")
	if err != nil {
		return o, err
	}
	if _, err := w.app.Operators.DeleteSessions(ctx, o.ID); err != nil {
		return o, err
	}
	w.secrets.ConsoleHash = o.Password
	return o, w.secrets.writeSecrets(w.app.Config.Data)
}

// callPartnerAPI asks the API with the demo's key and returns a 200 body, which is also read into the answer if one is given.
func (w *world) callPartnerAPI(ctx context.Context, method, path, body string, into any) (answer string) {
	if w.err != nil {
		return ""
	}
	req, err := http.NewRequestWithContext(ctx, method, w.api+path, strings.NewReader(body))
	if err != nil {
		w.err = err
		return ""
	}
	req.Header.Set("x-api-key", w.secrets.Sandbox.APIKey)
	if body != "" {
		req.Header.Set("content-type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.err = err
		return ""
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
	case res.StatusCode != http.StatusOK:
		err = fmt.Errorf(
			"demo: %s %s answered %d %s (%s)",
			method,
			path,
			res.StatusCode,
			text,
			res.Header.Get("x-error-detail"),
		)
	case into != nil:
		err = json.Unmarshal(text, into)
	}
	w.err = err
	return string(text)
}
