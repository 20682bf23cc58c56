package golang_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/client"
)

// What the reference shows for Go is taken from the bodies of the functions in this file, which TestEveryOperation runs
// against a real server: one function per operation, named after its operationId.

// The person and the ids that the examples are about, set by the test.
var (
	userHash  string
	assetID   string
	extraID   string
	serviceID string
	findingID string
	caseID    string
	webhookID string
	keyID     string
	address   string // of a receiver of events
	eppKey    string
	eventID   string
	out       = &printed{}
)

// printed takes what the examples print.
type printed struct{ last string }

func (p *printed) Println(a ...any) { p.last = fmt.Sprintln(a...) }

var examples = []struct {
	operation string
	run       func(ctx context.Context, vigia *client.Client) error
}{
	{"listSupportServices", listSupportServices},
	{"addMonitoredAsset", addMonitoredAsset},
	{"listMonitoredAssets", listMonitoredAssets},
	{"listFindings", listFindings},
	{"checkCredentialExposure", checkCredentialExposure},
	{"riskScore", riskScore},
	{"getPlan", getPlan},
	{"markStep", markStep},
	{"recheckFinding", recheckFinding},
	{"resolveFinding", resolveFinding},
	{"removeMonitoredAsset", removeMonitoredAsset},
	{"addExtraAsset", addExtraAsset},
	{"listExtraAssets", listExtraAssets},
	{"removeExtraAsset", removeExtraAsset},
	{"getService", getService},
	{"openSupportCase", openSupportCase},
	{"listCases", listCases},
	{"replyToCase", replyToCase},
	{"getCase", getCase},
	{"rebookCase", rebookCase},
	{"rateCase", rateCase},
	{"cancelCase", cancelCase},
	{"issueProtectionKey", issueProtectionKey},
	{"listProtectedDevices", listProtectedDevices},
	{"activateProtectionKey", activateProtectionKey},
	{"heartbeatProtectionKey", heartbeatProtectionKey},
	{"getProtectionKey", getProtectionKey},
	{"moveProtectionKey", moveProtectionKey},
	{"revokeProtectionKey", revokeProtectionKey},
	{"checkPasswordExposure", checkPasswordExposure},
	{"listAdvice", listAdvice},
	{"answerValidationQuestion", answerValidationQuestion},
	{"insuranceCoverage", insuranceCoverage},
	{"listCover", listCover},
	{"scoreHistory", scoreHistory},
	{"openPortalSession", openPortalSession},
	{"createSubscriptions", createSubscriptions},
	{"listSubscriptions", listSubscriptions},
	{"subscriptionByPlanAndCpf", subscriptionByPlanAndCpf},
	{"listEvents", listEvents},
	{"listBreaches", listBreaches},
	{"getBreach", getBreach},
	{"createWebhook", createWebhook},
	{"listWebhooks", listWebhooks},
	{"testWebhook", testWebhook},
	{"getWebhook", getWebhook},
	{"setWebhookState", setWebhookState},
	{"rotateWebhookSecret", rotateWebhookSecret},
	{"replayWebhook", replayWebhook},
	{"removeWebhook", removeWebhook},
	{"createKey", createKey},
	{"listKeys", listKeys},
	{"rollKey", rollKey},
	{"revokeKey", revokeKey},
	{"getUsage", getUsage},
	{"addAssets", addAssets},
	{"riskScores", riskScores},
	{"changeSubscription", changeSubscription},
	{"moveSubscriptions", moveSubscriptions},
	{"editSubscriptions", editSubscriptions},
	{"getStatistics", getStatistics},
	{"messageOfEvent", messageOfEvent},
}

func addMonitoredAsset(ctx context.Context, vigia *client.Client) error {
	err := vigia.AddAsset(ctx, userHash, client.Email, "ana@vazamento.test")
	if err != nil {
		return err
	}
	return nil
}

func listMonitoredAssets(ctx context.Context, vigia *client.Client) error {
	assets, err := vigia.Assets(ctx, userHash)
	if err != nil {
		return err
	}
	for _, a := range assets {
		out.Println(a.ID, a.Type, a.Value, a.Status)
	}
	return nil
}

func removeMonitoredAsset(ctx context.Context, vigia *client.Client) error {
	err := vigia.RemoveAsset(ctx, userHash, assetID)
	if errors.Is(err, client.ErrNotFound) {
		return nil // gone already
	}
	return err
}

func addExtraAsset(ctx context.Context, vigia *client.Client) error {
	err := vigia.AddExtra(ctx, userHash, client.PixKey, "123e4567-e89b-42d3-a456-426614174000")
	if err != nil {
		return err
	}
	return nil
}

func listExtraAssets(ctx context.Context, vigia *client.Client) error {
	assets, err := vigia.Extras(ctx, userHash)
	if err != nil {
		return err
	}
	for _, a := range assets {
		out.Println(a.ID, a.Type, a.Value, a.Status)
	}
	return nil
}

func removeExtraAsset(ctx context.Context, vigia *client.Client) error {
	err := vigia.RemoveExtra(ctx, userHash, extraID)
	if err != nil {
		return err
	}
	return nil
}

func openSupportCase(ctx context.Context, vigia *client.Client) error {
	opened, err := vigia.OpenCase(ctx, client.NewCase{
		ServiceID:    serviceID,
		UserHash:     userHash,
		Appointments: []map[string]any{{"appointment": "2027-02-03T14:00:00.000Z"}},
		Questions:    []map[string]any{{"question": "Qual é o sistema do seu celular?", "answer": "Android"}},
	}, client.IdempotencyKey("atendimento-4711"))
	if err != nil {
		return err
	}
	out.Println(opened.ID, opened.Status)
	return nil
}

func getService(ctx context.Context, vigia *client.Client) error {
	service, err := vigia.Service(ctx, serviceID)
	if err != nil {
		return err
	}
	for _, q := range service.Questions {
		out.Println(q.ID, q.Text, q.Required, q.Options)
	}
	out.Println(service.Name, service.Slots)
	return nil
}

func listCases(ctx context.Context, vigia *client.Client) error {
	cases, err := vigia.Cases(ctx, userHash)
	if err != nil {
		return err
	}
	for _, c := range cases {
		out.Println(c.ID, c.Status, c.Appointment)
	}
	return nil
}

func getCase(ctx context.Context, vigia *client.Client) error {
	one, err := vigia.Case(ctx, userHash, caseID)
	if err != nil {
		return err
	}
	for _, line := range one.History {
		out.Println(line.At, line.From, line.Type, line.Status, line.Text)
	}
	return nil
}

func replyToCase(ctx context.Context, vigia *client.Client) error {
	err := vigia.ReplyToCase(ctx, userHash, caseID, "Segue o cabeçalho da mensagem.",
		&client.Attachment{Name: "cabecalho.txt", Text: "Received: from mx.exemplo.com.br"})
	if err != nil {
		return err
	}
	return nil
}

func rebookCase(ctx context.Context, vigia *client.Client) error {
	moved, err := vigia.RebookCase(ctx, userHash, caseID, []time.Time{time.Date(2027, 2, 3, 14, 0, 0, 0, time.UTC)})
	if errors.Is(err, client.ErrConflict) {
		out.Println("nenhum destes horários está livre")
		return nil
	}
	if err != nil {
		return err
	}
	out.Println(moved.Appointment)
	return nil
}

func rateCase(ctx context.Context, vigia *client.Client) error {
	err := vigia.RateCase(ctx, userHash, caseID, 5, "Resolveram no mesmo dia.")
	if errors.Is(err, client.ErrConflict) {
		out.Println("ainda não foi resolvido")
		return nil
	}
	return err
}

func cancelCase(ctx context.Context, vigia *client.Client) error {
	err := vigia.CancelCase(ctx, userHash, caseID, "Já resolvi com o banco.")
	if err != nil {
		return err
	}
	return nil
}

func listSupportServices(ctx context.Context, vigia *client.Client) error {
	services, err := vigia.Services(ctx)
	if err != nil {
		return err
	}
	for _, s := range services {
		out.Println(s.ID, s.Name)
	}
	return nil
}

func issueProtectionKey(ctx context.Context, vigia *client.Client) error {
	key, err := vigia.IssueKey(ctx, userHash, client.Android, "Celular da Ana")
	if err != nil {
		return err
	}
	out.Println(key.Key, key.ValidUntil)
	return nil
}

func listProtectedDevices(ctx context.Context, vigia *client.Client) error {
	devices, err := vigia.Devices(ctx, userHash) // "" for all devices of the partner
	if err != nil {
		return err
	}
	for _, d := range devices {
		out.Println(d.System, d.Name, d.ValidUntil)
	}
	return nil
}

func activateProtectionKey(ctx context.Context, vigia *client.Client) error {
	err := vigia.ActivateProtection(ctx, eppKey)
	if err != nil {
		return err
	}
	return nil
}

func heartbeatProtectionKey(ctx context.Context, vigia *client.Client) error {
	err := vigia.ProtectionSeen(ctx, eppKey)
	if err != nil {
		return err
	}
	return nil
}

func getProtectionKey(ctx context.Context, vigia *client.Client) error {
	key, err := vigia.Protection(ctx, eppKey)
	if err != nil {
		return err
	}
	out.Println(key.ID, key.State, key.LastSeenAt, key.InstallLink)
	return nil
}

func moveProtectionKey(ctx context.Context, vigia *client.Client) error {
	moved, err := vigia.MoveProtection(ctx, userHash, eppKey, client.Android, "Celular novo da Ana")
	if err != nil {
		return err
	}
	out.Println(moved.ID, moved.Key, moved.ValidUntil)
	return nil
}

func revokeProtectionKey(ctx context.Context, vigia *client.Client) error {
	err := vigia.RevokeProtection(ctx, userHash, eppKey)
	if err != nil {
		return err
	}
	return nil
}

func checkPasswordExposure(ctx context.Context, vigia *client.Client) error {
	answer, err := vigia.CheckPassword(ctx, "password") // only ten hex characters of its SHA-1 are sent
	if err != nil {
		return err
	}
	out.Println(answer.Exposed, answer.Recommendations)
	return nil
}

func checkCredentialExposure(ctx context.Context, vigia *client.Client) error {
	answer, err := vigia.CheckCredential(ctx, userHash, "password") // only ten hex characters of its SHA-1 are sent
	if err != nil {
		return err
	}
	out.Println(answer.Exposed, answer.Recommendations)
	return nil
}

func listAdvice(ctx context.Context, vigia *client.Client) error {
	advice, err := vigia.Advise(ctx, userHash)
	if err != nil {
		return err
	}
	for _, a := range advice {
		out.Println(a.CatalogID, a.Type, a.Title, a.Question)
	}
	return nil
}

func riskScore(ctx context.Context, vigia *client.Client) error {
	score, err := vigia.Score(ctx, userHash)
	if err != nil {
		return err
	}
	out.Println(score.Breach, score.Assessment, score.Recommendations)
	return nil
}

func insuranceCoverage(ctx context.Context, vigia *client.Client) error {
	cover, err := vigia.Coverage(ctx, userHash)
	if errors.Is(err, client.ErrNotFound) {
		return nil // no cover
	}
	if err != nil {
		return err
	}
	out.Println(cover.Plan, cover.Limit, cover.Conditions)
	return nil
}

func listCover(ctx context.Context, vigia *client.Client) error {
	covers, err := vigia.Cover(ctx, userHash)
	if errors.Is(err, client.ErrNotFound) {
		return nil // no cover
	}
	if err != nil {
		return err
	}
	for _, cover := range covers {
		out.Println(cover.Details.Plan, cover.Details.Limit, cover.SubLimits, cover.WaitingDays, cover.CoveredFrom)
	}
	return nil
}

func scoreHistory(ctx context.Context, vigia *client.Client) error {
	days, err := vigia.ScoreHistory(ctx, userHash)
	if err != nil {
		return err
	}
	for _, day := range days {
		out.Println(day.Date, day.Breach, day.Assessment)
	}
	return nil
}

func openPortalSession(ctx context.Context, vigia *client.Client) error {
	link, err := vigia.PortalSession(ctx, userHash, client.PortalOptions{Lang: "pt-BR", ReturnURL: "https://app.banco.exemplo.com.br/conta"})
	if err != nil {
		return err
	}
	out.Println(link.URL, link.Expires)
	return nil
}

func createSubscriptions(ctx context.Context, vigia *client.Client) error {
	outcome, err := vigia.CreateSubscriptions(ctx, []client.NewSubscription{{
		StartDate: "2026-02-01",
		PlanID:    "protecao-familia",
		Beneficiary: client.Beneficiary{
			PrimaryCard: "4111111111111111", UserCard: "4111111111111111",
			Name: "Bruno Lima", CPF: "11144477735", BirthDate: "1985-11-02", Gender: "M",
			Email: "bruno.lima@exemplo.com.br", PhoneNumber: "5521987654321",
			Address: client.Address{
				Zipcode: "20040002", Street: "Avenida Central", Number: "S/N",
				Neighborhood: "Centro", City: "Rio de Janeiro", State: "RJ",
			},
		},
	}}, client.IdempotencyKey("lote-2026-02-01/1"))
	if err != nil {
		return err // nothing was created
	}
	for _, refused := range outcome.Refused {
		out.Println(refused.CPF, refused.Errors)
	}
	return nil
}

func listSubscriptions(ctx context.Context, vigia *client.Client) error {
	for s, err := range vigia.Subscriptions(ctx) { // asks for further pages by itself
		if err != nil {
			return err
		}
		out.Println(s.PlanID, s.Beneficiary.Name, s.ExpiryDate.IsZero())
	}
	return nil
}

func subscriptionByPlanAndCpf(ctx context.Context, vigia *client.Client) error {
	s, err := vigia.Subscription(ctx, "protecao-familia", "11144477735")
	if err != nil {
		return err
	}
	out.Println(s.StartDate, s.Beneficiary.Name)
	return nil
}

func listFindings(ctx context.Context, vigia *client.Client) error {
	findings, err := vigia.Findings(ctx, userHash)
	if err != nil {
		return err
	}
	for _, f := range findings {
		out.Println(f.ID, f.Breach.Title, f.Exposed, f.State)
	}
	return nil
}

func getPlan(ctx context.Context, vigia *client.Client) error {
	plan, err := vigia.Plan(ctx, userHash, findingID, client.In("pt-BR"))
	if err != nil {
		return err
	}
	for _, step := range plan.Steps {
		out.Println(step.ID, step.What, step.Why, step.Link, step.Minutes, step.DueAt, step.State)
	}
	return nil
}

func markStep(ctx context.Context, vigia *client.Client) error {
	err := vigia.MarkStep(ctx, userHash, findingID, "change-password", client.StepDone)
	if err != nil {
		return err
	}
	return nil
}

func recheckFinding(ctx context.Context, vigia *client.Client) error {
	now, err := vigia.Recheck(ctx, userHash, findingID)
	if err != nil {
		return err
	}
	out.Println(now.State, now.Reason, now.Status, now.Remaining)
	return nil
}

func resolveFinding(ctx context.Context, vigia *client.Client) error {
	err := vigia.Resolve(ctx, userHash, findingID, client.PasswordChanged)
	if err != nil {
		return err
	}
	return nil
}

func answerValidationQuestion(ctx context.Context, vigia *client.Client) error {
	advice, err := vigia.Advise(ctx, userHash)
	if err != nil {
		return err
	}
	for _, a := range advice {
		if len(a.Options) > 0 {
			return vigia.Answer(ctx, userHash, a.CatalogID, a.Options[0].Value)
		}
	}
	return nil
}

func messageOfEvent(ctx context.Context, vigia *client.Client) error {
	message, err := vigia.Message(ctx, eventID, "sms", "pt-BR")
	if err != nil {
		return err
	}
	out.Println(message.Text)
	return nil
}

func listEvents(ctx context.Context, vigia *client.Client) error {
	cursor := "" // or the one you kept
	for page, err := range vigia.EventPages(ctx, cursor) {
		if err != nil {
			return err
		}
		for _, event := range page.Events {
			out.Println(event.ID, event.Type)
		}
		cursor = page.Next // keep it: the events up to here are handled
	}
	return nil
}

func listBreaches(ctx context.Context, vigia *client.Client) error {
	for page, more := 1, true; more; page++ {
		breaches, err := vigia.BreachPage(ctx, page, 100)
		if err != nil {
			return err
		}
		for _, b := range breaches.Breaches {
			out.Println(b.Name, b.Title, b.Date, b.Exposes)
		}
		more = breaches.HasNext
	}
	return nil
}

func getBreach(ctx context.Context, vigia *client.Client) error {
	breach, err := vigia.Breach(ctx, "sandbox")
	if errors.Is(err, client.ErrNotFound) {
		return nil // not published, or withdrawn
	}
	if err != nil {
		return err
	}
	out.Println(breach.Title, breach.Description)
	return nil
}

func createWebhook(ctx context.Context, vigia *client.Client) error {
	made, err := vigia.CreateWebhook(ctx, address, []string{"monitoring.leak_detected", "webhook.test"})
	if err != nil {
		return err
	}
	out.Println(made.ID, made.Secret) // keep the secret: it is not shown again
	return nil
}

func listWebhooks(ctx context.Context, vigia *client.Client) error {
	webhooks, err := vigia.Webhooks(ctx)
	if err != nil {
		return err
	}
	for _, w := range webhooks {
		out.Println(w.ID, w.URL, w.State, w.Reason)
	}
	return nil
}

func testWebhook(ctx context.Context, vigia *client.Client) error {
	try, err := vigia.TestWebhook(ctx, webhookID, client.TypeLeakDetected)
	if err != nil {
		return err
	}
	out.Println(try.Delivered, try.Status, try.Failure)
	return nil
}

func getWebhook(ctx context.Context, vigia *client.Client) error {
	webhook, err := vigia.Webhook(ctx, webhookID)
	if err != nil {
		return err
	}
	out.Println(webhook.Health.Delivered, webhook.Health.Failed, webhook.Health.Backlog)
	return nil
}

func setWebhookState(ctx context.Context, vigia *client.Client) error {
	if _, err := vigia.PauseWebhook(ctx, webhookID); err != nil {
		return err
	}
	_, err := vigia.ResumeWebhook(ctx, webhookID)
	return err
}

func rotateWebhookSecret(ctx context.Context, vigia *client.Client) error {
	made, err := vigia.RotateWebhook(ctx, webhookID, 24)
	if err != nil {
		return err
	}
	out.Println(made.Secret) // the old one signs for a day more
	return nil
}

func replayWebhook(ctx context.Context, vigia *client.Client) error {
	queued, err := vigia.ReplayWebhook(ctx, webhookID, client.Replay{Failed: true})
	if err != nil {
		return err
	}
	out.Println(queued)
	return nil
}

func removeWebhook(ctx context.Context, vigia *client.Client) error {
	err := vigia.RemoveWebhook(ctx, webhookID)
	if errors.Is(err, client.ErrNotFound) {
		return nil // gone already
	}
	return err
}

func createKey(ctx context.Context, vigia *client.Client) error {
	made, err := vigia.CreateKey(ctx, client.NewKey{Label: "relatorios", Scopes: []string{"cyber:read"}})
	if err != nil {
		return err
	}
	out.Println(made.ID, made.APIKey) // keep the key: it is not shown again
	return nil
}

func listKeys(ctx context.Context, vigia *client.Client) error {
	keys, err := vigia.Keys(ctx)
	if err != nil {
		return err
	}
	for _, k := range keys {
		out.Println(k.ID, k.Label, k.Scopes, k.State)
	}
	return nil
}

func rollKey(ctx context.Context, vigia *client.Client) error {
	made, err := vigia.RollKey(ctx, keyID, 24)
	if err != nil {
		return err
	}
	out.Println(made.APIKey) // the old one works for a day more
	return nil
}

func revokeKey(ctx context.Context, vigia *client.Client) error {
	err := vigia.RevokeKey(ctx, keyID)
	if err != nil {
		return err
	}
	return nil
}

func getUsage(ctx context.Context, vigia *client.Client) error {
	usage, err := vigia.Usage(ctx, 7)
	if err != nil {
		return err
	}
	for _, b := range usage.Budgets {
		out.Println(b.Name, b.Used, b.Left)
	}
	return nil
}

func addAssets(ctx context.Context, vigia *client.Client) error {
	added, err := vigia.AddAssets(ctx, []client.NewAsset{
		{Value: "ana@exemplo.com.br", Type: client.Email, UserHash: userHash},
		{Value: "ana sem arroba", Type: client.Email, UserHash: userHash},
	})
	if err != nil {
		return err
	}
	for _, refused := range added.Refused {
		out.Println(refused.Item, refused.Detail)
	}
	return nil
}

func riskScores(ctx context.Context, vigia *client.Client) error {
	scores, err := vigia.Scores(ctx, []string{userHash})
	if err != nil {
		return err
	}
	for _, s := range scores {
		if s.Breach != nil {
			out.Println(s.UserHash, *s.Breach, *s.Assessment)
		}
	}
	return nil
}

func changeSubscription(ctx context.Context, vigia *client.Client) error {
	if _, err := vigia.MoveSubscription(ctx, "protecao-familia", "11144477735", client.Suspend); err != nil {
		return err
	}
	reference := "cliente-42"
	now, err := vigia.EditSubscription(ctx, "protecao-familia", "11144477735", client.SubscriptionEdit{InternalID: &reference})
	if err != nil {
		return err
	}
	out.Println(now.ID, now.State, now.InternalID)
	return nil
}

func moveSubscriptions(ctx context.Context, vigia *client.Client) error {
	moved, err := vigia.MoveSubscriptions(ctx, "protecao-familia", client.Resume, []string{"11144477735", "52998224725"})
	if err != nil {
		return err
	}
	for _, refused := range moved.Refused {
		out.Println(refused.Item, refused.Errors)
	}
	return nil
}

func editSubscriptions(ctx context.Context, vigia *client.Client) error {
	edited, err := vigia.EditSubscriptions(ctx, "protecao-familia", []client.EditOf{{
		CPF: "11144477735", SubscriptionEdit: client.SubscriptionEdit{Beneficiary: &client.BeneficiaryEdit{Email: "ana.nova@exemplo.com.br"}},
	}})
	if err != nil {
		return err
	}
	out.Println(edited.Result, edited.Changed)
	for _, refused := range edited.Refused {
		out.Println(refused.Item, refused.Errors)
	}
	return nil
}

func getStatistics(ctx context.Context, vigia *client.Client) error {
	days, err := vigia.Statistics(ctx, 7)
	if err != nil {
		return err
	}
	for _, d := range days {
		out.Println(d.Day, d.Findings, d.Alerts, d.Enrolments, d.Cases)
	}
	return nil
}
