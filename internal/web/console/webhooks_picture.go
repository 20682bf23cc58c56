package console

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/operator"
)

// pictureWebhook draws how an endpoint does: what arrived, how long that took, and what waits.
func (c *Console) pictureWebhook(ctx context.Context, endpoint string, days int) ([]picture, error) {
	names := []operator.Figure{operator.ArrivedOfDay, operator.GivenUpOfDay, operator.TravelOfDay}
	counts, err := c.Rules.Figures.FiguresByDay(ctx, endpoint, days, names...)
	if err != nil {
		return nil, err
	}
	waiting, err := c.Rules.Figures.FiguresByPart(ctx, operator.Backlog, 0)
	if err != nil {
		return nil, err
	}
	arrived, lost := counts[operator.ArrivedOfDay], counts[operator.GivenUpOfDay]
	ofDeliveries := []pictureSeries{{Label: "Chegaram", Class: "c1"}, {Label: "Falharam", Class: "c3"}}
	health := pictureOverTime("Entregas deste destino", ofDeliveries, arrived, lost)
	n := waiting[endpoint]
	health.Lead = fmt.Sprintf(
		"Taxa de sucesso: %s. Na fila agora: %s %s.",
		formatShare(sumOfDays(arrived), sumOfDays(arrived)+sumOfDays(lost)),
		groupedNumber(n),
		pluralWord(n, "entrega", "entregas"),
	)
	var means []pictured // a column of each day: means cannot be added up to weeks
	for i, d := range counts[operator.TravelOfDay] {
		mean := meanDuration(d.Count, arrived[i].Count).Milliseconds()
		means = append(means, pictured{
			label:  d.Day.Format("02/01/2006"),
			short:  d.Day.Format("02/01"),
			values: []int64{mean},
		})
	}
	travel := newPicture("Tempo até chegar, em ms", "Dia", []pictureSeries{{Label: "Média do dia"}}, means)
	travel.NoTotals = true
	mean := meanDuration(sumOfDays(counts[operator.TravelOfDay]), sumOfDays(arrived))
	travel.Lead = "Do evento até a resposta do destino, em média: " + formatDuration(mean) + "."
	return []picture{health, travel}, nil
}
