package console

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
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

var deliveriesList = listing{
	name:    "deliveries",
	title:   "Entregas",
	persons: true,
	role:    operator.Viewer,
	portal:  look,
	fields: []listField{
		partnerField,
		deliveryStates,
		typeField,
		{Name: "endpoint", Label: "Destino", Text: true},
		lastHours,
		fromField,
		toField,
	},
	header: []string{"situação", "evento", "tipo", "destino", "parceiro", "tentativas", "criada", "terminou"},
	action: &replayMany,
	read: linesOf(filter.readDeliveries, func(_ filter, partners map[partner.ID]string, d alert.Listed) listLine {
		return listLine{string(d.Partner) + "/" + string(d.Event) + "/" + string(d.Endpoint), []string{
			deliveryStates.optionLabel(string(d.State)),
			string(d.Event),
			string(d.Type),
			string(d.Endpoint),
			partners[d.Partner],
			strconv.Itoa(d.Attempts),
			formatStamp(d.CreatedAt),
			formatStamp(d.FinishedAt),
		}}
	}),
}

func (f filter) deliveryState() alert.DeliveryState {
	return alert.DeliveryState(f.valueOr("state", string(alert.DeliveryFailed)))
}

func (f filter) readDeliveries(ctx context.Context, in *Rules, limit int) ([]alert.Listed, string, error) {
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
	return list, formatDeliveryMark(next), err
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

// tableOfDeliveries lays deliveries out.
func tableOfDeliveries(
	list []alert.Listed, addresses map[alert.EndpointID]string, partners map[partner.ID]string, now time.Time,
) listTable {
	t := newListTable("Entregas", listColumn{"Evento", "c"}, listColumn{"Destino", "x"}, listColumn{"Parceiro", "a"},
		listColumn{"Tentativas", "x num"}, listColumn{"Situação", "d"}, listColumn{"Quando", "b num"})
	states := map[alert.DeliveryState]badge{
		alert.Delivered:      {"good", "Entregue"},
		alert.DeliveryFailed: {"bad", "Falhou"},
		alert.Held:           {"warn", "Retida"},
		alert.Pending:        {"info", "Na fila"},
	}
	for _, d := range list {
		when := ageCell(d.FinishedAt, now)
		if d.FinishedAt.IsZero() {
			when = listCell{At: d.NextAt, Text: "em " + formatDuration(max(0, d.NextAt.Sub(now)))}
			if !d.NextAt.After(now) {
				when.Text = "agora"
			}
		}
		kind := string(d.Type)
		if kind == "" {
			kind = string(d.Event)
		}
		address := addresses[d.Endpoint]
		if address == "" {
			address = "apagado"
		}
		t.addRow(listRow{
			Key:  string(d.Partner) + "/" + string(d.Event) + "/" + string(d.Endpoint),
			Name: "a entrega de " + string(d.Event) + " a " + string(d.Endpoint),
			Cells: []listCell{
				{
					Text:   kind,
					Path:   joinPath("events", string(d.Partner), string(d.Event)),
					Hidden: shortenID(string(d.Event)) + " a " + address,
				},
				{Text: address, IsCode: true},
				{Text: partners[d.Partner]},
				{Text: strconv.Itoa(d.Attempts)},
				{Badge: states[d.State]},
				when,
			},
		})
	}
	return t
}
