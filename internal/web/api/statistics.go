package api

import (
	"time"

	"github.com/vigiahq/vigia/internal/operator"
)

// statistics is the answer of GET /statistics.
type statistics struct {
	Days []statisticsDay `json:"days"`
}

// statisticsDay holds the partner's counts of one day.
type statisticsDay struct {
	Day        string `json:"day"`
	Findings   int64  `json:"findings"`
	Alerts     int64  `json:"alerts"`
	Enrolments int64  `json:"enrolments"`
	Cases      int64  `json:"cases"`
}

// Days of statistics where the request does not say, and at most.
const defaultStatisticsDays, mostStatisticsDays = 30, 365

// statistics reads the partner's part of what the service counts for its pictures.
func (s *Server) statistics(r *request) (any, error) {
	asked, err := r.countInQuery("days", defaultStatisticsDays)
	if err != nil {
		return nil, err
	}
	days := int(min(asked, mostStatisticsDays))
	found, err := r.rules.Figures.FiguresByDay(r.ctx, string(r.caller.Partner), days,
		operator.FindingsOfDay, operator.AlertsOfDay, operator.SubscriptionsOfDay, operator.CasesOpenedOfDay)
	if err != nil {
		return nil, err
	}
	answer := statistics{Days: make([]statisticsDay, days)}
	for i := range answer.Days {
		answer.Days[i] = statisticsDay{
			Day:      found[operator.FindingsOfDay][i].Day.Format(time.DateOnly),
			Findings: found[operator.FindingsOfDay][i].Count, Alerts: found[operator.AlertsOfDay][i].Count,
			Enrolments: found[operator.SubscriptionsOfDay][i].Count, Cases: found[operator.CasesOpenedOfDay][i].Count,
		}
	}
	return answer, nil
}
