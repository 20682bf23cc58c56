//go:build ignore

// One scenario in Go. Line by line it is the same as scenario.ts and scenario.py.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/vigiahq/vigia/client"
)

func main() {
	ctx := context.Background()
	vigia, err := client.New(client.Config{URL: os.Getenv("VIGIA_URL"), Key: os.Getenv("VIGIA_KEY")})
	check(err)
	person := client.UserHash("529.982.247-25", os.Getenv("VIGIA_SALT"))

	check(
		vigia.AddMonitoredAsset(
			ctx,
			client.NewMonitoredAsset{Type: "email", Value: "ana@vazamento.test", UserHash: person},
		),
	)
	assets, err := vigia.ListMonitoredAssets(ctx, person)
	check(err)
	fmt.Println(assets[0].Type, assets[0].Value, assets[0].Status)
	findings, err := vigia.ListFindings(ctx, person)
	check(err)
	plan, err := vigia.GetPlan(ctx, findings[0].ID, person, client.WithLang("en"))
	check(err)
	check(vigia.MarkStep(ctx, findings[0].ID, plan.Steps[0].ID, client.StepMark{UserHash: person, State: "done"}))
	fmt.Println(findings[0].Breach.Name, plan.Steps[0].ID, plan.Remaining)

	password, err := vigia.CheckPassword(ctx, "password")
	check(err)
	prefix, err := vigia.CheckPasswordPrefix(ctx, client.PasswordPrefix{PasswordHashPrefix: "5baa61e4c9"})
	check(err)
	fmt.Println(password.Exposed, prefix.Exposed)

	services, err := vigia.ListSupportServices(ctx)
	check(err)
	opened, err := vigia.OpenSupportCase(ctx, client.NewCase{
		ServiceID:    services.Services[0].ID,
		UserHash:     person,
		Appointments: []client.Appointment{{Appointment: "2027-02-03T14:00:00.000Z"}},
		Questions: []client.TriageAnswer{
			{Question: "Qual é o sistema do seu celular?", Answer: "Android"},
			{Question: "Quantos anos ele tem?", Answer: 3},
		},
	}, client.IdempotencyKey("caso-"+person[:8]))
	check(err)
	fmt.Println(opened.Task.Status, opened.Task.ServiceID)
	kept, err := vigia.GetCase(ctx, opened.Task.ID, person)
	check(err)
	fmt.Println(kept.Appointments[0].Appointment, kept.Questions[0].Answer, kept.Questions[1].Answer)
	check(vigia.CancelCase(ctx, opened.Task.ID, client.CaseCancellation{UserHash: person, Reason: "Já resolvi."}))

	key, err := vigia.IssueProtectionKey(
		ctx,
		client.NewProtectionKey{OperatingSystem: "android", Type: "antivirus", DeviceName: "Celular", UserHash: person},
	)
	check(err)
	check(vigia.ActivateProtectionKey(ctx, key.EppKey, client.ProtectionKeyReport{}))
	devices, err := vigia.ListProtectedDevices(ctx, client.WithUserHash(person))
	check(err)
	fmt.Println(len(devices.ProtectedDevices), devices.ProtectedDevices[0].DeviceName)

	hook, err := vigia.CreateWebhook(
		ctx,
		client.NewWebhook{URL: os.Getenv("VIGIA_RECEIVER"), Types: []client.EventType{"case.rated"}},
	)
	check(err)
	attempt, err := vigia.TestWebhook(ctx, hook.ID, client.WebhookTestRequest{Type: "case.rated"})
	check(err)
	fmt.Println(attempt.Delivered, attempt.Status)
	check(vigia.RemoveWebhook(ctx, hook.ID))

	types := map[client.EventType]int{}
	for page, err := range vigia.EventPages(ctx, "") {
		check(err)
		for _, event := range page.Events {
			types[event.Body.Type]++
		}
	}
	fmt.Println(
		types["monitoring.leak_detected"],
		types["epp.key_activated"],
		types["case.status_changed"],
		types["webhook.test"],
	)

	check(vigia.RemoveMonitoredAsset(ctx, assets[0].ID, person))
	left, err := vigia.ListMonitoredAssets(ctx, person)
	check(err)
	fmt.Println(len(left))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
