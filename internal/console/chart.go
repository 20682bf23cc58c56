package console

import (
	"time"

	"github.com/vigiahq/vigia/internal/operator"
)

// chart is a row of bars, one a day, drawn as SVG by the template. The numbers stand beside it as a table for screen
// readers.
type chart struct {
	Label string
	// Class colours the bars.
	Class  string
	Bars   []bar
	Lines  []gridLine
	Total  int64
	Peak   int64
	Width  int
	Height int
	Left   int
	Base   int
}

type bar struct {
	X, Y, W, H float64
	Day        time.Time
	Count      int64
	// Tick says that the day is written below the bar.
	Tick bool
}

type gridLine struct {
	Y     float64
	Value int64
}

// Geometry of a chart, in the units of its view box.
const (
	chartWidth  = 640
	chartHeight = 180
	chartLeft   = 46
	chartTop    = 10
	chartBase   = 152
)

// newChart lays out a series of days.
func newChart(label, class string, days []operator.DayCount) chart {
	c := chart{Label: label, Class: class, Width: chartWidth, Height: chartHeight, Left: chartLeft, Base: chartBase}
	for _, d := range days {
		c.Total += d.Count
		c.Peak = max(c.Peak, d.Count)
	}
	top := niceCeiling(c.Peak)
	for i := range int64(3) {
		value := top * i / 2
		c.Lines = append(c.Lines, gridLine{Y: chartBase - float64(chartBase-chartTop)*float64(value)/float64(top), Value: value})
	}
	if len(days) == 0 {
		return c
	}
	step := float64(chartWidth-chartLeft) / float64(len(days))
	for i, d := range days {
		h := float64(chartBase-chartTop) * float64(d.Count) / float64(top)
		if d.Count > 0 && h < 2 {
			h = 2 // one among thousands must still be seen
		}
		c.Bars = append(c.Bars, bar{
			X: round1(chartLeft + step*float64(i) + step*0.14), Y: round1(chartBase - h), W: round1(step * 0.72), H: round1(h), Day: d.Day, Count: d.Count,
			Tick: i%7 == (len(days)-1)%7,
		})
	}
	return c
}

func round1(f float64) float64 { return float64(int64(f*10+0.5)) / 10 }

// niceCeiling is the least of 2, 4, 10, 20, 40, 100, ... that is not below n: halves of it are whole numbers.
func niceCeiling(n int64) int64 {
	for scale := int64(1); ; scale *= 10 {
		for _, m := range []int64{2, 4, 10} {
			if m*scale >= n {
				return m * scale
			}
		}
	}
}
