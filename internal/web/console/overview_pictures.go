package console

import (
	"fmt"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
)

// Each function draws the pictures of one page, from counts that are kept beside the tables. Pictures of the whole
// service are for those who run it: a partner's people do not see them.

// pictureOverview draws what was found over some days: by severity, beside as many days before, and what the partners
// were alerted of; then what it exposes, and how scores are spread.
func (c *Console) pictureOverview(found findingFigures, now map[operator.Figure]int64) []picture {
	var classes, bands []pictured
	for _, o := range exposedOptions {
		fits := func(g cyber.FindingGroup) bool { return slices.Contains(g.Exposes, cyber.Exposed(o.Value)) }
		classes = append(classes, pictured{
			label:  o.Label,
			short:  o.Label,
			values: []int64{cyber.CountFindings(found.Groups, fits)},
			paths:  []string{found.Path("class", o.Value)},
		})
	}
	for i := range operator.ScoreBands {
		bands = append(bands, pictured{
			label:  fmt.Sprintf("%d a %d", i*10, i*10+10),
			short:  fmt.Sprint(i * 10),
			values: []int64{now[operator.ScoreBandFigure(i)]},
		})
	}
	alertPath := func(_ int, from, to time.Time) string {
		return findingsPath("alerted", "1", "from", from.Format(time.DateOnly), "to", to.Format(time.DateOnly))
	}
	alerted := found.byDay(c.Now(), func(g cyber.FindingGroup) bool { return g.Alerted })
	alerts := pictureDays("Alertas enviados", []pictureSeries{{Label: "Alertas"}}, alertPath, alerted)
	alerts.Span, alerts.Path = nameOfPeriod(found.Days), found.Path("alerted", "1")
	ofClasses := []pictureSeries{{Label: "Ocorrências"}}
	exposed := newPicture("Ocorrências pelo que expõem", "Dado", ofClasses, largestColumns(classes, 6))
	exposed.NoTotals = true // one finding exposes several
	exposed.Lead = "De " + countWithWord(found.Total(), "ocorrência", "ocorrências") + " em " +
		nameOfPeriod(found.Days) + ", quantas expõem cada dado; uma só pode expor vários."
	ofPeople := []pictureSeries{{Label: "Pessoas da amostra"}}
	return []picture{
		c.pictureSeverities(found),
		alerts,
		exposed,
		newPicture("Pontuação das pessoas (amostra; maior é pior)", "Pontuação", ofPeople, bands),
	}
}

// pictureSeverities draws the findings of some days by severity, the critical ones at the bottom, and counts those of
// as many days before.
func (c *Console) pictureSeverities(found findingFigures) picture {
	all := cyber.Severities()
	slices.Reverse(all)
	series := make([]pictureSeries, len(all))
	bySeverity := make([][]operator.DayCount, len(all))
	for i, s := range all {
		fits := func(g cyber.FindingGroup) bool { return g.Severity == s }
		series[i] = pictureSeries{
			Label:      severityName(s),
			Class:      string(s),
			Before:     cyber.CountFindings(found.Before, fits),
			Path:       found.Path("severity", string(s)),
			BeforePath: found.PathBefore("severity", string(s)),
		}
		bySeverity[i] = found.byDay(c.Now(), fits)
	}
	path := func(i int, from, to time.Time) string {
		return findingsPath("severity", string(all[i]),
			"from", from.Format(time.DateOnly), "to", to.Format(time.DateOnly))
	}
	p := pictureDays("Ocorrências por gravidade", series, path, bySeverity...)
	p.Span, p.Path = nameOfPeriod(found.Days), found.Path()
	return p
}

// nameOfPeriod returns the words for a number of days.
func nameOfPeriod(days int) string {
	for _, p := range periods {
		if p.days == days {
			return p.label
		}
	}
	return ""
}
