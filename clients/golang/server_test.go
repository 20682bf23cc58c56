package golang_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/app/apptest"
)

// fast is a client that does not wait between attempts.
func fast(t *testing.T, address, key string) *client.Client {
	t.Helper()
	c, err := client.New(
		client.Config{
			URL:   address,
			Key:   key,
			Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEveryOperation runs the examples of the reference against the real service, and makes sure that there is one for
// every operation of the contract.
func TestEveryOperation(t *testing.T) {
	s := apptest.Start(t)
	vigia := fast(t, s.URL, s.WideKey(t, s.Sandbox))
	ctx := t.Context()
	userHash = client.UserHash("52998224725", s.Sandbox.Salt)
	address = s.URL + "/gancho" // answers a webhook with a 404, which is an answer
	for _, e := range examples {
		if err := e.run(ctx, vigia); err != nil {
			t.Fatalf("%s: %v", e.operation, err)
		}
		learn(t, ctx, vigia, e.operation)
	}
	if want := operationsOf(t); !slices.Equal(want, operationsShown()) {
		t.Errorf("operations of the contract: %v\nshown: %v", want, operationsShown())
	}
}

// learn takes over the ids that later examples need, and checks what the example brought about.
func learn(t *testing.T, ctx context.Context, vigia *client.Client, operation string) {
	t.Helper()
	switch operation {
	case "listSupportServices":
		services, err := vigia.ListSupportServices(ctx)
		if err != nil || len(services.Services) == 0 || services.Services[0].ID == "" ||
			services.Services[0].Name == "" {
			t.Fatal(services, err)
		}
		serviceID = services.Services[0].ID
	case "listMonitoredAssets":
		assets, err := vigia.ListMonitoredAssets(ctx, userHash)
		if err != nil || len(assets) != 1 || assets[0].Value != "ana@vazamento.test" ||
			assets[0].Status == client.AssetStatusMonitorado {
			t.Fatal(assets, err)
		}
		assetID = assets[0].ID
	case "listFindings":
		findings, err := vigia.ListFindings(ctx, userHash)
		if err != nil || len(findings) == 0 || findings[0].AssetID != assetID || findings[0].FoundAt.IsZero() ||
			!findings[0].ResolvedAt.IsZero() {
			t.Fatal(findings, err)
		}
		findingID = findings[0].ID
	case "listCases":
		cases, err := vigia.ListCases(ctx, userHash)
		if err != nil || len(cases) != 1 || cases[0].Status != "Aberto" || cases[0].ServiceID != serviceID {
			t.Fatal(cases, err)
		}
		caseID = cases[0].ID
	case "getCase":
		one, err := vigia.GetCase(ctx, caseID, userHash)
		if err != nil || len(one.History) != 3 || one.History[2].Name != "cabecalho.txt" || len(one.Questions) != 1 {
			t.Fatal(one, err)
		}
	case "cancelCase":
		if one, err := vigia.GetCase(ctx, caseID, userHash); err != nil || one.Status != "Cancelado" {
			t.Fatal("not cancelled:", one, err)
		}
	case "getPlan":
		plan, err := vigia.GetPlan(ctx, findingID, userHash, client.WithLang("en"))
		if err != nil || len(plan.Steps) != 3 || plan.Remaining != 3 || plan.Language != "en" ||
			plan.Steps[0].ID != "change-password" {
			t.Fatal(plan, err)
		}
	case "markStep":
		plan, err := vigia.GetPlan(ctx, findingID, userHash)
		if err != nil || plan.Remaining != 2 || plan.Steps[0].State != client.StepStateDone ||
			plan.Steps[0].MarkedAt.IsZero() {
			t.Fatal("not marked:", plan, err)
		}
	case "recheckFinding":
		now, err := vigia.RecheckFinding(ctx, findingID, client.Recheck{UserHash: userHash})
		if err != nil || now.State != "open" || now.Status != client.AssetStatusComprometido ||
			len(now.Remaining) != 2 {
			t.Fatal(now, err)
		}
	case "listBreaches":
		if page, err := vigia.ListBreaches(
			ctx,
			client.WithPageSize(10),
		); err != nil || page.TotalItems != 1 || page.Breaches[0].Name != "sandbox" ||
			page.HasNext {
			t.Fatal(page, err)
		}
	case "createWebhook":
		list, err := vigia.ListWebhooks(ctx)
		if err != nil || len(list) != 1 || list[0].URL != address || list[0].State != "enabled" {
			t.Fatal(list, err)
		}
		webhookID = list[0].ID
	case "getWebhook":
		one, err := vigia.GetWebhook(ctx, webhookID)
		if err != nil || one.Health.LastTry.Status == 0 || len(one.PublicKeys) != 1 {
			t.Fatal(one, err)
		}
	case "removeWebhook":
		if list, err := vigia.ListWebhooks(ctx); err != nil || len(list) != 0 {
			t.Fatal("not removed:", list, err)
		}
	case "createKey":
		keyID, _, _ = strings.Cut(out.last, " ")
	case "revokeKey":
		keys, err := vigia.ListKeys(ctx)
		if err != nil || len(keys) != 4 || keys[2].State != "revoked" || keys[3].State != "live" || !keys[1].Calling {
			t.Fatal(keys, err)
		}
		if err := vigia.RevokeKey(ctx, keys[1].ID); !errors.Is(err, client.ErrInvalid) {
			t.Fatal("a client revoked its own key by accident:", err)
		}
	case "requestErasure":
		erasureID, _, _ = strings.Cut(out.last, " ")
	case "getErasure":
		if out.last != "pending\n" {
			t.Fatal(out.last)
		}
	case "cancelErasure":
		if erasure, err := vigia.GetErasure(ctx, erasureID); err != nil || erasure.State != "cancelled" {
			t.Fatal(erasure, err)
		}
	case "getUsage":
		if usage, err := vigia.GetUsage(
			ctx,
			client.WithDays(7),
		); err != nil || usage.Rate.PerSecond == 0 ||
			len(usage.Budgets) != 2 {
			t.Fatal(usage, err)
		}
	case "addAssets":
		if !strings.HasPrefix(out.last, "1 value: ") {
			t.Fatal(out.last)
		}
	case "changeSubscription":
		if !strings.Contains(out.last, "suspended cliente-42") {
			t.Fatal(out.last)
		}
	case "moveSubscriptions":
		if now, err := vigia.ChangeSubscription(
			ctx,
			"protecao-familia",
			"11144477735",
			client.SubscriptionChange{Move: "resume"},
		); err != nil ||
			now.State != "active" {
			t.Fatal(now, err)
		}
	case "editSubscriptions":
		if found, err := vigia.SubscriptionByPlanAndCPF(
			ctx,
			"protecao-familia",
			"11144477735",
		); err != nil ||
			found.Beneficiary.Email != "ana.nova@exemplo.com.br" {
			t.Fatal(found, err)
		}
	case "getStatistics":
		if days, err := vigia.GetStatistics(ctx, client.WithDays(7)); err != nil || len(days.Days) != 7 {
			t.Fatal(days, err)
		}
	case "moveProtectionKey":
		devices, err := vigia.ListProtectedDevices(ctx, client.WithUserHash(userHash))
		if err != nil || len(devices.ProtectedDevices) != 1 ||
			devices.ProtectedDevices[0].DeviceName != "Celular novo da Ana" {
			t.Fatal(devices, err)
		}
		eppKey = devices.ProtectedDevices[0].EppKey
	case "getProtectionKey":
		if key, err := vigia.GetProtectionKey(
			ctx,
			eppKey,
		); err != nil || key.State != "active" || key.LastSeenAt.IsZero() ||
			key.DeviceName != "Celular da Ana" {
			t.Fatal(key, err)
		}
	case "revokeProtectionKey":
		if key, err := vigia.GetProtectionKey(
			ctx,
			eppKey,
		); err != nil || key.State != "ended" ||
			key.EndReason != "revoked" {
			t.Fatal("not revoked:", key, err)
		}
	case "messageOfEvent":
		if m, err := vigia.MessageOfEvent(
			ctx,
			eventID,
			"whatsapp",
			client.WithLang("en"),
		); err != nil || m.Text == "" ||
			len(m.Template.Parameters) == 0 {
			t.Fatal(m, err)
		}
	case "resolveFinding":
		assets, err := vigia.ListMonitoredAssets(ctx, userHash)
		if err != nil || assets[0].Status != client.AssetStatusMonitorado {
			t.Fatal("not resolved:", assets, err)
		}
	case "removeMonitoredAsset":
		if assets, err := vigia.ListMonitoredAssets(ctx, userHash); err != nil || len(assets) != 0 {
			t.Fatal("not removed:", assets, err)
		}
		if err := vigia.RemoveMonitoredAsset(ctx, assetID, userHash); !errors.Is(err, client.ErrNotFound) {
			t.Fatal("removed twice:", err)
		}
	case "listExtraAssets":
		assets, err := vigia.ListExtraAssets(ctx, userHash)
		if err != nil || len(assets) != 1 || assets[0].Type != client.ExtraTypePixKey ||
			assets[0].Status != client.AssetStatusMonitorado {
			t.Fatal(assets, err)
		}
		extraID = assets[0].ID
	case "removeExtraAsset":
		if assets, err := vigia.ListExtraAssets(ctx, userHash); err != nil || len(assets) != 0 {
			t.Fatal("not removed:", assets, err)
		}
	case "listProtectedDevices":
		devices, err := vigia.ListProtectedDevices(ctx, client.WithUserHash(userHash))
		if err != nil || len(devices.ProtectedDevices) != 1 ||
			devices.ProtectedDevices[0].DeviceName != "Celular da Ana" ||
			devices.ProtectedDevices[0].EppKey == "" {
			t.Fatal(devices, err)
		}
		eppKey = devices.ProtectedDevices[0].EppKey
	case "checkCredentialPrefix":
		if !strings.HasPrefix(out.last, "true ") {
			t.Fatal("the sandbox's password is not known together with its address:", out.last)
		}
	case "checkPasswordPrefix":
		if !strings.HasPrefix(out.last, "true ") {
			t.Fatal("the commonest password is not exposed:", out.last)
		}
	case "insuranceCoverage":
		if cover, err := vigia.InsuranceCoverage(
			ctx,
			userHash,
		); err != nil || cover.DetalhesCobertura.LimiteCobertura <= 0 ||
			cover.DetalhesCobertura.Exclusoes == "" {
			t.Fatalf("%+v %v", cover, err)
		}
	case "listCover":
		covers, err := vigia.ListCover(ctx, userHash)
		if err != nil || len(covers.Coberturas) != 1 {
			t.Fatalf("%+v %v", covers, err)
		}
		if c := covers.Coberturas[0]; c.Origem != "demonstracao" || c.DetalhesCobertura.LimiteCobertura <= 0 ||
			len(c.Sublimites) == 0 ||
			c.CarenciaDias == 0 ||
			!c.VigenteDesde.IsZero() {
			t.Fatalf("%+v", c)
		}
	case "scoreHistory":
		if days, err := vigia.ScoreHistory(
			ctx,
			userHash,
		); err != nil || len(days) != 1 || days[0].AssessmentScore == 0 ||
			len(days[0].Date) != len("2026-11-15") {
			t.Fatal(days, err)
		}
	case "openPortalSession":
		if link, err := vigia.OpenPortalSession(
			ctx,
			client.PortalRequest{UserHash: userHash},
		); err != nil || !strings.Contains(link.URL, "/p/enter/") ||
			link.ExpiresAt.IsZero() {
			t.Fatal(link, err)
		}
	case "subscriptionByPlanAndCpf":
		if !strings.Contains(out.last, "Bruno Lima") {
			t.Fatal(out.last)
		}
	case "listEvents":
		page, err := vigia.ListEvents(ctx, client.WithLimit(1000))
		if err != nil || len(page.Events) == 0 || page.Next == "" {
			t.Fatal(page, err)
		}
		if leak, ok := page.Events[0].Body.Data.(client.LeakDetectedData); !ok || leak.UserHash != userHash ||
			len(leak.Findings) == 0 {
			t.Fatalf("%+v", page.Events[0])
		}
		eventID = page.Events[0].ID
	}
}

func operationsShown() []string {
	names := make([]string, len(examples))
	for i, e := range examples {
		names[i] = e.operation
	}
	slices.Sort(names)
	return names
}

// operationsOf lists the operationIds of the contract, webhooks left out.
func operationsOf(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("../../internal/web/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(raw), "\nwebhooks:")
	var ids []string
	for _, m := range regexp.MustCompile(`(?m)^ +operationId: (\w+)$`).FindAllStringSubmatch(text, -1) {
		ids = append(ids, m[1])
	}
	slices.Sort(ids)
	return ids
}

func person(number int) client.NewSubscription {
	return client.NewSubscription{
		StartDate: "2026-02-01", ExpiryDate: "2099-01-31", PlanID: "protecao-familia",
		Beneficiary: client.Beneficiary{
			PrimaryCard: "4111111111111111",
			UserCard:    "4111111111111111",
			Name:        fmt.Sprintf("Pessoa %d", number),
			CPF: fmt.Sprintf(
				"%011d",
				number,
			),
			BirthDate:   "1985-11-02",
			Gender:      "F",
			Email:       fmt.Sprintf("p%d@exemplo.com.br", number),
			PhoneNumber: "5521987654321",
			Address: client.Address{
				Zipcode:      "20040002",
				Street:       "Rua",
				Number:       "1",
				Neighborhood: "Centro",
				City:         "Rio de Janeiro",
				State:        "RJ",
			},
		},
	}
}

func TestBulkAndPages(t *testing.T) {
	s := apptest.Start(t)
	vigia := fast(t, s.URL+"/v1/", s.WideKey(t, s.Sandbox)) // the version segment does no harm
	ctx := t.Context()
	items := make([]client.NewSubscription, 250)
	for i := range items {
		items[i] = person(i + 1)
	}
	items[7].Beneficiary.Gender = "X"
	if o, err := vigia.CreateSubscriptions(
		ctx,
		items,
		client.WithDryRun(true),
	); err != nil || o.TotalCreatedItems != 249 ||
		o.TotalNotCreatedItems != 1 {
		t.Fatalf("dry run: %+v %v", o, err)
	}
	var reply client.Reply
	first, err := vigia.CreateSubscriptions(
		ctx,
		items,
		client.IdempotencyKey("lote-1"),
		client.Into(&reply),
		client.RequestID("pedido-1"),
	)
	if err != nil || first.TotalCreatedItems != 249 || len(first.NotCreatedItems) != 1 ||
		first.NotCreatedItems[0].CPF != items[7].Beneficiary.CPF ||
		!slices.Equal(reply.NotCreatedIndex, []int{7}) ||
		len(first.NotCreatedItems[0].Errors) != 1 {
		t.Fatalf("%+v %v", first, err)
	}
	if reply.RequestID != "pedido-1" || reply.Replayed || reply.Attempts != 1 {
		t.Errorf("%+v", reply)
	}
	again, err := vigia.CreateSubscriptions(ctx, items, client.IdempotencyKey("lote-1"), client.Into(&reply))
	if err != nil || again.TotalCreatedItems != 249 || !reply.Replayed ||
		!slices.Equal(reply.NotCreatedIndex, []int{7}) {
		t.Errorf("%+v %v %+v", again, err, reply)
	}
	if _, err := vigia.CreateSubscriptions(ctx, items[:1], client.IdempotencyKey("lote-1")); !errors.Is(err, client.ErrKeyReused) {
		t.Error(err)
	}
	if o, err := vigia.CreateSubscriptions(
		ctx,
		items[:2],
	); err != nil || o.TotalCreatedItems != 0 ||
		o.TotalNotCreatedItems != 2 {
		t.Errorf("they exist: %+v %v", o, err)
	}
	seen := map[string]bool{}
	for sub, err := range vigia.Subscriptions(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		seen[sub.Beneficiary.CPF] = true
		if sub.PartnerID != string(s.Sandbox.ID) || !strings.HasPrefix(sub.ExpiryDate, "2099-") {
			t.Fatalf("%+v", sub)
		}
	}
	if len(seen) != 249 {
		t.Errorf("walked through %d", len(seen))
	}
	for range vigia.Subscriptions(ctx) {
		break // leaving early must not ask for more, nor panic
	}
	if page, err := vigia.ListSubscriptions(
		ctx,
		client.WithPage(3),
		client.WithPageSize(100),
	); err != nil || len(page.Data) != 49 || page.Pagination.TotalItems != 249 || page.Pagination.HasNext ||
		!page.Pagination.HasPrevious {
		t.Errorf("%+v %v", page, err)
	}
}

// TestListUnderAKey: a list under an idempotency key adds all of its values, once.
func TestListUnderAKey(t *testing.T) {
	s := apptest.Start(t)
	vigia := fast(t, s.URL, s.Live.APIKey)
	items := make([]client.NewMonitoredAsset, 1000)
	for i := range items {
		items[i] = client.NewMonitoredAsset{
			Type:     "email",
			Value:    fmt.Sprintf("go%d@exemplo.com.br", i),
			UserHash: fmt.Sprint("go-", i),
		}
	}
	for _, replayed := range []bool{false, true} {
		var reply client.Reply
		added, err := vigia.AddAssets(
			t.Context(),
			client.NewAssets{Items: items},
			client.IdempotencyKey("lista-go"),
			client.Into(&reply),
		)
		if err != nil || added.TotalAdded != 1000 || added.TotalNotAdded != 0 || reply.Replayed != replayed {
			t.Errorf("%d of 1000: %v %+v", added.TotalAdded, err, reply)
		}
	}
	if list, err := vigia.ListMonitoredAssets(
		t.Context(),
		"go-999",
	); err != nil || len(list) != 1 ||
		list[0].Value != "go999@exemplo.com.br" {
		t.Error(list, err)
	}
}

func TestRefusals(t *testing.T) {
	s := apptest.Start(t)
	ctx := t.Context()
	vigia := fast(t, s.URL, s.Live.APIKey)
	stranger := fast(t, s.URL, "vg_live_nobody")
	_, forbidden := stranger.ListSupportServices(ctx)
	_, unauthorised := stranger.ListSubscriptions(ctx, client.WithPage(1), client.WithPageSize(10))
	_, missing := vigia.InsuranceCoverage(ctx, "nobody")
	_, page := vigia.ListSubscriptions(ctx, client.WithPage(0), client.WithPageSize(10))
	for name, c := range map[string]struct {
		err    error
		is     error
		status int
		detail string
	}{
		"cyber key":         {forbidden, client.ErrCredentials, 403, ""},
		"subscriptions key": {unauthorised, client.ErrCredentials, 401, ""},
		"field":             {vigia.AddMonitoredAsset(ctx, client.NewMonitoredAsset{Type: "email", UserHash: "u", Value: "not an address"}), client.ErrInvalid, 400, "value"},
		"nobody's cover":    {missing, client.ErrNotFound, 404, ""},
		"page":              {page, client.ErrInvalid, 400, "page"},
	} {
		var e *client.Error
		if !errors.As(c.err, &e) || !errors.Is(c.err, c.is) || e.StatusCode != c.status || e.Message == "" ||
			e.RequestID == "" ||
			!strings.HasPrefix(e.Detail, c.detail) {
			t.Errorf("%s: %v", name, c.err)
		}
		if strings.Contains(fmt.Sprint(c.err), "not an address") {
			t.Errorf("%s: the error repeats the value", name)
		}
	}
}

// TestLostAnswers puts a proxy in front of the service that swallows the answers of first attempts: the work is done
// once.
func TestLostAnswers(t *testing.T) {
	s := apptest.Start(t)
	target, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	behind := httputil.NewSingleHostReverseProxy(target)
	var count atomic.Int32
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if count.Add(1)%2 == 0 {
			behind.ServeHTTP(w, r)
			return
		}
		behind.ServeHTTP(httptest.NewRecorder(), r) // done, and nobody hears of it
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}
	}))
	defer front.Close()
	vigia := fast(t, front.URL, s.Sandbox.APIKey)
	var reply client.Reply
	outcome, err := vigia.CreateSubscriptions(t.Context(), []client.NewSubscription{person(1)}, client.Into(&reply))
	if err != nil || outcome.TotalCreatedItems != 1 || !reply.Replayed || reply.Attempts != 2 {
		t.Errorf("%+v %v %+v", outcome, err, reply)
	}
	if list, err := vigia.ListSubscriptions(
		t.Context(),
		client.WithPage(1),
		client.WithPageSize(10),
	); err != nil ||
		list.Pagination.TotalItems != 1 {
		t.Errorf("%+v %v", list, err)
	}
}
