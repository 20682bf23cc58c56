package person

import (
	"fmt"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

// The days that a page shows, the newest: a table of more is not read on a phone.
const mostDays = 30

// scorePage is a person's risk over time.
type scorePage struct {
	Score cyber.Score
	Risk  riskView
	Days  []scoreDay
	// Breach and Assessment are the points of two lines in a picture of chartWide by chartHigh.
	Breach, Assessment string
	Wide, High         int
	Advice             []mendView
}

// scoreDay is the score of one day.
type scoreDay struct {
	Date               time.Time
	Breach, Assessment float64
}

const (
	chartWide, chartHigh = 320, 120
	// chartMargin keeps the lines' width inside the picture.
	chartMargin = 4
)

// showScore shows the person's score and its course over the latest days.
func showScore(p *Pages, r *request) (answer, error) {
	score, err := p.Rules.Persons.InLanguage(r.lang).ComputeScore(r.Context(), r.who.ID, r.session.User)
	if err != nil {
		return nil, err
	}
	days, err := p.Rules.Persons.ScoreHistory(r.Context(), r.who.ID, r.session.User)
	if err != nil {
		return nil, err
	}
	page := scorePage{Score: score, Risk: newRiskView(score.Breach), Wide: chartWide, High: chartHigh}
	days = days[max(0, len(days)-mostDays):]
	page.Breach = drawScoreLine(days, p.Now(), func(d cyber.ScoreDay) int64 { return d.Breach })
	page.Assessment = drawScoreLine(days, p.Now(), func(d cyber.ScoreDay) int64 { return d.Assessment })
	for i := len(days) - 1; i >= 0; i-- {
		page.Days = append(page.Days, scoreDay{days[i].Date(), float64(days[i].Breach) / 10, float64(days[i].Assessment) / 10})
	}
	for _, rec := range score.Recommendations {
		page.Advice = append(page.Advice, recommendation(r.lang, rec))
	}
	return view{"score", "score.title", page}, nil
}

// drawScoreLine draws a line of steps, because a score stays what it is until a day on which it changes; it ends today.
func drawScoreLine(days []cyber.ScoreDay, now time.Time, value func(cyber.ScoreDay) int64) string {
	if len(days) == 0 {
		return ""
	}
	first, last := days[0].Day, max(now.Unix()/86400, days[len(days)-1].Day)
	x := func(day int64) int64 {
		return chartMargin + (day-first)*(chartWide-2*chartMargin)/max(last-first, 1)
	}
	y := func(tenths int64) int64 {
		return chartMargin + (1000-tenths)*(chartHigh-2*chartMargin)/1000
	}
	var out strings.Builder
	for i, d := range days {
		if i > 0 {
			fmt.Fprintf(&out, "%d,%d ", x(d.Day), y(value(days[i-1])))
		}
		fmt.Fprintf(&out, "%d,%d ", x(d.Day), y(value(d)))
	}
	fmt.Fprintf(&out, "%d,%d", chartWide-chartMargin, y(value(days[len(days)-1])))
	return out.String()
}
