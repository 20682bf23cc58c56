package console

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

var deliveryStates = listField{Name: "state", Label: "Situação", Options: []choiceOption{
	{string(alert.DeliveryFailed), "Falharam"},
	{string(alert.Pending), "Na fila"},
	{string(alert.Held), "Retidas"},
	{string(alert.Delivered), "Entregues"},
}}

// lastHours leaves what ended in the last 24 hours.
var lastHours = listField{
	Name:    "hours",
	Label:   "Terminou",
	None:    "Quando for",
	Options: []choiceOption{{"24", "Nas últimas 24 horas"}},
}

var deliveriesList = listOf(listing{
	name:    "deliveries",
	title:   "Entregas",
	persons: true,
	access:  everyone,
	fields: []listField{
		partnerField,
		deliveryStates,
		typeField,
		{Name: "endpoint", Label: "Destino", Text: true},
		lastHours,
		fromField,
		toField,
	},
	action: &replayMany,
	gather: (*Console).gatherDeliveries,
}, filter.readDeliveries, rowOfDelivery)

// deliveryRow is a delivery in a list. The address that it goes to is only on the page.
type deliveryRow struct {
	alert.Listed
	address string
}

var deliveryBadges = map[alert.DeliveryState]badge{
	alert.Delivered:      {"good", "Entregue"},
	alert.DeliveryFailed: {"bad", "Falhou"},
	alert.Held:           {"warn", "Retida"},
	alert.Pending:        {"info", "Na fila"},
}

func rowOfDelivery(d deliveryRow, f filter) listRow {
	event, endpoint := string(d.Event), string(d.Endpoint)
	when := ageCell("Quando", "b num", d.FinishedAt, f.now)
	if d.FinishedAt.IsZero() {
		when.At, when.Text = d.NextAt, "agora"
		if d.NextAt.After(f.now) {
			when.Text = "em " + formatDuration(d.NextAt.Sub(f.now))
		}
	}
	return listRow{
		Key:  string(d.Partner) + "/" + event + "/" + endpoint,
		Name: "a entrega de " + event + " a " + endpoint,
		Cells: []listCell{
			exportCell("situação", labelOf(deliveryStates.Options, string(d.State))),
			exportCell("evento", event),
			exportCell("tipo", string(d.Type)),
			exportCell("destino", endpoint),
			{
				Label:  "Evento",
				Class:  "c",
				Text:   cmp.Or(string(d.Type), event),
				Path:   joinPath("events", d.Partner, event),
				Hidden: shortenID(event) + " a " + d.address,
			},
			{Label: "Destino", Class: "x", Text: d.address, IsCode: true},
			f.partnerCell("a", d.Partner),
			{Label: "Tentativas", Class: "x num", Export: "tentativas", Text: strconv.Itoa(d.Attempts)},
			stampCell("criada", d.CreatedAt),
			{Label: "Situação", Class: "d", Badge: deliveryBadges[d.State]},
			when,
			stampCell("terminou", d.FinishedAt),
		},
	}
}

func (f filter) deliveryState() alert.DeliveryState {
	return alert.DeliveryState(cmp.Or(f.valueOfName("state"), string(alert.DeliveryFailed)))
}

func (f filter) readDeliveries(ctx context.Context, in *Rules, limit int) ([]deliveryRow, string, error) {
	if f.valueOfName("hours") != "" {
		f.From = f.now.Add(-24 * time.Hour)
	}
	list, next, err := in.Events.DeliveryList(ctx, alert.DeliveryFilter{
		State:    f.deliveryState(),
		Partner:  f.Partner,
		LiveOnly: f.isOfLivePartners(),
		User:     f.user,
		Type:     alert.Type(f.valueOfName("type")),
		Endpoint: alert.EndpointID(f.valueOfName("endpoint")),
		From:     f.From,
		To:       f.To,
		Limit:    limit,
		Before:   parseDeliveryMark(f.After),
	})
	rows := make([]deliveryRow, len(list))
	for i, one := range list {
		rows[i].Listed = one
	}
	return rows, formatDeliveryMark(next), err
}

// parseDeliveryMark reads a place in the list of deliveries; a made-up one only leads to another page of the same list.
func parseDeliveryMark(text string) (m alert.DeliveryMark) {
	if parts := strings.Split(text, "."); len(parts) == 4 {
		m.At, m.Partner, m.Endpoint = parseMicros(parts[0]), partner.ID(parts[1]), alert.EndpointID(parts[2])
		m.Seq, _ = strconv.ParseInt(parts[3], 10, 64)
	}
	return m
}

// formatDeliveryMark writes a place that parseDeliveryMark reads; empty at the end of the list.
func formatDeliveryMark(m alert.DeliveryMark) string {
	if m.Endpoint == "" {
		return ""
	}
	return strings.Join(
		[]string{formatMicros(m.At), string(m.Partner), string(m.Endpoint), strconv.FormatInt(m.Seq, 10)},
		".",
	)
}
