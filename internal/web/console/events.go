package console

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// Events lists events and deliveries.
type Events interface {
	// ListEvents returns a page without bodies and the number that the next goes on from; 0 at the end.
	ListEvents(ctx context.Context, id partner.ID, f alert.EventFilter) ([]alert.Kept, int64, error)
	GetEvent(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error)
	DeliveryList(ctx context.Context, f alert.DeliveryFilter) ([]alert.Listed, alert.DeliveryMark, error)
}

// eventNames are the types of events in a few words, for lines about one person.
var eventNames = map[alert.Type]string{
	alert.LeakDetected:          "vazamento encontrado",
	alert.StatusChanged:         "situação de um dado mudou",
	alert.FirstLooksChanged:     "ritmo das buscas retroativas mudou",
	alert.StepDue:               "passo perto do prazo",
	alert.CaseStatusChanged:     "situação do atendimento mudou",
	alert.CaseMessageAdded:      "mensagem no atendimento",
	alert.CaseBooked:            "horário do atendimento mudou",
	alert.CaseRated:             "atendimento avaliado",
	alert.KeyExpiring:           "chave de antivírus perto do fim",
	alert.KeyActivated:          "chave de antivírus ativada",
	alert.KeyEnded:              "chave de antivírus encerrada",
	alert.SubscriptionEnded:     "assinatura encerrada",
	alert.SubscriptionSuspended: "assinatura suspensa",
	alert.SubscriptionResumed:   "assinatura retomada",
	alert.ErasureRequested:      "apagamento pedido",
	alert.ErasureCancelled:      "apagamento cancelado",
	alert.ErasureCompleted:      "apagamento concluído",
	alert.WebhookTest:           "teste do webhook",
}

// showEventTypes shows every type of event with a sample.
func showEventTypes(*Console, *request) (answer, error) {
	return view{"event-types", "Tipos de evento", alert.Types}, nil
}

// sampleText returns what an event of a type looks like to its receiver.
func sampleText(t alert.Type, now time.Time) (string, error) {
	body, err := alert.SampleBody(t, now)
	return indentJSON(string(body)), err
}
