package console

import (
	"context"
	"maps"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// ownFigures are those of one partner and of its endpoints.
type ownFigures struct {
	of       Figures
	webhooks Webhooks
	id       partner.ID
}

// LastFigures are the whole service's.
func (ownFigures) LastFigures(context.Context) (operator.Figures, error) {
	return operator.Figures{}, partner.ErrNotFound
}

// ownParts returns the parts of the figures that are the one partner's.
func (f ownFigures) ownParts(ctx context.Context) (map[string]bool, error) {
	list, err := f.webhooks.ListEndpoints(ctx, f.id)
	parts := map[string]bool{string(f.id): true}
	for _, e := range list {
		parts[string(e.ID)] = true
	}
	return parts, err
}

// FiguresByDay returns counts of the one partner or of an endpoint of its own.
func (f ownFigures) FiguresByDay(
	ctx context.Context, part string, days int, names ...operator.Figure,
) (map[operator.Figure][]operator.DayCount, error) {
	mine, err := f.ownParts(ctx)
	if err == nil && !mine[part] {
		err = partner.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return f.of.FiguresByDay(ctx, part, days, names...)
}

// FiguresByPart returns a count of each part that is the one partner's.
func (f ownFigures) FiguresByPart(ctx context.Context, name operator.Figure, days int) (map[string]int64, error) {
	mine, err := f.ownParts(ctx)
	if err != nil {
		return nil, err
	}
	all, err := f.of.FiguresByPart(ctx, name, days)
	maps.DeleteFunc(all, func(part string, _ int64) bool { return !mine[part] })
	return all, err
}
