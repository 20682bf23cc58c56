package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/operator"
)

// picturePartners draws who enrolled how many people.
func (c *Console) picturePartners(ctx context.Context, all []partnerRow, days int) ([]picture, error) {
	counts, err := c.Rules.Figures.FiguresByPart(ctx, operator.SubscriptionsOfDay, days)
	if err != nil {
		return nil, err
	}
	var columns []pictured
	for _, p := range all {
		columns = append(columns, pictured{
			label:  p.Name,
			short:  truncateName(p.Name, 24),
			values: []int64{counts[string(p.ID)]},
		})
	}
	series := []pictureSeries{{Label: "Assinaturas"}}
	return []picture{newPicture("Novas assinaturas por parceiro", "Parceiro", series, largestColumns(columns, 6))}, nil
}

// truncateName shortens a name to what stands below a column.
func truncateName(name string, most int) string {
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return name
}
