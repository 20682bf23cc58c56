package console

import (
	"vigia/internal/operator"
	"vigia/internal/telemetry"
)

// overviewPage is the data of the first page.
type overviewPage struct {
	operator.Figures
	Partners int
	Latency  []telemetry.Latency
}

func showOverview(c *Console, r *request) (answer, error) {
	figures, err := c.Rules.Figures.Figures(r.Context())
	if err != nil {
		return nil, err
	}
	partners, err := c.Rules.Partners.Partners(r.Context())
	if err != nil {
		return nil, err
	}
	return view{"overview", "Visão geral", overviewPage{Figures: figures, Partners: len(partners), Latency: c.Latency()}}, nil
}
