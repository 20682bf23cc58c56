package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/operator"
)

// pictureCases draws cases opened, and those resolved in time and late.
func (c *Console) pictureCases(ctx context.Context, v viewer, days int) ([]picture, error) {
	if v.who.Partner != "" {
		return nil, nil
	}
	names := []operator.Figure{operator.CasesOpenedOfDay, operator.CasesInTimeOfDay, operator.CasesLateOfDay}
	counts, err := c.Rules.Figures.FiguresByDay(ctx, "", days, names...)
	if err != nil {
		return nil, err
	}
	inTime, late := counts[operator.CasesInTimeOfDay], counts[operator.CasesLateOfDay]
	ofOpened := []pictureSeries{{Label: "Abertos"}}
	ofSolved := []pictureSeries{{Label: "No prazo", Class: "c1"}, {Label: "Fora do prazo", Class: "c3"}}
	solved := pictureOverTime("Casos resolvidos: prazo", ofSolved, inTime, late)
	share := formatShare(sumOfDays(inTime), sumOfDays(inTime)+sumOfDays(late))
	solved.Lead = "Resolvidos no prazo: " + share + ". Casos sem prazo não contam."
	opened := pictureOverTime("Casos abertos", ofOpened, counts[operator.CasesOpenedOfDay])
	return []picture{opened, solved}, nil
}
