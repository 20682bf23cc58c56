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
	{"checkPasswordExposure", checkPasswordExposure},
	{"listAdvice", listAdvice},
	{"answerValidationQuestion", answerValidationQuestion},
	{"insuranceCoverage", insuranceCoverage},
	{"listCover", listCover},
	{"scoreHistory", scoreHistory},
	{"createSubscriptions", createSubscriptions},
	{"listSubscriptions", listSubscriptions},
	{"subscriptionByPlanAndCpf", subscriptionByPlanAndCpf},
	{"listEvents", listEvents},
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
