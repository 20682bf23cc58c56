package person

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// The days that a page shows, the newest: a table of more is not read on a phone.
const mostDays = 30

// scorePage is a person's risk over time.
type scorePage struct {
	Score cyber.Score
	// Risk and Habits are the score as the first page has it.
	Risk, Habits riskView
	Days         []cyber.ScoreDay
	// Breach and Assessment are the points of two lines in a picture of chartWide by chartHigh.
	Breach, Assessment string
	Wide, High         int
	Advice             []mendView
}

const (
	chartWide, chartHigh = 320, 120
	// chartMargin keeps the lines' width inside the picture.
	chartMargin = 4
)

// showScore shows the person's score and its course over the latest days.
func showScore(p *Pages, r *request) (answer, error) {
	page, err := p.gatherScore(r.Context(), r.visitor)
	if err != nil {
		return nil, err
	}
	return view{"score", "score.title", page}, nil
}

func (p *Pages) gatherScore(ctx context.Context, v visitor) (scorePage, error) {
	score, err := p.Rules.Persons.InLanguage(v.lang).ComputeScore(ctx, v.who.ID, v.session.User)
	if err != nil {
		return scorePage{}, err
	}
	days, err := p.Rules.Persons.ScoreHistory(ctx, v.who.ID, v.session.User)
	if err != nil {
		return scorePage{}, err
	}
	page := scorePage{
		Score:  score,
		Risk:   newRiskView(score.Breach, score.Looks),
		Habits: newHabitsView(score.Assessment, score.Looks),
		Wide:   chartWide,
		High:   chartHigh,
	}
	days = days[max(0, len(days)-mostDays):]
	page.Breach = drawScoreLine(days, p.Now(), func(d cyber.ScoreDay) int64 { return d.Breach })
	page.Assessment = drawScoreLine(days, p.Now(), func(d cyber.ScoreDay) int64 { return d.Assessment })
	slices.Reverse(days)
	page.Days = days
	for _, rec := range score.Recommendations {
		page.Advice = append(page.Advice, recommendation(v.lang, rec))
	}
	return page, nil
}

// drawScoreLine draws a line of steps, because a score stays what it is until a day on which it changes; it ends today.
func drawScoreLine(days []cyber.ScoreDay, now time.Time, value func(cyber.ScoreDay) int64) string {
	if len(days) == 0 {
		return ""
	}
	first, last := days[0].Day, max(partner.DayNumber(now), days[len(days)-1].Day)
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

// riskView is a score as a meter with a word. Pin is where it stands on a scale of 324.
type riskView struct {
	Score float64
	Class string
	Pin   int
	// Looks is what the score rests on.
	Looks    cyber.PersonLooks
	ofHabits bool
}

// IsUnknown reports whether the risk cannot be told yet: it is low so far, but values wait for their first look, or
// none is watched at all. Habits can be told of who has no values.
func (v riskView) IsUnknown() bool {
	return v.Class == "low" && (v.Looks.Waiting > 0 || v.Looks.Values == 0 && !v.ofHabits)
}

// newHabitsView judges the score of habits and devices, a part of which are leaks.
func newHabitsView(score float64, looks cyber.PersonLooks) riskView {
	v := newRiskView(score, looks)
	v.ofHabits = true
	return v
}

// newRiskView judges a score of 0 to 100 by thirds: the larger the worse.
func newRiskView(score float64, looks cyber.PersonLooks) riskView {
	v := riskView{Score: score, Class: "low", Pin: 8 + int(score*3.08), Looks: looks}
	if score >= 200.0/3 {
		v.Class = "high"
	} else if score >= 100.0/3 {
		v.Class = "mid"
	}
	return v
}

// Word returns the key of the word for the score.
func (v riskView) Word() string { return "risk." + v.Class }
