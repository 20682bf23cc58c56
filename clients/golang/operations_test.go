package golang_test

import (
	"context"
	"errors"
	"fmt"

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
	erasureID string
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
	{"checkCredentialPrefix", checkCredentialPrefix},
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
	{"checkPasswordPrefix", checkPasswordPrefix},
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
	{"requestErasure", requestErasure},
	{"listErasures", listErasures},
	{"getErasure", getErasure},
	{"cancelErasure", cancelErasure},
	{"addAssets", addAssets},
	{"riskScores", riskScores},
	{"changeSubscription", changeSubscription},
	{"moveSubscriptions", moveSubscriptions},
	{"editSubscriptions", editSubscriptions},
	{"getStatistics", getStatistics},
	{"messageOfEvent", messageOfEvent},
	{"advanceSandboxClock", advanceSandboxClock},
}

func addMonitoredAsset(ctx context.Context, vigia *client.Client) error {
	err := vigia.AddMonitoredAsset(
		ctx,
		client.NewMonitoredAsset{Type: "email", Value: "ana@vazamento.test", UserHash: userHash},
	)
	if err != nil {
		return err
	}
	return nil
}

func listMonitoredAssets(ctx context.Context, vigia *client.Client) error {
	assets, err := vigia.ListMonitoredAssets(ctx, userHash)
	if err != nil {
		return err
	}
	for _, a := range assets {
		out.Println(a.ID, a.Type, a.Value, a.Status)
	}
	return nil
}

func removeMonitoredAsset(ctx context.Context, vigia *client.Client) error {
	err := vigia.RemoveMonitoredAsset(ctx, assetID, userHash)
	if errors.Is(err, client.ErrNotFound) {
		return nil // gone already
	}
	return err
}

func addExtraAsset(ctx context.Context, vigia *client.Client) error {
	err := vigia.AddExtraAsset(
		ctx,
		client.NewExtraAsset{Type: "pix_key", Value: "123e4567-e89b-42d3-a456-426614174000", UserHash: userHash},
	)
	if err != nil {
		return err
	}
	return nil
}

func listExtraAssets(ctx context.Context, vigia *client.Client) error {
	assets, err := vigia.ListExtraAssets(ctx, userHash)
	if err != nil {
		return err
	}
	for _, a := range assets {
		out.Println(a.ID, a.Type, a.Value, a.Status)
	}
	return nil
}

func removeExtraAsset(ctx context.Context, vigia *client.Client) error {
	err := vigia.RemoveExtraAsset(ctx, extraID, userHash)
	if err != nil {
		return err
	}
	return nil
}

func openSupportCase(ctx context.Context, vigia *client.Client) error {
	opened, err := vigia.OpenSupportCase(ctx, client.NewCase{
		ServiceID:    serviceID,
		UserHash:     userHash,
		Appointments: []client.Appointment{{Appointment: "2027-02-03T14:00:00.000Z"}},
		Questions:    []client.TriageAnswer{{Question: "Qual é o sistema do seu celular?", Answer: "Android"}},
	}, client.IdempotencyKey("atendimento-4711"))
	if err != nil {
		return err
	}
	out.Println(opened.Task.ID, opened.Task.Status)
	return nil
}

func getService(ctx context.Context, vigia *client.Client) error {
	service, err := vigia.GetService(ctx, serviceID)
	if err != nil {
		return err
	}
	for _, q := range service.Questions {
		out.Println(q.ID, q.Question, q.Required, q.Options)
	}
	out.Println(service.Name, service.Slots)
	return nil
}

func listCases(ctx context.Context, vigia *client.Client) error {
	cases, err := vigia.ListCases(ctx, userHash)
	if err != nil {
		return err
	}
	for _, c := range cases {
		out.Println(c.ID, c.Status, c.Appointment)
	}
	return nil
}

func getCase(ctx context.Context, vigia *client.Client) error {
	one, err := vigia.GetCase(ctx, caseID, userHash)
	if err != nil {
		return err
	}
	for _, line := range one.History {
		out.Println(line.At, line.From, line.Type, line.Status, line.Text)
	}
	return nil
}

func replyToCase(ctx context.Context, vigia *client.Client) error {
	err := vigia.ReplyToCase(ctx, caseID, client.CaseMessage{
		UserHash:   userHash,
		Text:       "Segue o cabeçalho da mensagem.",
		Attachment: client.CaseMessageAttachment{Name: "cabecalho.txt", Text: "Received: from mx.exemplo.com.br"},
	})
	if err != nil {
		return err
	}
	return nil
}

func rebookCase(ctx context.Context, vigia *client.Client) error {
	moved, err := vigia.RebookCase(ctx, caseID, client.CaseRebooking{
		UserHash:     userHash,
		Appointments: []client.Appointment{{Appointment: "2027-02-03T14:00:00.000Z"}},
	})
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
	err := vigia.RateCase(
		ctx,
		caseID,
		client.CaseRating{UserHash: userHash, Rating: 5, Comment: "Resolveram no mesmo dia."},
	)
	if errors.Is(err, client.ErrConflict) {
		out.Println("ainda não foi resolvido")
		return nil
	}
	return err
}

func cancelCase(ctx context.Context, vigia *client.Client) error {
	err := vigia.CancelCase(ctx, caseID, client.CaseCancellation{UserHash: userHash, Reason: "Já resolvi com o banco."})
	if err != nil {
		return err
	}
	return nil
}

func listSupportServices(ctx context.Context, vigia *client.Client) error {
	services, err := vigia.ListSupportServices(ctx)
	if err != nil {
		return err
	}
	for _, s := range services.Services {
		out.Println(s.ID, s.Name)
	}
	return nil
}

func issueProtectionKey(ctx context.Context, vigia *client.Client) error {
	key, err := vigia.IssueProtectionKey(ctx, client.NewProtectionKey{
		OperatingSystem: "android", Type: "antivirus", DeviceName: "Celular da Ana", UserHash: userHash,
	})
	if err != nil {
		return err
	}
	out.Println(key.EppKey, key.ValidUntil)
	return nil
}

func listProtectedDevices(ctx context.Context, vigia *client.Client) error {
	devices, err := vigia.ListProtectedDevices(
		ctx,
		client.WithUserHash(userHash),
	) // without it all devices of the partner
	if err != nil {
		return err
	}
	for _, d := range devices.ProtectedDevices {
		out.Println(d.OperatingSystem, d.DeviceName, d.ValidUntil)
	}
	return nil
}

func activateProtectionKey(ctx context.Context, vigia *client.Client) error {
	err := vigia.ActivateProtectionKey(ctx, eppKey, client.ProtectionKeyReport{})
	if err != nil {
		return err
	}
	return nil
}

func heartbeatProtectionKey(ctx context.Context, vigia *client.Client) error {
	err := vigia.HeartbeatProtectionKey(ctx, eppKey, client.ProtectionKeyReport{})
	if err != nil {
		return err
	}
	return nil
}

func getProtectionKey(ctx context.Context, vigia *client.Client) error {
	key, err := vigia.GetProtectionKey(ctx, eppKey)
	if err != nil {
		return err
	}
	out.Println(key.KeyID, key.State, key.LastSeenAt, key.InstallLink)
	return nil
}

func moveProtectionKey(ctx context.Context, vigia *client.Client) error {
	moved, err := vigia.MoveProtectionKey(ctx, eppKey, client.ProtectionKeyMove{
		UserHash: userHash, OperatingSystem: "android", DeviceName: "Celular novo da Ana",
	})
	if err != nil {
		return err
	}
	out.Println(moved.KeyID, moved.EppKey, moved.ValidUntil)
	return nil
}

func revokeProtectionKey(ctx context.Context, vigia *client.Client) error {
	err := vigia.RevokeProtectionKey(ctx, eppKey, client.ProtectionKeyRevocation{UserHash: userHash})
	if err != nil {
		return err
	}
	return nil
}

func checkPasswordPrefix(ctx context.Context, vigia *client.Client) error {
	answer, err := vigia.CheckPassword(ctx, "password") // only ten hex characters of its SHA-1 are sent
	if err != nil {
		return err
	}
	out.Println(answer.Exposed, answer.Recommendations)
	return nil
}

func checkCredentialPrefix(ctx context.Context, vigia *client.Client) error {
	answer, err := vigia.CheckCredential(ctx, userHash, "password") // only ten hex characters of its SHA-1 are sent
	if err != nil {
		return err
	}
	out.Println(answer.Exposed, answer.Recommendations)
	return nil
}

func listAdvice(ctx context.Context, vigia *client.Client) error {
	advice, err := vigia.ListAdvice(ctx, userHash)
	if err != nil {
		return err
	}
	for _, a := range advice {
		out.Println(a.CatalogID, a.Type, a.Title, a.ValidationQuestion)
	}
	return nil
}

func riskScore(ctx context.Context, vigia *client.Client) error {
	score, err := vigia.RiskScore(ctx, userHash)
	if err != nil {
		return err
	}
	out.Println(score.BreachScore, score.AssessmentScore, score.Recommendations)
	return nil
}

func insuranceCoverage(ctx context.Context, vigia *client.Client) error {
	cover, err := vigia.InsuranceCoverage(ctx, userHash)
	if errors.Is(err, client.ErrNotFound) {
		return nil // no cover
	}
	if err != nil {
		return err
	}
	out.Println(
		cover.DetalhesCobertura.Plano,
		cover.DetalhesCobertura.LimiteCobertura,
		cover.DetalhesCobertura.Condicoes,
	)
	return nil
}

func listCover(ctx context.Context, vigia *client.Client) error {
	covers, err := vigia.ListCover(ctx, userHash)
	if errors.Is(err, client.ErrNotFound) {
		return nil // no cover
	}
	if err != nil {
		return err
	}
	for _, cover := range covers.Coberturas {
		out.Println(cover.DetalhesCobertura.Plano, cover.Sublimites, cover.CarenciaDias, cover.VigenteDesde)
	}
	return nil
}

func scoreHistory(ctx context.Context, vigia *client.Client) error {
	days, err := vigia.ScoreHistory(ctx, userHash)
	if err != nil {
		return err
	}
	for _, day := range days {
		out.Println(day.Date, day.BreachScore, day.AssessmentScore)
	}
	return nil
}

func openPortalSession(ctx context.Context, vigia *client.Client) error {
	link, err := vigia.OpenPortalSession(ctx, client.PortalRequest{
		UserHash: userHash, Lang: "pt-BR", ReturnURL: "https://app.banco.exemplo.com.br/conta",
	})
	if err != nil {
		return err
	}
	out.Println(link.URL, link.ExpiresAt)
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
	for _, refused := range outcome.NotCreatedItems {
		out.Println(refused.CPF, refused.Errors)
	}
	return nil
}

func listSubscriptions(ctx context.Context, vigia *client.Client) error {
	for s, err := range vigia.Subscriptions(ctx) { // asks for further pages by itself
		if err != nil {
			return err
		}
		out.Println(s.PlanID, s.Beneficiary.Name, s.ExpiryDate == "")
	}
	return nil
}

func subscriptionByPlanAndCpf(ctx context.Context, vigia *client.Client) error {
	s, err := vigia.SubscriptionByPlanAndCPF(ctx, "protecao-familia", "11144477735")
	if err != nil {
		return err
	}
	out.Println(s.StartDate, s.Beneficiary.Name)
	return nil
}

func listFindings(ctx context.Context, vigia *client.Client) error {
	findings, err := vigia.ListFindings(ctx, userHash)
	if err != nil {
		return err
	}
	for _, f := range findings {
		out.Println(f.ID, f.Breach.Title, f.Exposed, f.State)
	}
	return nil
}

func getPlan(ctx context.Context, vigia *client.Client) error {
	plan, err := vigia.GetPlan(ctx, findingID, userHash, client.WithLang("pt-BR"))
	if err != nil {
		return err
	}
	for _, step := range plan.Steps {
		out.Println(step.ID, step.What, step.Why, step.Link, step.Minutes, step.DueAt, step.State)
	}
	return nil
}

func markStep(ctx context.Context, vigia *client.Client) error {
	err := vigia.MarkStep(
		ctx,
		findingID,
		"change-password",
		client.StepMark{UserHash: userHash, State: client.StepStateDone},
	)
	if err != nil {
		return err
	}
	return nil
}

func recheckFinding(ctx context.Context, vigia *client.Client) error {
	now, err := vigia.RecheckFinding(ctx, findingID, client.Recheck{UserHash: userHash})
	if err != nil {
		return err
	}
	out.Println(now.State, now.Reason, now.Status, now.Remaining)
	return nil
}

func resolveFinding(ctx context.Context, vigia *client.Client) error {
	err := vigia.ResolveFinding(
		ctx,
		findingID,
		client.Resolution{UserHash: userHash, Reason: client.ResolutionReasonPasswordChanged},
	)
	if err != nil {
		return err
	}
	return nil
}

func answerValidationQuestion(ctx context.Context, vigia *client.Client) error {
	advice, err := vigia.ListAdvice(ctx, userHash)
	if err != nil {
		return err
	}
	for _, a := range advice {
		if len(a.AnswerOptions) > 0 {
			return vigia.AnswerValidationQuestion(
				ctx,
				userHash,
				client.Answer{CatalogID: a.CatalogID, Value: a.AnswerOptions[0].Value},
			)
		}
	}
	return nil
}

func messageOfEvent(ctx context.Context, vigia *client.Client) error {
	message, err := vigia.MessageOfEvent(ctx, eventID, "sms", client.WithLang("pt-BR"))
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
			out.Println(event.ID, event.Body.Type)
		}
		cursor = page.Next // keep it: the events up to here are handled
	}
	return nil
}

func listBreaches(ctx context.Context, vigia *client.Client) error {
	for b, err := range vigia.Breaches(ctx) { // asks for further pages by itself
		if err != nil {
			return err
		}
		out.Println(b.Name, b.Title, b.Date, b.Exposes)
	}
	return nil
}

func getBreach(ctx context.Context, vigia *client.Client) error {
	breach, err := vigia.GetBreach(ctx, "sandbox")
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
	made, err := vigia.CreateWebhook(
		ctx,
		client.NewWebhook{URL: address, Types: []client.EventType{"monitoring.leak_detected", "webhook.test"}},
	)
	if err != nil {
		return err
	}
	out.Println(made.ID, made.Secret) // keep the secret: it is not shown again
	return nil
}

func listWebhooks(ctx context.Context, vigia *client.Client) error {
	webhooks, err := vigia.ListWebhooks(ctx)
	if err != nil {
		return err
	}
	for _, w := range webhooks {
		out.Println(w.ID, w.URL, w.State, w.Reason)
	}
	return nil
}

func testWebhook(ctx context.Context, vigia *client.Client) error {
	try, err := vigia.TestWebhook(
		ctx,
		webhookID,
		client.WebhookTestRequest{Type: client.EventTypeMonitoringLeakDetected},
	)
	if err != nil {
		return err
	}
	out.Println(try.Delivered, try.Status, try.Failure)
	return nil
}

func getWebhook(ctx context.Context, vigia *client.Client) error {
	webhook, err := vigia.GetWebhook(ctx, webhookID)
	if err != nil {
		return err
	}
	out.Println(webhook.Health.Delivered, webhook.Health.Failed, webhook.Health.Backlog)
	return nil
}

func setWebhookState(ctx context.Context, vigia *client.Client) error {
	if _, err := vigia.SetWebhookState(ctx, webhookID, client.WebhookStateChange{State: "paused"}); err != nil {
		return err
	}
	_, err := vigia.SetWebhookState(ctx, webhookID, client.WebhookStateChange{State: "enabled"})
	return err
}

func rotateWebhookSecret(ctx context.Context, vigia *client.Client) error {
	made, err := vigia.RotateWebhookSecret(ctx, webhookID, client.WebhookRotation{OverlapHours: 24})
	if err != nil {
		return err
	}
	out.Println(made.Secret) // the old one signs for a day more
	return nil
}

func replayWebhook(ctx context.Context, vigia *client.Client) error {
	queued, err := vigia.ReplayWebhook(ctx, webhookID, client.WebhookReplay{Failed: true})
	if err != nil {
		return err
	}
	out.Println(queued.Deliveries)
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
	keys, err := vigia.ListKeys(ctx)
	if err != nil {
		return err
	}
	for _, k := range keys {
		out.Println(k.ID, k.Label, k.Scopes, k.State)
	}
	return nil
}

func rollKey(ctx context.Context, vigia *client.Client) error {
	made, err := vigia.RollKey(ctx, keyID, client.KeyRolling{GraceHours: 24})
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
	usage, err := vigia.GetUsage(ctx, client.WithDays(7))
	if err != nil {
		return err
	}
	for _, b := range usage.Budgets {
		out.Println(b.Name, b.Used, b.Left)
	}
	return nil
}

func addAssets(ctx context.Context, vigia *client.Client) error {
	added, err := vigia.AddAssets(ctx, client.NewAssets{Items: []client.NewMonitoredAsset{
		{Value: "ana@exemplo.com.br", Type: "email", UserHash: userHash},
		{Value: "ana sem arroba", Type: "email", UserHash: userHash},
	}})
	if err != nil {
		return err
	}
	for _, refused := range added.NotAdded {
		out.Println(refused.Item, refused.Detail)
	}
	return nil
}

func riskScores(ctx context.Context, vigia *client.Client) error {
	scores, err := vigia.RiskScores(ctx, client.UserHashes{UserHashes: []string{userHash}})
	if err != nil {
		return err
	}
	for _, s := range scores.Scores {
		out.Println(s.UserHash, s.BreachScore, s.AssessmentScore, s.Detail)
	}
	return nil
}

func changeSubscription(ctx context.Context, vigia *client.Client) error {
	if _, err := vigia.ChangeSubscription(
		ctx,
		"protecao-familia",
		"11144477735",
		client.SubscriptionChange{Move: "suspend"},
	); err != nil {
		return err
	}
	reference := "cliente-42"
	now, err := vigia.ChangeSubscription(
		ctx,
		"protecao-familia",
		"11144477735",
		client.SubscriptionChange{PartnerInternalID: &reference},
	)
	if err != nil {
		return err
	}
	out.Println(now.SubscriptionID, now.State, now.PartnerInternalID)
	return nil
}

func moveSubscriptions(ctx context.Context, vigia *client.Client) error {
	moved, err := vigia.MoveSubscriptions(ctx, client.SubscriptionMoves{
		PlanID: "protecao-familia", Move: "resume", CPFs: []string{"11144477735", "52998224725"},
	})
	if err != nil {
		return err
	}
	for _, refused := range moved.NotChangedItems {
		out.Println(refused.Item, refused.Errors)
	}
	return nil
}

func editSubscriptions(ctx context.Context, vigia *client.Client) error {
	edited, err := vigia.EditSubscriptions(ctx, client.SubscriptionEdits{
		PlanID: "protecao-familia",
		Items: []client.SubscriptionEditsItems{
			{CPF: "11144477735", Beneficiary: client.BeneficiaryEdit{Email: "ana.nova@exemplo.com.br"}},
		},
	})
	if err != nil {
		return err
	}
	out.Println(edited.Result, edited.TotalChangedItems)
	for _, refused := range edited.NotChangedItems {
		out.Println(refused.Item, refused.Errors)
	}
	return nil
}

func requestErasure(ctx context.Context, vigia *client.Client) error {
	erasure, err := vigia.RequestErasure(ctx, client.ErasureRequest{UserHash: userHash, Reason: "Pedido do titular"})
	if err != nil {
		return err
	}
	out.Println(erasure.ID, erasure.State, erasure.DueAt)
	return nil
}

func listErasures(ctx context.Context, vigia *client.Client) error {
	page, err := vigia.ListErasures(ctx, client.WithPage(1), client.WithPageSize(100))
	if err != nil {
		return err
	}
	for _, erasure := range page.Erasures {
		out.Println(erasure.ID, erasure.State, erasure.DueAt)
	}
	return nil
}

func getErasure(ctx context.Context, vigia *client.Client) error {
	erasure, err := vigia.GetErasure(ctx, erasureID)
	if err != nil {
		return err
	}
	out.Println(erasure.State)
	return nil
}

func cancelErasure(ctx context.Context, vigia *client.Client) error {
	err := vigia.CancelErasure(ctx, erasureID) // until it begins, 24 hours after the request
	if err != nil {
		return err
	}
	return nil
}

func advanceSandboxClock(ctx context.Context, vigia *client.Client) error {
	err := vigia.AdvanceSandboxClock(ctx, client.SandboxClock{Days: 31}) // what became due has happened when it returns
	if err != nil {
		return err
	}
	return nil
}

func getStatistics(ctx context.Context, vigia *client.Client) error {
	days, err := vigia.GetStatistics(ctx, client.WithDays(7))
	if err != nil {
		return err
	}
	for _, d := range days.Days {
		out.Println(d.Day, d.Findings, d.Alerts, d.Enrolments, d.Cases)
	}
	return nil
}
