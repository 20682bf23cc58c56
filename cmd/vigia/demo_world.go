package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

// world is what the demo shows: a sandbox partner, its people, a live partner, and where everything listens.
type world struct {
	app          *app.App
	secrets      demoSecrets
	receiver     *receiver
	api, console string
}

// person is a made-up person. The CPFs have valid check digits and are known test numbers.
type person struct {
	name, cpf, birth, gender, email, phone, street, city, state, zip string
}

var people = []person{
	{"Ana Beatriz Jequitibá", "52998224725", "1988-04-12", "F", "ana@vazamento.test", "+5511987654321", "Rua das Palmeiras", "São Paulo", "SP", "01310100"},
	{"Caio Ipê Fernandes", "11144477735", "1975-09-30", "M", "caio.ipe@exemplo.com.br", "+5521987651234", "Rua do Catete", "Rio de Janeiro", "RJ", "22220000"},
	{"Davi Aroeira Lima", "12345678909", "1999-01-05", "M", "davi.aroeira@exemplo.com.br", "+5531988887777", "Avenida Afonso Pena", "Belo Horizonte", "MG", "30130001"},
	{"Elisa Cedro Martins", "98765432100", "1962-11-21", "F", "elisa.cedro@exemplo.com.br", "+5571999998888", "Ladeira do Pelourinho", "Salvador", "BA", "40026280"},
}

const demoPlan = "protecao-familia"

// openWorld finds or makes what the rules of the operator make: the partners, their plan, their endpoints. The live partner
// is as old as the past that it gets.
func openWorld(ctx context.Context, a *app.App, data string, r *receiver, serve config.Serve) (*world, error) {
	secrets, err := readSecrets(data)
	if err != nil {
		return nil, err
	}
	guard, err := app.NewOutgoingGuard(serve.OutgoingSettings())
	if err != nil {
		return nil, err
	}
	now := time.Now()
	longAgo := func() time.Time { return now.AddDate(0, 0, -pastDays-1) }
	before := partner.NewRegistry(a.Store.Partners, longAgo, nil)
	if err := findPartner(ctx, before, &secrets.Live, "Banco Ipê-Roxo (demonstração)", partner.Live, partner.Settings{}); err != nil {
		return nil, err
	}
	testing := partner.Settings{SandboxOf: partner.ID(secrets.Live.PartnerID)}
	if err := findPartner(ctx, a.Partners, &secrets.Sandbox, "Banco Jequitibá (demonstração)", partner.Sandbox, testing); err != nil {
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
		if err := t.pointWebhooks(ctx, t.endpoints, r, t.paths, guard); err != nil {
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
			Limit: 30_000_00, Types: []string{"Transações não autorizadas", "Roubo de identidade", "Compras on-line não entregues"},
			Conditions:  "Carência de 7 dias a partir do início da assinatura. Comunicar o evento em até 30 dias e registrar boletim de ocorrência.",
			Exclusions:  "Perdas anteriores à assinatura e transações feitas pelo próprio titular.",
			SubLimits:   []plan.SubLimit{{Name: "Roubo de identidade", Limit: 10_000_00}, {Name: "Compras on-line não entregues", Limit: 2_500_00}},
			WaitingDays: 7,
		},
	})
	if errors.Is(err, plan.ErrExists) {
		return nil
	}
	return err
}

// pointWebhooks has the partner's alerts sent to the receiver; a receiver at another address than last time gets new endpoints.
func (t *demoTenant) pointWebhooks(ctx context.Context, endpoints *alert.Endpoints, r *receiver, paths []string, guard alert.AddressCheck) error {
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
	if err := w.enrolEverybody(ctx); err != nil {
		return err
	}
	ana := w.userHashOf(people[0])
	for _, asset := range [][2]string{{"email", people[0].email}, {"cpf", people[0].cpf}, {"phone", people[0].phone}, {"email", "ana.antiga@exemplo.com.br"}} {
		body := fmt.Sprintf(`{"value":%q,"type":%q,"userHash":%q}`, asset[1], asset[0], ana)
		if _, err := w.callAPI(ctx, http.MethodPost, "/v1/cyber/monitoring", body, "application/json"); err != nil {
			return err
		}
	}
	device := fmt.Sprintf(`{"operatingSystem":"android","type":"antivirus","deviceName":"Celular da Ana","userHash":%q}`, ana)
	issued, err := w.callAPI(ctx, http.MethodPost, "/v1/cyber/epp", device, "application/json")
	if err != nil {
		return err
	}
	var key struct{ EppKey string }
	if err := json.Unmarshal([]byte(issued), &key); err != nil {
		return err
	}
	if _, err := w.callAPI(ctx, http.MethodPost, "/v1/cyber/epp/"+key.EppKey+"/activate", "{}", "application/json"); err != nil {
		return err
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
func (w *world) userHashOf(p person) string { return client.UserHash(p.cpf, w.secrets.Sandbox.Salt) }

// enrolEverybody sends everybody in one bulk request; at a later start they are all there already, which is fine.
func (w *world) enrolEverybody(ctx context.Context) error {
	items := make([]string, len(people))
	for i, p := range people {
		items[i] = subscriptionItem(p, "2026-01-01")
	}
	_, err := w.callAPI(ctx, http.MethodPost, "/v1/subscriptions", "["+strings.Join(items, ",")+"]", "application/json")
	return err
}

// subscriptionItem returns one element of a bulk request.
func subscriptionItem(p person, start string) string {
	type address struct {
		Zipcode      string `json:"zipcode"`
		Street       string `json:"street"`
		Number       string `json:"number"`
		Neighborhood string `json:"neighborhood"`
		City         string `json:"city"`
		State        string `json:"state"`
	}
	type beneficiary struct {
		PrimaryCard string  `json:"primary_card"`
		UserCard    string  `json:"user_card"`
		Name        string  `json:"name"`
		CPF         string  `json:"cpf"`
		BirthDate   string  `json:"birth_date"`
		Gender      string  `json:"gender"`
		Email       string  `json:"email"`
		PhoneNumber string  `json:"phone_number"`
		Address     address `json:"address"`
	}
	item := struct {
		StartDate   string      `json:"start_date"`
		ExpiryDate  string      `json:"expiry_date"`
		PlanID      string      `json:"plan_id"`
		IsGroupPlan bool        `json:"is_group_plan"`
		Beneficiary beneficiary `json:"beneficiary"`
	}{
		start, "", demoPlan, false,
		beneficiary{
			"0001-" + p.cpf[:4], "0002-" + p.cpf[:4], p.name, p.cpf, p.birth, p.gender, p.email, p.phone,
			address{p.zip, p.street, "100", "Centro", p.city, p.state},
		},
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(item) // plain strings encode
	return strings.TrimSpace(b.String())
}

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
	if _, err := w.app.Operators.LogoutEverywhere(ctx, o.ID); err != nil {
		return o, err
	}
	w.secrets.ConsoleHash = o.Password
	return o, w.secrets.writeSecrets(w.app.Config.Data)
}

// callAPI asks the API with the demo's key and returns a 200 body.
func (w *world) callAPI(ctx context.Context, method, path, body, kind string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.api+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("x-api-key", w.secrets.Sandbox.APIKey)
	if kind != "" {
		req.Header.Set("content-type", kind)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return "", err
	}
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("demo: %s %s answered %d %s (%s)", method, path, res.StatusCode, answer, res.Header.Get("x-error-detail"))
	}
	return string(answer), nil
}
