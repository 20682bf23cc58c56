package console

import (
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// scoreLine is how a score went, drawn as a line of steps in a box of scoreWidth by scoreHeight.
type scoreLine struct {
	Breach, Assessment string
	From, To           time.Time
	// Ticks are the words below the line: its first day, the one in the middle, and today.
	Ticks []string
	// Days are the last of each month, or all of them when they are few, the newest first.
	Days []cyber.ScoreDay
}

const (
	scoreWidth, scoreHeight = 300, 100
	scoreTop                = 1000 // a score of 100, in tenths
	// mostScoreDays is up to how many days the table behind the line has each of them.
	mostScoreDays = 31
)

// newScoreLine draws a person's days: a day without a line has the score of the one before.
func newScoreLine(days []cyber.ScoreDay, now time.Time) scoreLine {
	if len(days) == 0 {
		return scoreLine{}
	}
	today := partner.DayNumber(now)
	first, last := days[0].Day, max(today, days[0].Day+1)
	l := scoreLine{From: days[0].Date(), To: now}
	layout := "02/01"
	if last-first > 120 {
		layout = "01/2006"
	}
	for _, day := range []int64{first, (first + last) / 2, last} {
		l.Ticks = append(l.Ticks, cyber.ScoreDay{Day: min(day, today)}.Date().Format(layout))
	}
	l.Ticks = slices.Compact(l.Ticks)
	for i, d := range days {
		isLastOfMonth := i == len(days)-1 || days[i+1].Date().Month() != d.Date().Month()
		if len(days) <= mostScoreDays || isLastOfMonth {
			l.Days = append(l.Days, d)
		}
	}
	slices.Reverse(l.Days)
	draw := func(of func(cyber.ScoreDay) int64) string {
		var path []byte
		y := func(d cyber.ScoreDay) int64 { return scoreHeight - of(d)*scoreHeight/scoreTop }
		for i, d := range days {
			x := (d.Day - first) * scoreWidth / (last - first)
			if i > 0 {
				path = appendPoint(path, x, y(days[i-1]))
			}
			path = appendPoint(path, x, y(d))
		}
		return string(appendPoint(path, scoreWidth, y(days[len(days)-1])))
	}
	l.Breach = draw(func(d cyber.ScoreDay) int64 { return d.Breach })
	l.Assessment = draw(func(d cyber.ScoreDay) int64 { return d.Assessment })
	return l
}

// scoreTurns returns by how much the scores of now differ from those of 30 days ago, and whether so old a day is known.
func scoreTurns(days []cyber.ScoreDay, now *cyber.ScoreDay, at time.Time) (breach, assessment int64, isKnown bool) {
	before := partner.DayNumber(at) - defaultPeriod
	for _, d := range slices.Backward(days) {
		if d.Day <= before && now != nil {
			return now.Breach - d.Breach, now.Assessment - d.Assessment, true
		}
	}
	return 0, 0, false
}

func appendPoint(path []byte, x, y int64) []byte {
	return append(strconv.AppendInt(append(strconv.AppendInt(path, x, 10), ','), y, 10), ' ')
}
