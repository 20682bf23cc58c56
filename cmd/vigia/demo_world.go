package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/subscription"
)

// demoSecrets is kept beside the demo's database, because the service itself keeps no key or password it could print
// again.
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

// world is what the demo shows: a sandbox partner, its people, a live partner, and where everything listens.
type world struct {
	app          *app.App
	secrets      demoSecrets
	receiver     *receiver
	api, console string
	// err is the first error of a call of the API; behind it none is made.
	err error
}

// demoPlan is the id of the one plan that both partners of the demo sell.
const demoPlan = "protecao-familia"

// openWorld finds or makes what the rules of the operator make: the partners, their plan, their endpoints. The live
// partner is as old as the past that it gets.
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
		partner.Settings{People: 1000},
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
		{
			demoTenant: &secrets.Live,
			plans:      plan.NewCatalogue(a.Store.Plans, longAgo),
			endpoints:  alert.NewEndpoints(a.Store.Alerts, longAgo, nil),
			paths:      []string{alertsPath, brokenPath},
		},
		{
			demoTenant: &secrets.Sandbox,
			plans:      a.Plans,
			endpoints:  a.Webhooks,
			paths:      []string{alertsPath},
		},
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
			Limit: 30_000_00,
			Types: []string{"Transações não autorizadas", "Roubo de identidade", "Compras on-line não entregues"},
			Conditions: "Carência de 7 dias a partir do início da assinatura. Comunicar o evento em até 30 dias e " +
				"registrar boletim de ocorrência.",
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

// pointWebhooks has the partner's alerts sent to the receiver; a receiver at another address than last time gets new
// endpoints.
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
func (w *world) beginWorld(ctx context.Context, out io.Writer, wholeTour bool) error {
	w.enrolEverybody(ctx)
	ana := w.userHashOf(people[0])
	for _, asset := range [][2]string{
		{"email", people[0].Email},
		{"cpf", people[0].CPF},
		{"phone", people[0].Phone},
		{"email", "ana.antiga@exemplo.com.br"},
	} {
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
	return w.printTour(ctx, out, logIn, dump, wholeTour)
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

// makeLogin makes the first administrator with a password that is printed at each start, and says how to get in: people
// may have chosen another password, or switched the second factor on.
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
		return "log in as " + demoAdmin + " with the password that you chose (forgotten: vigia operator reset --data " +
			w.app.Config.Data + " " + demoAdmin + ")", nil
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

// callPartnerAPI asks the API with the demo's key and returns a 200 body, which is also read into the answer if one is
// given.
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
