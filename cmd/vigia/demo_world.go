package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/subscription"
)

// world is what the demo shows: a sandbox partner, its people, a live partner, and where everything listens.
type world struct {
	app          *app.App
	secrets      demoSecrets
	receiver     *receiver
	api, console string
	// err is the first error of a call of the API; behind it none is made.
	err error
}

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
	const liveName, sandboxName = "Banco Ipê-Roxo (demonstração)", "Banco Jequitibá (demonstração)"
	settings := partner.Settings{People: 1000}
	if err := findPartner(ctx, before, &secrets.Live, liveName, partner.Live, settings); err != nil {
		return nil, err
	}
	testing := partner.Settings{SandboxOf: partner.ID(secrets.Live.PartnerID)}
	if err := findPartner(ctx, a.Partners, &secrets.Sandbox, sandboxName, partner.Sandbox, testing); err != nil {
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
		`{"operatingSystem":"android","type":"antivirus","deviceName":"Celular da Ana","userHash":%q}`, ana,
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
			"demo: %s %s answered %d %s (%s)", method, path, res.StatusCode, text, res.Header.Get("x-error-detail"),
		)
	case into != nil:
		err = json.Unmarshal(text, into)
	}
	w.err = err
	return string(text)
}
