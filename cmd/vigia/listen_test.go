package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/app/apptest"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// sandboxStory is a partner's developer at work: requests of a sandbox key, the operator's part where only an operator
// can act, and the clock for what only time brings. It causes every type of event.
func sandboxStory(t *testing.T, s *apptest.Service, receiver string) {
	t.Helper()
	ctx := t.Context()
	vigia, err := client.New(client.Config{URL: s.URL, Key: s.Sandbox.APIKey})
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	person := client.UserHash("52998224725", s.Sandbox.Salt)
	today := time.Now().UTC().Format(time.DateOnly)
	made, err := vigia.CreateSubscriptions(ctx, []client.NewSubscription{
		{
			StartDate:  today,
			ExpiryDate: time.Now().UTC().AddDate(0, 0, 300).Format(time.DateOnly),
			PlanID:     "p",
			Beneficiary: client.Beneficiary{
				PrimaryCard: "4111111111111111",
				UserCard:    "4111111111111111",
				Name:        "Ana Souza",
				CPF:         "52998224725",
				BirthDate:   "1985-11-02",
				Gender:      "F",
				Email:       "ana@exemplo.com.br",
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
		},
	})
	if must(err); made.TotalCreatedItems != 1 {
		t.Fatal(made)
	}
	for _, move := range []string{"suspend", "resume"} {
		_, err = vigia.ChangeSubscription(ctx, "p", "52998224725", client.SubscriptionChange{Move: move})
		must(err)
	}
	must(
		vigia.AddMonitoredAsset(
			ctx,
			client.NewMonitoredAsset{Type: "email", Value: "ana@vazamento.test", UserHash: person},
		),
	)
	key, err := vigia.IssueProtectionKey(
		ctx,
		client.NewProtectionKey{
			OperatingSystem: "android",
			Type:            "antivirus",
			DeviceName:      "Celular",
			UserHash:        "sem-plano",
		},
	)
	must(err)
	must(vigia.ActivateProtectionKey(ctx, key.EppKey, client.ProtectionKeyReport{}))
	must(vigia.AdvanceSandboxClock(ctx, client.SandboxClock{Days: 1})) // a step is due
	findings, err := vigia.ListFindings(ctx, person)
	must(err)
	must(vigia.ResolveFinding(ctx, findings[0].ID, client.Resolution{UserHash: person, Reason: "password_changed"}))
	hook, err := vigia.CreateWebhook(ctx, client.NewWebhook{URL: receiver})
	must(err)
	_, err = vigia.TestWebhook(ctx, hook.ID, client.WebhookTestRequest{Type: "webhook.test"})
	must(err)
	// No first key may ask for erasures: the operator makes one that may.
	_, privacyKey, err := s.App.Partners.CreateKey(ctx, s.Sandbox.ID, "", []partner.Scope{partner.ScopePrivacy}, time.Time{})
	must(err)
	officer, err := client.New(client.Config{URL: s.URL, Key: privacyKey})
	must(err)
	_, err = officer.RequestErasure(ctx, client.ErasureRequest{UserHash: "apagada", Reason: "pedido"})
	must(err)
	kept, err := officer.RequestErasure(ctx, client.ErasureRequest{UserHash: "fica", Reason: "pedido"})
	must(err)
	must(officer.CancelErasure(ctx, kept.ID))
	must(vigia.AdvanceSandboxClock(ctx, client.SandboxClock{Days: 340})) // the subscription is over, the key ends soon
	must(vigia.AdvanceSandboxClock(ctx, client.SandboxClock{Days: 60}))  // the key has ended

	services, err := vigia.ListSupportServices(ctx)
	must(err)
	opened, err := vigia.OpenSupportCase(ctx, client.NewCase{ServiceID: services.Services[0].ID, UserHash: person})
	must(err)
	id, in := cyber.CaseID(opened.Task.ID), s.App.Cases
	_, err = in.MoveCase(ctx, id, cyber.CaseInProgress, "bruna", "")
	must(err)
	_, err = in.AddReply(ctx, id, "bruna", "Olá")
	must(err)
	_, err = in.AddFreeSlots(
		ctx,
		cyber.ServiceID(opened.Task.ServiceID),
		"",
		[]time.Time{time.Now().Add(48 * time.Hour).Truncate(time.Hour)},
	) // has a calendar now
	must(err)
	offered, err := vigia.GetService(ctx, opened.Task.ServiceID)
	if must(err); len(offered.Slots) == 0 {
		t.Fatal("the sandbox makes no times up")
	}
	_, err = vigia.RebookCase(ctx, opened.Task.ID, client.CaseRebooking{
		UserHash: person, Appointments: []client.Appointment{{Appointment: offered.Slots[0].Format(time.RFC3339)}},
	})
	must(err)
	_, err = in.MoveCase(ctx, id, cyber.CaseResolved, "bruna", "")
	must(err)
	must(vigia.RateCase(ctx, opened.Task.ID, client.CaseRating{UserHash: person, Rating: 5}))
	// A sandbox is never paced, so this one cannot come about in it. It is written as the service writes it.
	stopped := alert.LooksChange(
		s.Sandbox.ID,
		cyber.LookChange{State: cyber.LooksStopped, Reason: cyber.LooksByOperator},
		time.Now(),
	)
	must(s.App.Store.Alerts.AddEvents(ctx, s.Sandbox.ID, stopped))
}

// TestListenForwardsEveryType: with 'vigia listen' and the sandbox's clock a program on a developer's machine gets a
// signed event of every type, the same bytes as GET /v1/events, and the command prints each with the answer's status.
func TestListenForwardsEveryType(t *testing.T) {
	s := apptest.Start(t)
	const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	var mu sync.Mutex
	got := map[string]string{}
	var types []string
	local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.URL.Path != "/vigia" {
			return // pushed by the service itself
		}
		event, err := client.VerifyWebhook([]string{secret}, r.Header, body, time.Now())
		if err != nil {
			t.Errorf("%v: %s", err, body)
		}
		mu.Lock()
		defer mu.Unlock()
		got[event.ID] = string(body)
		types = append(types, string(event.Body.Type))
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(local.Close)
	sandboxStory(t, s, local.URL+"/outro")
	ctx, stop := context.WithCancel(t.Context())
	var printed lockedBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- runCommand(ctx, []string{"listen", "--api", s.URL, "--api-key", s.Sandbox.APIKey, "--forward", local.URL + "/vigia", "--secret", secret, "--after", "start", "--every", "100ms"}, &printed, &printed)
	}()
	all := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return !slices.ContainsFunc(
			alert.Types,
			func(kind alert.Type) bool { return !slices.Contains(types, string(kind)) },
		)
	}
	for deadline := time.Now().Add(2 * time.Minute); !all() && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d: %s", code, printed.String())
	}
	mu.Lock()
	defer mu.Unlock()
	for _, kind := range alert.Types {
		if !slices.Contains(types, string(kind)) {
			t.Errorf("no %s arrived", kind)
		}
		if !regexp.MustCompile(regexp.QuoteMeta(string(kind)) + ` +evt_\S+ -> 202`).MatchString(printed.String()) {
			t.Errorf("%s is not printed:\n%s", kind, printed.String())
		}
	}
	kept, err := s.App.Feed.ReadPage(t.Context(), s.Sandbox.ID, alert.Everything, "", alert.MaxPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range kept.Events {
		if body, ok := got[string(e.ID)]; ok && body != string(e.Body) {
			t.Errorf("forwarded %s\nkept      %s", body, e.Body)
		}
	}
}

// TestListenRefusesLiveKeys: reading by cursor counts as having the events, so a developer's machine must not do it for
// a live partner.
func TestListenRefusesLiveKeys(t *testing.T) {
	var out bytes.Buffer
	key := "vg_live_" + strings.Repeat("a", 43)
	if code := runCommand(
		t.Context(),
		[]string{"listen", "--api-key", key, "--forward", "http://localhost:3000"},
		&out,
		&out,
	); code != exitUsage ||
		!strings.Contains(out.String(), "sandbox partner is needed") {
		t.Errorf("%d %s", code, out.String())
	}
}

// TestListenWaitsBetweenQuestions: a wait of nothing would ask the service without a pause.
func TestListenWaitsBetweenQuestions(t *testing.T) {
	key := partner.SandboxKeyPrefix + strings.Repeat("a", 43)
	code, _, errs := vigia(t, "listen", "--api-key", key, "--forward", "http://localhost:3000", "--every", "0s")
	if code != exitUsage || !strings.Contains(errs, "--every: at least 100ms") {
		t.Error(code, errs)
	}
}
